"""Commands on workflow bundles: make one, check them, list them, run one to its end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from cli.answers import write
from cli.lanes import resolved
from cli.options import json_option
from orchestrator.strategy_route import bundle_runs
from orchestrator.strategy_route.answers import read_answer
from orchestrator.strategy_route.bundles import check_bundle, find_bundles
from orchestrator.strategy_route.opening import find_strategy
from shared.builders import Block, counted, json_text
from shared.mode.sessions import repository_root
from shared.resources import command, read_prompt
from state.actors import HOST
from state.errors import Refused

if TYPE_CHECKING:
    from orchestrator.strategy_route.bundle_runs import BundleRun

PROMPTS = ("orchestrator", "workflow")


@click.group("workflow")
def workflow_command() -> None:
    """Make and run workflows of your own: steps with prompts.

    They lie in planning/workflows/ or in your configuration.
    """


@workflow_command.command("new")
@click.argument("name")
@click.option("--file", "path", required=True, metavar="FILE", help="JSON: purpose and steps.")
@click.option("--user", "of_user", is_flag=True, help="In your own configuration.")
@click.option("--state-dir", metavar="DIR", help="The run whose strategy asks for it.")
def new(name: str, path: str, state_dir: str | None, *, of_user: bool) -> None:
    """Make a workflow bundle from a file, and check it; nothing is made if it has a fault.

    Example: planner workflow new release-notes --file bundle.json
    """
    here = find_strategy(state_dir).run.repository if state_dir else repository_here()
    value = read_answer(state_dir or os.getcwd(), path)
    folder = bundle_runs.make_bundle(here, name, value, of_user=of_user)
    block = Block("result").data("made", folder)
    write(block.next("run", command("workflow", "run", name, "--in", here)).render())


def repository_here() -> str:
    """Return the repository around the working directory, else that folder itself."""
    return repository_root(os.getcwd()) or os.getcwd()


@workflow_command.command("check")
@click.argument("name", required=False)
def check(name: str | None) -> None:
    """Tell every fault of a workflow bundle, or of all.

    Example: planner workflow check release-notes
    """
    known = find_bundles(repository_here())
    if name is not None and name not in known:
        listed = ", ".join(known) or "there is none yet"
        raise Refused("not_found", name, "there is no workflow bundle of this name", listed)
    problems = []
    for one in [name] if name is not None else list(known):
        for problem in check_bundle(known[one])[0]:
            problem.at = f"{one}: {problem.at}"
            problems.append(problem)
    if problems:
        raise Refused.of(problems)
    write(Block("result").data("sound", "\n".join([name] if name else known)).render())


@workflow_command.command("list")
@json_option
def list_bundles(*, as_json: bool) -> None:
    """List the workflow bundles that can be run here, and those under way.

    Example: planner workflow list
    """
    rows: list[dict[str, Any]] = []
    here = repository_here()
    going = bundle_runs.under_way(here)
    for name, folder in find_bundles(here).items():
        problems, bundle = check_bundle(folder)
        purpose = bundle.purpose if bundle else ""
        row = {"name": name, "purpose": purpose, "folder": folder, "faults": len(problems)}
        own = [{"step": one.current, "state_dir": one.state_dir} for one in going
               if one.bundle.name == name]  # fmt: skip
        rows.append({**row, "under_way": own})
    if as_json:
        write(json_text(rows) + "\n")
        return
    lines = [f"{row['name']}: {row['purpose'] or told_faults(row['faults'])}" for row in rows]
    block = Block("result").data("workflows", "\n".join(lines) or "there is none yet")
    for run in going:
        again = command("workflow", "run", run.bundle.name, state_dir=run.state_dir)
        block.next(f"{run.bundle.name} at {run.current}", again)
    write(block.render())


def told_faults(count: int) -> str:
    """Return in words that a bundle has faults, and what lists them."""
    return f"{counted(count, 'fault')}, as `planner workflow check` tells"


@workflow_command.command("run")
@click.argument("name")
@click.option("--step", help="The step that has ended.")
@click.option("--on", "outcome", type=click.Choice(bundle_runs.OUTCOMES), help="How it ended.")
@click.option("--agent", "for_agent", is_flag=True, help="Print what an agent of the step reads.")
@click.option("--in", "folder", metavar="DIR", help="The repository; else the one here.")
@click.option("--state-dir", metavar="DIR", help="State directory of the workflow under way.")
def run(
    name: str, step: str | None, outcome: str | None, folder: str | None, state_dir: str | None,
    *, for_agent: bool,
) -> None:  # fmt: skip
    """Run a workflow bundle: begin it, or end a step of it and print the next.

    Example: planner workflow run release-notes
    """
    if (step is None) != (outcome is None) or (step and state_dir is None):
        raise click.UsageError("--step, --on and --state-dir go together")
    if state_dir is None:
        found = bundle_runs.begin(resolved(folder or os.curdir), name)
    elif step is not None and outcome is not None:
        found = bundle_runs.go_on(state_dir, step, outcome)
    else:
        found = bundle_runs.open_run(state_dir)
    if found.bundle.name != name:
        text = f"the workflow in this state directory is {found.bundle.name}"
        raise Refused("conflict", name, text, found.bundle.name)
    write(render_step(found, for_agent=for_agent))


def render_step(found: BundleRun, *, for_agent: bool) -> str:
    """Return the prompt of the step that is due, or that the workflow has ended."""
    if not found.current:
        return Block("result").task(read_prompt(*PROMPTS, "ended")).render()
    bundle, step = found.bundle, found.bundle.step(found.current)
    block = Block(
        "step", workflow=bundle.name, number=bundle.steps.index(step) + 1, of=len(bundle.steps),
        name=step.name, state_dir=found.state_dir,
    )  # fmt: skip
    words = ("workflow", "run", bundle.name)
    if step.agent != HOST and not for_agent:
        block.task(read_prompt(*PROMPTS, "dispatch"))
        block.dispatch(step.agent, [command(*words, "--agent", state_dir=found.state_dir)])
    else:
        block.task(read_prompt(*PROMPTS, "gate" if step.gate else "step"))
        block.data("prompt", step.text)
        block.data("commands", "\n".join(step.commands))
    if for_agent:
        return block.render()
    for outcome in ("pass", "fail") if step.gate else ("done",):
        ended = ("--step", step.name, "--on", outcome)
        block.next(outcome, command(*words, *ended, state_dir=found.state_dir))
    return block.render()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["workflow", *sys.argv[1:]]))
