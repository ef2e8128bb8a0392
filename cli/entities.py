"""Commands that add, change, show and list the entities of a plan, such as milestones."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import click

from cli.answers import write
from cli.options import (
    opened,
    role_option,
    state_dir_option,
    with_shared_options,
)
from shared import plan_file
from shared.builders import Block
from shared.named_files import read_answer
from state.files import parse_json
from state.kinds import KINDS
from state.milestones import DOC_LISTS
from state.written_json import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.run import State
    from state.batch import Applied

SINGULAR = {"acceptance_criteria": "acceptance-criterion"}
DOC_KINDS = ("module-comment", *DOC_LISTS)


def applied_block(applied: Iterable[Applied]) -> str:
    """Return the printed block that confirms edits: each edit with its entity's id and version."""
    lines = [f"{a.op} {a.id} v{a.version}" for a in applied]
    return Block("result").data("applied", "\n".join(lines)).render()


def kind_of(entity_id: str) -> str | None:
    """Return the kind of plan entity that an id such as `M-001` or `overview` belongs to."""
    prefix = entity_id.partition("-")[0]
    return next(
        (n for n, k in KINDS.items() if (k.prefix == prefix if k.prefix else n == entity_id)), None
    )


def field_options(kind: str) -> list[click.Option]:
    """Return a command option for each entity field that plain text can set; others need --json."""
    options = []
    for name in KINDS[kind].fields:
        annotation = str if name == "milestone" else KINDS[kind].model.model_fields[name].annotation
        made = _option(name, annotation)
        if made is not None:
            options.append(made)
    if kind == "doc":
        options.append(click.Option(["--kind"], type=click.Choice(DOC_KINDS)))
    text = "A JSON object with more fields, nested ones too."
    options.append(click.Option(["--json", "json_file"], metavar="FILE", help=text))
    return options


def _option(name: str, annotation: Any) -> click.Option | None:  # noqa: ANN401, PLR0911 – one for each type
    arguments = [a for a in get_args(annotation) if a is not type(None)]
    if get_origin(annotation) in (Union, types.UnionType) and len(arguments) == 1:
        annotation, arguments = arguments[0], list(get_args(arguments[0]))
    flag = f"--{name.replace('_', '-')}"
    if get_origin(annotation) is tuple:
        if not _is_text(arguments[0]):
            return None
        single = SINGULAR.get(name, name.removesuffix("s") if name.endswith("s") else name)
        return click.Option([f"--{single.replace('_', '-')}", name], multiple=True)
    if get_origin(annotation) is dict:
        return click.Option([flag], metavar="JSON", callback=_parsed)
    if get_origin(annotation) is Literal:
        return click.Option([flag], type=click.Choice([str(a) for a in arguments]))
    if annotation is bool:
        return click.Option([f"{flag}/--no-{flag[2:]}"], default=None)
    if annotation in (int, float):
        return click.Option([flag], type=annotation)
    return click.Option([flag]) if _is_text(annotation) else None


def _parsed(_ctx: click.Context, option: click.Parameter, value: str | None) -> Any:  # noqa: ANN401 – any JSON value
    """Return the JSON value that an option was given; Refused where it is not JSON."""
    return None if value is None else parse_json(value.encode("utf-8", "replace"), option.opts[0])


def _is_text(annotation: Any) -> bool:  # noqa: ANN401 – a type
    return annotation is str or (bool(get_args(annotation)) and get_args(annotation)[0] is str)


def _fields(state: State, values: dict[str, Any]) -> dict[str, Any]:
    """Return the entity fields given on the command line, without options that were left out."""
    file = values.pop("json_file", None)
    fields = {
        k: list(v) if isinstance(v, tuple) else v for k, v in values.items() if v not in (None, ())
    }
    if file:
        schema = {"type": "object", "allowed": '{"field": value, …}'}
        fields |= checked(read_answer(state.state_dir, file).json(), schema, "--json")
    return fields


def _one(kind: str) -> str:
    if not KINDS[kind].prefix:
        return f"the {kind}"
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"


def _command(name: str, options: Sequence[click.Parameter], run: Any, text: str) -> click.Command:  # noqa: ANN401 – a callback
    command = click.Command(name, params=list(options), callback=run, help=text)
    role_option(state_dir_option(command))
    return with_shared_options(command, f"plan {name}")


class AddGroup(click.Group):
    """The command group `plan add`, with one subcommand for each kind of plan entity."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            help="Add an entity.\n\nExample: planner plan add milestone --name Dates --file a.py",
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kinds of plan entities that can be added, as subcommand names."""
        del ctx
        return [n for n, k in KINDS.items() if k.is_added]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command that adds a plan entity of this kind."""
        del ctx
        kind = KINDS.get(cmd_name)
        if kind is None or not kind.is_added:
            return None

        def run(state_dir: str | None, role: str | None, **values: Any) -> None:  # noqa: ANN401
            state = opened(state_dir)
            edit = {"op": "add", "kind": cmd_name, "fields": _fields(state, values)}
            write(applied_block(plan_file.edit(state, [edit], role, None)))

        example = f"planner plan add {cmd_name} --json fields.json"
        text = f"Add {_one(cmd_name)}.\n\nExample: {example}"
        return _command(cmd_name, field_options(cmd_name), run, text)


class SetGroup(click.Group):
    """The command group `plan set ID`: the id is the subcommand; its kind gives the options."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            subcommand_metavar="ID --version N [FIELDS]...",
            help="Change an entity.\n\nExample: planner plan set M-001 --version 2 --name Dates",
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return example entity ids, such as M-001, to show in the help text."""
        del ctx
        return [f"{k.prefix}-001" if k.prefix else n for n, k in KINDS.items()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command that changes the plan entity with this id."""
        del ctx
        kind = kind_of(cmd_name)
        if kind is None:
            return None

        def run(version: int, state_dir: str | None, role: str | None, **values: Any) -> None:  # noqa: ANN401
            state = opened(state_dir)
            fields = _fields(state, values)
            edit = {"op": "set", "id": cmd_name, "version": version, "fields": fields}
            write(applied_block(plan_file.edit(state, [edit], role, None)))

        text = "The version that you have read."
        version = click.Option(["--version"], type=int, required=True, help=text)
        example = f"planner plan set {cmd_name} --version 1 --json fields.json"
        text = f"Change {_one(kind)}.\n\nExample: {example}"
        return _command(cmd_name, [version, *field_options(kind)], run, text)
