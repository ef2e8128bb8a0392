"""Approve a plan in advance, within limits that a person has set for one run (PM-13, `auto on`).

The limits are a number of files and a risk. A plan beyond them waits for its person as ever.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.execute.to_come import commit_to_come
from quality_reviewer.risk import beyond
from shared import approval
from shared.drift import check_run
from shared.execution.deeds import Execution
from shared.guard.consent import check_consent, check_second_act
from shared.mode.guarded import is_guarded
from shared.plan_file import check_frozen
from state.channels import IN_ADVANCE
from state.errors import Refused
from state.stages import ACTIVE, SUBMITTED

if TYPE_CHECKING:
    from shared.run import State

MOST_FILES = 10  # unless the person says another number


def allow(state: State, most_files: int, risk: str, *, unproven: bool = False) -> None:
    """Store a person's approval in advance for this run; Refused if an assistant gives it.

    `unproven` is the second act of one that nothing shows to be a person's.
    """
    if state.run.ending:
        text = f"the run is {state.run.ending}"
        raise Refused("conflict", "auto on", text, "start a new run", "planner start")
    rows = state.database.planning_of(state.run.run_id)
    try:
        consent = check_consent(
            state.run.run_id, guarded=is_guarded(state.database, rows), now=time.time()
        )
    except Refused as refusal:
        why = refusal.problems[0].problem.partition(", and ")[0]
        text = f"{why}, but only a person may approve in advance"
        again = state.command("auto", "on", "--files", str(most_files), "--risk", risk)
        allowed = f"ask the user to run it in a terminal of their own: {again}"
        raise Refused("refused", "auto on", text, allowed) from None
    if state.config["config"].get("require") == "proven":
        text = "[approval] require is proven, and no approval in advance can be that"
        raise Refused("refused", "auto on", text, "approve each plan once it is submitted")
    given = state.database.auto(state.run)
    if given and (given.most_files, given.risk) == (most_files, risk):
        return
    what = ("auto", "on", "--files", str(most_files), "--risk", risk)
    check_second_act(state.database, rows, consent, what, again=unproven)
    with state.database as database:
        database.set_auto(state.run, most_files, risk, consent.who, consent.channel)
        detail = f"at most {most_files} files, risk {risk}, channel: {consent.channel}"
        database.audit(state.run, consent.who, "auto on", detail=detail)


def withdraw(state: State) -> None:
    """Take the approval in advance of a run back; what it has approved stays approved."""
    with state.database as database:
        if database.drop_auto(state.run):
            database.audit(state.run, "host", "auto off")


def approve_in_advance(state: State) -> None:
    """Approve the submitted plan if an approval in advance covers it; else it waits."""
    with state.lock("auto"):
        state.reload()
        auto = state.database.auto(state.run)
        if auto is None or state.run.stage != SUBMITTED or state.run.status != ACTIVE:
            return
        plan = check_frozen(state)
        if beyond(plan, state.config["config"], auto):
            return
        check_run(state)
        digest = state.run.digest or ""
        found = commit_to_come(state, plan)._replace(word=IN_ADVANCE, who=auto.who)
        approval.save(state.state_dir, found)
        with state.database as database:
            database.approve(state.run, digest, auto.who, IN_ADVANCE)
            detail = f"channel: {IN_ADVANCE} ({auto.channel} at {auto.at}), risk {auto.risk}"
            state.move("approve", auto.who, detail=detail, step=2)
            Execution(state).begin()
