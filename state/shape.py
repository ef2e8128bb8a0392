"""Read a plan's JSON without pydantic: give missing fields their defaults, name faults.

Importing pydantic takes longer than a printed step may. A plan of an earlier planner lacks fields
that have a default since; it is as sound as one that has them (SD-9). What a field may be is read
from the annotations of classes that are made from the models.
"""

from __future__ import annotations

from state.errors import Problem, kind_of_value

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar

    P = TypeVar("P", bound="Part")

SCHEMA_VERSION: Literal[2] = 2

PARTS: dict[str, type[Part]] = {}  # of `state/plan_table.py`, by name
_TYPES: dict[str, Any] = {
    "str": str, "int": (int, float), "bool": bool, "None": type(None),
    "dict": dict, "Any": object,
}  # fmt: skip
# The words are those of written_json.py.
_NAMES = {"str": "a text", "int": "a number", "bool": "true or false", "None": "null",
          "dict": "an object", "Any": "any value", "tuple": "a list"}  # fmt: skip

_known: dict[str, list[tuple[str, str]]] = {}


class Part:
    """A part of a plan: what its class names, as attributes."""

    def __init__(self, **fields: object) -> None:
        vars(self).update(fields)

    def __init_subclass__(cls) -> None:
        """Make the part known by its name, as annotations have it."""
        PARTS[cls.__name__] = cls


def read(data: object, part: type[P]) -> tuple[P, list[Problem]]:
    """Return the JSON of a plan, or of a part of one, with every field; a problem for each fault.

    A fault is a field that is missing and has no default, or a value of the wrong type; with any,
    the object is not to be used.
    """
    faults: list[Problem] = []
    return _read(part.__name__.lower(), data, part.__name__, faults), faults


def as_json(value: object) -> Any:  # noqa: ANN401 – any JSON value
    """Return a part of a plan, or any value of it, as JSON has it."""
    if isinstance(value, Part):
        return {name: as_json(getattr(value, name)) for name in type(value).__annotations__}
    return [as_json(one) for one in value] if isinstance(value, tuple) else value


def _read(at: str, value: object, kind: str, faults: list[Problem]) -> Any:  # noqa: ANN401 – of the kind
    """Return JSON as a value of a kind, which is written as an annotation of the table."""
    kinds = _kinds(kind)
    for outer, inner in kinds:
        if outer in PARTS:
            if isinstance(value, dict):
                return _read_part(at, value, PARTS[outer], faults)
        elif outer == "tuple":
            if isinstance(value, list):
                return tuple([_read(f"{at}[{n}]", v, inner, faults) for n, v in enumerate(value)])
        elif isinstance(value, _TYPES[outer]) and (outer != "int" or not isinstance(value, bool)):
            return value
    wanted = " or ".join(dict.fromkeys(_NAMES.get(outer, "an object") for outer, _ in kinds))
    text = f"this is {kind_of_value(value)}, not {wanted}"
    faults.append(Problem("invalid", at, text, wanted))
    return None


def _read_part(at: str, value: dict[str, Any], part: type[Part], faults: list[Problem]) -> Part:
    found = {}
    for name, kind in part.__annotations__.items():
        if name in value:
            found[name] = _read(f"{at}.{name}", value[name], kind, faults)
        elif hasattr(part, name):
            found[name] = getattr(part, name)
        else:
            faults.append(Problem("invalid", f"{at}.{name}", "it is missing", "add the field"))
    return part(**found)


def _kinds(kind: str) -> list[tuple[str, str]]:
    """Return what a value may be by an annotation: each kind, and what the items of a list may."""
    if kind not in _known:
        _known[kind] = []
        for one in _split(kind, "|"):
            outer, _, inner = one.partition("[")
            if outer == "Literal":
                outer = "str" if inner[0] in "'\"" else "int"
            _known[kind].append((outer, " | ".join(_split(inner[:-1], ","))))
    return _known[kind]


def _split(text: str, mark: str) -> list[str]:
    """Return the parts of an annotation between marks that stand in no brackets, without `...`."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == mark and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip() != "..."]
