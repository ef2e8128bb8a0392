"""Commands of the requirements lane: refine what is wanted, implement it, complete it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import json_option, state_dir_option
from orchestrator.requirements_lane import completing, implementing, refining, startup
from orchestrator.requirements_lane.history import read_history
from orchestrator.requirements_lane.opening import find_lane, find_lane_to_read
from orchestrator.run.start import render_start
from shared.builders import Block
from shared.requirements_record import read_lane
from shared.resources import read_prompt
from shared.steps.printing import print_current
from state.errors import Refused
from state.stages import INACTIVE

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from orchestrator.requirements_lane.history import Entry
    from shared.run import State

    Command = Callable[..., Any]


@click.group("requirements")
def requirements_command() -> None:
    """Refine requirements, implement them, complete them, again."""


def quit_option(command: Command) -> Command:
    """Add the option --quit, which leaves the requirements lane with every file where it is."""
    text = "Leave the requirements lane; every file stays where it is."
    return click.option("--quit", "quits", is_flag=True, help=text)(command)


def only_one(**flags: bool) -> str:
    """Return the name of the flag that is set, '' if none is; Refused if several are."""
    given = [name.replace("_", "-") for name, is_set in flags.items() if is_set]
    if len(given) > 1:
        names = ", ".join(f"--{name}" for name in flags)
        text = f"--{' and --'.join(given)} exclude each other"
        raise Refused("usage", f"--{given[1]}", text, f"one of {names.replace('_', '-')}")
    return given[0] if given else ""


def leave(state: State) -> None:
    """Say how the user leaves the requirements lane, and how it is begun again; change nothing.

    What makes the session read-only is ended by a person alone.
    """
    row = state.database.planning(state.database.agent)
    held = row is not None and row.run_id == state.run.run_id and row.phase != INACTIVE
    closed = read_lane(state.state_dir).closed
    name = "left-read-only" if held else "finished" if closed else "left"
    block = Block("result").task(read_prompt("orchestrator", "requirements", name))
    block.next("later", state.command("requirements", "startup"))
    write((block.person(state.command("cancel")) if held else block).render())


@requirements_command.command("startup")
@click.option("--yes", is_flag=True, help="The user agrees to the branch and the changed files.")
@click.option("--resume", is_flag=True, help="Resume the implementation that was left behind.")
@click.option("--mark-complete", is_flag=True, help="Take what was left behind as complete.")
@click.option("--leave-commit", is_flag=True, help="The user commits what is staged.")
@quit_option
@state_dir_option
def startup_command(
    state_dir: str | None, *, yes: bool, resume: bool, mark_complete: bool, leave_commit: bool,
    quits: bool,
) -> None:  # fmt: skip
    """Begin again: show branch, changed files and what was left behind, or take the answer.

    Example: planner requirements startup --yes
    """
    chosen = only_one(
        yes=yes, resume=resume, mark_complete=mark_complete, leave_commit=leave_commit, quit=quits
    )
    state = find_lane(state_dir)
    if chosen == "quit":
        leave(state)
        return
    deeds: dict[str, Callable[[State], object]] = {
        "": startup.start_again, "yes": startup.begin, "resume": startup.resume,
        "mark-complete": startup.mark_complete, "leave-commit": completing.leave_commit,
    }  # fmt: skip
    deeds[chosen](state)
    write(print_current(state))


@requirements_command.command("refine")
@click.option("--rewrite", is_flag=True, help="The user has asked for a rewrite, explicitly.")
@quit_option
@state_dir_option
def refine(state_dir: str | None, *, rewrite: bool, quits: bool) -> None:
    """Begin the review of planning/new_requirements.md, which the user has written.

    Example: planner requirements refine
    """
    state = find_lane(state_dir)
    if quits:
        leave(state)
        return
    refining.refine(state, rewrite=rewrite)
    write(print_current(state))


@requirements_command.command("accept")
@click.option("--no", is_flag=True, help="The user wants to write or say more first.")
@click.option("--unchanged", is_flag=True, help="The review has found nothing to change.")
@quit_option
@state_dir_option
def accept(state_dir: str | None, *, no: bool, unchanged: bool, quits: bool) -> None:
    """Check what the review has left and ask the user, or take their no.

    Example: planner requirements accept
    """
    state = find_lane(state_dir)
    if only_one(no=no, unchanged=unchanged, quit=quits) == "quit":
        leave(state)
        return
    if no:
        refining.decline(state)
    else:
        refining.accept(state, unchanged=unchanged)
    write(print_current(state))


@requirements_command.command("implement")
@click.option("--summary", metavar="FILE", help="At most 5 lines of at most 120 characters.")
@state_dir_option
def implement(state_dir: str | None, summary: str | None) -> None:
    """Make the requirements the current ones and start their plan, or go on with it.

    Example: planner requirements implement --summary answers/summary.md
    """
    state = find_lane(state_dir)
    started = implementing.implement(state, summary)
    write(render_start(started) if started else print_current(state))


@requirements_command.command("complete")
@click.option("--message", metavar="FILE", help="The commit message: summary and description.")
@click.option("--agree", is_flag=True, help="The user takes open todos as completed.")
@click.option("--with", "wanted", multiple=True, metavar="PATH", help="Commit this file as well.")
@click.option("--with-others", "others", is_flag=True, help="All others but likely secrets.")
@click.option("--without", multiple=True, metavar="PATH", help="Take this file out again.")
@quit_option
@state_dir_option
def complete(
    state_dir: str | None,
    message: str | None,
    *,
    agree: bool,
    quits: bool,
    **files: Any,  # noqa: ANN401 – what the options on files give
) -> None:
    """Rename the current requirements as completed, stage their commit, show it to the user.

    Example: planner requirements complete --message answers/commit.md
    """
    state = find_lane(state_dir)
    if quits:
        leave(state)
        return
    completing.complete(state, completing.Answers(message, agree, **files))
    write(print_current(state))


@requirements_command.command("commit")
@quit_option
@state_dir_option
def commit(state_dir: str | None, *, quits: bool) -> None:
    """Make the commit that the user has seen, prove it, and begin a new round.

    Example: planner requirements commit
    """
    state = find_lane(state_dir)
    if quits:
        leave(state)
        return
    completing.commit(state)
    write(print_current(state))


@requirements_command.command("history")
@json_option
@state_dir_option
def history(state_dir: str | None, *, as_json: bool) -> None:
    """Show the history of requirements and implementations, in order of time.

    Example: planner requirements history
    """
    facts = read_lane(find_lane_to_read(state_dir).state_dir)
    entries = read_history(facts)
    if as_json:
        write(json.dumps([entry._asdict() for entry in entries], indent=2) + "\n")
    else:
        lines = "\n".join(map(_entry_text, entries))
        write(Block("result").data("history", lines or "nothing has happened yet").render())


def _entry_text(entry: Entry) -> str:
    return "\n".join([f"{entry.time} {entry.text}", *(f"    {line}" for line in entry.summary)])


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["requirements", *sys.argv[1:]]))
