"""Show where a run is and what is next: as JSON, as a printed block, as a panel to watch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from orchestrator.run import panel, queue
from shared import resources
from shared.builders import Block, visible_line
from shared.execution.costs import costs_of
from shared.execution.holder import described, is_alive, is_mine
from shared.execution.view import View
from shared.git.journal import journal_state
from shared.lifecycle import WORKFLOW as LIFECYCLE
from shared.place.level import level
from shared.run import open_state
from shared.steps.entry_points import find_workflow
from state.channels import told
from state.modes import MODES
from state.stages import INACTIVE, READ_ONLY, SUBMITTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.run import State

ENDED = ("COMPLETED", "CANCELLED")
_SHOWN = ("why", "digest", "approval", "commit", "apply", "holder", "shell")


def view_of(state: State) -> View | None:
    """Return how the milestones of a run stand; None before it has a plan."""
    return View(state) if os.path.exists(resources.plan_path(state.state_dir)) else None


def status_of(state: State) -> dict[str, Any]:
    """Return the status of a run as a JSON object."""
    run, view = state.run, view_of(state)
    step, stage = find_workflow(run.workflow).steps[run.step], _stage(state)
    holder, auto = state.database.holder(run), state.database.auto(run)
    return {
        "run": run.run_id,
        "request": run.request,
        "status": run.status,
        "stage": stage,
        "workflow": run.workflow,
        "step": run.step,
        "name": step.name,
        "words": panel.in_words(state, view),
        "why": state.halted if run.status in ("PAUSED", "CANCELLED") else "",
        "revision": run.revision,
        "digest": run.digest,
        "approval": told(state.database.approved_by(run, run.digest or "")),
        "commit": run.commit_id,
        "apply": journal_state(resources.journal_path(state.state_dir)),
        "holder": holder.instance if holder else None,
        "shell": level(run.repository).told() if stage in READ_ONLY else None,
        "auto": {"files": auto.most_files, "risk": auto.risk} if auto else None,
        **(_milestones(view) if view else {"milestones": []}),
        "waits_for_person": panel.waits_for_person(state, view),
        "queue": queue.waiting(state.database),
        "state_dir": state.state_dir,
        "next": None if run.status in ENDED else state.command("step", run.workflow),
    }


def _stage(state: State) -> str:
    """Return the stage of a run; a lifecycle of requirements has one while it holds a session."""
    rows = state.database.planning_of(state.run.run_id)
    held = state.run.workflow != LIFECYCLE or any(row.phase != INACTIVE for row in rows)
    return state.run.stage if held else INACTIVE


def _milestones(view: View) -> dict[str, Any]:
    wave_of = {name: n for n, wave in enumerate(panel.waves_of(view), 1) for name in wave}
    reasons, costs = view.reasons(), costs_of(view.state.database, view.state.run)
    return {
        "milestones": [
            {
                "id": m["id"], "name": m["name"], "changes": len(m["code_changes"]),
                "status": row.status, "wave": wave_of.get(row.id), "mode": m["mode"],
                "owner": m["delegated_to"] or m["owner"] or MODES[m["mode"]].title,
                "agent": row.agent or None,
                "attempts": row.attempts, "why": reasons.get(row.id, ""), "note": row.note,
                "cost": costs[row.id].to_json() if row.id in costs else None,
            }
            for m in view.milestones
            for row in [view.progress[m["id"]]]
        ],
        "progress": view.summary().to_json(),
        "runnable": view.runnable(),
        "checkpoints": [
            {"id": c.id, "question": c.question, "options": c.options, "multi": c.multi}
            for c in view.open_checkpoints()
        ],
    }  # fmt: skip


def render_status(state: State) -> str:
    """Return the status of a run as a printed block."""
    status, view = status_of(state), view_of(state)
    block = Block("result", run=status["run"], state_dir=status["state_dir"])
    block.data("request", status["request"])
    block.data("status", "\n".join([*_where(status), *(panel.panel(view) if view else ())]))
    if status["status"] in ENDED:
        return block.render()
    if view is None:
        return block.next("done", status["next"]).render()
    block.data("open questions", "\n".join(panel.questions(view)))
    block.data("queue", "\n".join(status["queue"]))
    if (holder := state.database.holder(state.run)) is not None and not is_mine(state, holder):
        block.data("executed by", described(holder))
        if not is_alive(holder):
            block.next("take over", state.command("resume", "--take-over"))
    for outcome, command in panel.to_type(state, view):
        block.next(outcome, command)
    if state.run.stage == SUBMITTED and state.run.status == "ACTIVE":
        block.person(state.approving)
    return block.next("done", status["next"]).render()


def _where(status: dict[str, Any]) -> list[str]:
    auto = status["auto"]
    named = {
        **{name: status[name] for name in _SHOWN},
        "approved in advance": f"{auto['files']} files, risk {auto['risk']}" if auto else "",
    }
    step = f"{status['workflow']} {status['step']} {status['name']}"
    return [
        status["words"],
        f"{status['stage']}: {step}, revision {status['revision']}",
        *(f"{name}: {value}" for name, value in named.items() if value),
    ]


def line_of(state: State) -> str:
    """Return the run in one line of text, for a status line of a terminal or client."""
    return panel.ticker(state, view_of(state))


# to watch


def screen(state: State) -> str:
    """Return all that a person sees of a run in a terminal: line, panel, questions, what to type.

    The last events are below, as notices.
    """
    view = view_of(state)
    lines = [panel.ticker(state, view)]
    if view is not None:
        lines += ["", *panel.panel(view)]
        lines += ["", *asked] if (asked := panel.questions(view)) else []
    queued = queue.waiting(state.database)
    lines += ["", "Queue:", *(f"  {line}" for line in queued)] if queued else []
    if state.run.status not in ENDED:
        typed = [command for _, command in panel.to_type(state, view)] if view else []
        if state.run.stage == "submitted":
            typed.insert(0, state.approving)
        lines += ["", "To type:", *(f"  {command}" for command in typed)] if typed else []
    notices = [notice(row) for row in state.database.event_rows(state.run)[-5:]]
    lines += ["", *notices] if notices else []
    return "\n".join(lines) + "\n"


def notice(row: dict[str, Any]) -> str:
    """Return an event as one line for a person."""
    told = row["payload"]
    texts: dict[str, Callable[[], str]] = {
        "PlanStarted": lambda: f"started: {told['goal']}, {len(told['steps'])} milestones",
        "PlanStepUpdate": lambda: " ".join(
            [told["step_id"], told["old_status"], "→", told["new_status"], told["notes"]]
        ),
        "PlanDecision": lambda: f"{told['decision_id']} {_decided(told)}",
        "PlanResourceWarning": lambda: (
            f"{panel.warned_of(told)} used {told['percent']} % of its {told['resource']}: "
            f"{told['used']} of {told['limit']} {told['notes']}"
        ),
        "SubAgentUsage": lambda: (
            f"{told['subagent_step_id']} used {told['stats']['prompt_tokens']} prompt and "
            f"{told['stats']['completion_tokens']} completion tokens"
        ),
        "SubAgentResult": lambda: f"{told['subagent_step_id']} handed in: {told['status']}",
        "PlanCompleted": lambda: (
            f"ended {told['final_status']}: {told['summary']['done']} of "
            f"{told['summary']['total']} milestones"
        ),
    }
    text = texts[row["kind"]]() if row["kind"] in texts else row["kind"]
    return visible_line(f"{row['at']} {text}".rstrip())


def _decided(told: dict[str, Any]) -> str:
    chosen = told.get("selections")
    return f"decided: {', '.join(chosen)}" if chosen else f"asked: {told['question']}"


def watch(state_dir: str, wait: Callable[[], object]) -> Iterator[tuple[str, bool]]:
    """Yield a run's screen at first and whenever it changes, until the run has ended.

    With each comes whether the run has begun to wait for its person since the last one.
    """
    shown, waited = "", False
    while True:
        state = open_state(state_dir, os.sep)
        text, waits = screen(state), panel.waits_for_person(state, view_of(state))
        state.database.close()
        if text != shown:
            yield text, waits and not waited
        if state.run.status in ENDED:
            return
        shown, waited = text, waits
        wait()
