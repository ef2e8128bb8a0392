"""Check and read context.json, the assistant's understanding of the user's task (PL-17)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from state.models import TaskItem, UserContext
from state.written_json import an_object, checked, list_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from state.fields import TaskOrigin

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
# In a later edit, the assumptions that hold no more.
OVERRULED = "overruled"
_LISTS = "each category is a list of strings, and task_spec has at least one"
_STRING = {"type": "string", "minLength": 1, "allowed": _LISTS}
CONTEXT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "context.json",
    **an_object(
        dict.fromkeys(CATEGORIES, list_of(_STRING, _LISTS))
        | {"task_spec": list_of(_STRING, _LISTS, minItems=1)},
        ["task_spec"],
        _LISTS,
    ),
}
_OUT_OF_SCOPE = ("out of scope", "out-of-scope", "not in scope")


def check_context(value: object) -> dict[str, list[str]]:
    """Return the content of context.json with all eight lists; raise Refused with every problem."""
    context = checked(value, CONTEXT_SCHEMA, "context")
    return {name: list(context.get(name, [])) for name in CATEGORIES}


def task_items(
    context: dict[str, list[str]], origins: Mapping[str, TaskOrigin]
) -> tuple[TaskItem, ...]:
    """Return the entries of the user's task, numbered T-1, T-2 … and marked if out of scope.

    `origins` has those, by their text, that are not from the request itself.
    """
    return tuple(
        TaskItem(
            id=f"T-{number}",
            text=text,
            out_of_scope=text.strip().lower().startswith(_OUT_OF_SCOPE),
            origin=origins.get(text, "request"),
        )
        for number, text in enumerate(context["task_spec"], start=1)
    )


def user_context(context: dict[str, list[str]]) -> UserContext:
    """Return the lists of context.json other than the task itself, as the plan stores them."""
    return UserContext.model_validate({k: v for k, v in context.items() if k != "task_spec"})
