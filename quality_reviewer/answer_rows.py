"""Put the rows of a reviewer's answer file into the review, or say what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from quality_reviewer.items import next_number
from quality_reviewer.questions import TEXTS
from shared.qr.schema import Review, check_review
from shared.qr.types import EVERYTHING, FAIL, PASS, REVIEWER, TODO, VERDICTS, Item, Said, item_id
from state.errors import Problem, Refused, value_text
from state.validator import check_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quality_reviewer.evidence import Evidence
    from shared.qr.types import Answerer

MOST_ADDED = 3
# The fields that a reviewer may write in an answer, and in a finding that it adds.
_ANSWER = ("id", "status", "finding", "severity", "evidence", "note")
_ADDED = ("check", "scope", "severity", "status", "finding", "broken_by")
_VERDICT = ("verdict", "reason")


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


def answered(review: Review, rows: object, share: Share) -> Answered:
    """Return a review with one reviewer's answers and verdict set, but answers without evidence.

    Raises Refused if a row is anything but an answer, a finding or, at the end, the reviewer's
    verdict; then no row counts.
    """
    if not isinstance(rows, list):
        example = '[{"id": "qa-001", "status": "PASS"}, …]'
        raise Refused("invalid", "verdicts", "the file is not a JSON list of answers", example)
    changed = replace(review, items=[*review.items], verdicts={**review.verdicts})
    problems = _twice(rows)
    unproved: list[Problem] = []
    for n, row in enumerate(rows):
        at = f"[{n}]"
        if not isinstance(row, dict):
            problems.append(
                Problem(
                    "invalid", at, "the entry is not an answer to a question", ", ".join(_ANSWER)
                )
            )
        elif unfit := list(check_value(at, row)):
            problems += unfit
        elif "verdict" in row and "id" not in row:
            last = n == len(rows) - 1
            problems += _decide(changed, row, share, at) if last else [_early(at)]
        elif "id" in row:
            problems += _answer(changed, row, share, at, unproved)
        else:
            problems += _add(changed, row, share, at)
    if problems:
        raise Refused.of([*problems, *unproved])
    return Answered(changed, unproved)


def _early(at: str) -> Problem:
    return Problem("invalid", at, "the verdict is not the last entry", "put it at the end")


def _decide(review: Review, row: dict[str, Any], share: Share, at: str) -> list[Problem]:
    """Set the verdict of the groups that a reviewer has answered, or return what is wrong."""
    problems = _unknown(row, _VERDICT, at)
    verdict, reason = row["verdict"], row.get("reason", "")
    if verdict not in VERDICTS:
        text = f"the verdict is {value_text(verdict)}"
        problems.append(Problem("invalid", f"{at}.verdict", text, ", ".join(VERDICTS)))
    if not isinstance(reason, str):
        problems.append(Problem("invalid", f"{at}.reason", "the reason is no text", "a text"))
    if not problems:
        groups = {i.group or "1" for i in review.items if share.holds(i)}
        said = Said(verdict, reason.strip())
        review.verdicts |= {name: said for name in review.verdicts if name in groups}
    return problems


def _twice(rows: Sequence[object]) -> list[Problem]:
    ids = [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row]
    return [
        Problem("invalid", "verdicts", f"{name} is answered twice", "give one answer for each id")
        for name in dict.fromkeys(ids)
        if ids.count(name) > 1
    ]


def _answer(
    review: Review, row: dict[str, Any], share: Share, at: str, unproved: list[Problem]
) -> list[Problem]:
    """Put a reviewer's answer to one question into the review, or return the answer's problems.

    An answer that only lacks evidence is added to `unproved`.
    """
    items = review.items
    mine = {i.id: n for n, i in enumerate(items) if share.holds(i)}
    number = mine.get(str(row["id"]))
    if number is None:
        whose = f"a question of group {share.group}" if share.group else "a question for reviewers"
        text = f"{row['id']} is not {whose}"
        return [Problem("not_found", f"{at}.id", text, ", ".join(mine) or "none")]
    problems = _unknown(row, _ANSWER, at)
    status, finding = row.get("status"), row.get("finding")
    if status not in (PASS, FAIL):
        problems.append(
            Problem("invalid", f"{at}.status", f"the status is {value_text(status)}", "PASS, FAIL")
        )
    elif status == FAIL and not _is_said(finding):
        text = "the status is FAIL, but `finding` is missing"
        problems.append(
            Problem("invalid", f"{at}.finding", text, "say what is wrong, where, what to do")
        )
    asked, evidence = items[number], row.get("evidence")
    given = _as_said(asked, row, share.who)
    problems = problems or _unfit(review, given, at)
    # By the severity of the question: a reviewer may not lower it to do without evidence.
    if problems or status != PASS:
        lacking = None
    else:
        lacking = share.evidence.problem(given._replace(severity=asked.severity), evidence, at)
    if lacking is not None:
        unproved.append(lacking)
    elif not problems:
        items[number] = given._replace(evidence=share.evidence.in_lines(given))
    return problems


def _as_said(asked: Item, row: dict[str, Any], who: Answerer) -> Item:
    """Return a question with what an answer says of it, be it possible or not."""
    evidence = row.get("evidence")
    return asked._replace(
        status=row.get("status", TODO),
        finding=row.get("finding") or None,
        answered_by=who,
        note=note_of(row),
        evidence=evidence if isinstance(evidence, str) and evidence.strip() else None,
        severity=row.get("severity", asked.severity),
    )


def note_of(row: dict[str, Any]) -> Any:  # noqa: ANN401 – what is no text is refused later
    """Return the note of an answer, without space around it; '' if it has none."""
    note = row.get("note") or ""
    return note.strip() if isinstance(note, str) else note


def _add(review: Review, row: dict[str, Any], share: Share, at: str) -> list[Problem]:
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
    if unfit := _unfit(review, new, at):
        return unfit
    own = [i for i in review.items if (i.by, i.group) == (REVIEWER, group) and i.check not in TEXTS]
    if any(i == new._replace(id=i.id) for i in own):
        return []  # the same file sent again, because the output was lost
    if sum(i.status == FAIL for i in own) >= MOST_ADDED:
        return [
            Problem(
                "refused",
                at,
                f"{MOST_ADDED} findings that no question covers are added already",
                "send the answers without it, or with a FAIL of the question that is nearest to it",
            )
        ]
    review.items.append(new)
    return []


def _unsound(review: Review, row: dict[str, Any], at: str) -> list[Problem]:
    """Return the problems, such as missing text, of a finding that a reviewer wants to add."""
    problems = _unknown(row, _ADDED, at)
    check, ids = row.get("check"), [i.id for i in review.items]
    if not _is_said(check):
        problems.append(
            Problem(
                "invalid",
                f"{at}.check",
                "`check` is missing",
                "name the kind of finding in `check`",
            )
        )
    elif check in TEXTS:
        text = f"{check} is already a question of this review"
        problems.append(
            Problem(
                "refused",
                f"{at}.check",
                text,
                "answer that question by its id, or use another name",
            )
        )
    if row.get("status", FAIL) != FAIL or not _is_said(row.get("finding")):
        text = "an added answer needs the status FAIL and a `finding`"
        problems.append(Problem("invalid", at, text, "say what is wrong, where, what to do"))
    if review.iteration > 1 and "broken_by" not in row:
        text = "after round 1, an added finding needs `broken_by`: the id whose fix did the damage"
        problems.append(Problem("refused", f"{at}.broken_by", text, ", ".join(ids)))
    elif "broken_by" in row and row["broken_by"] not in ids:
        text = f"no review item has the id {value_text(row['broken_by'])}"
        problems.append(Problem("not_found", f"{at}.broken_by", text, ", ".join(ids)))
    return problems


def _unfit(review: Review, item: Item, at: str) -> list[Problem]:
    return check_review(Review(review.phase, review.iteration, [item]).to_json(), at)


def _unknown(row: dict[str, Any], known: Sequence[str], at: str) -> list[Problem]:
    wrong = ", ".join(repr(k) for k in row if k not in known)
    text = f"an answer has no field {wrong}"
    return [Problem("invalid", at, text, ", ".join(known))] if wrong else []


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
