"""Check JSON that a model has written by a JSON Schema, and say in one wording what is wrong.

What a schema cannot say, such as a reference, is checked by whoever reads the JSON. A schema may
say under `allowed` what should stand at a place, in words for the reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from state.errors import Problem, kind_of_value
from state.validator import check_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from jsonschema import ValidationError

_MOST_SHOWN = 60  # characters of the name of a field that there is not
_KINDS = {"array": "a list", "object": "an object", "string": "a text", "number": "a number",
          "null": "null"}  # fmt: skip


def problems_in(value: object, schema: Mapping[str, Any], name: str) -> list[Problem]:
    """Return a problem for each place where JSON breaks a schema or cannot be stored.

    `name` is what the whole is called. Values are not shown, since a file of the wrong shape may
    hold what is not meant for the reader.
    """
    # Imported here: few commands need it, and every other would start a fifth slower.
    from jsonschema import Draft202012Validator

    problems = [*check_value(name, value)]
    for problem in problems:
        problem.at = problem.at.removeprefix(f"{name}.")
    try:
        for error in Draft202012Validator(schema).iter_errors(value):
            problems += _said(error, name)
    except RecursionError:
        if not problems:  # else the nesting is already among them
            raise
    return problems


def _said(error: ValidationError, name: str) -> Iterator[Problem]:
    at, schema, found = _place(error.absolute_path), error.schema, error.instance
    assert isinstance(schema, dict)  # noqa: S101 – none of ours is true or false
    allowed = str(schema.get("allowed", ""))
    if error.validator == "additionalProperties":
        known = schema["properties"]
        for key in sorted({*found} - {*known} if isinstance(found, dict) else ()):
            place = _place([*error.absolute_path, key[:_MOST_SHOWN]])
            yield Problem("invalid", place, "there is no such field", ", ".join(known))
    elif error.validator == "required":
        missing = error.message.split("'")[1]  # there is an error for each
        allowed = str(schema["properties"][missing].get("allowed", allowed))
        yield Problem("invalid", _place([*error.absolute_path, missing]), "it is missing", allowed)
    elif error.validator == "type":
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        text = f"this is {kind_of_value(found)}, not {' or '.join(_KINDS[one] for one in kinds)}"
        yield Problem("invalid", at or name, text, allowed)
    elif error.validator == "enum":
        text = "this is none of the possible values"
        yield Problem("invalid", at, text, ", ".join(schema["enum"]))
    else:
        text = "this is too small" if error.validator == "minimum" else "this is empty"
        yield Problem("invalid", at, text, allowed)


def _place(path: Iterable[str | int]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).removeprefix(".")
