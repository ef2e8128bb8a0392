"""Show planning mode: its light plan (a list of steps), its status, the next command (PM-6)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from shared import resources
from shared.builders import Block
from shared.mode.guarded import is_guarded, unguarded
from shared.place.level import level
from shared.resources import fill, read_prompt
from state.light import DONE, NO_PLAN, STARTED, open_questions
from state.stages import EXECUTING, GATHERING, INACTIVE, PAUSED, READ_ONLY, SUBMITTED, described

if TYPE_CHECKING:
    from orchestrator.mode.lookup import Mode
    from state.database import Planning

_RISKS = {"low": "🟢 low", "medium": "🟡 medium", "high": "🔴 high"}
_MARKS = {STARTED: " ← in progress", DONE: " ✓ done"}
NOT_ASKED = "answered by the assistant, not asked of you in this plan"
LIGHT_FILE = "light.json"


def render_light(plan: dict[str, Any]) -> str:
    """Return a light plan as text: title, numbered steps with their risk, questions, notes."""
    lines = [f"Plan: {plan['summary']}", ""]
    for number, step in enumerate(plan["steps"], 1):
        tools = f" (tools: {', '.join(step['tools'])})" if step["tools"] else ""
        mark = _MARKS.get(step["status"], "")
        lines.append(f"{number}. {_RISKS[step['risk']]}: {step['description']}{tools}{mark}")
    if plan["questions"]:
        lines += ["", "Questions:", *(f"- {_question(one)}" for one in plan["questions"])]
    if plan["context_notes"]:
        lines += ["", f"Found: {plan['context_notes']}"]
    return "\n".join(lines)


def _question(one: str | dict[str, Any]) -> str:
    """Return a question of a light plan with what became of it."""
    if isinstance(one, str):
        return one
    if "withdrawn" in one:
        return f"{one['question']} → withdrawn: {one['withdrawn']}"
    unasked = "" if one.get("asked", True) else f" ({NOT_ASKED})"
    return f"{one['question']} → {one['answer']}{unasked}"


def status_of(found: Mode) -> dict[str, Any]:
    """Return planning mode as a JSON object: its stage, its plan and the next command."""
    row, state = found.row, found.state
    own = row is not None and row.phase != INACTIVE
    return {
        "agent": found.agent,
        "stage": found.stage,
        "paused": found.status == PAUSED,
        "task": row.task_description if row and own else None,
        "reason": row.reason if row and own else None,
        "remarks": found.remarks if own else [],
        "revision": found.revision,
        "digest": found.digest,
        "gathering_start": row.gathering_start if row and own else None,
        "submitted_at": row.submitted_at if row and own else None,
        "approved_at": row.approved_at if row and own else None,
        "approved_by": row.approved_by if row and own else None,
        "run": state.run.run_id if state else None,
        "state_dir": state.state_dir if state else None,
        "plan": found.plan,
        "guarded": own and is_guarded(found.database, _agents(found)),
        "shell": _shell(found),
        "said": found.limit_note or None,
    }


def _agents(found: Mode) -> list[Planning]:
    """Return the database rows of the agents that plan here."""
    if found.state is not None:
        return found.database.planning_of(found.state.run.run_id)
    return [found.row] if found.row else []


def render_mode(found: Mode) -> str:
    """Return planning mode as a printed block: stage, plan, the next command and who types it."""
    stage = described(found.stage, found.status) if found.status == PAUSED else found.stage
    block = Block("result", stage=stage, agent=found.agent, digest=found.digest)
    task = " ".join(part for part in (found.limit_note, found.note, _task(found)) if part)
    block.task(task)
    row, plan = found.row, found.plan
    if row is not None and row.phase != INACTIVE:
        block.data("task", row.task_description or "")
        block.data("reason", row.reason or "")
        block.data("remarks", "\n".join(f"{n}. {one}" for n, one in enumerate(found.remarks, 1)))
        block.data("guard", unguarded(found.database, _agents(found)))
    block.data("shell", _shell(found) or "")
    if plan is not None:
        block.data("plan", render_light(plan))
    return _what_next(block, found).render()


def _shell(found: Mode) -> str | None:
    """Return what of shell commands may run and what holds it; None if the agent does not plan."""
    if found.stage not in READ_ONLY:
        return None
    home = os.path.dirname(found.home)
    return level(found.state.run.repository if found.state else home).sentence()


def _task(found: Mode) -> str:
    """Return the prompt for the stage of planning; for a run, a pointer to the run's own steps."""
    if found.status == PAUSED:
        why = f": {found.halted}" if found.halted else ""
        return fill(read_prompt("orchestrator", "mode", "paused"), {"why": why})
    if found.state is not None:
        return read_prompt("orchestrator", "mode", "run")
    slots = {
        GATHERING: {"file": resources.answer_path(found.home, LIGHT_FILE)},
        SUBMITTED: {"revision": str(found.revision)},
    }.get(found.stage, {})
    name = found.stage if found.row is not None else "nobody"
    if found.stage == SUBMITTED and open_questions(found.plan or NO_PLAN):
        name = "submitted-asks"
    if name == GATHERING and found.remarks:
        name = "gathering-again"
    return fill(read_prompt("orchestrator", "mode", name), slots)


def _what_next(block: Block, found: Mode) -> Block:
    if found.status == PAUSED:
        return block.next("resume", found.command("resume"))
    if found.state is not None:
        return block.next("done", found.command("step", found.state.run.workflow))
    if found.stage == GATHERING:
        words = ("mode", "submit", "--file", resources.answer_word(LIGHT_FILE))
        return block.next("done", found.command(*words))
    digest = found.digest or ""
    if found.stage == SUBMITTED:
        words = ("mode", "submit", "--file", resources.answer_word(LIGHT_FILE))
        block.next("remarks", found.command(*words))
        if not open_questions(found.plan or NO_PLAN):
            block.person(found.command("approve", digest))
        return block.person(found.command("mode", "reject", digest))
    if found.stage == EXECUTING:
        steps = (found.plan or NO_PLAN)["steps"]
        number = next((n for n, s in enumerate(steps, 1) if s["status"] != DONE), 0)
        how = "start" if steps[number - 1]["status"] != STARTED else "done"
        return block.next(f"step {number} {how}", found.command("mode", "step", str(number), how))
    return block
