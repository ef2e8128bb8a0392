"""`planner doctor`: report what may keep the planner from working on this machine."""

from __future__ import annotations

import os
import sys

import click

from cli.answers import TEXT, form, in_colour, width, write
from cli.options import json_option, state_dir_option
from cli.pen import Pen
from cli.setup.health import assistants
from cli.text import typed
from orchestrator.upkeep.doctor import NOTE, PROBLEM, Finding, examine
from shared.builders import Block, json_text, visible


@click.command("doctor")
@state_dir_option
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, state_dir: str | None, *, as_json: bool) -> None:
    """Say what keeps the planner from working here, and the fix.

    It changes nothing. Exit 1 if something is wrong.

    Example: planner doctor
    """
    found = [*assistants(os.getcwd()), *examine(os.getcwd(), state_dir)]
    bad = [f for f in found if f.mark == PROBLEM]
    if as_json:
        rows = [{"mark": f.mark, **f._asdict()} for f in found]
        write(json_text(rows) + "\n")
    elif form() == TEXT:
        write(_findings_text(found, Pen(width(), in_colour())))
    else:
        shown = "\n".join(finding.row for finding in found)
        write(Block("result", wrong=len(bad)).data("findings", shown).render())
    ctx.exit(1 if bad else 0)


def _findings_text(found: list[Finding], pen: Pen) -> str:
    """Return the findings for a person: each with its mark, and what to do on a line below."""
    lines = []
    for one in found:
        mark = f"{one.mark:{len(PROBLEM)}}  "
        line = pen.wrapped(visible(f"{mark}{one.what}: {one.state}"), " " * len(mark))
        lines.append(line.replace(PROBLEM, pen.bad(PROBLEM), 1) if one.mark == PROBLEM else line)
        if way := one.way_out or one.hint:
            lines.append(f"{' ' * len(mark)}→ {visible(typed(way))}")
    marks = [one.mark for one in found]
    if number := marks.count(PROBLEM):
        said = f"{number} problem{'s' * (number > 1)}. What to do stands after →."
    else:
        said = "Nothing is wrong."
        said += " The notes say what could be better." * (NOTE in marks)
    return "\n".join([*lines, "", said]) + "\n"


@click.command("repair")
@state_dir_option
def repair_command(state_dir: str | None) -> None:
    """Set damaged files of the planner aside; say what was lost. Only a person may run it.

    Example: planner repair
    """
    from orchestrator.upkeep.repair import repair  # needs what `doctor` does without

    found = repair(os.getcwd(), state_dir)
    lines = [f"{one.path}\nlost: {one.lost}\nnow: {one.way_out}" for one in found]
    block = Block("result", damaged=len(found)).data("set aside", "\n\n".join(lines))
    write(block.render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
