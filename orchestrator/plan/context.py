"""Store the task as the assistant understands it, and questions to the user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from orchestrator.plan.answers import tell_question
from orchestrator.plan.late_words import has_ended
from orchestrator.requirements_text import entries_of
from orchestrator.strategy_result import context_of, strategy_of
from shared import resources
from shared.plan_file import after_edits, open_plan
from shared.requirements_record import lane_of
from state import store
from state.context import OVERRULED, check_context, task_items, user_context
from state.errors import Problem, Refused
from state.files import write_json
from state.kept_files import gone, read_kept
from state.written_json import an_object, checked, list_of

if TYPE_CHECKING:
    from shared.run import State
    from state.fields import TaskOrigin
    from state.models import Plan

    Context = dict[str, list[str]]
    Json = dict[str, Any]

_EXAMPLE = '[{"question": "…", "options": [{"key": "a", "label": "…"}, …]}]'
_QUESTIONS = list_of({"type": "object", "allowed": _EXAMPLE}, _EXAMPLE, minItems=1, maxItems=3)
STEP = 2  # context-verify
_ASSUMED = "assumptions"
_TEXTS = "each is a list of strings"
_LATER = an_object(
    dict.fromkeys((_ASSUMED, OVERRULED), list_of({"type": "string", "minLength": 1}, _TEXTS)),
    [],
    _TEXTS,
)
# What the approver sees of an assumption that what was said later has overruled.
HOLDS_NO_MORE = " → holds no more, by what was said later"


def set_context(state: State, value: object) -> None:
    """Store context.json (the user's task), number its entries, end planning step 2."""
    with state.lock("context set"):
        plan = open_plan(state)
        state.reload()
        context = new_context(state, value)
        if context is None:
            return
        store.save_plan(state.plan_path, with_context(state, plan, context))
        is_first = state.run.step <= STEP
        store_context(state, context)
        if is_first:
            with state.database:
                state.go_to("planner", STEP + 1)


def new_context(state: State, value: object) -> Context | None:
    """Return the assistant's context, checked; None if it is stored already, refused if too late.

    What the run began with comes first. Of a stored one only assumptions may be overruled or added.
    """
    _, given = _begun_with(state)
    if state.run.step <= STEP:
        return check_context(_with_given(given, value))
    stored = _stored(state)
    if isinstance(value, dict) and value and value.keys() <= {_ASSUMED, OVERRULED}:
        now = _with_overruled(stored[_ASSUMED], value)
        return None if now == stored[_ASSUMED] else {**stored, _ASSUMED: now}
    if _with_given(given, value) in (stored, {k: v for k, v in stored.items() if v}):
        return None
    text = "context.json is read-only once step 2 (context-verify) is done"
    quote = state.command("context", "add-quote", "TEXT")
    allowed = f"to add what the user said later, run {quote}; for assumptions, alone: "
    allowed += f'{{"op": "context", "{_ASSUMED}": [new ones], "{OVERRULED}": [what holds no more]}}'
    raise Refused("frozen", "context.json", text, allowed)


def _stored(state: State) -> Json:
    """Return context.json; Refused where step 2 has not written it yet, or where it is gone."""
    path = resources.get_context_path(state.state_dir)
    if not os.path.lexists(path):
        if state.run.step > STEP:
            raise gone(path)
        here = state.command("step", state.run.workflow)
        raise Refused("conflict", path, "the task is not written down yet", "do that first", here)
    return read_kept(path, dict)


def _with_overruled(known: list[str], value: Json) -> list[str]:
    """Return the assumptions that were known, those that hold no more marked so, and new ones.

    Refused where what is overruled was not assumed, word for word.
    """
    lists = checked(value, _LATER, "context")
    ended, new = lists.get(OVERRULED, []), lists.get(_ASSUMED, [])
    then = [text.removesuffix(HOLDS_NO_MORE) for text in known]
    problems = [
        Problem("not_found", f"{OVERRULED}[{n}]", "no assumption has these words", "\n".join(known))
        for n, text in enumerate(ended)
        if text not in then
    ]
    if problems:
        raise Refused.of(problems)
    kept = [f"{text}{HOLDS_NO_MORE}" if text in ended else was
            for text, was in zip(then, known, strict=True)]  # fmt: skip
    return [*kept, *(text for text in new if text not in kept)]


def with_context(state: State, plan: Plan, context: Context) -> Plan:
    """Return a copy of the plan that holds the user's task and its context."""
    origin, given = _begun_with(state)
    origins = dict.fromkeys(given.get("task_spec", []), origin)
    left = {task.text: task.left_out for task in plan.task_spec}
    task = [
        one.model_copy(update={"left_out": left.get(one.text, ())})
        for one in task_items(context, origins)
    ]
    values = {"task_spec": tuple(task), "context": user_context(context)}
    return plan.model_copy(update=values)


def store_context(state: State, context: Context) -> None:
    """Write context.json and record that step 2 has ended."""
    write_json(resources.get_context_path(state.state_dir), context)
    if state.run.step > STEP:
        return
    with state.database as database:
        database.add_steps(state.run, "planner", [(STEP, "context-verify")], "host")


def _begun_with(state: State) -> tuple[TaskOrigin, Context]:
    """Return what a run has of the context before it is written, and where that comes from.

    That is the entries of the requirements which it implements, or what its strategy has learned.
    """
    if lane_of(state.state_dir):
        return "requirements", {"task_spec": entries_of(state.run.request)}
    facts = strategy_of(state.state_dir)
    return ("strategy", context_of(facts)) if facts else ("request", {})


def _with_given(given: Context, context: object) -> object:
    """Return the assistant's context with what the run began with, which comes first.

    It stands there word for word, so that none of it is lost or told in other words.
    """
    if not isinstance(context, dict):
        return context
    added = {name: context.get(name, []) for name in given}
    if not all(isinstance(texts, list) for texts in added.values()):
        return context
    whole = {
        name: [*texts, *(text for text in added[name] if text not in texts)]
        for name, texts in given.items()
    }
    return {**context, **whole}


def add_quote(state: State, text: str) -> bool:
    """Add words of the user to the stored task; raise Refused once the plan is frozen.

    Returns False, with nothing changed, once the design has ended: then they are a remark (SD-3).
    """
    with state.lock("context add-quote"):
        plan = open_plan(state)
        state.reload()
        if has_ended(state, "plan-design"):
            return False
        path = resources.get_context_path(state.state_dir)
        context = _stored(state)
        if text not in context["user_quotes"]:
            context["user_quotes"].append(text)
        values = {"context": user_context(check_context(context))}
        store.save_plan(state.plan_path, plan.model_copy(update=values))
        write_json(path, context)
    return True


def read_questions(value: object, name: str) -> list[Json]:
    """Return an agent's questions for the user; Refused if they are none, too many or no objects.

    What a question holds is checked as a part of the plan.
    """
    return list(checked(value, _QUESTIONS, name))


def ask(state: State, value: object) -> list[str]:
    """Add an agent's questions for the user to the plan and return their ids.

    A question that the plan asks already is not asked twice.
    """
    questions = read_questions(value, "questions")
    with state.lock("context ask"):
        plan = open_plan(state)
        texts = [question.get("question") for question in questions]
        known = [c.id for c in plan.checkpoints if c.question in texts]
        asked = [c.question for c in plan.checkpoints]
        edits = [
            {"op": "add", "kind": "checkpoint", "fields": question}
            for question, text in zip(questions, texts, strict=True)
            if text not in asked
        ]
        if not edits:
            return known
        try:
            changed, applied = after_edits(plan, edits, None, None)
        except Refused as refusal:
            asking = [n for n, text in enumerate(texts) if text not in asked]
            for problem in refusal.problems:
                problem.at = _in_questions(problem.at, asking)
            raise
        store.save_plan(state.plan_path, changed)
        new = [a.id for a in applied]
        with state.database:
            for checkpoint in changed.checkpoints:
                if checkpoint.id in new:
                    tell_question(state, changed, checkpoint)
    return known + new


def _in_questions(at: str, numbers: list[int]) -> str:
    """Return the place of a problem in the list of questions, by that in the edits made of it."""
    number, dot, field = at.removeprefix("[").partition("].fields")
    return f"[{numbers[int(number)]}]{field}" if dot else at
