"""Copy the content of another plan.json into the empty plan of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.plan_file import open_plan
from state import store
from state.edits import finish
from state.errors import Refused
from state.files import read_json

if TYPE_CHECKING:
    from typing import Any

    from shared.run import State


def import_plan(state: State, path: str) -> list[str]:
    """Copy the plan at `path` into the run's empty plan; return a note on each thing left out."""
    data = store.check_version(read_json(path), path)
    with state.lock("plan import"):
        plan = open_plan(state)
        if plan.milestones or plan.planning_context.decision_log:
            allowed = "import into a run whose plan is empty"
            raise Refused("conflict", path, "the plan of this run already has content", allowed)
        own = plan.model_dump(mode="python")
        kept = {k: data[k] for k in _IMPORTED if k in data}
        notes = _without_changes(kept)
        imported = finish({**own, **kept, "milestone_dependencies": {"waves": []}})
        store.save_plan(state.plan_path, imported)
    return notes


def _without_changes(data: dict[str, Any]) -> list[str]:
    """Remove captured changes and impossible dependencies from the plan; return notes on them."""
    notes = []
    listed = data.get("milestones")
    milestones = [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
    known = {str(m.get("id")) for m in milestones}
    for milestone in milestones:
        if milestone.pop("code_changes", None):
            notes.append(f"{milestone.get('id')}: its changes; a capture makes new ones")
        if isinstance(milestone.get("documentation"), dict):
            milestone["documentation"].pop("changes", None)
        wanted = milestone.get("depends_on")
        if not isinstance(wanted, list):
            continue  # the schema says what is wrong with it
        lost = [d for d in wanted if str(d) not in known or d == milestone.get("id")]
        if lost:
            milestone["depends_on"] = [d for d in wanted if d not in lost]
            notes.append(f"{milestone.get('id')}: dependencies on {', '.join(map(str, lost))}")
    return notes


_IMPORTED = (
    "overview", "planning_context", "invisible_knowledge", "milestones", "diagrams", "checkpoints",
)  # fmt: skip
