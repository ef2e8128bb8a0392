"""Say in our words what is wrong with the values of a model, and what is allowed (PL-11).

pydantic's own words name its types and tags of unions, which a reader of the plan does not know.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from state.errors import Problem, kind_of_value
from state.plain_json import LARGEST_INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

# What should stand there, by the type of pydantic's error. The words are those of written_json.py.
_KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
# What is said of another value, what is allowed, and what of the error fills both.
_BOUNDS = {
    "literal_error": ("this is none of the possible values", "{expected}"),
    "string_pattern_mismatch": ("this is not of the allowed form", "{pattern}"),
    "greater_than_equal": ("this is too small", "{ge} or more"),
    "less_than_equal": ("this is too large", "{le} or less"),
    "int_parsing_size": ("this is too large", f"{LARGEST_INTEGER} or less"),
    "too_short": ("this has {actual_length} entries, which are too few",
                  "{min_length} entries or more"),
    "too_long": ("this has {actual_length} entries, which are too many",
                 "{max_length} entries or fewer"),
    "string_unicode": ("this text holds half of a character", "a text that UTF-8 can hold"),
    "json_invalid": ("this is not JSON: {error}", "one JSON value"),
    "missing": ("it is missing", "add the field"),
    "extra_forbidden": ("there is no such field", "leave the field out"),
}  # fmt: skip
_OTHER = "this may not stand here", "`planner plan schema` shows what may"
# How pydantic names the members of a union in a path, besides the names of models.
_TAGS = ("str", "constrained-int", "tuple[str, ...]")
_MOST_LISTED = 2_000
_MAPPINGS = ("params", "seals", "counters")  # fields whose keys are free


class _Row(NamedTuple):
    """One error that pydantic found."""

    at: str
    # The path of the value if it may be of several kinds, else ''.
    union: str
    kind: str
    value: Any
    said: str
    allowed: str


def problems_of(error: ValidationError, at: str) -> list[Problem]:
    """Convert a pydantic error to Problem objects, with field paths that begin with `at`.

    A value that may be of several kinds and is of none is one problem. Of very many only the number
    is told: to list them takes far more memory than what they are about.
    """
    if error.error_count() > _MOST_LISTED:
        text = f"{error.error_count():,} values are none that may stand there"
        return [Problem("invalid", at, text, "`planner plan schema` shows what may")]
    rows = [_row(row, at) for row in error.errors(include_url=False)]
    return [Problem("invalid", row.at, row.said, row.allowed) for row in _joined(rows)]


def _joined(rows: list[_Row]) -> Iterator[_Row]:
    """Yield the errors, of each union only those of the kind that the value has."""
    done = set[str]()
    for row in rows:
        own = [one for one in rows if one.union == row.union and row.union]
        kinds = [one for one in own if one.kind and one.at == one.union]
        if row not in kinds:
            yield row
        elif len(kinds) == len(own) and row.union not in done:
            done.add(row.union)
            first = [*dict.fromkeys(one.kind for one in kinds)]
            wanted = " or ".join(filter(None, (", ".join(first[:-1]), first[-1])))
            said = f"this is {kind_of_value(row.value)}, not {wanted}"
            yield row._replace(said=said, allowed=wanted)


def _row(row: ErrorDetails, at: str) -> _Row:
    union, value, last = "", row["input"], len(row["loc"])
    for number, (before, part) in enumerate(pairwise(("", *row["loc"])), 1):
        named = number == last and row["type"] == "extra_forbidden"  # by whoever wrote it
        if isinstance(part, int):
            at += f"[{part}]"
        elif not named and before not in _MAPPINGS and (part in _TAGS or part[:1].isupper()):
            union = at
        else:
            at += f".{part}"
    kind, given = _KINDS.get(row["type"], ""), row.get("ctx", {})
    if kind:
        return _Row(at, union, kind, value, f"this is {kind_of_value(value)}, not {kind}", kind)
    words, allowed = _BOUNDS.get(row["type"], _OTHER)
    return _Row(at, union, "", value, words.format(**given), allowed.format(**given))
