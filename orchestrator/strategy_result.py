"""What the choice of a strategy hands to the planner, and what becomes of its goals (SD-1).

Its goals and criteria begin the task, its constraints and what was gathered the context, and its
question to the user is the plan's first, with the answer: nothing is asked or written twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.strategy_record import (
    ASKED,
    DONE,
    EXECUTOR,
    FAILED,
    IN_PROGRESS,
    NONE,
    PENDING,
    USER_ANSWER,
    WORKFLOW,
    Strategy,
    read_strategy,
)
from shared.strategy_text import pairs, render_document
from state.files import write_atomic, write_json
from state.stages import CANCELLED, COMPLETED
from state.statements import cited_by

if TYPE_CHECKING:
    from typing import Any

    from shared.run import State
    from state.database import Run
    from state.milestones import AnyPlan

    Json = dict[str, Any]

_RECALLED = "plan_memory"  # shown as earlier plans to whoever designs
_SUCCEEDS = "It succeeds when: "


class Clarified(NamedTuple):
    """A question of the strategy, and the user's answer in their words."""

    question: str
    answer: str


def strategy_of(state_dir: str) -> Strategy | None:
    """Return what the strategy of a run remembers; None for a run that began with its plan."""
    is_there = os.path.exists(resources.strategy_path(state_dir))
    return read_strategy(state_dir) if is_there else None


def store(state_dir: str, facts: Strategy) -> None:
    """Write what a strategy remembers, and context.md, which is made from it for readers."""
    write_json(resources.strategy_path(state_dir), facts.to_json())
    path = resources.strategy_document_path(state_dir)
    write_atomic(path, render_document(facts).encode("utf-8"))


# what the planner's work begins with


def clarified(facts: Strategy) -> list[Clarified]:
    """Return the questions that the user has answered, in order."""
    return [
        Clarified(block["provenance"][0].removeprefix(ASKED), block["content"])
        for block in facts.gathered
        if _is_answer(block)
    ]


def _is_answer(block: Json) -> bool:
    sources: list[str] = block["provenance"]
    return block["source_type"] == USER_ANSWER and any(one.startswith(ASKED) for one in sources[:1])


def context_of(facts: Strategy) -> dict[str, list[str]]:
    """Return what the strategy gives to the lists of context.json, without empty ones.

    Goals come from a strategic plan that led to the planner; a person may have left another.
    """
    plan = facts.plan or {}
    if plan.get("route_to") != EXECUTOR or plan.get("depth", NONE) == NONE:
        plan = {}
    task = [goal["description"] for goal in plan.get("goals", [])]
    task += [_SUCCEEDS + text for text in [plan.get("success_criteria", "")] if text.strip()]
    about = {
        "purpose": facts.purpose,
        "approach of the strategy": plan.get("approach", ""),
        "summary": plan.get("context_summary", ""),
    }
    known = [f"{name}: {text}" for name, text in about.items() if text.strip()]
    known += [_gathered(block) for block in gathered_by_host(facts)]
    found = {
        "task_spec": list(dict.fromkeys(task)),
        "constraints": pairs(plan.get("constraints", {})),
        "current_understanding": known,
    }
    return {name: texts for name, texts in found.items() if texts}


def settled_lines(state: State) -> list[str]:
    """Return what a run's strategy has settled, by entry of the task; what it gathered by title."""
    facts = strategy_of(state.state_dir)
    if facts is None:
        return []
    given = context_of(facts)
    lines = [f"T-{number} {text}" for number, text in enumerate(given.get("task_spec", []), 1)]
    lines += [f"constraint: {text}" for text in given.get("constraints", [])]
    titles = [block["title"] for block in gathered_by_host(facts)]
    shown = state.command("strategy", "show", "--section", "2")
    return [*lines, f"gathered, shown by `{shown}`: {', '.join(titles)}"] if titles else lines


def gathered_by_host(facts: Strategy) -> list[Json]:
    """Return the blocks of §2 that are neither answers of the user nor from earlier plans."""
    aside = (block for block in facts.gathered if block["source_type"] != _RECALLED)
    return [block for block in aside if not _is_answer(block)]


def _gathered(block: Json) -> str:
    sure = block.get("confidence_avg")
    sources = [*block["provenance"], *([] if sure is None else [f"confidence {sure:.2f}"])]
    return f"{block['title']}: {block['content']} ({', '.join(sources)})"


# what becomes of the goals


def goals_now(state: State, facts: Strategy) -> dict[str, str]:
    """Return the status of each goal: once a plan is made, that of the milestones that do it.

    A goal is in progress as soon as a milestone cites its entry of the task, done with the run.
    """
    if state.run.workflow == WORKFLOW or not os.path.exists(resources.plan_path(state.state_dir)):
        return facts.goals
    plan, goals = state.plan, (facts.plan or {}).get("goals", [])
    ids = {task.text: task.id for task in plan.task_spec}
    return {goal["id"]: _status(plan, state.run, ids.get(goal["description"])) for goal in goals}


def _status(plan: AnyPlan, run: Run, task: str | None) -> str:
    if not task or not cited_by(plan, task):
        return PENDING
    return {COMPLETED: DONE, CANCELLED: FAILED}.get(run.status, IN_PROGRESS)


def keep_goals(state: State) -> None:
    """Store the status of a run's goals, if it had a strategy: a commit or its revert moves it."""
    facts = strategy_of(state.state_dir)
    if facts is None or facts.plan is None:
        return
    facts.goals = goals_now(state, facts)
    store(state.state_dir, facts)
