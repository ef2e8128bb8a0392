"""Open, check and edit a run's plan.json, while it may change and once it is frozen.

A change holds the run's lock and writes files before the database, so that a command repeated
after a crash has the same result.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from shared import resources
from state import store
from state.batch import Applied
from state.edits import apply_edits
from state.errors import Problem, Refused
from state.files import parse_json, read_bytes
from state.freeze import check_seals
from state.frozen_bytes import digest_of
from state.results import Operation
from state.stages import CANCELLED, PAUSED
from state.written_json import checked

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.named_files import Named
    from shared.run import State
    from state.models import Plan


def open_plan(state: State) -> Plan:
    """Return the run's plan for editing; Refused if it is frozen or an apply is unfinished."""
    if _interrupted(state):
        text = "`exec apply` was interrupted; nothing else may run before it is finished or undone"
        allowed = f"finish it by the same command, or undo it: {state.command('undo')}"
        raise Refused("conflict", "exec apply", text, allowed, state.command("exec", "apply"))
    check_active(state)
    path = state.plan_path
    plan = store.load_plan(path)
    if plan.frozen_at is not None or state.run.digest is not None:
        check_frozen(state)
        text = f"revision {state.run.revision} of the plan is frozen and cannot be changed"
        raise Refused("frozen", path, text, "start a new revision", state.command("plan", "revise"))
    return plan


def _interrupted(state: State) -> bool:
    folder = resources.journal_path(state.state_dir)
    if not os.path.isdir(folder):
        return False
    # Imported only if something was applied: every edit of a plan runs this function.
    from shared.git.journal import journal_state

    return journal_state(folder) in ("applying", "undoing")


def check_going(state: State) -> None:
    """Raise Refused if the run is paused, since nothing new may start then."""
    if state.run.status == PAUSED:
        text = f"the run is paused; {state.halted}" if state.halted else "the run is paused"
        raise Refused(
            "refused", state.state_dir, text, "resume the run first", state.command("resume")
        )


def check_active(state: State) -> None:
    """Raise Refused if the run has ended or is paused."""
    check_going(state)
    check_not_ended(state)


def check_not_ended(state: State) -> None:
    """Raise Refused if the run has ended."""
    if state.run.ending:
        text = f"the run is {state.run.ending}"
        raise Refused("refused", state.state_dir, text, "start a new run", "planner start")


def check_frozen(state: State) -> Plan:
    """Return the frozen plan; raise Refused, naming the changed places, if it was altered."""
    path = state.plan_path
    data = read_bytes(path)
    stated, actual = digest_of(data)
    known = state.run.digest
    if actual is None:
        store.read_plan(path)  # refused with what is damaged
    if stated is None and known is None:
        check_not_ended(state)  # there is nothing to finish first
        raise Refused(
            "refused",
            path,
            "the plan is not frozen, that is, not submitted yet",
            "finish planning first",
            state.command("step", "planner"),
        )
    if stated != actual or (known is not None and known != actual):
        problems = check_seals(store.check_version(parse_json(data, path), path))
        if stated is not None and stated == actual:
            text = f"the plan changed after it was submitted: its digest is no longer {known}"
            problems = [Problem("invalid", "digest", text, "restore the plan that was submitted")]
        for problem in problems if known else []:
            problem.retry = state.command("repair")
        raise Refused.of(problems)
    return store.load_plan(path)


def load_approved(state: State) -> Plan:
    """Return the frozen plan; raise Refused unless a person approved its digest (PL-26)."""
    state.reload()
    plan = check_frozen(state)
    check_approved(state)
    return plan


def check_approved(state: State) -> None:
    """Raise Refused if the run is cancelled or no person has approved the plan's digest."""
    if state.run.status == CANCELLED:
        text = f"the run is {state.run.ending}"
        raise Refused("refused", state.state_dir, text, "start a new run", "planner start")
    check_going(state)
    digest = state.run.digest or ""
    if not state.database.is_approved(state.run, digest):
        text = "no person has approved this revision of the plan"
        way = state.command("approve", digest) if digest else ""
        raise Refused("refused", digest, text, "ask the user to approve it", way)


def edit(
    state: State, edits: Sequence[object], role: str | None, operation: str | None
) -> list[Applied]:
    """Apply edits to plan.json, all or none; repeating the last `operation` changes nothing."""
    with state.lock("plan edit"):
        plan = open_plan(state)
        answered = state.database.answers(state.run)
        changed, applied = after_edits(plan, edits, role, operation, answered=answered)
        if changed is not plan:
            store.save_plan(state.plan_path, changed)
    return applied


def after_edits(
    plan: Plan,
    edits: Sequence[object],
    role: str | None,
    operation: str | None,
    first: int = 0,
    answered: Collection[str] = (),
) -> tuple[Plan, list[Applied]]:
    """Return the edited plan and the edits made; repeating the last `operation` changes nothing.

    `first` is the number of the first edit in the list from which they come, `answered` the ids of
    the questions that have an answer.
    """
    last = plan.last_operation
    if operation is not None and last is not None and last.id == operation:
        return plan, [Applied(*row) for row in last.applied]
    changed, applied = apply_edits(plan, edits, role, first, answered)
    if operation is not None:
        done = Operation(id=operation, applied=tuple((a.op, a.id, a.version) for a in applied))
        changed = changed.model_copy(update={"last_operation": done})
    return changed, applied


def read_batch(file: Named) -> tuple[list[object], str]:
    """Return the edits in a batch file, and the operation id computed from the file's bytes."""
    edits = checked(file.json(), {"type": "array", "allowed": '[{"op": "add", …}, …]'}, file.path)
    return edits, sha256(file.data).hexdigest()[:16]


def check_named(state: State, digest: str) -> Plan:
    """Return the frozen plan; Refused if `digest` is not its digest or the run is cancelled."""
    state.reload()
    plan, run = check_frozen(state), state.run
    if run.status == CANCELLED:
        text = f"the run is {run.ending}"
        raise Refused("refused", state.state_dir, text, "start a new run", "planner start")
    check_going(state)
    if digest != run.digest:
        text = "this is not the digest of the submitted revision; nothing is approved"
        raise Refused(
            "refused", digest, text, f"use the digest of revision {run.revision}: {run.digest}"
        )
    return plan
