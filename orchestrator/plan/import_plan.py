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
    from collections.abc import Sequence

    from shared.run import State
    from state.models import Checkpoint, Milestone

_IMPORTED = (
    "overview", "planning_context", "invisible_knowledge", "milestones", "diagrams", "checkpoints",
)  # fmt: skip


def import_plan(state: State, path: str) -> list[str]:
    """Copy the plan at `path` into the run's empty plan; return a note on each thing left out."""
    written = checked(read_named(path).json(), {"type": "object", "allowed": "a plan.json"}, path)
    data = store.check_version(written, path)
    with state.lock("plan import"):
        plan = open_plan(state)
        if plan.milestones or plan.planning_context.decision_log:
            allowed = "import into a run whose plan is empty"
            raise Refused("conflict", path, "the plan of this run already has content", allowed)
        given = parsed({**vars(plan), **{k: data[k] for k in _IMPORTED if k in data}})
        said = [c for c in given.checkpoints if c not in plan.checkpoints and not c.options]
        asked = [_asked_anew(c) for c in given.checkpoints if c.options]
        if plan.checkpoints and asked:
            text = "both plans have questions, and the ids of this run's are given"
            raise Refused("conflict", path, text, "import into a run that began without a strategy")
        changed = [m.id for m in given.milestones if m.code_changes]
        notes = [f"{name}: its changes; a capture makes new ones" for name in changed]
        notes += [f"{c.id}: what a strategy asked, {c.question} → {c.answer}" for c in said]
        left = {c.id for c in said}
        rows = [_without_citing(_without_changes(m), left) for m in given.milestones]
        milestones, warnings = drop_dependencies(rows)
        values = {"milestones": tuple(milestones), "checkpoints": (*plan.checkpoints, *asked)}
        imported = finish(given.model_copy(update=values))
        store.save_plan(state.plan_path, imported)
    return notes + warnings


def _asked_anew(question: Checkpoint) -> Checkpoint:
    """Return a question as it is asked in a run whose user has not answered it."""
    return question.model_copy(update={"answer": "", "outcome": "", "revision": 1})


def _without_citing(milestone: Milestone, names: set[str]) -> Milestone:
    """Return a milestone that cites none of these; another question may get their ids."""
    cited = tuple(name for name in milestone.requirements if name not in names)
    return milestone.model_copy(update={"requirements": cited})


def _without_changes(milestone: Milestone) -> Milestone:
    documentation = milestone.documentation.model_copy(update={"changes": ()})
    return milestone.model_copy(update={"code_changes": (), "documentation": documentation})


def drop_dependencies(milestones: Sequence[Milestone]) -> tuple[list[Milestone], list[str]]:
    """Return milestones without the dependencies that no order can keep; warn of each (PC-3).

    That is one on a milestone that is missing, on itself, or that closes a cycle. A plan that is
    being made is refused instead, by `state/validator.py`.
    """
    kept: dict[str, list[str]] = {milestone.id: [] for milestone in milestones}
    warnings = []
    for name, wanted in ((m.id, m.depends_on) for m in milestones):
        for other in wanted:
            way = _way(kept, other, name)
            if other == name or other not in kept:
                why = "which is itself" if other == name else "which the plan does not have"
                warnings.append(f"{name}: its dependency on {other}, {why}")
            elif way:
                cycle = " -> ".join((name, *way))
                warnings.append(f"{name}: its dependency on {other}, which closes {cycle}")
            else:
                kept[name].append(other)
    return [m.model_copy(update={"depends_on": tuple(kept[m.id])}) for m in milestones], warnings


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
