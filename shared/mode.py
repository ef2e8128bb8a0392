"""Planning mode as a session meets it: time limits that pass, and what it is told (PM-8, PM-10).

Hooks call this before each tool and each prompt, so it imports little.
"""

from __future__ import annotations

import json

from shared import resources, sessions, stages
from shared.builders import escape, shortened
from state import mode, store
from state.clock import moment
from state.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.sessions import Session
    from state.database import Planning

TIME_LIMIT = "time limit"  # who it was, in the audit
MOST_INJECTED = 2_400  # characters, 600 tokens
_MOST_TEXT = 160
_MARKS = {"started": " ← in progress", "done": " (done)"}


def limits(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the time limits of a project's settings as columns of an agent's row."""
    minutes = 60
    return {
        "gathering_timeout_s": config.get("gathering_timeout_minutes", 60) * minutes,
        "approval_timeout_s": config.get("approval_timeout_minutes", 30) * minutes,
        "on_timeout": config.get("on_timeout", "pause"),
    }


def current(session: Session, now: float) -> tuple[Planning | None, str]:
    """Return the row of a session with every time limit applied, and what that changed, in words.

    The row is None where the session has no mode. `now` is seconds since the epoch.
    """
    database = Database(session.database)
    try:
        said = settle(database, session.agent, now)
        return database.planning(session.agent), said
    finally:
        database.close()


def settle(database: Database, agent: str, now: float) -> str:
    """Pause or cancel what has waited too long; return what happened, "" where nothing did.

    A run waits for the last of its agents. Nothing needs to run while it waits: whoever comes
    next finds the time passed.
    """
    row = database.planning(agent)
    if row is None or not _overdue(database, row, now):
        return ""
    with database:
        row = database.planning(agent) or row
        text = _overdue(database, row, now)
        if not text:
            return ""
        run = database.run(row.run_id) if row.run_id else None
        at, action = moment(now), row.on_timeout
        if run is None:
            stages.change_agent(database, agent, action, TIME_LIMIT, at=at, detail=text)
        else:
            stages.change_run(database, run, action, TIME_LIMIT, at=at, detail=text)
    if row.on_timeout == "cancel":
        return f"Planning has ended by its time limit: {text}."
    return f"Planning is paused by its time limit: {text}. Nothing is lost."


def _overdue(database: Database, row: Planning, now: float) -> str:
    rows = database.planning_of(row.run_id) if row.run_id else [row]
    texts = [mode.overdue(r, now, sessions.last_call(r.agent_name)) for r in rows]
    return texts[0] if all(texts) else ""


# What a session is told


def injected(session: Session, now: float) -> str:
    """Return what a prompt of this session begins with; "" where its mode is inactive."""
    row, said = current(session, now)
    if row is None:
        return said
    plan = None
    if session.state_dir and session.run_id and row.phase == mode.EXECUTING:
        plan = store.read_plan(resources.plan_path(session.state_dir))
    return "\n".join(part for part in (said, injection(row, plan, session.state_dir)) if part)


def injection(row: Planning, plan: Mapping[str, Any] | None, state_dir: str | None) -> str:
    """Return the text for a stage, at most 600 tokens; content of the plan cannot leave its tag.

    `plan` is a run's frozen plan; a light plan is in the row.
    """
    if row.paused_at and row.phase != mode.INACTIVE:
        return _told(row, _paused(row, state_dir))
    if row.phase == mode.GATHERING:
        return _told(row, _gathering(row, state_dir))
    if row.phase == mode.SUBMITTED:
        return _told(row, _submitted(row, state_dir))
    if row.phase == mode.EXECUTING:
        return _approved(row, plan, state_dir)
    return ""


def _told(row: Planning, text: str) -> str:
    return f'<planning_mode stage="{row.phase}">\n{text}\n</planning_mode>'


def _paused(row: Planning, state_dir: str | None) -> str:
    still = "stay read-only" if row.phase in mode.READ_ONLY else "begin no new step"
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
write are refused but for {allowed}; shell commands pass where they provably change nothing.
What is next: {resources.command(*following, state_dir=state_dir)}"""


def _submitted(row: Planning, state_dir: str | None) -> str:
    digest = row.digest or ""
    return f"""\
Revision {row.revision} waits for the user's answer; until then change nothing. They type, not you:
approve: /planner:approve {digest} in Claude Code, else in a terminal of their own
{resources.command("mode", "approve", digest, state_dir=state_dir)}
reject: {resources.command("mode", "reject", digest, state_dir=state_dir)}
If they want it otherwise, it is revised and submitted anew. Their silence is no consent.
To show it again: {resources.command("mode", "status", state_dir=state_dir)}"""


def _approved(row: Planning, plan: Mapping[str, Any] | None, state_dir: str | None) -> str:
    if plan is None:
        light: dict[str, Any] = json.loads(row.plan_json or "{}")
        summary, steps = light.get("summary", ""), list(map(_step, light.get("steps", [])))
        begin = resources.command("mode", "step", "1", "start", state_dir=state_dir)
        how = f"Mark each step, as in {begin}, then done."
    else:
        summary, steps = plan["overview"]["title"], list(map(_milestone, plan["milestones"]))
        following = resources.command("step", "executor", state_dir=state_dir)
        how = f"The program writes these changes, you don't. What is next: {following}"
    head = f'<approved_plan revision="{row.revision}" digest="{row.digest}">\n'
    head += f"You are carrying out a plan that was approved: {_line(summary)}\n"
    foot = f"{how}\nAdapt where you must, but tell the user of significant deviations.\n"
    foot += "</approved_plan>"
    lines = [f"{n}. {text}\n" for n, text in enumerate(steps, 1)]
    return head + _fitting(lines, MOST_INJECTED - len(head) - len(foot)) + foot


def _fitting(lines: list[str], room: int) -> str:
    """Return the steps that fit: where not all do, what is done goes first, then the last ones."""
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


def _milestone(milestone: Mapping[str, Any]) -> str:
    files = _line(", ".join(milestone["files"]))
    return f"{milestone['id']} {_line(milestone['name'])} (files: {files})"


def _line(text: str) -> str:
    """Return text from outside as one short line in which no tag can begin."""
    return escape(shortened(" ".join(text.split()), _MOST_TEXT))
