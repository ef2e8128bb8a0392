"""Put the rows of a reviewer's answer file into the review, or say what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from quality_reviewer.items import next_number
from quality_reviewer.looked_up import cited, misplaced
from quality_reviewer.questions import TEXTS
from shared.qr.types import (
    COULD,
    EVERYTHING,
    FAIL,
    PASS,
    REVIEWER,
    SEVERITIES,
    SHOULD,
    TODO,
    VERDICTS,
    Item,
    Said,
    item_id,
)
from state.errors import Problem, Refused, value_text
from state.written_json import TEXT, TEXT_OR_NULL, known_fields, list_of, problems_in, sound_items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from quality_reviewer.evidence import Evidence
    from shared.qr.schema import Review
    from shared.qr.types import Answerer

    Json = dict[str, Any]

MOST_ADDED = 3
_EXAMPLE = '[{"id": "qa-001", "status": "PASS"}, …]'
_FINDING = {**TEXT, "allowed": "say what is wrong, where, what to do"}
_SEVERITY = {"enum": SEVERITIES}
# What a reviewer may write: an answer to a question, its verdict, and a finding that it adds.
_ANSWER = {
    **known_fields(
        {
            "id": TEXT, "status": {"enum": (PASS, FAIL)}, "finding": TEXT_OR_NULL,
            "severity": _SEVERITY, "evidence": TEXT_OR_NULL, "note": TEXT_OR_NULL,
        },
        ("id", "status"),
    ),
    "if": {"properties": {"status": {"enum": (FAIL,)}}, "required": ["status"]},
    "then": {"properties": {"finding": _FINDING}, "required": ["finding"]},
}  # fmt: skip
_VERDICT = known_fields(
    {"verdict": {"enum": VERDICTS}, "reason": {"type": "string", "allowed": "a text"}}, ["verdict"]
)
_ADDED = known_fields(
    {
        "check": {**TEXT, "allowed": "name the kind of finding"}, "scope": TEXT,
        "severity": _SEVERITY, "status": {"enum": (FAIL,)}, "finding": _FINDING,
        "broken_by": {**TEXT, "allowed": "the id whose fix did the damage"},
    },
    ("check", "finding"),
)  # fmt: skip
_ROW = {
    "type": "object", "allowed": _EXAMPLE,
    "if": {"required": ["id"]}, "then": _ANSWER,
    "else": {"if": {"required": ["verdict"]}, "then": _VERDICT, "else": _ADDED},
}  # fmt: skip
_ROWS = list_of(_ROW, _EXAMPLE)


class Rows(NamedTuple):
    """The entries of an answer file."""

    # Those of the right form, by their place in the file.
    sound: dict[int, Json]
    # How many entries there are.
    length: int
    # What is wrong with the others.
    problems: list[Problem]


def read_rows(value: object) -> Rows:
    """Return the entries of an answer file, and what is wrong with their form."""
    problems = problems_in(value, _ROWS, "verdicts")
    length = len(value) if isinstance(value, list) else 0
    return Rows(sound_items(value, problems), length, problems)


class Share(NamedTuple):
    """The group of review questions that one reviewer answers."""

    group: str | None  # None for the whole review
    evidence: Evidence
    who: Answerer

    def holds(self, item: Item) -> bool:
        """Return whether the reviewer is the one who answers a question."""
        return item.by == REVIEWER and self.group in (None, item.group)


class Answered(NamedTuple):
    """A review with one reviewer's answers, and why some of its answers are left out."""

    review: Review
    unproved: list[Problem]


def answered(review: Review, rows: Rows, share: Share) -> Answered:
    """Return a review with one reviewer's answers and verdict set, but answers without evidence.

    Raises Refused if a row is anything but an answer, a finding or, at the end, the reviewer's
    verdict; then no row counts.
    """
    changed = replace(review, items=[*review.items], verdicts={**review.verdicts})
    problems = [*rows.problems, *_twice(rows.sound.values()), *_nothing(review, rows, share)]
    unproved: list[Problem] = []
    for n, row in rows.sound.items():
        at = f"[{n}]"
        if "id" in row:
            problems += _answer(changed, row, share, at, unproved)
        elif "verdict" not in row:
            problems += _add(changed, row, share, at)
        elif n < rows.length - 1:
            problems.append(_early(at))
        else:
            _decide(changed, row, share)
    unproved += _open_misplaced(changed, share, rows)
    if problems:
        raise Refused.of([*problems, *unproved])
    return Answered(changed, unproved)


def _open_misplaced(review: Review, share: Share, rows: Rows) -> list[Problem]:
    """Open each question again whose evidence shows another one; return what is wrong with it."""
    items = review.items
    mine = [i for i in items if share.holds(i)]
    problems = {}
    places = {row.get("id"): f"[{n}]" for n, row in rows.sound.items()}
    for item, why, allowed in misplaced(share.evidence, mine):
        at = places.get(item.id, item.id)
        problems[item.id] = Problem("invalid", f"{at}.evidence", why, allowed)
    review.items[:] = [
        i._replace(status=TODO, evidence=None, cited=None, answered_by=None, note="")
        if i.id in problems
        else i
        for i in items
    ]
    return [*problems.values()]


