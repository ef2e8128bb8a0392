"""Read a plan's JSON without pydantic: fill in the fields that it was written without, name faults.

Importing pydantic takes longer than a printed step may. A plan of an earlier planner lacks fields
that have a default since; it is as sound as one that has them (SD-9). What a field may be is read
from a table that is made from the models.
"""

from __future__ import annotations

from state.errors import Problem
from state.plan_table import MODELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

SCHEMA_VERSION: Literal[2] = 2

_TYPES: dict[str, Any] = {
    "text": str, "number": (int, float), "flag": bool, "null": type(None), "map": dict,
    "any": object,
}  # fmt: skip
_NAMES = {"text": "text", "number": "a number", "flag": "true or false", "null": "null",
          "map": "an object", "any": "any value"}  # fmt: skip

_split: dict[str, list[str]] = {}


def complete(plan: object) -> list[Problem]:
    """Fill in the default of each field that a plan lacks; return a problem for each other fault.

    A fault is a field that is missing and has no default, or a value of the wrong type.
    """
    faults: list[Problem] = []
    _check("plan", plan, "Plan", faults)
    return faults


def _check(at: str, value: object, kind: str, faults: list[Problem]) -> None:
    for one in _parts(kind):
        if one in MODELS:
            if isinstance(value, dict):
                _check_fields(at, value, one, faults)
                return
        elif one[0] == "[":
            if isinstance(value, list):
                for number, item in enumerate(value):
                    _check(f"{at}[{number}]", item, one[1:-1], faults)
                return
        elif isinstance(value, _TYPES[one]) and (one != "number" or not isinstance(value, bool)):
            return
    wanted = " or ".join(dict.fromkeys(map(_name, _parts(kind))))
    text = f"the value is not {wanted}; the file was not changed"
    faults.append(Problem("invalid", at, text, wanted))


def _check_fields(at: str, value: dict[str, Any], model: str, faults: list[Problem]) -> None:
    for name, (kind, *default) in MODELS[model].items():
        if name not in value:
            if not default:
                text = "the field is missing; the file was not changed"
                faults.append(Problem("invalid", f"{at}.{name}", text))
                continue
            (given,) = default
            value[name] = given.copy() if isinstance(given, dict | list) else given
        _check(f"{at}.{name}", value[name], kind, faults)


def _parts(kind: str) -> list[str]:
    """Return the kinds of which a value is one; what stands in brackets is one of them."""
    if kind not in _split:
        parts, depth = [""], 0
        for character in kind:
            depth += (character == "[") - (character == "]")
            if character == "|" and not depth:
                parts.append("")
            else:
                parts[-1] += character
        _split[kind] = parts
    return _split[kind]


def _name(kind: str) -> str:
    if kind in MODELS:
        return "an object"
    return "a list" if kind[0] == "[" else _NAMES[kind]
