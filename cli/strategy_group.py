"""Commands of the strategy: choose a route, gather context, judge the answer, show it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import agent_option, json_option, state_dir_option
from orchestrator.run.start import render_start
from orchestrator.strategy_result import goals_now
from orchestrator.strategy_route import deciding, gathering, judging
from orchestrator.strategy_route.opening import closed_run, find_strategy
from shared.builders import Block, json_text
from shared.resources import answer_path, fill, read_prompt
from shared.steps.printing import print_current
from shared.strategy_record import ANSWER_FILE, SELF_EXTEND, read_strategy
from shared.strategy_text import render_section
from state.errors import Refused
from state.stages import IDLE

if TYPE_CHECKING:
    from shared.run import State

PROMPTS = ("orchestrator", "strategy")
SECTIONS = 8


@click.group("strategy")
def strategy_command() -> None:
    """Decide whether there is anything to plan; follow the route."""


@strategy_command.command("set")
@click.option("--file", "path", required=True, metavar="FILE", help="The STRATEGIC_PLAN in JSON.")
@state_dir_option
@agent_option
def set_plan(path: str, state_dir: str | None, agent: str | None) -> None:
    """Store the strategic plan, tell every fault of it, and follow its route.

    Example: planner strategy set --file answers/route.json
    """
    if (ended := closed_run(state_dir)) is not None:  # the same command again, or after a crash
        deciding.remove_files(ended)
        write(render_direct())
        return
    decided = deciding.set_plan(state_dir, path, agent)
    if decided.direct:
        write(render_direct())
    elif decided.started is not None:
        write(render_start(decided.started))
    else:
        write(print_current(decided.state))


def render_direct() -> str:
    """Return the one line that says that the assistant makes the change without a plan."""
    return Block("result").task(read_prompt(*PROMPTS, "direct")).render()


@strategy_command.command("context")
@click.option("--file", "path", metavar="FILE", help="JSON: gathered context, or progress.")
@click.option("--answer", metavar="FILE", help="The user's words, after a question.")
@click.option("--synthesis", metavar="FILE", help="The answer for the user, in Markdown.")
@state_dir_option
def context(
    state_dir: str | None, path: str | None, answer: str | None, synthesis: str | None
) -> None:
    """Add to the sections: what was gathered or done, the user's words, the answer.

    Example: planner strategy context --file answers/gathered.json
    """
    ways = ((path, gathering.add_file), (answer, gathering.add_words),
            (synthesis, gathering.add_answer))  # fmt: skip
    given = [(file, add) for file, add in ways if file is not None]
    if len(given) != 1:
        raise click.UsageError("give one of --file, --answer and --synthesis")
    file, add = given[0]
    write(print_current(add(state_dir, file)))


@strategy_command.command("verdict")
@click.argument("verdict", type=click.Choice(judging.VERDICTS))
@click.option("--file", "path", metavar="FILE", help="JSON: reason, issues, instruction, replan.")
@state_dir_option
def verdict_command(verdict: str, path: str | None, state_dir: str | None) -> None:
    """Judge the answer: accept it, have it written again, choose anew once, or give up.

    Example: planner strategy verdict RETRY --file answers/verdict.json
    """
    state = judging.judge(state_dir, verdict, path)
    write(print_current(state) if state.run.status == IDLE else render_end(state))


def render_end(state: State) -> str:
    """Return the block for an answer that was accepted, or for a run that was given up."""
    facts, block = read_strategy(state.state_dir), Block("result")
    if judging.has_failed(facts):
        attempts = "1 attempt" if facts.attempt == 1 else f"{facts.attempt} attempts"
        block.task(fill(read_prompt(*PROMPTS, "failed"), {"attempts": attempts}))
        return block.data("tried", judging.tried(facts)).render()
    if (facts.plan or {}).get("plan_type") == SELF_EXTEND:
        return block.task(read_prompt(*PROMPTS, "extended")).render()
    file = answer_path(state.state_dir, ANSWER_FILE)
    return block.task(fill(read_prompt(*PROMPTS, "approved"), {"file": file})).render()


@strategy_command.command("show")
@click.option("--section", type=click.IntRange(0, SECTIONS - 1), help="One section of context.md.")
@json_option
@state_dir_option
def show(state_dir: str | None, section: int | None, *, as_json: bool) -> None:
    """Show the strategic plan as it is rendered, or another section of context.md.

    Example: planner strategy show --section 2
    """
    state = find_strategy(state_dir)
    facts = read_strategy(state.state_dir)
    facts.goals = goals_now(state, facts)
    if as_json:
        write(json_text(facts.to_json()) + "\n")
        return
    number = 3 if section is None else section
    if section is None and facts.plan is None:
        text = "no strategic plan is set yet"
        raise Refused("not_found", "§3", text, "do the step that is due", "planner step strategy")
    write(Block("result").data(f"§{number}", render_section(facts, number)).render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["strategy", *sys.argv[1:]]))
