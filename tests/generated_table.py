"""Make `state/plan_table.py` from the plan's models; the committed file must be the same (SD-9)."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue

from shared.resources import ROOT
from state.models import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

TABLE = Path(ROOT, "state", "plan_table.py")
_HEAD = '''\
"""The plan as printed steps read it: the fields of `state/models.py`, without pydantic (SD-9).

Made from the models by `bin/test --update-golden`, and compared by a test. `state/shape.py` reads
JSON by these annotations; a field without a default has to be there.
"""

from __future__ import annotations

from state.shape import Part

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any, Literal
'''
_LEAVES = {str: "str", int: "int", float: "float", bool: "bool", types.NoneType: "None"}


def written(annotation: Any) -> str:  # noqa: ANN401 – a type
    """Return a type as the table writes it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is JsonValue:
        return "Any"
    if origin is Annotated:
        return written(inner[0])
    if origin is Literal:
        return f"Literal[{', '.join(map(json.dumps, inner))}]"
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(written, inner)))
    if origin in (tuple, dict):
        names = ", ".join("..." if one is ... else written(one) for one in inner)
        return f"{origin.__name__}[{names}]"
    return _LEAVES.get(annotation) or str(annotation.__name__)


def default_of(field: FieldInfo) -> str:
    """Return a field's default as the table writes it, '' for none."""
    if field.is_required():
        return ""
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return f" = {type(value).__name__}()"
    if isinstance(value, dict):
        return " = {}  # noqa: RUF012 – nobody changes it"
    return f' = "{value}"' if isinstance(value, str) else f" = {value!r}"


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 – a type
    """Yield the models that a type names."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif annotation is not JsonValue:
        for one in get_args(annotation):
            yield from models_in(one)


def in_order(model: type[BaseModel], found: dict[type[BaseModel], None]) -> None:
    """Add a model to `found`, after those that it names."""
    for field in model.model_fields.values():
        for one in models_in(field.annotation):
            in_order(one, found)
    found[model] = None


def render_table() -> str:
    """Return the text of `state/plan_table.py`."""
    found: dict[type[BaseModel], None] = {}
    in_order(Plan, found)
    parts = [_HEAD]
    for model in found:
        fields = [
            f"    {name}: {written(field.annotation)}{default_of(field)}\n"
            for name, field in model.model_fields.items()
        ]
        said = f'    """The fields of `{model.__name__}`."""\n\n'
        parts.append(f"class {model.__name__}(Part):\n{said}{''.join(fields)}")
    return "\n\n".join(parts)