def _early(at: str) -> Problem:
    return Problem("invalid", at, "the verdict is not the last entry", "put it at the end")


def _decide(review: Review, row: Json, share: Share) -> None:
    """Set the verdict of the groups that a reviewer has answered."""
    groups = {i.group or "1" for i in review.items if share.holds(i)}
    said = Said(row["verdict"], row.get("reason", "").strip())
    review.verdicts |= {name: said for name in review.verdicts if name in groups}


def _nothing(review: Review, rows: Rows, share: Share) -> list[Problem]:
    """Return what is wrong with a file that says nothing, or its verdict alone before an answer."""
    left = [i.id for i in review.items if share.holds(i) and i.status == TODO]
    decides_alone = bool(rows.length) and not left
    if rows.problems or decides_alone or any("verdict" not in r for r in rows.sound.values()):
        return []
    due = f"still to answer: {', '.join(left)}" if left else 'or a verdict: [{"verdict": "pass"}]'
    return [Problem("invalid", "verdicts", "the file has no answer in it", f"{_EXAMPLE} · {due}")]


def _twice(rows: Iterable[Json]) -> list[Problem]:
    ids = [row["id"] for row in rows if "id" in row]
    return [
        Problem("invalid", "verdicts", f"{name} is answered twice", "give one answer for each id")
        for name in dict.fromkeys(ids)
        if ids.count(name) > 1
    ]


def _answer(
    review: Review, row: Json, share: Share, at: str, unproved: list[Problem]
) -> list[Problem]:
    """Put a reviewer's answer to one question into the review, or return the answer's problems.

    An answer that only lacks evidence is added to `unproved`.
    """
    items = review.items
    mine = {i.id: n for n, i in enumerate(items) if share.holds(i)}
    number = mine.get(row["id"])
    if number is None:
        whose = f"a question of group {share.group}" if share.group else "a question for reviewers"
        text = f"{row['id']} is not {whose}"
        return [Problem("not_found", f"{at}.id", text, ", ".join(mine) or "none")]
    asked, evidence = items[number], row.get("evidence") or ""
    given = asked._replace(
        status=row["status"], finding=row.get("finding") or None, answered_by=share.who,
        note=note_of(row), evidence=evidence if evidence.strip() else None,
        severity=row.get("severity", asked.severity), declined=None,
    )  # fmt: skip
    if asked.declined and (given.status, given.severity) == (FAIL, COULD):
        given = given._replace(severity=SHOULD)  # who insists makes it one (SD-6)
    # By the severity of the question: a reviewer may not lower it to do without evidence.
    lacking = share.evidence.problem(given._replace(severity=asked.severity), evidence, at)
    if lacking is not None:
        unproved.append(lacking)
    else:
        shown = given._replace(evidence=share.evidence.in_lines(given))
        items[number] = shown._replace(cited=cited(share.evidence, shown))
    return []


def note_of(row: Json) -> str:
    """Return the note of an answer, without space around it; '' if it has none."""
    return (row.get("note") or "").strip()


def _add(review: Review, row: Json, share: Share, at: str) -> list[Problem]:
    """Add to the review a finding that no question asked for, or return the finding's problems."""
    scope = row.get("scope", EVERYTHING)
    group = share.group or next((i.group for i in review.items if i.scope == scope), "1")
    problems = _unsound(review, row, at)
    if problems:
        return problems
    breaker = row.get("broken_by")
    cause = f"(broken by the fix of {breaker}) " if breaker else ""
    values = {
        "id": item_id(next_number(review.items)), "scope": scope, "check": row["check"],
        "severity": row.get("severity", "SHOULD"), "status": FAIL, "group": group,
        "finding": f"{cause}{row['finding']}", "answered_by": share.who,
    }  # fmt: skip
    new = Item(**values)
    own = [i for i in review.items if (i.by, i.group) == (REVIEWER, group) and i.check not in TEXTS]
    if any(i == new._replace(id=i.id) for i in own):
        return []  # the same file sent again, because the output was lost
    if sum(i.status == FAIL for i in own) >= MOST_ADDED:
        text = f"{MOST_ADDED} findings that no question covers are added already"
        allowed = (
            "send the answers without it, or with a FAIL of the question that is nearest to it"
        )
        return [Problem("refused", at, text, allowed)]
    review.items.append(new)
    return []


def _unsound(review: Review, row: Json, at: str) -> list[Problem]:
    """Return why a finding may not be added: its name is a question's, or its cause is not told."""
    problems, ids = [], [i.id for i in review.items]
    if row["check"] in TEXTS:
        text = f"{row['check']} is already a question of this review"
        allowed = "answer that question by its id, or use another name"
        problems.append(Problem("refused", f"{at}.check", text, allowed))
    if review.iteration > 1 and "broken_by" not in row:
        text = "after round 1, an added finding needs `broken_by`: the id whose fix did the damage"
        problems.append(Problem("refused", f"{at}.broken_by", text, ", ".join(ids)))
    elif "broken_by" in row and row["broken_by"] not in ids:
        text = f"no review item has the id {value_text(row['broken_by'])}"
        problems.append(Problem("not_found", f"{at}.broken_by", text, ", ".join(ids)))
    return problems
