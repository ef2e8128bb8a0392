"""The review file qr-<phase>.json: its JSON Schema, reading and writing (PL-18).

Printed steps read the file without third-party packages: those are loaded only to say what is wrong
with it. Two rules are not in the schema: no id is used twice, and text holds no lone surrogate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shared.qr.types import (
    ANSWERERS,
    AUTHORS,
    FAIL,
    NOT_CHECKED,
    PREFIXES,
    SEVERITIES,
    STATUSES,
    VERDICTS,
    Item,
    Said,
    rows_of,
)
from state.errors import Problem, Refused
from state.files import write_json
from state.kept_files import REPAIR, read_kept
from state.phases import PHASES
from state.plain_json import check_value, is_plainly_sound

if TYPE_CHECKING:
    from state.phases import Phase

SCHEMA_VERSION = "1.0"
_PREFIXES = tuple(PREFIXES.values())
_FINDING = "say what is wrong, where, and what to do"


def _text(allowed: str, *, null: bool = False) -> dict[str, Any]:
    """Return the schema of a text that says something."""
    kinds = ["string", "null"] if null else "string"
    return {"type": kinds, "pattern": r"\S", "allowed": f"{allowed}, or null" if null else allowed}


_FREE = {"type": "string", "allowed": "a text"}
JSON_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Items of one review phase (qr-<phase>.json)",
    "type": "object",
    "allowed": "an object with phase and items",
    "additionalProperties": False,
    "required": ["schema_version", "phase", "items"],
    "properties": {
        "schema_version": {"enum": [SCHEMA_VERSION]},
        "phase": {"enum": list(PHASES)},
        "iteration": {"type": "integer", "minimum": 1, "allowed": "an integer from 1"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "allowed": "a list of items"},
        "verdicts": {
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/verdict"},
            "allowed": "an object from group to verdict",
        },
    },
    "$defs": {
        "verdict": {
            "type": "object",
            "allowed": "verdict, reason",
            "additionalProperties": False,
            "required": ["verdict", "reason"],
            "properties": {"verdict": {"enum": [*VERDICTS, None]}, "reason": _FREE},
        },
        "item": {
            "type": "object",
            "allowed": ", ".join(Item._fields),
            "additionalProperties": False,
            "required": ["id", "scope", "check", "status"],
            "properties": {
                "id": {
                    "type": "string",
                    "pattern": r"^q[as]-[0-9]{3,}\Z",
                    "allowed": f"{' or '.join(_PREFIXES)} and at least three digits",
                },
                "scope": _text("*, the id of an entity, or a file"),
                "check": _text("the id of a check, or the question"),
                "severity": {"enum": list(SEVERITIES)},
                "status": {"enum": list(STATUSES)},
                "finding": {"type": ["string", "null"], "allowed": "a text, or null"},
                "note": _FREE,
                "group": _text("the name of a reviewer's group of items", null=True),
                "by": {"enum": list(AUTHORS)},
                "rounds": {"type": "integer", "minimum": 0, "allowed": "an integer from 0"},
                "accepted": _text("the reason that a person gave", null=True),
                "declined": _text("the reason that its author gave", null=True),
                "evidence": _text("an id of the plan, file:line", null=True),
                "cited": {"type": ["object", "null"], "additionalProperties": _FREE},
                "answered_by": {"enum": [*ANSWERERS, None]},
                "asked": _text("the words of the question", null=True),
                "digest": _text("a digest of what the question is about", null=True),
            },
            "if": {"properties": {"status": {"enum": [FAIL, NOT_CHECKED]}}},
            "then": {"required": ["finding"], "properties": {"finding": _text(_FINDING)}},
        },
    },
}


@dataclass
class Review:
    """The content of one quality review file."""

    phase: Phase
    iteration: int = 1
    items: list[Item] = field(default_factory=list)
    # For each group that is asked in this round, what its reviewer has decided.
    verdicts: dict[str, Said] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the quality review as the content of its JSON file."""
        return {
            "schema_version": SCHEMA_VERSION,
            "phase": self.phase,
            "iteration": self.iteration,
            "items": rows_of(self.items),
            "verdicts": {name: said._asdict() for name, said in self.verdicts.items()},
        }


def read_review(path: str) -> Review:
    """Return the quality review stored in a file; Refused with a list of all errors in the file."""
    data = read_kept(path, lambda value: value)
    problems = check_review(data, path)
    if problems:
        for problem in problems:
            problem.retry = problem.retry or REPAIR
        raise Refused.of(problems)
    items = [Item(**_whole_numbers(item)) for item in data["items"]]
    verdicts = {name: Said(**said) for name, said in data.get("verdicts", {}).items()}
    return Review(data["phase"], int(data.get("iteration", 1)), items, verdicts)


def write_review(path: str, review: Review) -> None:
    """Replace a quality review file; Refused, keeping the old file, if the new review is invalid.

    The caller holds the lock of the state directory, and read the review inside it.
    """
    data = review.to_json()
    problems = check_review(data, path)
    if problems:
        raise Refused.of(problems)
    write_json(path, data)


def check_review(data: object, at: str) -> list[Problem]:
    """Return a problem for each error in the JSON of a quality review; `at` names its file."""
    if not is_plainly_sound(data, JSON_SCHEMA) or next(check_value(at, data), None) is not None:
        # Not at the top: printed steps import this module, and a sound file needs neither.
        from shared.dependencies import ensure

        ensure()
        from state.written_json import problems_in

        if problems := problems_in(data, JSON_SCHEMA):
            for problem in problems:
                problem.at = f"{at}: {problem.at}" if problem.at else at
            return problems
    assert isinstance(data, dict)  # noqa: S101 – the schema says so
    ids = [item["id"] for item in data["items"]]
    return [
        Problem(
            "invalid",
            f"{at}: items[{n}].id",
            f"{name} is the id of items[{ids.index(name)}] too",
            "give each item its own id",
        )
        for n, name in enumerate(ids)
        if ids.index(name) < n
    ]


def _whole_numbers(item: dict[str, Any]) -> dict[str, Any]:
    return {k: int(v) if isinstance(v, float) else v for k, v in item.items()}
