"""Say what JSON cannot be stored exactly, and whether JSON is sound by a schema, both quickly.

Printed steps import this module, so it needs the standard library alone. Sound JSON is what nearly
always comes, and to load jsonschema takes longer than many commands.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from state.errors import Problem, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LARGEST_INTEGER = 2**53 - 1  # RFC 8785 carries no larger one exactly
# Half the depth that pydantic can read, so that whatever is stored can be read again.
DEEPEST = 100
_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
# Words of a schema that ask for nothing, or are read with another.
_NOTES = ("$schema", "$defs", "title", "allowed", "why", "then", "else")


def check_value(at: str, value: object, depth: int = DEEPEST) -> Iterator[Problem]:
    """Yield a problem for each text, number or nesting that cannot be stored exactly as JSON."""
    why = _why_not_stored(value)
    if why is not None:
        yield Problem("invalid", at, *why)
    elif isinstance(value, (dict, list, tuple)) and not depth:
        yield Problem(
            "invalid",
            at,
            f"the value is nested more than {DEEPEST} levels deep",
            "use fewer levels",
        )
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from check_value(f"{at} (a key)", key, depth - 1)
            yield from check_value(f"{at}.{key}", item, depth - 1)
    elif isinstance(value, (list, tuple)):
        for n, item in enumerate(value):
            yield from check_value(f"{at}[{n}]", item, depth - 1)


def _why_not_stored(value: object) -> tuple[str, str] | None:
    """Return why a text or number cannot be stored as JSON, and a remedy; None if storable."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            return (
                "the text has half a character (a lone surrogate)",
                "give text that is valid UTF-8",
            )
    elif isinstance(value, (int, float)):
        # A large integer is finite, but too large to be looked at as a float.
        if isinstance(value, float) and not math.isfinite(value):
            return f"{value} is not a JSON number", "finite numbers"
        # Floats too: canonical JSON writes 1e17 as an integer.
        if abs(value) > LARGEST_INTEGER:
            return (
                f"{value_text(value)} cannot be stored exactly",
                "numbers below 2^53; larger ones as text",
            )
    return None


def is_plainly_sound(value: object, schema: Mapping[str, Any]) -> bool:
    """Return whether JSON keeps a JSON Schema; False too if the schema has a word unknown here.

    What is wrong, and whether anything is, `state/written_json.py` says, which is slow to load.
    """
    try:
        return _keeps(value, schema, schema.get("$defs", {}))
    except _UnknownWordError:
        return False


class _UnknownWordError(Exception):
    """A schema has a word that this module does not know."""


def _keeps(value: Any, schema: Mapping[str, Any], parts: Mapping[str, Any]) -> bool:  # noqa: ANN401 – any JSON value
    for word, wanted in schema.items():
        if word == "if":
            branch = "then" if _keeps(value, wanted, parts) else "else"
            kept = _keeps(value, schema.get(branch, {}), parts)
        elif word == "$ref":
            kept = _keeps(value, parts[wanted.rpartition("/")[2]], parts)
        elif word == "allOf":
            kept = all(_keeps(value, one, parts) for one in wanted)
        elif word == "items":
            kept = not isinstance(value, list) or all(_keeps(v, wanted, parts) for v in value)
        elif word == "properties":
            there = wanted.keys() & value.keys() if isinstance(value, dict) else ()
            kept = all(_keeps(value[name], wanted[name], parts) for name in there)
        elif word == "additionalProperties":
            known = schema.get("properties", {})
            more = value.keys() - known.keys() if isinstance(value, dict) else ()
            kept = (
                not more if wanted is False else all(_keeps(value[n], wanted, parts) for n in more)
            )
        else:
            kept = word in _NOTES or _keeps_bound(value, word, wanted)
        if not kept:
            return False
    return True


def _keeps_bound(value: Any, word: str, wanted: Any) -> bool:  # noqa: ANN401, PLR0911 – any JSON value; one for each word
    match word:
        case "type":
            return any(_is(value, one) for one in ([wanted] if isinstance(wanted, str) else wanted))
        case "enum":
            flag = isinstance(value, bool)
            return any(value == one and flag == isinstance(one, bool) for one in wanted)
        case "required":
            return not isinstance(value, dict) or all(name in value for name in wanted)
        case "pattern":
            return not isinstance(value, str) or re.search(wanted, value) is not None
        case "minLength":
            return not isinstance(value, str) or len(value) >= wanted
        case "minItems":
            return not isinstance(value, list) or len(value) >= wanted
        case "maxItems":
            return not isinstance(value, list) or len(value) <= wanted
        case "minimum":
            return not _is(value, "number") or value >= wanted
        case "maximum":
            return not _is(value, "number") or value <= wanted
    raise _UnknownWordError(word)


def _is(value: object, kind: str) -> bool:
    if kind in _TYPES:
        return isinstance(value, _TYPES[kind])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind == "number" or isinstance(value, int) or value.is_integer()
