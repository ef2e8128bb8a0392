"""Reviews: their items, the gate, what a person accepts."""

from __future__ import annotations

import json
import os
import sys

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
from shared.workflow import write
from state import store


@click.group("qr")
def qr_command() -> None:
    """Read review items and decide gates."""


@qr_command.command("list")
@phase_option
@click.option("--status", type=click.Choice(["TODO", "PASS", "FAIL", "NOT_CHECKED"]))
@state_dir_option
@json_option
def list_items(phase: str, status: str | None, state_dir: str | None, *, as_json: bool) -> None:
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
    phase: str,
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
@click.argument("item", metavar="ID")
@phase_option
@click.option("--reason", required=True)
@state_dir_option
@role_option
def accept(item: str, phase: str, reason: str, state_dir: str | None, role: str | None) -> None:
    """Accept a failing item as it is. A person's command.

    Example: planner qr accept qa-003 --phase plan-code --reason "measured: not on the hot path"
    """
    allow_roles(role)
    write(gates.accept_item(opened(state_dir), phase, item, reason))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["qr", *sys.argv[1:]]))
