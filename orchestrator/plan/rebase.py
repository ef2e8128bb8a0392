"""Rebase a plan onto the user's tree, accepting for a person what changed there meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from developer.move_base import files_behind, on_tree
from developer.verify.confined import Confined
from developer.verify.lock import undisturbed
from orchestrator.path import going_back
from orchestrator.run.settings import write_settings
from shared import drift
from shared.config import load_config
from shared.drift import tree_of
from shared.execution.deeds import Execution
from shared.git import fingerprint
from shared.git.capture import capture
from shared.git.repository import head, repository_at
from shared.plan_file import check_active
from shared.resources import CONFIG_FILES
from shared.steps.entry_points import workflow_of
from shared.user_config import limited, load_user_config
from shared.workspace import base_of, open_workspace
from state import store
from state.actors import UNPROVEN
from state.errors import Refused
from state.milestones import files_of
from state.stages import READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.drift import WatchedTree
    from shared.git.fingerprint import Difference
    from shared.run import State
    from state.models import Plan
    from state.phases import Phase


class Rebased(NamedTuple):
    """What a person accepted."""

    # The differences in the user's tree.
    found: Sequence[Difference] = ()
    # The planned files that they touch.
    planned: Sequence[str] = ()
    # How HEAD moved; may be empty.
    head: str = ""
    # How the plan moved with the tree; may be empty.
    remark: str = ""
    # True for a submitted plan that no longer fits its files: it needs a revision.
    overtaken: bool = False


def rebase_run(state: State) -> Rebased | None:
    """Move the plan onto the user's current tree; return None if nothing in that tree has changed.

    Without a fingerprint to compare with, a new one is taken and the result names no differences.
    """
    with state.lock("mode rebase"):
        state.reload()
        check_active(state)
        if state.run.stage not in READ_ONLY:
            text = (
                f"the run is {state.run.stage}; a changed tree can be accepted only while planning"
            )
            raise Refused("conflict", "mode rebase", text, "", state.command("status"))
        place, plan = tree_of(state), store.load_plan(state.plan_path)
        found = drift.differences(place)
        planned = _planned(state, plan, found or [])
        if found == [] and not planned:
            return None
        return _accept(state, place, plan, found or [], planned)


def _accept(
    state: State,
    place: WatchedTree,
    plan: Plan,
    found: Sequence[Difference],
    planned: Sequence[str],
) -> Rebased:
    settings = any(one.of_tree and one.path in CONFIG_FILES for one in found)
    moves = plan.frozen_at is None and bool(planned or settings or not plan.milestones)
    remark = _move(state, plan) if moves else ""
    head_moved = _head_moved(place)
    drift.take(place)
    with state.database as database:
        database.audit(state.run, UNPROVEN, "rebase", detail=drift.describe(found))
        # Reviews made after the code step judged the old content, so go back to that step.
        phase: Phase = "impl-code" if state.is_writing else "plan-code"
        workflow = workflow_of(phase)
        code = workflow.number(phase, "execute")
        if moves and state.is_writing:
            # What an agent hands in is merged with what it began on, so it begins on the new files.
            Execution(state).recover({m.id for m in plan.milestones if files_of(m) & {*planned}})
        if moves and state.run.step > code:
            with going_back(state, "moved to the present tree"):
                state.go_to(workflow.name, code)
    return Rebased(found, planned, head_moved, remark, overtaken=bool(planned) and not moves)


def _planned(state: State, plan: Plan, found: Collection[Difference]) -> list[str]:
    """Return the planned files that the user has changed, or only committed as they were there.

    Those that changed before the last fingerprint count too: the plan may not have moved then.
    """
    named = {file for milestone in plan.milestones for file in files_of(milestone)}
    changed = [one.path for one in found if one.of_tree and one.path in named]
    return [*changed, *(file for file in files_behind(state, plan) if file not in changed)]


def _head_moved(place: WatchedTree) -> str:
    then = fingerprint.head_then(place.folder) if fingerprint.is_taken(place.folder) else ""
    now = head(repository_at(place.repository)).commit
    return "" if then in {"", now} else f"{then[:12]} → {now[:12]}"


def _move(state: State, plan: Plan) -> str:
    """Move the plan, its worktree and the changes in the worktree onto the user's current tree.

    Returns the remark that says so and names the files in which those met other changes.
    """
    repository, vault, _, config = open_workspace(state)
    base = base_of(plan)
    with undisturbed(state.state_dir):
        # Without the user's hook: work that is half done moves along as it is.
        found = capture(
            repository,
            state.worktree,
            vault,
            base.tree,
            runner=Confined(repository=repository.root),
            leave_out=config.link,
            hook=False,
        )
        planned = {file for milestone in plan.milestones for file in files_of(milestone)}
        moved = on_tree(state, plan, found.changes, planned)
        new = base_of(moved)
        commit = new.snapshot or new.commit
        settings = limited(load_config(repository.git, commit), load_user_config())
    store.save_plan(state.plan_path, moved)
    write_settings(state, repository, settings, commit)
    return moved.remarks[-1]
