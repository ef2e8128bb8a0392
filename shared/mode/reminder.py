"""Tells an assistant the planning stage and the plan, at its start and with each prompt (PM-10)."""

from __future__ import annotations

import json

from shared import resources
from shared.builders import escape, shortened
from shared.mode.guarded import ASKED
from shared.mode.limits import settle
from state import store
from state.database import Database
from state.stages import EXECUTING, GATHERING, INACTIVE, READ_ONLY, SUBMITTED

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Planning
    from state.plan_table import Milestone, Plan


MOST_INJECTED = 2_400  # characters, 600 tokens
_MOST_TEXT = 160
_MOST_WAITING = 5
_ASKED = (
    "Somebody has asked to approve this plan in a way that shows no person. Tell the user, who "
    "alone knows whether that was them."
)
_MARKS = {"started": " ← in progress", "done": " (done)"}


def current(session: Session, now: float) -> tuple[Planning | None, str]:
    """Apply a session's time limits; return its database row, and in words what they changed.

    The row is None for an agent that never planned. `now` is seconds since the epoch.
    """
    database = Database(session.database)
    try:
        said = settle(database, session.agent, now)
        return database.planning(session.agent), said
    finally:
        database.close()


def injected(session: Session, now: float) -> str:
    """Return the reminder put before a session's prompt; "" if the session is not planning."""
    row, said = current(session, now)
    if row is None:
        return said
    plan = None
    if session.state_dir and session.run_id and row.phase == EXECUTING:
        plan = store.read_plan(resources.plan_path(session.state_dir))
    told = (said, injection(row, plan, session.state_dir), _asked(session, row))
    return "\n".join(filter(None, told))


def waiting_in(folder: str) -> str:
    """Return what of others waits for the user in the repository around `folder`, "" if nothing.

    It is for a session that begins: what it takes part in itself `injected` tells.
    """
    path = resources.repository_database(folder)
    if path is None:
        return ""
    database = Database(path)
    try:
        rows = database.planning_live()
    finally:
        database.close()
    found = {
        row.run_id or row.agent_name: f"“{_line(row.task_description or '')}”, "
        + ("paused" if row.paused_at else "submitted for approval")
        for row in rows
        if row.paused_at or row.phase == SUBMITTED
    }
    if not found:
        return ""
    shown = "; ".join([*found.values()][:_MOST_WAITING])
    status = resources.command("status")
    return f"Tell your user once that here a plan waits for them: {shown}. To show it: {status}"


def _asked(session: Session, row: Planning) -> str:
    """Return that somebody has tried to approve what waits, who may be no person, or ""."""
    if row.phase != SUBMITTED:
        return ""
    database = Database(session.database)
    try:
        noted = database.was_noted(row.agent_name, ASKED, row.submitted_at or "")
    finally:
        database.close()
    return _ASKED if noted else ""


def injection(row: Planning, plan: Plan | None, state_dir: str | None) -> str:
    """Return the reminder of a planning stage, at most 600 tokens; plan text can't leave its tag.

    `plan` is a run's frozen plan; a light plan is in the row.
    """
    if row.paused_at and row.phase != INACTIVE:
        return _as_block(row, _paused(row, state_dir))
    if row.phase == GATHERING:
        return _as_block(row, _gathering(row, state_dir))
    if row.phase == SUBMITTED:
        return _as_block(row, _submitted(row, state_dir))
    if row.phase == EXECUTING:
        return _approved(row, plan, state_dir)
    return ""


def _as_block(row: Planning, text: str) -> str:
    return f'<planning_mode stage="{row.phase}">\n{text}\n</planning_mode>'


def _paused(row: Planning, state_dir: str | None) -> str:
    still = "stay read-only" if row.phase in READ_ONLY else "start no new step"
    return f"""\
Paused since {row.paused_at}, at revision {row.revision}; nothing is lost. Until then, {still}.
When the user wants to go on: {resources.command("resume", state_dir=state_dir)}"""


def _gathering(row: Planning, state_dir: str | None) -> str:
    task = _line(row.task_description or row.reason or "")
    where = resources.answer_path(state_dir or "", "")
    following = ("step", "planner") if row.run_id else ("mode", "status")
    allowed = f"your answers under {_line(where)}"
    allowed += " and the run's worktree" if row.run_id else ""
    return f"""\
You plan{f": {task}" if task else ""}. Look, search and ask the user; change nothing. Tools that \
write are refused but for {allowed}; what shell commands change is lost or refused.
What is next: {resources.command(*following, state_dir=state_dir)}"""


def _submitted(row: Planning, state_dir: str | None) -> str:
    digest = row.digest or ""
    return f"""\
Revision {row.revision} waits for the user's answer; until then change nothing. They type, not you:
approve: /planner:approve {digest} in Claude Code, else in a terminal of their own
{resources.command("approve", digest, state_dir=state_dir)}
reject: {resources.command("mode", "reject", digest, state_dir=state_dir)}
If they want changes, revise and resubmit. Silence is not consent.
To show it again: {resources.command("mode", "status", state_dir=state_dir)}"""


def _approved(row: Planning, plan: Plan | None, state_dir: str | None) -> str:
    if plan is None:
        light: dict[str, Any] = json.loads(row.plan_json or "{}")
        summary, steps = light.get("summary", ""), list(map(_step, light.get("steps", [])))
        first = resources.command("mode", "step", "1", "start", state_dir=state_dir)
        how = f"Mark each step, as in {first}, then done."
    else:
        summary, steps = plan.overview.title, list(map(_milestone, plan.milestones))
        following = resources.command("exec", "run", state_dir=state_dir)
        how = f"The program writes these changes, you don't. What is next: {following}"
    head = f'<approved_plan revision="{row.revision}" digest="{row.digest}">\n'
    head += f"You are carrying out a plan that was approved: {_line(summary)}\n"
    foot = f"{how}\nAdapt where you must, but tell the user of significant deviations.\n"
    foot += "</approved_plan>"
    lines = [f"{n}. {text}\n" for n, text in enumerate(steps, 1)]
    return head + _fitting(lines, MOST_INJECTED - len(head) - len(foot)) + foot


def _fitting(lines: list[str], room: int) -> str:
    """Return as many of the plan's steps as fit; finished ones are dropped first, then the last."""
    if sum(map(len, lines)) <= room:
        return "".join(lines)
    kept = [line for line in lines if not line.endswith(_MARKS["done"] + "\n")]
    note = f"… and {len(lines)} in all\n"
    while kept and sum(map(len, kept)) > room - len(note):
        kept.pop()
    return "".join(kept) + note


def _step(step: Mapping[str, Any]) -> str:
    tools = f" (tools: {_line(', '.join(step['tools']))})" if step["tools"] else ""
    return f"{_line(step['description'])}{tools}{_MARKS.get(step['status'], '')}"


def _milestone(milestone: Milestone) -> str:
    files = _line(", ".join(milestone.files))
    return f"{milestone.id} {_line(milestone.name)} (files: {files})"


def _line(text: str) -> str:
    """Return untrusted text as one short line in which no tag can start."""
    return escape(shortened(" ".join(text.split()), _MOST_TEXT))
