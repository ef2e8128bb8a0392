"""Define planning mode's stages, the actions that lead from one to another, and time limits.

No input or output, and cheap to import: the guard asks it before every tool call.
"""

from __future__ import annotations

from state.clock import moment
from state.errors import Refused

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from state.database import Planning

INACTIVE, GATHERING, SUBMITTED, EXECUTING = "inactive", "gathering", "submitted", "executing"
STAGES = (INACTIVE, GATHERING, SUBMITTED, EXECUTING)
# In these an assistant may only read and plan.
READ_ONLY = (GATHERING, SUBMITTED)

IDLE, ACTIVE, PAUSED = "IDLE", "ACTIVE", "PAUSED"
COMPLETED, CANCELLED = "COMPLETED", "CANCELLED"
_LIVE = (ACTIVE, PAUSED)
_STAY = {stage: stage for stage in STAGES if stage != INACTIVE}
_LEAVE = dict.fromkeys(STAGES, INACTIVE)

# action → the statuses it is taken from, the status it leads to, stage → stage.
# An agent without a run has a status too: IDLE while it is inactive, else ACTIVE or PAUSED.
ACTIONS: dict[str, tuple[tuple[str, ...], str, dict[str, str]]] = {
    "enter": ((IDLE,), ACTIVE, {INACTIVE: GATHERING}),
    "adopt": ((IDLE,), ACTIVE, {INACTIVE: SUBMITTED}),
    "submit": ((ACTIVE,), ACTIVE, {GATHERING: SUBMITTED, SUBMITTED: SUBMITTED}),
    "revise": ((ACTIVE,), ACTIVE, {SUBMITTED: GATHERING, EXECUTING: GATHERING}),
    "write": ((ACTIVE,), ACTIVE, {EXECUTING: GATHERING}),
    "approve": ((ACTIVE,), ACTIVE, {SUBMITTED: EXECUTING}),
    "reject": (_LIVE, CANCELLED, {SUBMITTED: INACTIVE}),
    "pause": ((ACTIVE,), PAUSED, _STAY),
    "resume": ((PAUSED,), ACTIVE, _STAY),
    "finish": ((ACTIVE,), COMPLETED, {EXECUTING: INACTIVE}),
    "cancel": ((IDLE, *_LIVE), CANCELLED, _LEAVE),
    "reopen": ((COMPLETED, CANCELLED), IDLE, {INACTIVE: INACTIVE}),
    "close": ((IDLE,), COMPLETED, {INACTIVE: INACTIVE}),
    "revert": ((COMPLETED,), CANCELLED, {INACTIVE: INACTIVE}),
}

GATHERING_TIMEOUT_S = 3_600
APPROVAL_TIMEOUT_S = 1_800
ON_TIMEOUT = ("pause", "cancel")


def after(stage: str, status: str, action: str) -> tuple[str, str]:
    """Return planning stage and run status after an action; raise Refused if they forbid it."""
    sources, leads_to, stages = ACTIONS[action]
    if status not in sources or stage not in stages:
        possible = [a for a, (s, _, t) in ACTIONS.items() if status in s and stage in t]
        text = f"{action} is not possible while planning mode is {described(stage, status)}"
        retry = "planner resume" if status == PAUSED else "planner mode status"
        raise Refused("conflict", f"mode {action}", text, ", ".join(possible), retry)
    return stages[stage], leads_to


def described(stage: str, status: str) -> str:
    """Return a planning stage as text, with the run's status added if it is paused or has ended."""
    return stage if status in (IDLE, ACTIVE) else f"{stage} ({status.lower()})"


def overdue(row: Planning, now: float, last_call: float = 0) -> str:
    """Return a text that says which planning-mode time limit has passed at `now`; empty if none.

    `last_call` is the last tool call in the session's file. Times are seconds since the epoch.
    Executing has no limit, nor has a paused mode.
    """
    if row.paused_at is not None:
        return ""
    if row.phase == GATHERING:
        called = moment(last_call) if last_call else ""
        since = max(row.last_tool_at or "", row.gathering_start or "", called)
        limit_s, what = row.gathering_timeout_s, "no tool was called"
    elif row.phase == SUBMITTED:
        since, limit_s = row.submitted_at or "", row.approval_timeout_s
        what = "nobody has answered"
    else:
        return ""
    if since > moment(now - limit_s):
        return ""
    return f"{what} for {limit_s // 60} minutes, since {since}"
