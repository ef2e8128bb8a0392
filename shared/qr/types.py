"""Review items (questions), which of them block, the rounds of a review (PL-18, PL-20, PL-21)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


class Item(NamedTuple):
    """One question of a quality review, with its answer; its fields are those of the file."""

    # `qs-NNN` of a script's item, `qa-NNN` of a reviewer's; a script's was `qa-NNN` once.
    id: str
    # `*`, the id of an entity, or a file.
    scope: str
    # The id of a check or question, or the name of a reviewer's own finding.
    check: str
    severity: Severity = MUST
    status: Status = TODO
    finding: str | None = None
    # What the reviewer tells the person: an exception, a limit, a doubt (RV-8).
    note: str = ""
    # The share of one reviewer; None for a script's items.
    group: str | None = None
    by: Author = REVIEWER
    # At how many failed gates the item blocked.
    rounds: int = 0
    # The reason why a person accepted the finding, else None.
    accepted: str | None = None
    # Why its author leaves a COULD as it is, else None; a reviewer who insists makes it a SHOULD.
    declined: str | None = None
    # What a reviewer named to show that the answer PASS is true, else None (RV-1).
    evidence: str | None = None
    # What reads where the evidence says, by the names of its lines and runs (SD-4).
    cited: dict[str, str] | None = None
    # Who answered a reviewer's question; None before that (RV-3).
    answered_by: Answerer | None = None
    # The words of the question; None of a script's item and of a reviewer's own finding.
    asked: str | None = None
    # Names the bytes and entities that the question is about (RV-5).
    digest: str | None = None


class Said(NamedTuple):
    """What the reviewer of a group has decided."""

    # None until it has.
    verdict: Verdict | None = None
    reason: str = ""


def item_id(number: int, by: Author = REVIEWER) -> str:
    """Return the id of the n-th item of a review, counted from 1, that this author has made."""
    return f"{PREFIXES[by]}{number:03d}"


def numbered(rows: Iterable[Mapping[str, Any]], start: int) -> list[Item]:
    """Return the item of a script for each row of fields, with ids numbered from `start`."""
    return [Item(id=item_id(n, SCRIPT), by=SCRIPT, **row) for n, row in enumerate(rows, start)]


def rows_of(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return every field of each review question as rows for the review file."""
    return [item._asdict() for item in items]


def blocking(items: Iterable[Item], iteration: int) -> list[Item]:
    """Return the review questions whose answers keep their phase from passing in this round."""
    severities = blocking_severities(iteration)
    failing = [i for i in items if i.status == FAIL and i.severity in severities]
    return [i for i in failing if i.accepted is None and i.declined is None]


def computed_verdict(items: Iterable[Item], iteration: int) -> Verdict:
    """Return the review's verdict, pass or fail; a question not yet answered means fail."""
    items = list(items)
    waits = any(item.status == TODO for item in items)
    return "fail" if waits or blocking(items, iteration) else "pass"
