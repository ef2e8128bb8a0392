"""Parse and update a light plan: a list of steps, made without a full planning run (PM-6)."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RISKS = ("low", "medium", "high")
PENDING, STARTED, DONE = "pending", "started", "done"
MOST_SENTENCES = 3
_SENTENCE = re.compile(r"[^.!?。]*[.!?。]+(?=\s+[^\sa-z]|\s*$)|\S[^.!?。]*$")
_PLAN_KEYS = ("summary", "steps", "questions", "context_notes")
_STEP_KEYS = ("description", "tools", "risk")
_EXAMPLE = (
    '{"summary": "…", "steps": [{"description": "…", "tools": ["Edit"], "risk": "low"}], '
    '"questions": [], "context_notes": "…"}'
)


def parse_light(value: object) -> dict[str, Any]:
    """Return a checked light plan (a list of steps), complete; raise Refused with all problems."""
    problems = list(_problems(value))
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
        "questions": value.get("questions", []),
        "context_notes": value.get("context_notes", ""),
    }  # fmt: skip


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
    if not isinstance(value, dict):
        yield Problem("invalid", "plan", "the light plan is not a JSON object", _EXAMPLE)
        return
    yield from _unknown(value, _PLAN_KEYS, "")
    yield from _text(value.get("summary"), "summary")
    if isinstance(value.get("summary"), str):
        count = len(_SENTENCE.findall(value["summary"].strip()))
        if count > MOST_SENTENCES:
            yield Problem(
                "invalid", "summary", f"the summary has {count} sentences", "1 to 3 sentences"
            )
    steps = value.get("steps")
    if not isinstance(steps, list) or not steps:
        yield Problem("invalid", "steps", "`steps` is not a list of steps", _EXAMPLE)
    else:
        for number, step in enumerate(steps):
            yield from _step_problems(step, f"steps[{number}]")
    yield from _texts(value.get("questions", []), "questions")
    notes = value.get("context_notes", "")
    if not isinstance(notes, str):
        yield Problem("invalid", "context_notes", "`context_notes` is not text", _EXAMPLE)
    else:
        yield from _unstorable("context_notes", notes)


def _step_problems(step: object, at: str) -> Iterator[Problem]:
    if not isinstance(step, dict):
        yield Problem("invalid", at, "the step is not a JSON object", _EXAMPLE)
        return
    yield from _unknown(step, _STEP_KEYS, f"{at}.")
    yield from _text(step.get("description"), f"{at}.description")
    yield from _texts(step.get("tools", []), f"{at}.tools")
    if step.get("risk") not in RISKS:
        yield Problem(
            "invalid", f"{at}.risk", "`risk` is not one of the known risks", ", ".join(RISKS)
        )


def _unknown(value: dict[str, Any], known: tuple[str, ...], at: str) -> Iterator[Problem]:
    for key in value:
        if key not in known:
            yield Problem(
                "invalid", f"{at}{key}", "a light plan has no such field", ", ".join(known)
            )


def _texts(value: object, at: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem("invalid", at, "the value is not a list of texts", _EXAMPLE)
        return
    for number, text in enumerate(value):
        yield from _text(text, f"{at}[{number}]")


def _text(value: object, at: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not value.strip():
        yield Problem("invalid", at, "the value is empty or not text", _EXAMPLE)
    else:
        yield from _unstorable(at, value)


def _unstorable(at: str, value: str) -> Iterable[Problem]:
    # The validator loads the models; whoever only shows a plan needs neither.
    from state.validator import check_value

    return check_value(at, value)
