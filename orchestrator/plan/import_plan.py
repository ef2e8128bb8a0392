"""Copy the content of another plan.json into the empty plan of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.named_files import read_named
from shared.plan_file import open_plan
from state import store
from state.edits import finish, parsed
from state.errors import Refused
from state.written_json import checked

if TYPE_CHECKING:
    from typing import Any

    from shared.run import State


def import_plan(state: State, path: str) -> list[str]:
    """Copy the plan at `path` into the run's empty plan; return a note on each thing left out."""
    written = checked(read_named(path).json(), {"type": "object", "allowed": "a plan.json"}, path)
    data = store.check_version(written, path)
    with state.lock("plan import"):
        plan = open_plan(state)
        if plan.milestones or plan.planning_context.decision_log:
            allowed = "import into a run whose plan is empty"
            raise Refused("conflict", path, "the plan of this run already has content", allowed)
        kept = {k: data[k] for k in _IMPORTED if k in data}
        notes = [*_without_changes(kept), *drop_dependencies(kept.get("milestones"))]
        imported = finish(parsed({**vars(plan), **kept}))
        store.save_plan(state.plan_path, imported)
    return notes


def _without_changes(data: dict[str, Any]) -> list[str]:
    """Remove captured changes from the plan; return a note on each milestone that had some."""
    notes = []
    for milestone in _objects(data.get("milestones")):
        if milestone.pop("code_changes", None):
            notes.append(f"{milestone.get('id')}: its changes; a capture makes new ones")
        if isinstance(milestone.get("documentation"), dict):
            milestone["documentation"].pop("changes", None)
    return notes


def drop_dependencies(listed: object) -> list[str]:
    """Remove dependencies that no order of the milestones can keep; warn of each (PC-3).

    That is one on a milestone that is missing, on itself, or that closes a cycle. A plan that is
    being made is refused instead, by `state/validator.py`.
    """
    # What is no list of objects with ids is left to the schema.
    milestones = {str(m.get("id")): m for m in _objects(listed)}
    kept: dict[str, list[Any]] = {name: [] for name in milestones}
    warnings = []
    for name, milestone in milestones.items():
        wanted = milestone.get("depends_on")
        if not isinstance(wanted, list):
            continue
        for other in map(str, wanted):
            way = _way(kept, other, name)
            if other == name or other not in milestones:
                why = "which is itself" if other == name else "which the plan does not have"
                warnings.append(f"{name}: its dependency on {other}, {why}")
            elif way:
                cycle = " -> ".join((name, *way))
                warnings.append(f"{name}: its dependency on {other}, which closes {cycle}")
            else:
                kept[name].append(other)
        milestone["depends_on"] = kept[name]
    return warnings


def _way(depends_on: dict[str, list[str]], start: str, end: str) -> list[str]:
    """Return the milestones from `start` to `end` along dependencies, both included; [] if none."""
    ways, seen = [[start]], {start}
    for way in ways:
        if way[-1] == end:
            return way
        for other in depends_on.get(way[-1], ()):
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def _objects(value: object) -> list[dict[str, Any]]:
    return [m for m in value if isinstance(m, dict)] if isinstance(value, list) else []


_IMPORTED = (
    "overview", "planning_context", "invisible_knowledge", "milestones", "diagrams", "checkpoints",
)  # fmt: skip
