"""Record that a person approves the plan with exactly one digest (PL-19, PL-26, PM-13)."""

from __future__ import annotations

import os

from orchestrator.run.start import new_run
from shared import drift, resources
from shared.drift import check_run, tree_of
from shared.guard.consent import check_consent, is_guarded
from shared.plan_file import check_frozen, check_named
from shared.run import State, open_state
from state.changes import plan_changes
from state.database import Database
from state.errors import Refused
from state.files import Lock


def open_or_adopt(state_dir: str | None, folder: str) -> State:
    """Return the run of a state directory; make a run for a frozen plan without one (PL-19)."""
    try:
        return open_state(state_dir, folder)
    except Refused:
        if state_dir is None or not os.path.isfile(resources.plan_path(state_dir)):
            raise
    from shared.git.repository import find_repository

    real = os.path.realpath(state_dir)
    repository = find_repository(folder)
    database = Database(resources.database_path(real), create=True)
    with Lock(resources.lock_path(real), "adopt"), database:
        run = database.run_at(real) or new_run(
            database, os.path.basename(real), "", repository.root, real
        )
        state = State(real, database, run)
        plan = check_frozen(state)
        if run.status == "IDLE":
            drift.take(tree_of(state))
            state.move(
                "adopt", "host", workflow="executor", step=1, digest=plan.digest,
                revision=plan.revision, request=plan.overview.title,
                depth="full" if plan_changes(plan) else "intent",
            )  # fmt: skip
    return state


def waiting_with(folder: str, digest: str) -> str | None:
    """Return the folder of the only active run whose plan has this digest, else None."""
    path = resources.repository_database(folder)
    runs = Database(path).runs("ACTIVE") if path else []
    found = [r.state_dir for r in runs if r.digest == digest and os.path.isdir(r.state_dir)]
    return found[0] if len(found) == 1 else None


def approve(state: State, digest: str, now: float) -> None:
    """Record that a person approves the plan with this digest, so that it may be applied."""
    with state.lock("mode approve"):
        check_named(state, digest)
        if state.run.stage == "submitted":
            guarded = is_guarded(state.database, state.database.planning_of(state.run.run_id))
            consent = check_consent(digest, guarded=guarded, now=now)
            check_run(state)
            with state.database as database:
                database.approve(state.run, digest, consent.who, consent.channel)
                state.move("approve", consent.who, detail=f"channel: {consent.channel}", step=2)
