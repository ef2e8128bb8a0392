"""Show where a run is and what is next: as JSON, as a printed block, as a panel to watch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from orchestrator.queue import waiting
from orchestrator.run import panel
from orchestrator.run.ask_first import with_bases
from orchestrator.run.every_run import lines_of, rows_of
from orchestrator.run.outcome import outcome_of
from shared import resources
from shared.builders import Block, visible_line
from shared.execution.costs import costs_of
from shared.execution.holder import described, is_alive, is_mine
from shared.execution.progress import View
from shared.git.journal import journal_state
from shared.git.kept import is_kept
from shared.place.level import level
from shared.place.turns import running
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.run import open_state
from shared.steps.entry_points import find_workflow
from state.channels import UNPROVEN_CHANNEL, approval_text
from state.modes import MODES
from state.stages import CANCELLED, COMPLETED, IDLE, INACTIVE, PAUSED, READ_ONLY, SUBMITTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.run import State

EXECUTED = ("executor", 2)  # the step that one command does, with no agent
ENDED = (COMPLETED, CANCELLED)
_SHOWN = {"why": "because", "digest": "digest", "approval": "approval"}
_APPLIED = {
    "applied": "they hold what was approved; it is not committed yet",
    "undone": "what was applied is taken back",
    "applying": "the apply was interrupted; `planner exec run` finishes it",
    "undoing": "the undo was interrupted; `planner undo` finishes it",
}


def view_of(state: State) -> View | None:
    """Return how the milestones of a run stand; None before it has a plan.

    Refused for a plan that was edited after it was submitted.
    """
    state.check_unedited()
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
        "why": state.halted if run.status in (PAUSED, CANCELLED) else "",
        "revision": run.revision,
        "digest": run.digest,
        "approval": approval_text(state.database.approved_by(run, run.digest or "")),
        "commit": run.commit_id,
        "apply": journal_state(resources.journal_path(state.state_dir)),
        "holder": holder.instance if holder else None,
        "commands": [{"number": one.number, "text": one.text} for one in running(state.state_dir)],
        "shell": level(run.repository).sentence() if stage in READ_ONLY else None,
        "auto": {"files": auto.most_files, "risk": auto.risk} if auto else None,
        **(_milestones(view) if view else {"milestones": []}),
        "checkpoints": [
            {"id": c.id, "question": c.question, "options": c.options, "multi": c.multi}
            for c in panel.open_questions(state, view)
        ],
        "waits_for_person": panel.waits_for_person(state, view),
        "queue": waiting.waiting(state.database),
        "others": rows_of(state.database, state.state_dir),
        "state_dir": state.state_dir,
        "next": None if run.status in ENDED else state.command("step", run.workflow),
    }


def _stage(state: State) -> str:
    """Return the stage of a run; a requirements lane has one while it holds a session."""
    rows = state.database.planning_of(state.run.run_id)
    held = state.run.workflow != REQUIREMENTS or any(row.phase != INACTIVE for row in rows)
    return state.run.stage if held else INACTIVE


def _milestones(view: View) -> dict[str, Any]:
    wave_of = {name: n for n, wave in enumerate(panel.waves_of(view), 1) for name in wave}
    reasons, costs = view.reasons(), costs_of(view.state.database, view.state.run)
    return {
        "milestones": [
            {
                "id": m.id, "name": m.name, "changes": len(m.code_changes),
                "status": row.status, "wave": wave_of.get(row.id), "mode": m.mode,
                "owner": m.delegated_to or m.owner or MODES[m.mode].title,
                "agent": row.agent or None,
                "attempts": row.attempts, "why": reasons.get(row.id, ""), "note": row.note,
                "cost": costs[row.id].to_json() if row.id in costs else None,
            }
            for m in view.milestones
            for row in [view.progress[m.id]]
        ],
        "progress": view.summary().to_json(),
        "runnable": view.runnable(),
        "most": view.most,
    }  # fmt: skip


def render_status(state: State, said: str = "") -> str:
    """Return the status of a run as a printed block, after what a command `said` that it did."""
    status, view = status_of(state), view_of(state)
    block = Block("result", run=status["run"], state_dir=status["state_dir"])
    if said:
        block.task(said)
    block.data("request", status["request"])
    block.data("also under way", lines_of(status["others"]))
    if status["status"] in ENDED:
        ended = outcome_of(state, view)
        milestones = panel.panel(view) if view and ended.is_there else ()
        rows = [*_where(status), *ended.lines, *milestones]
        block.data("status", "\n".join(rows))
        waiting.add_waiting(block, state.database, starts=True)
        return (block.person(ended.command) if ended.command else block).render()
    begun = view if status["apply"] != "undone" else None
    rows = [*_where(status), *_meanwhile(status, view), *(panel.panel(begun) if begun else ())]
    block.data("status", "\n".join(rows))
    block.data("open questions", "\n".join(panel.questions(state, view)))
    waiting.add_waiting(block, state.database, starts=False)
    if status["status"] == IDLE and status["workflow"] == "planner":
        return with_bases(block, state.state_dir).render()
    if status["status"] == PAUSED:
        return block.next("resume", state.command("resume")).render()
    return _what_next(block, state, view, status).render()


def _what_next(block: Block, state: State, view: View | None, status: dict[str, Any]) -> Block:
    if view is None:
        for outcome, command in panel.to_type(state, view):
            block.next(outcome, command)
        return block.next("done", status["next"])
    if (holder := state.database.holder(state.run)) is not None and not is_mine(state, holder):
        block.data("executed by", described(holder))
        if not is_alive(holder):
            block.next("take over", state.command("resume", "--take-over"))
    for outcome, command in panel.to_type(state, view):
        block.next(outcome, command)
    if state.run.stage == SUBMITTED:
        block.person(state.approving)
    goes_on = (state.run.workflow, state.run.step) == EXECUTED
    return block.next("done", state.command("exec", "run") if goes_on else status["next"])


def _where(status: dict[str, Any]) -> list[str]:
    """Return where the run is, what it is made against if it has a plan, and who approved it."""
    rows = [status["words"]]
    if status["approval"] == UNPROVEN_CHANNEL:
        status = {**status, "approval": "unproven, since nothing shows that a person typed it"}
    if status["revision"] > 1:
        rows.append(f"revision: {status['revision']}")
    return [*rows, *(f"{shown}: {status[name]}" for name, shown in _SHOWN.items() if status[name])]


def _meanwhile(status: dict[str, Any], view: View | None) -> list[str]:
    """Return what counts until the run has ended: base, the user's files, limits, the shell."""
    auto, base = status["auto"], view.plan.base if view else None
    in_git = view is not None and not is_kept(view.state.run.repository)
    branch = f" on {base.branch}" if base and base.branch else ""
    work = ", with the uncommitted work of then" if base and base.snapshot else ""
    named = {
        "made against": f"{base.commit[:12]}{branch}{work}" if base and in_git else "",
        "your files": _APPLIED.get(status["apply"] or "", ""),
        "approved in advance": f"{auto['files']} files, risk {auto['risk']}" if auto else "",
        "commands of the assistant": status["shell"],
        **{
            f"running command {one['number']}": f"{one['text']} (to end it: "
            f"{resources.command('ro', '--end', str(one['number']))})"
            for one in status["commands"]
        },
    }
    return [f"{name}: {value}" for name, value in named.items() if value]


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
    lines += ["", *asked] if (asked := panel.questions(state, view)) else []
    queued = waiting.waiting(state.database)
    lines += ["", "Queue:", *(f"  {line}" for line in queued)] if queued else []
    if state.run.status not in ENDED:
        typed = [command for _, command in panel.to_type(state, view)]
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
