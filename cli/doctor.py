"""`planner doctor`: report what may keep the planner from working on this machine."""

from __future__ import annotations

import json
import os
import sys

import click

from cli.answers import write
from cli.options import json_option, state_dir_option
from cli.setup.health import assistants
from orchestrator.run.doctor import examine
from shared.builders import Block


@click.command("doctor")
@state_dir_option
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, state_dir: str | None, *, as_json: bool) -> None:
    """Say what keeps the planner from working here and how to fix it; exit 1 if anything does.

    Example: planner doctor
    """
    found = [*assistants(), *examine(os.getcwd(), state_dir)]
    bad = [f for f in found if f.way_out]
    if as_json:
        write(json.dumps([f._asdict() for f in found], indent=2, ensure_ascii=False) + "\n")
    else:
        rows = "\n".join(finding.line for finding in found)
        write(Block("result", wrong=len(bad)).data("findings", rows).render())
    ctx.exit(1 if bad else 0)


@click.command("repair")
@state_dir_option
def repair_command(state_dir: str | None) -> None:
    """Set damaged files of the planner aside and say what was lost. Only a person may run it.

    Example: planner repair
    """
    from orchestrator.run.repair import repair  # needs what `doctor` does without

    found = repair(os.getcwd(), state_dir)
    lines = [f"{one.path}\nlost: {one.lost}\nnow: {one.way_out}" for one in found]
    block = Block("result", damaged=len(found)).data("set aside", "\n\n".join(lines))
    write(block.render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
