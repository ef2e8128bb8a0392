"""Review items (questions), which of them block, and the rounds of a review (PL-18, PL-20, PL-21).

Only the standard library, and little of it: printed steps import this module.
"""

from __future__ import annotations

from enum import StrEnum

from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    Severity = Literal["MUST", "SHOULD", "COULD"]
    Status = Literal["TODO", "PASS", "FAIL", "NOT_CHECKED"]
    Author = Literal["script", "reviewer"]
    Verdict = Literal["pass", "fail"]
    Answerer = Literal["agent", "assistant"]

MUST: Severity = "MUST"
SHOULD: Severity = "SHOULD"
COULD: Severity = "COULD"
SEVERITIES: tuple[Severity, ...] = (MUST, SHOULD, COULD)

TODO: Status = "TODO"
PASS: Status = "PASS"  # noqa: S105 – an answer, not a password
FAIL: Status = "FAIL"
NOT_CHECKED: Status = "NOT_CHECKED"
STATUSES: tuple[Status, ...] = (TODO, PASS, FAIL, NOT_CHECKED)

SCRIPT: Author = "script"
REVIEWER: Author = "reviewer"
AUTHORS: tuple[Author, ...] = (SCRIPT, REVIEWER)

# The checks of a script and the questions of reviewers are numbered apart: a new check then leaves
# the ids of the questions as they are.
PREFIXES: dict[Author, str] = {SCRIPT: "qs-", REVIEWER: "qa-"}

# Who answers a reviewer's question: an agent that was started for it, or the host itself.
AGENT: Answerer = "agent"
ASSISTANT: Answerer = "assistant"
ANSWERERS: tuple[Answerer, ...] = (AGENT, ASSISTANT)

VERDICTS: tuple[Verdict, ...] = ("pass", "fail")

EVERYTHING = "*"
ALL_BLOCK_UNTIL = 2
SHOULD_BLOCKS_UNTIL = 4


def blocking_severities(iteration: int) -> tuple[Severity, ...]:
    """Return the severities that block in a review round (from 1); fewer in later ones (PL-21)."""
    if iteration <= ALL_BLOCK_UNTIL:
        return SEVERITIES
    return (MUST, SHOULD) if iteration <= SHOULD_BLOCKS_UNTIL else (MUST,)


class LoopState(StrEnum):
    """Whether a phase's review is in its first round, in a later one, or has passed (PL-20)."""

    INITIAL = "INITIAL"
    RETRY = "RETRY"
    COMPLETE = "COMPLETE"

    @classmethod
    def of(cls, iteration: int, *, passed: bool) -> LoopState:
        """Return a phase's review state, from its round number and whether it has passed."""
        if passed:
            return cls.COMPLETE
        return cls.INITIAL if iteration <= 1 else cls.RETRY

    def after(self, verdict: Verdict) -> LoopState:
        """Return a phase's review state after a verdict; Refused if the phase had passed."""
        if self is LoopState.COMPLETE:
            raise Refused(
                "refused",
                "gate",
                "this phase has already passed its quality review",
                "go on with the current step",
            )
        return LoopState.COMPLETE if verdict == "pass" else LoopState.RETRY


class Item:
    """One question of a quality review, with its answer."""

    __slots__ = (
        "accepted", "answered_by", "asked", "by", "check", "digest", "evidence", "finding", "group",
        "id", "note", "rounds", "scope", "severity", "status",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 – one parameter per field of the file, all by name
        self,
        *,
        id: str,  # noqa: A002 – the field's name in the file
        scope: str,
        check: str,
        severity: Severity = MUST,
        status: Status = TODO,
        finding: str | None = None,
        note: str = "",
        group: str | None = None,
        by: Author = REVIEWER,
        rounds: int = 0,
        accepted: str | None = None,
        evidence: str | None = None,
        answered_by: Answerer | None = None,
        asked: str | None = None,
        digest: str | None = None,
    ) -> None:
        # `qs-NNN` of a script's item, `qa-NNN` of a reviewer's; a script's was `qa-NNN` once.
        self.id = id
        # `*`, the id of an entity, or a file.
        self.scope = scope
        # The id of a check or question, or the name of a reviewer's own finding.
        self.check = check
        self.severity: Severity = severity
        self.status: Status = status
        self.finding = finding
        # What the reviewer tells the person: an exception, a limit, a doubt (RV-8).
        self.note = note
        # The share of one reviewer; None for a script's items.
        self.group = group
        self.by: Author = by
        # At how many failed gates the item blocked.
        self.rounds = rounds
        # The reason why a person accepted the finding, else None.
        self.accepted = accepted
        # What a reviewer named to show that the answer PASS is true, else None (RV-1).
        self.evidence = evidence
        # Who answered a reviewer's question; None before that (RV-3).
        self.answered_by: Answerer | None = answered_by
        # The words of the question, where they are not those of the table (RV-2).
        self.asked = asked
        # Names the bytes and entities that the question is about (RV-5).
        self.digest = digest

    def __repr__(self) -> str:
        return f"Item({', '.join(f'{k}={v!r}' for k, v in self.to_json().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.id)

    def changed(self, **fields: Any) -> Item:  # noqa: ANN401 – any field's value
        """Return a copy of the review question with some fields replaced."""
        return Item(**{**self.to_json(), **fields})

    def to_json(self) -> dict[str, Any]:
        """Return the review question's fields in the order of the review file."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Item:
        """Return a review question from already checked JSON; optional fields may be missing."""
        return cls(**data)


class Said:
    """What the reviewer of a group has decided."""

    __slots__ = ("reason", "verdict")

    def __init__(self, verdict: Verdict | None = None, reason: str = "") -> None:
        # None until it has.
        self.verdict: Verdict | None = verdict
        self.reason = reason

    def to_json(self) -> dict[str, Any]:
        """Return the reviewer's verdict as the content of the review file."""
        return {"verdict": self.verdict, "reason": self.reason}


FIELDS = (
    "id", "scope", "check", "severity", "status", "finding", "note", "group", "by", "rounds",
    "accepted", "evidence", "answered_by", "asked", "digest",
)  # fmt: skip


def item_id(number: int, by: Author = REVIEWER) -> str:
    """Return the id of the n-th item of a review, counted from 1, that this author has made."""
    return f"{PREFIXES[by]}{number:03d}"


def numbered(rows: Iterable[Mapping[str, Any]], start: int) -> list[Item]:
    """Return the item of a script for each row of fields, with ids numbered from `start`."""
    return [Item(id=item_id(n, SCRIPT), by=SCRIPT, **row) for n, row in enumerate(rows, start)]


def rows_of(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return every field of each review question as rows for the review file."""
    return [item.to_json() for item in items]


def blocking(items: Iterable[Item], iteration: int) -> list[Item]:
    """Return the review questions whose answers keep their phase from passing in this round."""
    severities = blocking_severities(iteration)
    return [
        i for i in items if i.status == FAIL and i.accepted is None and i.severity in severities
    ]


def computed_verdict(items: Iterable[Item], iteration: int) -> Verdict:
    """Return the review's verdict, pass or fail; a question not yet answered means fail."""
    items = list(items)
    waits = any(item.status == TODO for item in items)
    return "fail" if waits or blocking(items, iteration) else "pass"
