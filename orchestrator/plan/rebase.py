"""A person accepts what changed in their tree while a plan was made (70)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from developer.move_base import on_tree
from developer.verify.lock import undisturbed
from developer.verify.process import Confined
from shared import drift, resources
from shared.builders import Block
from shared.drift import place_of
from shared.git import fingerprint
from shared.git.capture import capture
from shared.git.repository import head, repository_at
from shared.plan_file import check_active
from shared.workspace import base_of, config_of, open_repository
from state import store
from state.actors import UNPROVEN
from state.errors import Refused
from state.stages import READ_ONLY
from state.waves import files_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from shared.drift import Place
    from shared.git.fingerprint import Difference
    from shared.run import State
    from shared.steps.workflow import Workflow
    from state.models import Plan


_MOVED = (
    "Planned files changed. The plan stands on the tree as it is now; its changes are captured and "
    "checked anew when the work step is ended again."
)


_OVERTAKEN = (
    "Files of the submitted plan changed, and it does not fit them any more. A new revision brings "
    "it onto the tree as it is now, with a new capture and an approval of its own."
)


def rebase(state: State, workflow: Workflow) -> str:
    """Take the tree as it is for the one to plan on; repeated, it finds nothing to accept."""
    with state.lock("mode rebase"):
        state.reload()
        check_active(state)
        if state.run.stage not in READ_ONLY:
            text = f"the run is {state.run.stage}: the tree is compared while a plan is made"
            raise Refused("conflict", "mode rebase", text, "", state.command("status"))
        place = place_of(state)
        taken = fingerprint.is_taken(place.folder)
        found = drift.differences(place) if taken else []
        if taken and not found:
            return Block("result").task("Nothing changed since planning began.").render()
        return _accept(state, workflow, place, found)


def _accept(state: State, workflow: Workflow, place: Place, found: Collection[Difference]) -> str:
    plan = store.load_plan(resources.plan_path(state.state_dir))
    ours = _planned(plan, found)
    moves = plan.frozen_at is None and bool(ours or not plan.milestones)
    note = _move(state, plan) if moves else ""
    head_moved = _head_moved(place)
    drift.take(place)
    with state.database as database:
        database.audit(state.run, UNPROVEN, "rebase", detail=drift.describe(found))
        # What was said after the code was written was said of other bytes.
        code = workflow.number("plan-code", "execute")
        if moves and state.run.step > code:
            state.go_to(workflow.name, code)
    shown = [f"{drift.shown(one.path)}: {one.how}" for one in found]
    block = Block("result").data("accepted", "\n".join(shown)).data("planned", "\n".join(ours))
    block.data("HEAD moved", head_moved).data("moved", note)
    if ours and not moves:
        return block.task(_OVERTAKEN).next("done", state.command("plan", "revise")).render()
    block.task(_MOVED if ours else "The plan goes on as it is.")
    return block.next("done", state.command("step", state.run.workflow)).render()


def _planned(plan: Plan, found: Collection[Difference]) -> list[str]:
    named = {file for milestone in plan.milestones for file in files_of(milestone)}
    return [one.path for one in found if one.of_tree and one.path in named]


def _head_moved(place: Place) -> str:
    then = fingerprint.head_then(place.folder) if fingerprint.is_taken(place.folder) else ""
    now = head(repository_at(place.repository)).commit
    return "" if then in {"", now} else f"{then[:12]} → {now[:12]}"


def _move(state: State, plan: Plan) -> str:
    """Bring plan and worktree onto the tree as it is, with what the worktree holds by now.

    Returns the remark that says so, with the files in which that met other changes.
    """
    repository, vault = open_repository(state)
    base = base_of(plan)
    link = config_of(state).link
    with undisturbed(state.state_dir):
        # As it is and with no hook run: work that is half done moves along, too.
        found = capture(
            repository,
            state.worktree,
            vault,
            base.tree,
            runner=Confined(),
            leave_out=link,
            hook=False,
        )
        planned = {file for milestone in plan.milestones for file in files_of(milestone)}
        moved = on_tree(state, plan, found.changes, planned)
    store.save_plan(resources.plan_path(state.state_dir), moved)
    return moved.remarks[-1]
