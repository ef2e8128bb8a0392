"""Commands that steer a run while its milestones are carried out: decide, retry, auto."""

from __future__ import annotations

import sys

import click

from cli.answers import write, write_standing
from cli.options import opened, state_dir_option, unproven_option
from orchestrator.execute import advance, control
from orchestrator.execute.advance import MOST_FILES
from orchestrator.plan.answers import Reply
from quality_reviewer.risk import LOW, RISKS
from shared.builders import Block
from shared.named_files import read_answer
from shared.steps.printing import print_current


@click.command("decide")
@click.argument("checkpoint", metavar="ID")
@click.argument("choice", required=False, metavar="[CHOICE[,CHOICE]]")
@click.option("--file", "path", metavar="FILE", help="The answer, or the user's own words.")
@click.option("--you-decide", is_flag=True, help="The user left it to you: the answer is yours.")
@click.option("--withdraw", is_flag=True, help="It is pointless now; the --file says why.")
@state_dir_option
def decide_command(
    checkpoint: str,
    choice: str | None,
    path: str | None,
    state_dir: str | None,
    *,
    you_decide: bool,
    withdraw: bool,
) -> None:
    """Store the user's answer; what waited for it can go on.

    What rests on an earlier answer is due again.

    Example: planner decide CP-001 jwt
    """
    if (choice is None) == (path is None):
        raise click.UsageError("give either a CHOICE, or a --file with the user's words")
    if withdraw and (path is None or you_decide):
        raise click.UsageError("--withdraw needs a --file that says why, and nothing else")
    state = opened(state_dir)
    text = choice or "" if path is None else read_answer(state.state_dir, path).text().strip()
    reply = Reply(text, path is not None, you_decide, withdraw)
    decided = control.decide(state, checkpoint, reply)
    if decided is None:
        write(print_current(state))
    else:
        write(control.render_steered(state, decided))


@click.command("retry")
@click.argument("milestone", metavar="ID")
@state_dir_option
def retry_command(milestone: str, state_dir: str | None) -> None:
    """Let a blocked milestone run again.

    Example: planner retry M-002
    """
    state = opened(state_dir)
    write(control.render_steered(state, control.retry(state, milestone)))


@click.group("auto")
def auto_command() -> None:
    """Approve one run in advance within limits, or take that back."""


@auto_command.command("on")
@click.option(
    "--files", type=click.IntRange(1), default=MOST_FILES, show_default=True,
    help="The most files that such a plan may touch.",
)  # fmt: skip
@click.option(
    "--risk", type=click.Choice(RISKS), default=LOW, show_default=True,
    help="The highest risk that such a plan may have.",
)  # fmt: skip
@unproven_option
@state_dir_option
def auto_on(files: int, risk: str, state_dir: str | None, *, unproven: bool) -> None:
    """Approve the run's plan in advance, if it stays within limits. Only a person may run it.

    Example: planner auto on --files 5 --risk low
    """
    state = opened(state_dir)
    advance.allow(state, files, risk, unproven=unproven)
    advance.approve_in_advance(state)
    text = f"A plan of at most {files} files and risk {risk} is approved in advance for this run."
    block = Block("result", stage=state.run.stage).task(text)
    block.next("done", state.command("step", state.run.workflow))
    write_standing(state, block.render())


@auto_command.command("off")
@state_dir_option
def auto_off(state_dir: str | None) -> None:
    """Take the approval in advance back; what it has approved stays approved.

    Example: planner auto off
    """
    state = opened(state_dir)
    advance.withdraw(state)
    write(Block("result").task("No plan of this run is approved in advance.").render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
