"""Check and read context.json, the assistant's understanding of the user's task (PL-17)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from state.errors import Problem, Refused, kind_of_value
from state.models import TaskItem, UserContext
from state.validator import check_value

if TYPE_CHECKING:
    from jsonschema import ValidationError

CATEGORIES = (
    "task_spec",
    "constraints",
    "entry_points",
    "rejected_alternatives",
    "current_understanding",
    "assumptions",
    "invisible_knowledge",
    "user_quotes",
)
_STRINGS = {"type": "array", "items": {"type": "string", "minLength": 1}}
CONTEXT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "context.json",
    "type": "object",
    "properties": dict.fromkeys(CATEGORIES, _STRINGS) | {"task_spec": {**_STRINGS, "minItems": 1}},
    "required": ["task_spec"],
    "additionalProperties": False,
}
_MOST_SHOWN = 300
_TYPES = {"array": "a list", "object": "an object", "string": "a text"}
_OUT_OF_SCOPE = ("out of scope", "out-of-scope", "not in scope")


def check_context(value: object) -> dict[str, list[str]]:
    """Return the content of context.json with all eight lists; raise Refused with every problem."""
    problems = [*check_value("context", value)]
    try:
        problems += _schema_problems(value)
    except RecursionError:
        if not problems:  # else the nesting is already among them
            raise
    if problems or not isinstance(value, dict):
        raise Refused.of(problems)
    return {name: list(value.get(name, [])) for name in CATEGORIES}


def task_items(context: dict[str, list[str]]) -> tuple[TaskItem, ...]:
    """Return the entries of the user's task, numbered T-1, T-2 … and marked if out of scope."""
    return tuple(
        TaskItem(
            id=f"T-{number}",
            text=text,
            out_of_scope=text.strip().lower().startswith(_OUT_OF_SCOPE),
        )
        for number, text in enumerate(context["task_spec"], start=1)
    )


def _schema_problems(value: object) -> list[Problem]:
    # Imported here: one command needs it, and every other would start a fifth slower.
    from jsonschema import Draft202012Validator

    return [
        Problem(
            "invalid",
            _place(list(error.absolute_path)),
            _reason_of(error),
            _allowed(error.validator),
        )
        for error in Draft202012Validator(CONTEXT_SCHEMA).iter_errors(value)
    ]


def user_context(context: dict[str, list[str]]) -> UserContext:
    """Return the lists of context.json other than the task itself, as the plan stores them."""
    return UserContext.model_validate({k: v for k, v in context.items() if k != "task_spec"})


def _place(path: list[str | int]) -> str:
    return "context" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)


def _reason_of(error: ValidationError) -> str:
    """Return what is wrong, without the value, which may not be meant for the reader."""
    if error.validator == "type":
        return f"this is {kind_of_value(error.instance)}, not {_TYPES[str(error.validator_value)]}"
    if error.validator == "required":
        return "task_spec is missing"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        more = ", ".join(sorted({*error.instance} - {*CATEGORIES}))
        return f"there is no such category: {more[:_MOST_SHOWN]}"
    return "this is empty"


def _allowed(rule: object) -> str:
    if rule == "additionalProperties":
        return ", ".join(CATEGORIES)
    return "each category is a list of strings, and task_spec has at least one"
