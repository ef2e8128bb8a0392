"""Show a run to a person: its milestones by wave, a bar, open questions, one line of it (PC-16).

The text is for a terminal: invisible characters of names and questions are shown as escapes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from orchestrator.path import path_of
from orchestrator.queue.waiting import count_of_waiting
from quality_reviewer.items import for_user
from shared.builders import counted, visible_line
from shared.execution.costs import WARNING, costs_of, whole_cost
from shared.qr.schema import read_review
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from shared.resources import answer_word, review_path
from shared.steps.entry_points import find_workflow
from shared.steps.workflow import Context
from shared.strategy_record import USER_FILE, read_strategy
from shared.strategy_record import WORKFLOW as STRATEGY
from state.execution import BLOCKED, COMPLETED, IN_PROGRESS, NEEDS_DECISION, PENDING
from state.modes import MODES
from state.rows import OF_THE_PLAN, Asked
from state.stages import ACTIVE, IDLE, PAUSED

if TYPE_CHECKING:
    from shared.execution.progress import View
    from shared.run import State
    from state.database import Run
    from state.plan_table import Milestone

    Json = dict[str, Any]

BADGES = {PENDING: "·", IN_PROGRESS: "▶", BLOCKED: "✗", NEEDS_DECISION: "?", COMPLETED: "✓"}
_WRITES = ("Writing the code", "Reviewing the code", "Reviewing the code",
           "Writing the documentation", "Reviewing the documentation",
           "Reviewing the documentation")  # fmt: skip
# what is done at a workflow's step, in a person's words; a whole workflow's below
_DOES = {
    ("planner", 1): "Understanding the task",
    ("planner", 2): "Understanding the task",
    ("planner", 3): "Designing",
    ("planner", 4): "Reviewing the design",
    ("planner", 5): "Reviewing the design",
    **{("planner", number): text for number, text in enumerate(_WRITES, 6)},
    ("executor", 1): "Submitted for approval",
    ("executor", 2): "Approved, to be carried out",
    **{("executor", number): text for number, text in enumerate(_WRITES, 3)},
    ("executor", 9): "Applied, to be committed",
    (STRATEGY, 1): "Gathering what the decision needs",
    (STRATEGY, 2): "Deciding whether to plan",
    (STRATEGY, 3): "Asking what is meant",
    (STRATEGY, 4): "Finding out",
    (STRATEGY, 5): "Writing the answer",
    (STRATEGY, 6): "Judging the answer",
    (STRATEGY, 7): "Making a workflow",
}
_DOES_IN = {REQUIREMENTS: "Working on the requirements"}
_CLARIFY = "clarify"  # the step, and the name of its question
_IN_WORDS: Json = {"header": "", "options": [], "multi": False, **OF_THE_PLAN}
BAR_WIDTH, GOAL_LENGTH = 15, 40


def bar(done: int, total: int) -> str:
    """Return a bar of how much is done, such as `[████░░░░░░░░░░░] 3/10`.

    Rounded down, so that it is full only at the end.
    """
    full = BAR_WIDTH * done // total if total else 0
    return f"[{'█' * full}{'░' * (BAR_WIDTH - full)}] {done}/{total}"


def panel(view: View) -> list[str]:
    """Return the lines of the panel: the bar, then each wave with its milestones and why they wait.

    A single wave has no heading. Empty for a plan without milestones.
    """
    if not view.milestones:
        return []
    summary = view.summary()
    lines = [bar(summary.done, summary.total)]
    by_id, reasons = {m.id: m for m in view.milestones}, view.reasons()
    costs = costs_of(view.state.database, view.state.run)
    waves = waves_of(view)
    for number, names in enumerate(waves, 1):
        lines += [f"wave {number}"] if len(waves) > 1 else []
        for name in names:
            cost = costs[name].text() if name in costs else ""
            lines.append(f"  {_line(view, by_id[name], reasons.get(name, ''), cost)}")
    if costs:
        lines.append(f"in all {whole_cost(view.state.database, view.state.run).text()}")
    return lines


def waves_of(view: View) -> list[tuple[str, ...]]:
    """Return the waves that the plan holds; while they are not computed yet, all as one."""
    stored = view.plan.milestone_dependencies.waves
    return [wave.milestones for wave in stored] or [tuple(m.id for m in view.milestones)]


def _line(view: View, milestone: Milestone, why: str, cost: str) -> str:
    row = view.progress[milestone.id]
    said = [f"{BADGES[row.status]} {row.id} {milestone.name}"]
    if milestone.mode != "code":
        said.append(f"{MODES[milestone.mode].icon} {milestone.mode}")
    if by := milestone.delegated_to or milestone.owner:
        said.append(f"by {by}")
    if row.status == IN_PROGRESS and row.agent:
        said.append(f"agent {row.agent}")
    if row.attempts > 1:
        said.append(f"attempt {row.attempts}")
    if why:
        said.append(why)
    elif row.note and row.status != COMPLETED:
        said.append(f"failed before: {row.note}")
    if cost:
        said.append(cost)
    return visible_line(" · ".join(said))


def open_questions(state: State, view: View | None) -> list[Asked]:
    """Return the questions that the run waits for: the plan's, before there is one the strategy's.

    The strategy's has no options: it is answered in words.
    """
    if view is not None:
        return view.open_checkpoints()
    text = _clarification(state)
    return [Asked({**_IN_WORDS, "id": _CLARIFY, "question": text})] if text else []


def _clarification(state: State) -> str:
    run = state.run
    if run.workflow != STRATEGY or run.status != IDLE:
        return ""
    if find_workflow(STRATEGY).steps[run.step].name != _CLARIFY:
        return ""
    plan = read_strategy(state.state_dir).plan or {}
    return str(plan.get("clarification_question", ""))


def questions(state: State, view: View | None) -> list[str]:
    """Return the open questions, each in one line with its options."""
    lines = []
    for asked in open_questions(state, view):
        options = ", ".join(f"{o['key']} ({o['label']})" for o in asked.options)
        head = f"{asked.header}: " if asked.header else ""
        how = f"{'one or more' if asked.multi else 'one'} of {options}" if options else "in words"
        lines.append(visible_line(f"{asked.id} {head}{asked.question} – {how}"))
    return lines


def to_type(state: State, view: View | None) -> list[tuple[str, str]]:
    """Return what unblocks the run, as pairs of outcome and command."""
    if view is None:
        words = ("strategy", "context", "--answer", answer_word(USER_FILE))
        return [(one.id, state.command(*words)) for one in open_questions(state, view)]
    answers = [(asked.id, key) for asked in view.open_checkpoints() for key in asked.keys]
    failed = [name for name in view.with_status(BLOCKED) if not view.progress[name].waits]
    return [
        *((f"{name} {key}", state.command("decide", name, key)) for name, key in answers),
        *((f"{name} retry", state.command("retry", name)) for name in failed),
    ]


def ticker(state: State, view: View | None) -> str:
    """Return the run in one line: goal, progress, open questions, agents at work, warnings."""
    goal = visible_line(" ".join(state.run.request.split()))
    goal = goal if len(goal) <= GOAL_LENGTH else goal[: GOAL_LENGTH - 1].rstrip() + "…"
    parts = [goal, where(state)]
    under_way = state.run.status in (IDLE, ACTIVE, PAUSED)
    asked = len(open_questions(state, view)) if under_way else 0
    queued = [] if under_way else [count_of_waiting(state.database)]
    decisions = [counted(asked, "decision")] if asked else []
    if view is None or not view.milestones or state.run.workflow != "executor":
        parts += decisions
    else:
        summary, agents = view.summary(), len(view.with_status(IN_PROGRESS))
        parts += [f"{summary.done}/{summary.total}", *decisions]
        parts += [counted(agents, "agent")] if agents else []
        parts += [f"⚠ {len(summary.blocked)} blocked"] if summary.blocked else []
    parts += _warned(state) if under_way else []
    return " · ".join(filter(None, [*parts, *queued]))


def _warned(state: State) -> list[str]:
    """Return the last warning that a milestone or the assistant comes near a limit, if any."""
    rows = [r["payload"] for r in state.database.event_rows(state.run) if r["kind"] == WARNING]
    return [f"⚠ {warned_of(r)} used {r['percent']} % of its {r['resource']}" for r in rows[-1:]]


def warned_of(payload: Json) -> str:
    """Return whose limit a warning is about: a milestone's, or that of the assistant itself."""
    return payload["step_id"] or "the assistant"


