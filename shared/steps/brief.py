"""What the blocks of several steps tell: rounds, modes, notes, earlier plans, confirmations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from shared.resources import (
    answer_path,
    read_prompt,
    recalled_path,
    superseded_plan_path,
)
from state import store
from state.beneath import Beneath
from state.kept_files import read_kept
from state.modes import MODES

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context


# How an agent runs something on the files that it writes, here with a command that shows them.
TRY = ("tree", "run", "git status --short")
MODES_OF_MILESTONES = "`mode` of a milestone, code unless set"
_MOST_RECALLED = 1_200  # characters
OF_CODE = "code"  # edits of the design in the code's round


def variant_of(ctx: Context) -> str:
    """Return the suffix of a step's prompt file: '', '-fix' after a failed review, or '-revise'.

    That is also for what was said after the phase had ended; impl-docs has no text then.
    """
    if late_in(ctx):
        return "-fix" if failed_review(ctx) else "" if ctx.phase == "impl-docs" else "-revise"
    if ctx.iteration > 1:
        return "-fix"
    before = ctx.state.run.revision - 1
    if not before:
        return ""
    # If only intents were approved, there is no code yet that could be revised.
    kept = store.read_plan(superseded_plan_path(ctx.state.state_dir, before))
    written = any(m.code_changes for m in kept.milestones)
    return "-revise" if written or ctx.phase == "plan-design" else ""


def late_in(ctx: Context) -> list[str]:
    """Return the ids of the statements that have made a step's phase due again (SD-3)."""
    return [late.statement for late in ctx.state.database.late(ctx.state.run)
            if late.phase == ctx.phase]  # fmt: skip


def failed_review(ctx: Context) -> dict[str, Any] | None:
    """Return the review whose failure made a phase run again, None in its first round."""
    outcomes = ctx.state.database.outcomes(ctx.state.run, ctx.phase) if ctx.iteration > 1 else []
    return outcomes[-1] if outcomes and outcomes[-1]["verdict"] == "fail" else None


def edits_file(ctx: Context, stem: str = OF_CODE) -> str:
    """Return the name of the answer file for a step's edits of the plan, another in each round.

    What is left of an earlier round is not read again by whoever forgets to write it anew.
    """
    revision, iteration = ctx.state.run.revision, ctx.iteration
    first = (revision, iteration) == (1, 1)
    return f"{stem}.json" if first else f"{stem}-{revision}-{iteration}.json"


def modes_of(ctx: Context) -> str:
    """Return the modes that milestones may have, one a line, if they are carried out as intents."""
    if ctx.state.run.depth != "intent":
        return ""
    return "\n".join(f"{name}: {mode.planner_guidance}" for name, mode in MODES.items())


def notes_for(ctx: Context) -> str:
    """Return the notes that an earlier agent of this step's role left for the next, or ''."""
    path = answer_path(ctx.state.state_dir, f"notes-{ctx.step.agent}.md")
    notes = Beneath(ctx.state.state_dir).read(path)
    return notes.decode("utf-8", "replace") if notes else ""


def earlier_plans(ctx: Context) -> str:
    """Return what earlier plans say to the request, as far as about 300 tokens reach, or ''."""
    path = recalled_path(ctx.state.state_dir)
    lines: list[str] = read_kept(path, list) if os.path.exists(path) else []
    kept, left = [], _MOST_RECALLED
    for line in lines:
        shown = line if len(line) <= _MOST_RECALLED // 2 else line[: _MOST_RECALLED // 2] + "…"
        if len(shown) > left:
            break
        kept.append(shown)
        left -= len(shown) + 1
    return "\n".join(kept)


def with_commands(ctx: Context, text: str, *, asks: bool, first: bool = False) -> Block:
    """Return an output block with a task, and the commands a person must still confirm, if any.

    They are shown and explained where the run asks `first`; later blocks only remind of them.
    """
    config = ctx.state.config
    digest = config["hash"] if config.get("consent", True) else ""
    if not asks or not digest or ctx.state.database.is_confirmed(digest):
        return ctx.block().task(text)
    note = read_prompt("orchestrator", "planner", "confirm" if first else "confirm-again")
    block = ctx.block().task(f"{text}\n\n{note}")
    block.data("commands to confirm", config["text"] if first else "")
    return block.person(ctx.state.typed("config", "confirm", digest))


def item_line(item: dict[str, Any]) -> str:
    """Return a review item as one line: its id, severity, status, scope and finding."""
    finding = item["finding"] or item["check"]
    declined = f" – declined: {item['declined']}" if item.get("declined") else ""
    return f"{item['id']} {item['severity']} {item['status']} {item['scope']}: {finding}{declined}"
