"""Make `state/plan_table.py` from the plan's models; the committed file must be the same (SD-9)."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue

from state.models import Plan

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_HEAD = '''\
"""The plan's fields by model, made from `state/models.py` by a test: `bin/test --update-golden`.

Field → its kind, and its default where it has one. `a|b` is one of these, `[a]` a list, a name with
a capital another model, `map` an object with any names, `any` any value.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

'''
_LEAVES = {str: "text", int: "number", float: "number", bool: "flag", types.NoneType: "null"}


def kind_of(annotation: Any, found: dict[str, type[BaseModel]]) -> str:  # noqa: ANN401, PLR0911 – a type; one return per kind
    """Return a type as the table writes it; models that it names go into `found`."""
    origin = get_origin(annotation)
    if annotation is JsonValue:
        return "any"
    if origin is Annotated:
        return kind_of(get_args(annotation)[0], found)
    if origin is Literal:
        return "|".join(dict.fromkeys(_LEAVES[type(v)] for v in get_args(annotation)))
    if origin in (Union, types.UnionType):
        return "|".join(dict.fromkeys(kind_of(one, found) for one in get_args(annotation)))
    if origin in (tuple, list):
        inner = (kind_of(one, found) for one in get_args(annotation) if one is not ...)
        return f"[{'|'.join(dict.fromkeys(inner))}]"
    if origin is dict:
        return "map"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        found[annotation.__name__] = annotation
        return annotation.__name__
    return _LEAVES[annotation]


def default_of(field: FieldInfo) -> object:
    """Return a field's default in plan.json; of a model {}, since its fields have their own."""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return {}
    return [*value] if isinstance(value, tuple) else value


def render_table() -> str:
    """Return the text of `state/plan_table.py`."""
    left: dict[str, type[BaseModel]] = {"Plan": Plan}
    rows: dict[str, list[str]] = {}
    while left:
        name, model = left.popitem()
        more: dict[str, type[BaseModel]] = {}
        rows[name] = []
        for field, info in model.model_fields.items():
            entry: list[object] = [kind_of(info.annotation, more)]
            entry += [] if info.is_required() else [default_of(info)]
            rows[name].append(f'        "{field}": {tuple(entry)!r},\n'.replace("'", '"'))
        left |= {key: one for key, one in more.items() if key not in rows}
    models = [f'    "{name}": {{\n{"".join(rows[name])}    }},\n' for name in sorted(rows)]
    return f"{_HEAD}MODELS: dict[str, dict[str, tuple[Any, ...]]] = {{\n{''.join(models)}}}\n"
