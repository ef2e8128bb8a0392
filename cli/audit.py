"""The command that shows the audit log as text or JSON lines, or follows it as it grows."""

from __future__ import annotations

import os
import sys
import time

import click

from cli.answers import write
from cli.options import json_option, state_dir_option
from orchestrator.upkeep import audit
from orchestrator.upkeep.audit import as_line, check_terminal, open_record
from shared.mode.where import Target

EVERY_S = 0.5


@click.command("audit")
@state_dir_option
@json_option
@click.option("--follow", is_flag=True, help="Go on printing what is added, until interrupted.")
def audit_command(state_dir: str | None, *, as_json: bool, follow: bool) -> None:
    """Show what happened here: when, which agent, who and what.

    Example: planner audit --json
    """
    record = open_record(Target(os.getcwd(), state_dir=state_dir))
    shown = audit.as_json if as_json else as_line
    if follow:
        check_terminal(sys.stdin)
        for row in record.grow(lambda: time.sleep(EVERY_S)):
            write(shown(row) + "\n")
    elif as_json:
        write("".join(f"{shown(row)}\n" for row in record.rows()))
    else:
        write(audit.render(record))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["audit", *sys.argv[1:]]))
