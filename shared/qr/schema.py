"""The review file qr-<phase>.json: its JSON Schema, a check by hand, reading and writing (PL-18).

Printed steps read the file without third-party packages, so the check by hand decides; a test
compares it with the published schema. Two rules are not in the schema: no id is used twice, and
text holds no lone surrogate.
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
from state.files import read_json, write_json
from state.phases import PHASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.phases import Phase

SCHEMA_VERSION = "1.0"
REQUIRED = ("id", "scope", "check", "status")
NEED_FINDING = (FAIL, NOT_CHECKED)
_PREFIXES = tuple(PREFIXES.values())

_TEXT = {"type": "string", "pattern": r"\S"}
_TEXT_OR_NULL = {"type": ["string", "null"], "pattern": r"\S"}

JSON_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Items of one review phase (qr-<phase>.json)",
    "type": "object",
    "additionalProperties": False,
    "required": ["schema_version", "phase", "items"],
    "properties": {
        "schema_version": {"const": SCHEMA_VERSION},
        "phase": {"enum": list(PHASES)},
        "iteration": {"type": "integer", "minimum": 1},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "verdicts": {"type": "object", "additionalProperties": {"$ref": "#/$defs/verdict"}},
    },
    "$defs": {
        "verdict": {
            "type": "object",
            "additionalProperties": False,
            "required": ["verdict", "reason"],
            "properties": {
                "verdict": {"enum": [*VERDICTS, None]},
                "reason": {"type": "string"},
            },
        },
        "item": {
            "type": "object",
            "additionalProperties": False,
            "required": list(REQUIRED),
            "properties": {
                "id": {"type": "string", "pattern": "^q[as]-[0-9]{3,}$"},
                "scope": _TEXT,
                "check": _TEXT,
                "severity": {"enum": list(SEVERITIES)},
                "status": {"enum": list(STATUSES)},
                "finding": {"type": ["string", "null"]},
                "note": {"type": "string"},
                "group": _TEXT_OR_NULL,
                "by": {"enum": list(AUTHORS)},
                "rounds": {"type": "integer", "minimum": 0},
                "accepted": _TEXT_OR_NULL,
                "evidence": _TEXT_OR_NULL,
                "answered_by": {"enum": [*ANSWERERS, None]},
                "asked": _TEXT_OR_NULL,
                "digest": _TEXT_OR_NULL,
            },
            "if": {"properties": {"status": {"enum": list(NEED_FINDING)}}},
            "then": {"required": ["finding"], "properties": {"finding": _TEXT}},
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
    data = read_json(path)
    problems = check_review(data, path)
    if problems:
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
    """Return a message for each error in the JSON of a quality review; `at` names its file."""
    if not isinstance(data, dict):
        return [Problem("invalid", at, "is not a JSON object", "an object with phase and items")]
    problems = _check_fields(data, _REVIEW, ("schema_version", "phase", "items"), f"{at}: ")
    verdicts = data.get("verdicts")
    for name, said in verdicts.items() if isinstance(verdicts, dict) else ():
        where = f"{at}: verdicts.{name}"
        if isinstance(said, dict):
            problems += _check_fields(said, _VERDICT, ("verdict", "reason"), f"{where}.")
        else:
            problems.append(Problem("invalid", where, "is not a JSON object", "verdict, reason"))
    items = data.get("items")
    seen: dict[str, int] = {}
    for n, item in enumerate(items if isinstance(items, list) else ()):
        where = f"{at}: items[{n}]"
        if not isinstance(item, dict):
            problems.append(
                Problem("invalid", where, "is not a JSON object", ", ".join(Item._fields))
            )
            continue
        problems += _check_fields(item, _ITEM, REQUIRED, f"{where}.")
        if item.get("status") in NEED_FINDING and not _is_text(item.get("finding")):
            text = f"an item that is {item['status']} needs a finding"
            problems.append(
                Problem(
                    "invalid", f"{where}.finding", text, "say what is wrong, where, and what to do"
                )
            )
        item_id = item.get("id")
        if isinstance(item_id, str) and seen.setdefault(item_id, n) != n:
            text = f"{item_id} is the id of items[{seen[item_id]}] too"
            problems.append(Problem("invalid", f"{where}.id", text, "give each item its own id"))
    return problems


def _check_fields(
    data: dict[str, object],
    fields: dict[str, tuple[Callable[[object], bool], str]],
    required: tuple[str, ...],
    at: str,
) -> list[Problem]:
    problems = [
        Problem("invalid", f"{at}{name}", "is missing", fields[name][1])
        for name in required
        if name not in data
    ]
    for name, value in data.items():
        if name not in fields:
            text = f"there is no field {name!a}"
            problems.append(Problem("invalid", f"{at}{name!a}", text, ", ".join(fields)))
            continue
        fits, allowed = fields[name]
        if not fits(value) or (isinstance(value, str) and not _is_unicode(value)):
            problems.append(Problem("invalid", f"{at}{name}", f"is {_short(value)}", allowed))
    return problems


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 – enough to recognise it


def _one_of(values: tuple[str, ...]) -> tuple[Callable[[object], bool], str]:
    return lambda value: isinstance(value, str) and value in values, ", ".join(values)


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_text_or_null(value: object) -> bool:
    return value is None or _is_text(value)


def _is_item_id(value: object) -> bool:
    if not isinstance(value, str) or not value.isascii():
        return False
    return value.startswith(_PREFIXES) and len(value) >= len("qa-000") and value[3:].isdigit()


def _is_count(value: object, least: int) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return value.is_integer() and value >= least
    return isinstance(value, int) and value >= least


def _whole_numbers(item: dict[str, Any]) -> dict[str, Any]:
    return {k: int(v) if isinstance(v, float) else v for k, v in item.items()}


_REVIEW: dict[str, tuple[Callable[[object], bool], str]] = {
    "schema_version": (lambda v: v == SCHEMA_VERSION, f'"{SCHEMA_VERSION}"'),
    "phase": _one_of(PHASES),
    "iteration": (lambda v: _is_count(v, 1), "an integer from 1"),
    "items": (lambda v: isinstance(v, list), "a list of items"),
    "verdicts": (lambda v: isinstance(v, dict), "an object from group to verdict"),
}
_VERDICT: dict[str, tuple[Callable[[object], bool], str]] = {
    "verdict": (lambda v: v is None or v in VERDICTS, "pass, fail or null"),
    "reason": (lambda v: isinstance(v, str), "text"),
}
_ITEM: dict[str, tuple[Callable[[object], bool], str]] = {
    "id": (_is_item_id, f"{' or '.join(_PREFIXES)} and at least three digits"),
    "scope": (_is_text, "*, the id of an entity, or a file"),
    "check": (_is_text, "the id of a check, or the question"),
    "severity": _one_of(SEVERITIES),
    "status": _one_of(STATUSES),
    "finding": (lambda v: v is None or isinstance(v, str), "text or null"),
    "note": (lambda v: isinstance(v, str), "text"),
    "group": (_is_text_or_null, "the name of a reviewer's group of items, or null"),
    "by": _one_of(AUTHORS),
    "rounds": (lambda v: _is_count(v, 0), "an integer from 0"),
    "accepted": (_is_text_or_null, "the reason that a person gave, or null"),
    "evidence": (_is_text_or_null, "an id of the plan, file:line, or null"),
    "answered_by": (lambda v: v is None or v in ANSWERERS, "agent, assistant or null"),
    "asked": (_is_text_or_null, "the words of the question, or null"),
    "digest": (_is_text_or_null, "a digest of what the question is about, or null"),
}
