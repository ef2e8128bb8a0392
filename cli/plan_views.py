"""Commands that show a plan: its entities, the whole of it as Markdown, its changes as a patch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cli.answers import JSON, TEXT, XML, asked, form, write, write_patch
from cli.options import json_option, opened_to_read, state_dir_option
from shared.builders import Block, json_text, visible, visible_line
from shared.contents import PERSON, UNPROVEN, lines_for
from shared.strategy_record import WORKFLOW as STRATEGY
from state import kinds, store
from state.errors import Refused
from state.milestones import title_of
from state.shape import as_json as as_json_of

if TYPE_CHECKING:
    from orchestrator.submit.outcomes import Statement
    from shared.run import State


SAID = "said"  # in place of ids


@click.command("show")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@state_dir_option
@click.option("--md", "as_markdown", is_flag=True, help="Print Markdown, as on a terminal.")
@click.option("--after", default=0, metavar="N", help="Of `said`: without N characters before.")
@json_option
def show(
    ids: tuple[str, ...], state_dir: str | None, after: int, *, as_json: bool, as_markdown: bool
) -> None:
    """Show entities with their versions, or the whole plan.

    Patches are in the Markdown of the whole plan, and in the JSON. `said` in place of ids shows all
    that a person has said: the request in its words, then each thing with what has become of it.

    Example: planner plan show M-001 CI-002
    """
    state = opened_to_read(state_dir)
    state.check_unedited()
    if ids == (SAID,):
        write(_statements(state, after, as_json=as_json, as_markdown=as_markdown))
        return
    plan = state.plan
    found: list[Any] = []
    for entity_id in ids:
        entity = kinds.find(plan, entity_id)
        if entity is None:
            raise Refused(
                "not_found",
                entity_id,
                "the plan has no entity with this id",
                "an id that `plan show` prints",
                "planner plan show",
            )
        found.append(entity.entity)
    shown = as_json_of(tuple(found) if ids else plan)
    if as_json:
        write(json_text(shown) + "\n")
    elif as_markdown or form() == TEXT:
        write(_markdown(state, found))
    else:
        text = json.dumps(_without_patches(shown), indent=1, ensure_ascii=False)
        block = Block("result").data("plan", text)
        if block.is_cut:
            parts = ids if len(ids) > 1 else [m.id for m in plan.milestones]
            named = state.command("plan", "show", parts[0])
            block.task(
                f"It does not fit into one block. `{named}` prints one of {', '.join(parts)}."
            )
        write(block.render())


def _statements(state: State, after: int, *, as_json: bool, as_markdown: bool) -> str:
    """Return all that a person has said of the run: the request, then a line each (SD-1).

    A block holds only so much and names the command that prints on, `after` what it holds. While a
    strategy is chosen there is the request alone.
    """
    from orchestrator.submit.now import places_now
    from orchestrator.submit.outcomes import statements

    plan = None if state.run.workflow == STRATEGY else state.plan
    said: list[Statement] = []
    if plan:
        anchored = any(one.anchor for one in plan.user_remarks)
        now = places_now(state, store.load_plan(state.plan_path)) if anchored else {}
        said = list(statements(plan, state.database.answers(state.run), now))
    if as_json:
        found = [{"id": one.id, "unproven": one.text} for one in (plan.unproven if plan else ())]
        return json_text([*(one._asdict() for one in said), *found]) + "\n"
    lines = [f"{one.id}, {one.origin}, {_about(one)}: {one.text} → {one.outcome}" for one in said]
    lines += lines_for(PERSON, (UNPROVEN,), plan) if plan else []
    lines = [" ".join(line.split()) for line in lines]
    if as_markdown or form() == TEXT:
        listed = "\n".join(f"- {line}" for line in lines)
        return visible(f"{state.run.request.rstrip()}\n\n{listed}".strip()) + "\n"
    request, listed = visible(state.run.request), visible("\n".join(lines))
    block = Block("result").data("request", request[after:])
    end = len(request)
    if not block.is_cut:
        block.data(SAID, listed[max(0, after - end) :])
        end += len(listed)
    if block.is_cut:
        rest = ("plan", "show", SAID, "--after", str(end - block.left))
        block.next("the rest", state.command(*rest))
    return block.render()


def _about(one: Statement) -> str:
    """Return which revision a statement is about, and of a remark with a place also which."""
    return ", ".join(filter(None, [f"revision {one.revision}", one.place, one.now]))


def _markdown(state: State, found: list[Any]) -> str:
    """Return entities as Markdown, a list of fields each; without one, the whole plan."""
    from orchestrator.submit.readable import rendered

    if not found:
        return rendered(state, store.load_plan(state.plan_path), folds=False)
    lines = []
    for entity in found:
        lines += ["", f"# {getattr(entity, 'id', '')} {title_of(entity)}".rstrip(), ""]
        lines += _listed(_without_patches(as_json_of(entity)))
    return visible("\n".join(lines[1:])) + "\n"


def _listed(value: Any, indent: str = "") -> list[str]:  # noqa: ANN401 – any JSON value
    """Return what a JSON value holds as lines of a Markdown list; what is empty is left out."""
    if isinstance(value, dict):
        rows = [(f"{name}:", one) for name, one in value.items()]
    else:
        rows = [(one.get("id", "") if isinstance(one, dict) else "", one) for one in value]
    lines = []
    for name, one in rows:
        if isinstance(one, list | dict):
            inner = _listed(one, f"{indent}  ")
            lines += [f"{indent}- {name}".rstrip(), *inner] if inner else []
        elif one not in (None, ""):
            lines.append(indent + " ".join(["-", *filter(None, [name]), *str(one).split()]))
    return lines


def _without_patches(value: Any) -> Any:  # noqa: ANN401 – any JSON value
    if isinstance(value, list):
        return [_without_patches(v) for v in value]
    if isinstance(value, dict):
        return {k: _without_patches(v) for k, v in value.items() if k != "patch"}
    return value


@click.command("list")
@click.argument("kind", metavar="KIND")
@click.option("--milestone", metavar="ID", help="Only what belongs to this milestone.")
@state_dir_option
@json_option
def list_entities(
    kind: str, milestone: str | None, state_dir: str | None, *, as_json: bool
) -> None:
    """List the entities of one kind (milestones, intents, decisions, changes …).

    Example: planner plan list intents --milestone M-001
    """
    state = opened_to_read(state_dir)
    state.check_unedited()
    rows = kinds.entities(state.plan, kind.removesuffix("s"), milestone)
    if as_json:
        write(json_text(as_json_of(tuple(rows))) + "\n")
        return
    text = "\n".join(_row(kind, r) for r in rows)
    write(Block("result").data(kind, text or "none").render())


@click.command("diff")
@click.argument("ids", nargs=-1, metavar="[ID|FILE]...")
@click.option(
    "--since", type=int, is_flag=False, flag_value=0, metavar="[N]",
    help="How the code differs from revision N, or from the last that the person has answered.",
)  # fmt: skip
@state_dir_option
def diff(ids: tuple[str, ...], since: int | None, state_dir: str | None) -> None:
    """Print the captured changes as one patch for git, of the named milestones or files, or of all.

    With --since it is what a later revision has made of an earlier one's code, each part under the
    remarks that it is for. With --format xml it is a block, which holds only so much and names the
    rest.

    Example: planner plan diff M-001 src/dates.py
    """
    from cli.results import render_patches
    from orchestrator.submit.patches import since_patch, whole_patch
    from orchestrator.submit.since import since_revision

    state = opened_to_read(state_dir)
    state.check_unedited()
    plan = store.load_plan(state.plan_path)
    found = None if since is None else since_revision(state, plan, since)
    if asked() in (XML, JSON):
        write(render_patches(state, ids, found))
        return
    patch = whole_patch(plan, ids) if found is None else since_patch(plan, found, ids)
    write_patch(patch)
    if not patch and form() == TEXT:
        text = "The plan changes no file yet." if found is None else "The code is the same."
        write(Block("result").task(text).render())


def _row(kind: str, entity: Any) -> str:  # noqa: ANN401 – any entity
    title = visible_line(title_of(entity))
    return f"{getattr(entity, 'id', kind)}\tv{entity.version}\t{title}"
