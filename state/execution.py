"""Define how milestones move between statuses while a plan is executed, and which may run now.

No input or output, and cheap to import. The rows are kept by `state/execution_rows.py`; commands
and printed steps use both through `shared/execution.py`.
"""

from __future__ import annotations

from state.errors import Refused
from state.milestones import files_of
from state.rows import Progress

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from state.plan_table import Milestone

Json = dict[str, "Any"]

PENDING, IN_PROGRESS, BLOCKED = "PENDING", "IN_PROGRESS", "BLOCKED"
NEEDS_DECISION, COMPLETED = "NEEDS_DECISION", "COMPLETED"
STATUSES = (PENDING, IN_PROGRESS, BLOCKED, NEEDS_DECISION, COMPLETED)

TIMED_OUT = "decision timed out"
ENDED = "the run was cancelled while it was in progress"

# What a milestone is by its status, after "it is".
WORDS = {
    PENDING: "pending", IN_PROGRESS: "in progress", BLOCKED: "blocked",
    NEEDS_DECISION: "waiting for a decision", COMPLETED: "completed",
}  # fmt: skip
# What cannot be done to a milestone, after "it cannot".
_VERBS = {
    "start": "be started", "succeed": "be done", "block": "be blocked", "ask": "wait for an answer",
    "time out": "wait too long", "decide": "take a decision", "retry": "be tried again",
    "hold off": "wait for a rate limit to end", "recover": "be taken up", "end": "be ended",
}  # fmt: skip
# action → the statuses it is taken from, and the status it leads to.
ACTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "start": ((PENDING,), IN_PROGRESS),
    "succeed": ((IN_PROGRESS,), COMPLETED),
    "block": ((PENDING, IN_PROGRESS), BLOCKED),
    # A question of its agent, or one that the plan asks before the milestone starts.
    "ask": ((PENDING, IN_PROGRESS, NEEDS_DECISION), NEEDS_DECISION),
    "time out": ((NEEDS_DECISION,), BLOCKED),
    # Also after the time limit: nothing was chosen, so the answer is still wanted.
    "decide": ((NEEDS_DECISION, BLOCKED), PENDING),
    "retry": ((BLOCKED, PENDING), PENDING),
    # A rate limit ended the agent; the milestone starts again, but not before a moment.
    "hold off": ((IN_PROGRESS,), PENDING),
    # The agent, or its whole host, is gone; or its files are others since a rebase.
    "recover": ((IN_PROGRESS,), PENDING),
    "end": ((IN_PROGRESS,), BLOCKED),
}


class Summary:
    """How far the whole plan is: figures by status, what is blocked and why, if all is done."""

    __slots__ = ("blocked", "counts", "done", "total")

    def __init__(self, progress: Iterable[Progress]) -> None:
        rows = list(progress)
        self.counts = dict.fromkeys(STATUSES, 0)
        for row in rows:
            self.counts[row.status] += 1
        self.done, self.total = self.counts[COMPLETED], len(rows)
        self.blocked = {row.id: row.note for row in rows if row.status == BLOCKED}

    def to_json(self) -> Json:
        """Return the summary as a JSON object; the events and `planner status --json` hold it."""
        blocked = [{"id": name, "why": why} for name, why in self.blocked.items()]
        return {"done": self.done, "total": self.total, "counts": self.counts, "blocked": blocked}


def initial(milestone: Milestone, answered: Iterable[str]) -> Progress:
    """Return the progress of a milestone at the start: it needs a decision, or is pending."""
    waits = [name for name in milestone.waits_for if name not in answered]
    return Progress(milestone.id, status=NEEDS_DECISION if waits else PENDING, waits=waits)


def after(progress: Progress, action: str, **values: Any) -> Progress:  # noqa: ANN401
    """Return a milestone's progress after an action such as start; Refused if it is not possible.

    `values` are what the action brings: `note` for block, `agent` and `started_at` for start,
    `waits` for ask (the checkpoints) and for decide (those that are still open).
    """
    sources, status = ACTIONS[action]
    if progress.status not in sources or (action == "decide" and not progress.waits):
        text = f"it is {WORDS[progress.status]}, so it cannot {_VERBS[action]}"
        raise Refused("conflict", progress.id, text, "see where it stands", "planner status")
    if action == "start":
        values |= {"attempts": progress.attempts + 1, "not_before": "", "turns": 0}
    elif action == "succeed":
        values |= {"note": "", "limited": 0}  # what failed before is cleared by the success
    elif action == "retry":
        values |= {"not_before": "", "limited": 0}
    elif action == "ask":
        values["waits"] = dict.fromkeys((*progress.waits, *values["waits"]))
    elif action == "time out":
        values["note"] = f"{TIMED_OUT}: {', '.join(progress.waits)}"
    elif action == "decide" and progress.status == BLOCKED:
        values["note"] = ""  # a decision after its time limit is a decision
    if action in ("decide", "retry") and values.get("waits", progress.waits):
        status = NEEDS_DECISION
    return progress.replaced(**{"status": status, "agent": "", **values})


def runnable(
    milestones: Sequence[Milestone], progress: Mapping[str, Progress], most: int, now: str
) -> list[str]:
    """Return the ids of the milestones to start now, in the plan's order (PC-4).

    Each is pending and not held off after `now`, all that it depends on is completed, and it has no
    file in common with one in progress or with another of the list. Together with those in progress
    they are at most `most`.
    """
    statuses = {name: row.status for name, row in progress.items()}
    running = [m for m in milestones if statuses[m.id] == IN_PROGRESS]
    free = most - len(running)
    taken: set[str] = set().union(*map(files_of, running))
    found: list[str] = []
    for milestone in milestones:
        if len(found) >= free:
            break
        if statuses[milestone.id] != PENDING or progress[milestone.id].not_before > now:
            continue
        if any(statuses[name] != COMPLETED for name in milestone.depends_on):
            continue
        files = files_of(milestone)
        if taken.isdisjoint(files):
            found.append(milestone.id)
            taken |= files
    return found


def reasons(
    milestones: Sequence[Milestone], progress: Mapping[str, Progress], most: int, now: str
) -> dict[str, str]:
    """Return in words why each milestone does not run now, those that run or could start left out.

    Completed ones are left out too. `most` is how many may run at once.
    """
    next_ones = {*runnable(milestones, progress, most, now)}
    ahead = [
        (m.id, files_of(m))
        for m in milestones
        if progress[m.id].status == IN_PROGRESS or m.id in next_ones
    ]
    found = {}
    for milestone in milestones:
        row = progress[milestone.id]
        if row.status == BLOCKED:
            found[row.id] = row.note
        elif row.status == NEEDS_DECISION:
            found[row.id] = f"needs the decision {', '.join(row.waits)}"
        elif row.status == PENDING and row.not_before > now:
            found[row.id] = f"{row.note}; starts again at {row.not_before}"
        elif row.status == PENDING and row.id not in next_ones:
            found[row.id] = _why_pending(milestone, progress, ahead, most)
    return found


def _why_pending(
    milestone: Milestone,
    progress: Mapping[str, Progress],
    ahead: Iterable[tuple[str, set[str]]],
    most: int,
) -> str:
    before = [progress[name] for name in milestone.depends_on]
    unmet = [f"{row.id} ({row.status})" for row in before if row.status != COMPLETED]
    if unmet:
        return f"waits for {', '.join(unmet)}"
    files = files_of(milestone)
    for other, taken in ahead:
        if shared := files & taken:
            return f"shares {min(shared)} with {other}, which comes first"
    return f"waits its turn: at most {most} at once"
