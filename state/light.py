"""Parse and update a light plan: a list of steps, made without a full planning run (PM-6)."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from state.errors import Problem, Refused
from state.written_json import TEXT, an_object, known_fields, list_of, problems_in

if TYPE_CHECKING:
    from collections.abc import Iterator

RISKS = ("low", "medium", "high")
PENDING, STARTED, DONE = "pending", "started", "done"
MOST_SENTENCES = 3
NO_PLAN: dict[str, Any] = {"steps": [], "questions": []}
_SENTENCE = re.compile(r"[^.!?。]*[.!?。]+(?=\s+[^\sa-z]|\s*$)|\S[^.!?。]*$")
_STEP_KEYS = ("description", "tools", "risk")
_EXAMPLE = (
    '{"summary": "…", "steps": [{"description": "…", "tools": ["Edit"], "risk": "low"}], '
    '"questions": [], "context_notes": "…"}'
)
_TEXT = {**TEXT, "allowed": _EXAMPLE}
# A text while it is open; then with what the user has said, or why it is pointless now.
_QUESTION = {
    "type": ["string", "object"], "pattern": TEXT["pattern"],
    "if": {"type": "object", "required": ["withdrawn"]},
    "then": known_fields({"question": _TEXT, "withdrawn": _TEXT}, ("question", "withdrawn")),
    "else": known_fields({"question": _TEXT, "answer": _TEXT}, ("question", "answer")),
    "allowed": 'a text while it is open, then {"question": "…", "answer": "…"}',
}  # fmt: skip
_STEP = {"description": _TEXT, "tools": list_of(_TEXT, _EXAMPLE), "risk": {"enum": RISKS}}
_SCHEMA = an_object(
    {
        "summary": _TEXT,
        "steps": list_of(an_object(_STEP, ("description", "risk"), _EXAMPLE), _EXAMPLE, minItems=1),
        "questions": list_of(_QUESTION, _EXAMPLE),
        "context_notes": {"type": "string", "allowed": _EXAMPLE},
    },
    ("summary", "steps"),
    _EXAMPLE,
)


def parse_light(value: object, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a checked light plan (a list of steps), complete; raise Refused with all problems.

    `before` is the revision that was submitted last. What it asks stays, by its words: open,
    answered or withdrawn; an answer to what no revision has asked is marked as not asked.
    """
    known = {_words(one): one for one in (before or NO_PLAN)["questions"]}
    problems = list(_problems(value))
    if not problems:
        problems += _missing(value, known)
    if problems:
        raise Refused.of(problems)
    assert isinstance(value, dict)  # noqa: S101 – `_problems` has checked it
    return {
        "summary": value["summary"].strip(),
        "steps": [
            {"description": s["description"].strip(), "tools": s.get("tools", []),
             "risk": s["risk"], "status": PENDING}
            for s in value["steps"]
        ],
        "questions": [_marked(one, known) for one in value.get("questions", [])],
        "context_notes": value.get("context_notes", ""),
    }  # fmt: skip


def _words(question: str | dict[str, Any]) -> str:
    return (question if isinstance(question, str) else str(question["question"])).strip()


def _missing(value: Any, known: dict[str, Any]) -> Iterator[Problem]:  # noqa: ANN401 – JSON
    """Yield each question that was open when the plan was submitted last, and is gone."""
    there = {_words(one) for one in value.get("questions", [])}
    for words, one in known.items():
        if isinstance(one, str) and words not in there:
            text = f"a question that you have asked is missing: {words}"
            ways = 'the same words with "answer", or with "withdrawn" and why'
            yield Problem("refused", "plan.questions", text, ways)


def _marked(question: str | dict[str, Any], known: dict[str, Any]) -> str | dict[str, Any]:
    """Return a question; an answered one with whether a revision before has asked it."""
    if isinstance(question, str) or "withdrawn" in question:
        return question
    before = known.get(_words(question))
    asked = before.get("asked", True) if isinstance(before, dict) else before is not None
    return {**question, "asked": asked}


def open_questions(plan: dict[str, Any]) -> list[str]:
    """Return the questions of a light plan (a list of steps) that its user has not answered."""
    return [one for one in plan["questions"] if isinstance(one, str)]


def digest_of(plan: dict[str, Any]) -> str:
    """Return the SHA-256 of a light plan (a list of steps), without the status of the steps."""
    steps = [{key: step[key] for key in _STEP_KEYS} for step in plan["steps"]]
    text = json.dumps({**plan, "steps": steps}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def mark(plan: dict[str, Any], number: int, status: str) -> dict[str, Any]:
    """Return a light plan with step `number` marked started or done; done steps stay done."""
    steps = plan["steps"]
    if not 1 <= number <= len(steps):
        text = f"the plan has no step {number}"
        raise Refused("not_found", f"steps[{number}]", text, f"1 to {len(steps)}")
    step = steps[number - 1]
    kept = DONE if step["status"] == DONE else status
    return {**plan, "steps": [*steps[: number - 1], {**step, "status": kept}, *steps[number:]]}


def is_done(plan: dict[str, Any]) -> bool:
    """Return whether every step of a light plan is done."""
    return all(step["status"] == DONE for step in plan["steps"])


def _problems(value: object) -> Iterator[Problem]:
    yield from problems_in(value, _SCHEMA, "plan")
    summary = value.get("summary") if isinstance(value, dict) else None
    count = len(_SENTENCE.findall(summary.strip())) if isinstance(summary, str) else 0
    if count > MOST_SENTENCES:
        text = f"the summary has {count} sentences"
        yield Problem("invalid", "summary", text, f"1 to {MOST_SENTENCES} sentences")
