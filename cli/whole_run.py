"""Commands on a whole run: step, status, edit, pause, resume, cancel.

What only some of these commands need is imported by those: `status` has to be quick.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import click

from cli.answers import write, write_end, write_standing
from cli.options import agent_option, json_option, opened, opened_to_read, state_dir_option
from orchestrator.queue.waiting import waiting
from orchestrator.run.every_run import (
    count_of,
    database_around,
    only_queued,
    render_runs,
    rows_of,
)
from orchestrator.run.status import line_of, render_status, status_of, watch
from shared.builders import visible_line
from shared.mode.where import NOBODY, Target
from shared.which_run import SeveralRuns, plans_lightly
from state.errors import Refused
from state.stages import IDLE

if TYPE_CHECKING:
    from orchestrator.mode.lookup import Mode
    from shared.run import State

EVERY_S = 0.5
CLEAR, BELL = "\x1b[H\x1b[2J", "\a"


@click.command(
    "step",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def step_command(ctx: click.Context) -> None:
    """Print a step of a workflow; without a number, the next one.

    Example: planner step planner
    """
    from orchestrator.step import run_step

    ctx.exit(run_step(ctx.args))


@click.command("status")
@state_dir_option
@json_option
@click.option("--line", "as_line", is_flag=True, help="One line of text, for a status line.")
@click.option("--watch", "watched", is_flag=True, help="Show it in the terminal as it changes.")
def status_command(state_dir: str | None, *, as_json: bool, as_line: bool, watched: bool) -> None:
    """Say where the run is, what it waits for and what is next.

    Example: planner status --watch
    """
    if as_line:
        write(_line(state_dir))
        return
    if state_dir is None and not watched and plans_lightly(os.getcwd()):
        from orchestrator.mode import lookup, render

        found = lookup.find_or_inactive(Target(os.getcwd()), time.time())
        shown = json.dumps(render.status_of(found), indent=2) + "\n" if as_json else ""
        write(shown or render.render_mode(found))
        return
    try:
        state = opened_to_read(state_dir)
    except Refused as refusal:
        if watched or not _is_list(refusal, state_dir):
            raise
        database = database_around(os.getcwd())
        rows = rows_of(database)
        listed = {"under_way": rows, "queue": waiting(database)}
        write(json.dumps(listed, indent=2) + "\n" if as_json else render_runs(database, rows))
        return
    if watched:
        _watch(state.state_dir)
    elif as_json:
        write(json.dumps(status_of(state), indent=2) + "\n")
    else:
        write(render_status(state))


def _line(state_dir: str | None) -> str:
    """Return the line of the run; empty where there is none, as a status line is always shown."""
    try:
        return line_of(opened_to_read(state_dir)) + "\n"
    except Refused as refusal:
        is_list = _is_list(refusal, state_dir)
        return f"{count_of(database_around(os.getcwd())) if is_list else ''}\n"


def _is_list(refusal: Refused, state_dir: str | None) -> bool:
    """Return whether no single run can be shown, but several, or those that wait for their turn."""
    several = isinstance(refusal, SeveralRuns)
    return several or (state_dir is None and only_queued(os.getcwd()))


def _watch(state_dir: str) -> None:
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        text = "`--watch` draws on a terminal until the run ends"
        raise Refused("usage", "--watch", text, "leave out --watch", "planner status")
    for text, waits in watch(state_dir, lambda: time.sleep(EVERY_S)):
        call = BELL + notification(text.partition("\n")[0], os.environ.get("TERM", ""))
        write(f"{CLEAR}{text}" + (call if waits else ""))


def notification(line: str, terminal: str) -> str:
    """Return what makes a terminal show a line as a notification of the desktop.

    It is OSC 9, or OSC 777 where TERM names a terminal that knows only that; terminals that know
    neither show nothing. Empty where the sequence could show up as text.
    """
    if terminal in ("", "dumb", "linux"):
        return ""
    only_777 = terminal.startswith(("rxvt", "foot"))
    start = "777;notify;planner;" if only_777 else "9;planner: "
    return f"\x1b]{start}{visible_line(line)}\x1b\\"


@click.command("cancel")
@state_dir_option
@agent_option
def cancel_command(state_dir: str | None, agent: str | None) -> None:
    """End planning and its run; plan and audit stay. Only a person may run it.

    Example: planner cancel --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.mode import forgotten, light_plan, lookup

    try:
        found = _settled_mode(agent, state_dir)
        light_plan.cancel(found)
    except Refused as refusal:
        ended = forgotten.cancel(Target(os.getcwd(), agent, state_dir), refusal)
        if ended:
            write(forgotten.render_ended(ended))
            return
        if refusal.problems[0].at != NOBODY or agent is not None:
            raise
        # A run that only weighs whether to plan, or one that has ended.
        state = opened(state_dir)
        found = lookup.Mode(state.database, state.database.agent, time.time(), state)
        light_plan.cancel(found)
    write_end(found)


@click.command("pause")
@state_dir_option
@agent_option
def pause_command(state_dir: str | None, agent: str | None) -> None:
    """Pause planning; what was read-only stays read-only.

    Example: planner pause
    """
    from orchestrator.mode import light_plan
    from orchestrator.mode.render import render_mode

    found = _settled_mode(agent, state_dir)
    light_plan.pause(found)
    if found.state is not None:
        write_standing(found.state, render_mode(found))
    else:
        write(render_mode(found))


@click.command("resume")
@state_dir_option
@agent_option
@click.option("--take-over", is_flag=True, help="Execute it in place of an instance that is dead.")
def resume_command(state_dir: str | None, agent: str | None, *, take_over: bool) -> None:
    """Resume a paused run; this session joins it.

    It goes on at the same revision.

    Example: planner resume --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.mode import light_plan
    from orchestrator.mode.render import render_mode
    from orchestrator.run.start import go_on
    from shared.steps.printing import print_current

    if (idle := _not_begun(state_dir)) is not None:
        write(go_on(idle, agent))
        return
    found = _settled_mode(agent, state_dir)
    light_plan.resume(found, agent, take_over=take_over)
    write(print_current(found.state) if found.state else render_mode(found))


@click.command("edit")
@state_dir_option
def edit_command(state_dir: str | None) -> None:
    """Open the planned files in your editor, then capture them.

    Example: planner edit
    """
    from cli.results import render_captured
    from orchestrator.plan.check import capture_and_check
    from shared.plan_file import open_plan

    state = opened(state_dir)
    open_plan(state)  # what is frozen is refused before somebody edits it in vain
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor and sys.stdin.isatty():
        subprocess.run(["/bin/sh", "-c", f'{editor} "$1"', "sh", state.worktree], check=False)
    then = state.command("step", state.run.workflow)
    write(render_captured(*capture_and_check(state), worktree=state.worktree, then=then))


def _not_begun(state_dir: str | None) -> State | None:
    """Return the run meant, if it only weighs whether to plan, or waits for its base."""
    try:
        state = opened(state_dir)
    except Refused:
        return None  # said in the words of planning mode
    return state if state.run.status == IDLE else None


def _settled_mode(agent: str | None, state_dir: str | None) -> Mode:
    from orchestrator.mode import lookup

    return lookup.find(Target(os.getcwd(), agent, state_dir), time.time()).settle()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
