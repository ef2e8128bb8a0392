"""Check JSON that a model has written by a JSON Schema, and say in one wording what is wrong.

What a schema cannot say, such as a reference, is checked by whoever reads the JSON. A schema may
say in words for the reader, under `allowed`, what should stand at a place, and under `why`, why an
object has no other fields.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from state.errors import Problem, Refused, kind_of_value
from state.plain_json import check_value, is_plainly_sound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonschema import ValidationError

    Json = dict[str, Any]

_MOST_SHOWN = 60  # characters of the name of a field that there is not
_MOST_LISTED = 100  # problems of one file
_KINDS = {"array": "a list", "object": "an object", "string": "a text", "number": "a number",
          "integer": "a whole number", "boolean": "true or false", "null": "null"}  # fmt: skip
_PLACEHOLDER = re.compile(r"\s*…\s*(\([^()]*\)\s*)?\Z")
_EMPTY = r"\S"  # the pattern of a text that says something
_BOUNDS = {"minimum": "this is too small", "maximum": "this is too large",
           "minItems": "this is empty", "minLength": "this is empty"}  # fmt: skip

TEXT: Json = {"type": "string", "pattern": _EMPTY, "allowed": "a text"}
TEXT_OR_NULL: Json = {"type": ["string", "null"], "allowed": "a text, or null"}


def list_of(item: Mapping[str, Any], allowed: str, **more: int) -> Json:
    """Return the schema of a list; `more` may bound how many items it has."""
    # The bounds first, so that the items of a list that is too long are not looked at.
    return {"type": "array", **more, "items": item, "allowed": allowed}


def known_fields(known: Mapping[str, Any], needed: Sequence[str] = ()) -> Json:
    """Return the schema of an object's fields: no other may stand there, some must."""
    return {"additionalProperties": False, "required": [*needed], "properties": known}


def an_object(known: Mapping[str, Any], needed: Sequence[str], allowed: str) -> Json:
    """Return the schema of an object with these fields and no other."""
    return {"type": "object", "allowed": allowed, **known_fields(known, needed)}


TEXTS = list_of(TEXT, 'a list of texts: ["…"]')


def problems_in(
    value: object, schema: Mapping[str, Any], name: str = "", *, at: str = ""
) -> list[Problem]:
    """Return a problem for each place where JSON breaks a schema or cannot be stored.

    `name` is what the whole is called; of a part, `at` is its place instead. Values are not shown,
    since a file of the wrong shape may hold what is not meant for the reader. Raises Refused where
    there are too many problems, or too deep ones, for all to be found.
    """
    problems = [*islice(check_value(at, value), _MOST_LISTED)]
    problems = problems or [*islice(_unwritten(at, value), _MOST_LISTED)]
    if not problems and is_plainly_sound(value, schema):
        return []
    cut = False
    try:
        said = chain.from_iterable(_said(error, at) for error in _errors(value, schema))
        problems += islice(said, _MOST_LISTED)
    except RecursionError:
        if not problems:  # else that the nesting is too deep is among them
            raise
        cut = True
    for problem in problems:
        whole = problem.at[:1] in ("", " ")
        problem.at = name + problem.at if whole else problem.at.removeprefix(".")
    # The first of each place says most.
    by_place = {problem.at: problem for problem in reversed(problems)}
    told = [problem for problem in problems if by_place[problem.at] is problem]
    if cut or len(problems) >= _MOST_LISTED:
        raise Refused.of(told)
    return told


def _unwritten(at: str, value: object) -> Iterator[Problem]:
    """Yield where an example's placeholder still stands, as an example sent back has it."""
    if isinstance(value, str):
        if _PLACEHOLDER.match(value):
            text = "this is the example's placeholder"
            yield Problem("invalid", at, text, "your own text, or leave the field out")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unwritten(f"{at}.{key}", item)
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _unwritten(f"{at}[{n}]", item)


def checked(value: object, schema: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 – any JSON value
    """Return JSON that keeps a schema; raise Refused with every problem of other JSON."""
    if problems := problems_in(value, schema, name):
        raise Refused.of(problems)
    return value


def sound_items(value: object, problems: Sequence[Problem], at: str = "") -> dict[int, Any]:
    """Return the items, by number, of the list at a place in which none of the problems lies."""
    if any(problem.at == at for problem in problems):  # too long, so its items were not looked at
        return {}
    broken = {problem.at.partition("]")[0] for problem in problems}
    items = value if isinstance(value, list) else []
    return {n: item for n, item in enumerate(items) if f"{at}[{n}" not in broken}


def _errors(value: object, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    """Yield where JSON breaks a schema; of a list that is too long only that."""
    # Imported here: only what is wrong needs it, and every command would start a fifth slower.
    from jsonschema import Draft202012Validator

    too_long: list[list[str | int]] = []
    for error in Draft202012Validator(schema).iter_errors(value):
        path = [*error.absolute_path]
        if not any(path[: len(one)] == one for one in too_long):
            yield error
        if error.validator == "maxItems":
            too_long.append(path)


def _said(error: ValidationError, start: str) -> Iterator[Problem]:
    at, schema, found = start + _place(error.absolute_path), error.schema, error.instance
    assert isinstance(schema, dict)  # noqa: S101 – none of ours is true or false
    allowed = str(schema.get("allowed", ""))
    if error.validator == "additionalProperties":
        known = schema["properties"]
        why = f": {schema['why']}" if "why" in schema else ""
        for key in sorted({*found} - {*known} if isinstance(found, dict) else ()):
            place = f"{at}.{key[:_MOST_SHOWN]}"
            yield Problem("invalid", place, f"there is no such field{why}", ", ".join(known))
    elif error.validator == "required":
        missing = error.message.split("'")[1]  # there is an error for each
        field = schema["properties"][missing]
        allowed = str(field.get("allowed", _listed(field) or allowed))
        yield Problem("invalid", f"{at}.{missing}", "it is missing", allowed)
    else:
        if error.validator == "maxItems":
            allowed = f"{schema['maxItems']} entries or fewer"
        yield Problem("invalid", at, _why(error, schema), allowed or _listed(schema))


def _why(error: ValidationError, schema: Json) -> str:
    """Return what is wrong with the value at the place of an error."""
    word: Any = error.validator
    found: Any = error.instance
    if word == "type":
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return f"this is {kind_of_value(found)}, not {' or '.join(_KINDS[one] for one in kinds)}"
    if word == "maxItems":
        return f"this has {len(found)} entries, which are too many"
    if word == "pattern":
        return "this is empty" if schema["pattern"] == _EMPTY else "this is not of the allowed form"
    return _BOUNDS.get(word, "this is none of the possible values")


def _listed(schema: Json) -> str:
    """Return the values that a schema allows, "" where it lists none."""
    return ", ".join("null" if one is None else str(one) for one in schema.get("enum", ()))


def _place(path: Iterable[str | int]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