def where(state: State) -> str:
    """Return in a few words where a run is: paused, ended, waiting for its person, or its work."""
    run = state.run
    if run.status not in (IDLE, ACTIVE):
        return run.status.lower()
    if run.stage == "submitted":
        return "waits for your approval"
    return _does(run)


def in_words(state: State, view: View | None) -> str:
    """Return where a run is as a person says it: what is done now, and who has to go on.

    Such as "Designing, step 2 of 6 – waits for the assistant".
    """
    run = state.run
    if run.ending:
        return run.ending.capitalize()
    does = _does(run)
    if run.workflow in (STRATEGY, REQUIREMENTS) or view is None:
        step = ""
    else:
        context = Context(find_workflow(run.workflow), run.step, state, None)
        step = f", step {path_of(context)}"
    if run.status == PAUSED:
        return f"{does}{step} – paused"
    return f"{does}{step} – waits for {'you' if waits_for_person(state, view) else 'the assistant'}"


def _does(run: Run) -> str:
    return _DOES.get((run.workflow, run.step)) or _DOES_IN.get(run.workflow, "Planning")


def waits_for_person(state: State, view: View | None) -> bool:
    """Return whether nothing goes on before a person approves, decides or retries.

    Or says what is meant, or what the plan is made against, without which a run does not begin.
    """
    if state.run.status == IDLE:
        return state.run.workflow == "planner" or bool(_clarification(state))
    if state.run.status != ACTIVE:
        return False
    if state.run.stage == "submitted":
        return True
    if view is None:
        return False
    if state.run.workflow != "executor":
        return bool(view.open_checkpoints()) or _is_stuck(state)
    stuck = view.open_checkpoints() or view.summary().blocked
    goes_on = view.with_status(IN_PROGRESS) or view.runnable() or view.held_off()
    return (bool(stuck) and not goes_on) or _is_stuck(state)


def _is_stuck(state: State) -> bool:
    """Return whether the gate that is due asks its person about what blocks again (PL-25)."""
    step = find_workflow(state.run.workflow).steps[state.run.step]
    path = review_path(state.state_dir, step.phase or "")
    if step.kind != "gate" or not os.path.exists(path):
        return False
    review = read_review(path)
    return bool(for_user(review.items, review.iteration))
