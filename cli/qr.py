"""Reviews: their items, the gate, what a person accepts."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from cli.options import (
    allow_roles,
    json_option,
    opened,
    phase_option,
    role_option,
    state_dir_option,
)
from orchestrator.planner import WORKFLOW
from shared import gates, resources
from shared.builders import Block
from shared.qr.schema import read_review
from shared.stepping import write
from state import store

if TYPE_CHECKING:
    from shared.qr.types import Phase


@click.group("qr")
def qr_command() -> None:
    """Read review items and decide gates."""


@qr_command.command("list")
@phase_option
@click.option("--status", type=click.Choice(["TODO", "PASS", "FAIL", "NOT_CHECKED"]))
@state_dir_option
@json_option
def list_items(phase: Phase, status: str | None, state_dir: str | None, *, as_json: bool) -> None:
    """List the items of a phase's open review.

    Example: planner qr list --phase plan-code --status FAIL
    """
    path = resources.review_path(opened(state_dir).state_dir, phase)
    items = read_review(path).items if os.path.exists(path) else []
    rows = [i for i in items if status in (None, i.status)]
    if as_json:
        write(json.dumps([i.to_json() for i in rows], indent=2, ensure_ascii=False) + "\n")
        return
    lines = [f"{i.id} {i.severity} {i.status} {i.scope}: {i.finding or i.check}" for i in rows]
    write(Block("result").data("items", "\n".join(lines) or "no review is open").render())


@qr_command.command("gate")
@phase_option
@click.option("--verdict", type=click.Choice(["pass", "fail"]), required=True)
@click.option("--reason", default="", help="Why, when the figures say otherwise.")
@click.option("--reason-file", metavar="FILE", help="The reason, in a file.")
@state_dir_option
@role_option
def gate(
    phase: Phase,
    verdict: str,
    reason: str,
    reason_file: str | None,
    state_dir: str | None,
    role: str | None,
) -> None:
    """Pass or fail a gate; a verdict against the figures needs a reason.

    Example: planner qr gate --phase plan-code --verdict fail
    """
    allow_roles(role)
    state = opened(state_dir)
    if reason_file:
        reason = store.read_text(resources.find_answer(state.state_dir, reason_file)).strip()
    write(gates.decide_gate(state, WORKFLOW, phase, verdict, reason))


@qr_command.command("accept")
@click.argument("check", metavar="ITEM|CHECK")
@phase_option
@click.option("--scope", default="*", help="The file or entity of the finding, for a check.")
@click.option("--reason", required=True)
@state_dir_option
@role_option
def accept(
    check: str, phase: Phase, scope: str, reason: str, state_dir: str | None, role: str | None
) -> None:
    """Let a finding stand: an item of the open review or of a script check. A person's command.

    Example: planner qr accept code-no-secrets --scope a.pem --phase plan-code --reason "test key"
    """
    allow_roles(role)
    write(gates.accept_finding(opened(state_dir), phase, check, scope, reason))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["qr", *sys.argv[1:]]))
