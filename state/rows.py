"""The rows of planner.db as objects: a run, planning by an agent, a milestone, and more."""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    import sqlite3
    from typing import Any


class Run:
    """One run (a user's request handled from start to end), as read from its database row."""

    __slots__ = (
        "alone", "commit_id", "created_at", "depth", "digest", "lane", "repository", "request",
        "review", "revision", "run_id", "stage", "state_dir", "status", "step", "workflow",
    )  # fmt: skip
    alone: int  # 1 where the host starts no sub-agents
    run_id: str
    request: str
    repository: str
    state_dir: str
    lane: str
    depth: str
    status: str
    stage: str
    workflow: str
    step: int
    review: str
    revision: int
    digest: str | None
    commit_id: str | None
    created_at: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])

    @property
    def ending(self) -> str:
        """How the run has ended, to follow "the run is", such as "cancelled"; "" before it has."""
        if self.status not in ("COMPLETED", "CANCELLED"):
            return ""
        if not self.commit_id:
            return self.status.lower()
        how = " and proved" if self.status == "COMPLETED" else ", then taken back"
        return f"committed as {self.commit_id[:12]}{how}"


class Planning:
    """The planning-mode state of one agent, as read from its database row; times are text."""

    __slots__ = (
        "agent_name", "approval_timeout_s", "approved_at", "approved_by", "digest",
        "gathering_start", "gathering_timeout_s", "last_tool_at", "on_timeout", "paused_at",
        "phase", "plan_json", "reason", "revision", "run_id", "submitted_at", "task_description",
    )  # fmt: skip
    agent_name: str
    phase: str
    task_description: str | None
    plan_json: str | None
    gathering_start: str | None
    submitted_at: str | None
    approved_at: str | None
    approved_by: str | None
    reason: str | None
    run_id: str | None
    revision: int
    digest: str | None
    last_tool_at: str | None
    paused_at: str | None
    gathering_timeout_s: int
    approval_timeout_s: int
    on_timeout: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


# The fields of a milestone that nobody has begun.
_NEW: dict[str, Any] = {
    "status": "PENDING", "note": "", "waits": (), "agent": "", "attempts": 0, "started_at": "",
    "not_before": "", "limited": 0, "turns": 0,
}  # fmt: skip


class Progress:
    """How far one milestone is: an immutable copy of its database row, or what a new row holds."""

    __slots__ = (
        "agent", "attempts", "id", "limited", "not_before", "note", "started_at", "status", "turns",
        "waits",
    )  # fmt: skip
    id: str
    status: str
    # Why it is blocked, or was before its last retry.
    note: str
    # The checkpoints without an answer that keep it from running.
    waits: tuple[str, ...]
    # Works on it now.
    agent: str
    # Counts its starts.
    attempts: int
    started_at: str
    # When it starts again after a rate limit.
    not_before: str
    # Counts the rate limits in a row that ended its agents.
    limited: int
    # Counts the calls of tools by the agent that works on it.
    turns: int

    def __init__(self, milestone_id: str, **values: Any) -> None:  # noqa: ANN401 – any field
        for name, default in _NEW.items():
            object.__setattr__(self, name, values.pop(name, default))
        object.__setattr__(self, "id", milestone_id)
        object.__setattr__(self, "waits", tuple(self.waits))
        if values:
            raise TypeError(f"a Progress has no {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        message = f"a Progress is immutable: {name}"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Progress) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    def __hash__(self) -> int:
        return hash((self.id, self.status))

    def __repr__(self) -> str:
        return f"Progress({self.id} {self.status} {self.note!r} waits={self.waits})"

    @property
    def subagent(self) -> str:
        """Return the id of the agent that works or has last worked on it; "" before the first."""
        return f"{self.id}-{self.attempts}" if self.attempts else ""

    def replaced(self, **values: Any) -> Progress:  # noqa: ANN401 – any field
        """Return a copy with the given fields replaced."""
        kept = {name: getattr(self, name) for name in self.__slots__} | values
        return Progress(kept.pop("id"), **kept)


# What `Asked` holds beside a question of the plan, for which no agent and no time limit waits.
OF_THE_PLAN = {"milestone": "", "asked_at": "", "timeout_s": 0}


class Asked:
    """One checkpoint of a run under way: the question that milestones wait for, and its options."""

    __slots__ = (
        "asked_at",
        "header",
        "id",
        "milestone",
        "multi",
        "options",
        "question",
        "timeout_s",
    )
    asked_at: str
    header: str
    id: str
    # The one whose agent has asked, "" for a question of the plan.
    milestone: str
    multi: bool
    options: list[dict[str, str]]
    question: str
    # The time limit, which counts from `asked_at`; 0 for none.
    timeout_s: int

    def __init__(self, values: dict[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, values[name])

    @property
    def keys(self) -> list[str]:
        """Return the keys of the options, in order."""
        return [option["key"] for option in self.options]


class Answer(list[str]):
    """The user's answer to a question: the keys of its options, or their own words as one text."""

    def __init__(
        self, choices: list[str], earlier: list[list[str]], phase: str, *, by_assistant: bool
    ) -> None:
        super().__init__(choices)
        # What was answered before, the oldest first.
        self.earlier = earlier
        # In which it was first answered.
        self.phase = phase
        # Whether the user has left it to the assistant.
        self.by_assistant = by_assistant


class Late:
    """A statement that came after its phase had ended and has made it due again (SD-3)."""

    __slots__ = ("phase", "statement", "work")
    phase: str
    # The id of a question or a remark.
    statement: str
    # Names what the phase had made then.
    work: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


class Deviation:
    """A file that differs from the plan: which milestone reported it, why, if it is accepted."""

    __slots__ = ("accepted", "file", "milestone", "reason")
    accepted: str | None
    file: str
    milestone: str
    reason: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


class Holder:
    """The instance of a client that executes a run, as its database row says."""

    __slots__ = ("at", "instance", "machine", "pid", "process_start", "since")
    # When it last ran a command of execution.
    at: str
    instance: str
    machine: str
    # The client's process, 0 if unknown.
    pid: int
    process_start: str
    since: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


class Auto:
    """A person's approval in advance for one run, with its limits (PM-13)."""

    __slots__ = ("at", "channel", "most_files", "risk", "who")
    at: str
    channel: str
    most_files: int
    risk: str
    who: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


class Queued:
    """A request in the queue."""

    __slots__ = ("after", "at", "id", "priority", "request")

    def __init__(self, name: str, request: str, priority: int, after: list[str], at: str) -> None:
        # A higher priority starts first.
        self.id, self.request, self.priority = name, request, priority
        # It starts once the plans of those that it is `after` are completed.
        self.after, self.at = after, at

    @property
    def number(self) -> int:
        """Return the number in its id, by which the queue has grown."""
        return int(self.id.rpartition("-")[2])
