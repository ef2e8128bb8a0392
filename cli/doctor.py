"""`planner doctor`: report what may keep the planner from working on this machine."""

from __future__ import annotations

import os
import sys

import click

from cli.answers import TEXT, form, write
from cli.options import json_option, state_dir_option
from shared.builders import Block, json_text
from shared.mode.sessions import repository_root
from shared.place.level import try_beside


@click.command("doctor")
@state_dir_option
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, state_dir: str | None, *, as_json: bool) -> None:
    """Say what keeps the planner from working here, and the fix.

    It changes nothing. Exit 1 if something is wrong.

    Example: planner doctor
    """
    folder = os.getcwd()
    level = try_beside(repository_root(folder))
    # Not at the top: they are loaded while a process tries what holds commands here.
    from cli.setup.health import assistants
    from orchestrator.upkeep.doctor import PROBLEM, examine

    found = [*assistants(folder), *examine(folder, state_dir, level)]
    bad = [f for f in found if f.mark == PROBLEM]
    if as_json:
        rows = [{"mark": f.mark, **f._asdict()} for f in found]
        write(json_text(rows) + "\n")
    elif form() == TEXT:
        from cli.findings import text_of  # most readers are assistants

        write(text_of(found))
    else:
        shown = "\n".join(finding.row for finding in found)
        write(Block("result", wrong=len(bad)).data("findings", shown).render())
    ctx.exit(1 if bad else 0)


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
