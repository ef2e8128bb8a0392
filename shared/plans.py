"""The plan of a run, opened for reading or changing: context, edits, answers.

Changes hold the run's lock and write files before the database, so that repeating a command
after a crash ends where it should.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from shared import resources
from shared.workflow import print_current
from state import store
from state.context import check_context, task_items, user_context
from state.edits import Applied, apply_edits, finish
from state.errors import Problem, Refused
from state.freeze import check_seals, digest_of
from state.models import Operation, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from state.models import Checkpoint

MOST_QUESTIONS = 3


def open_plan(state: State) -> Plan:
    """Return the plan for a change of it; Refused while it is frozen or an apply is unfinished."""
    if _interrupted(state):
        text = "an apply was interrupted; nothing else may run before it is finished or taken back"
        ways = f"{state.command('exec', 'apply')} finishes, {state.command('undo')} takes back"
        raise Refused("conflict", "exec apply", text, ways)
    check_active(state)
    path = resources.plan_path(state.state_dir)
    plan = store.load_plan(path)
    if plan.frozen_at is not None or state.run.digest is not None:
        check_frozen(state)
        text = f"revision {state.run.revision} is frozen"
        raise Refused("frozen", path, text, "a new revision", state.command("plan", "revise"))
    return plan


def _interrupted(state: State) -> bool:
    folder = resources.journal_path(state.state_dir)
    if not os.path.isdir(folder):
        return False
    # Imported only where something was applied: every edit of a plan comes by here.
    from shared.git.journal import journal_state

    return journal_state(folder) in ("applying", "undoing")


def check_going(state: State) -> None:
    """Refuse to begin anything new in a run that is paused."""
    if state.run.status == "PAUSED":
        text = f"the run is paused; {state.halted}" if state.halted else "the run is paused"
        raise Refused("refused", state.state_dir, text, "first", state.command("resume"))


def check_active(state: State) -> None:
    """Refuse a change of a run that has ended or is paused."""
    check_going(state)
    if state.run.status in ("COMPLETED", "CANCELLED"):
        text = f"the run is {state.run.status.lower()}"
        raise Refused("refused", state.state_dir, text, "a new run", "planner start")


def check_frozen(state: State) -> Plan:
    """Return the frozen plan; Refused, naming the place, where it is not what was frozen."""
    path = resources.plan_path(state.state_dir)
    data = store.read_bytes(path)
    stated, actual = digest_of(data)
    known = state.run.digest
    if stated is None and known is None:
        raise Refused(
            "refused", path, "the plan is not frozen", "", state.command("step", "planner")
        )
    if stated != actual or (known is not None and known != actual):
        problems = check_seals(store.check_version(store.parse_json(data, path), path))
        if stated is not None and stated == actual:
            text = f"the plan was frozen anew; the run knows digest {known}"
            problems = [Problem("invalid", "digest", text, "the plan that was submitted")]
        raise Refused.of(problems)
    return store.load_plan(path)


def load_approved(state: State) -> Plan:
    """Return the frozen plan whose digest is approved (PL-26)."""
    state.reload()
    plan = check_frozen(state)
    check_approved(state)
    return plan


def check_approved(state: State) -> None:
    """Refuse a run that is cancelled or whose digest no person has approved."""
    if state.run.status == "CANCELLED":
        raise Refused(
            "refused", state.state_dir, "the run is cancelled", "a new run", "planner start"
        )
    check_going(state)
    digest = state.run.digest or ""
    if not state.database.is_approved(state.run, digest):
        text = "no person has approved this revision"
        allowed = f"only a person runs this: {state.command('mode', 'approve', digest)}"
        raise Refused("refused", digest, text, allowed)


def set_context(state: State, file: str) -> str:
    """Store context.json from `file`, number the task's entries and print the next step."""
    context = check_context(store.read_json(file))
    with state.lock("context set"):
        plan = open_plan(state)
        state.reload()
        if state.run.step > 2:  # noqa: PLR2004 – step 2 is context-verify
            stored = store.read_json(resources.get_context_path(state.state_dir))
            if stored == context:
                return print_current(state)
            text = "context.json is read-only after step 2"
            allowed = state.command("context", "add-quote", "TEXT")
            raise Refused("frozen", "context.json", text, f"later words of the user: {allowed}")
        store.write_json(resources.get_context_path(state.state_dir), context)
        values = {"task_spec": task_items(context), "context": user_context(context)}
        changed = plan.model_copy(update=values)
        store.save_plan(resources.plan_path(state.state_dir), changed)
        with state.database as database:
            database.add_step(state.run, "planner", 2, "context-verify", "host")
            state.go_to("planner", 3)
    return print_current(state)


def add_quote(state: State, text: str) -> None:
    """Add words of the user to the context, until the plan is frozen."""
    with state.lock("context add-quote"):
        plan = open_plan(state)
        path = resources.get_context_path(state.state_dir)
        context = store.read_json(path)
        if text not in context["user_quotes"]:
            context["user_quotes"].append(text)
        values = {"context": user_context(check_context(context))}
        store.save_plan(resources.plan_path(state.state_dir), plan.model_copy(update=values))
        store.write_json(path, context)


def edit(
    state: State, edits: Sequence[object], role: str | None, operation: str | None
) -> list[Applied]:
    """Apply edits to the plan, all or none; the same operation again changes nothing."""
    with state.lock("plan edit"):
        plan = open_plan(state)
        changed, applied = edited(plan, edits, role, operation)
        if changed is not plan:
            store.save_plan(resources.plan_path(state.state_dir), changed)
    return applied


def edited(
    plan: Plan, edits: Sequence[object], role: str | None, operation: str | None
) -> tuple[Plan, list[Applied]]:
    """Return the plan after the edits; the plan itself where `operation` was its last one."""
    last = plan.last_operation
    if operation is not None and last is not None and last.id == operation:
        return plan, [Applied(*row) for row in last.applied]
    changed, applied = apply_edits(plan, edits, role)
    if operation is not None:
        done = Operation(id=operation, applied=tuple((a.op, a.id, a.version) for a in applied))
        changed = changed.model_copy(update={"last_operation": done})
    return changed, applied


def read_batch(path: str) -> tuple[list[object], str]:
    """Return the edits of a batch file and the operation id that its bytes give."""
    data = store.read_bytes(path)
    edits = store.parse_json(data, path)
    if not isinstance(edits, list):
        raise Refused("invalid", path, "a batch is a JSON list of edits", '[{"op": "add", …}, …]')
    return edits, sha256(data).hexdigest()[:16]


def ask(state: State, questions: object) -> list[str]:
    """Add an agent's questions to the plan as checkpoints and return their ids.

    A question that the plan asks already is not asked twice.
    """
    if not isinstance(questions, list) or not 0 < len(questions) <= MOST_QUESTIONS:
        example = '[{"question": "…", "options": [{"key": "a", "label": "…"}, …]}]'
        text = f"is no list of 1 to {MOST_QUESTIONS} questions"
        raise Refused("invalid", "questions", text, example)
    with state.lock("context ask"):
        plan = open_plan(state)
        texts = [q.get("question") if isinstance(q, dict) else None for q in questions]
        known = [c.id for c in plan.checkpoints if c.question in texts]
        asked = [c.question for c in plan.checkpoints]
        edits = [
            {"op": "add", "kind": "checkpoint", "fields": question}
            for question, text in zip(questions, texts, strict=True)
            if text not in asked
        ]
        if not edits:
            return known
        changed, applied = edited(plan, edits, None, None)
        store.save_plan(resources.plan_path(state.state_dir), changed)
    return known + [a.id for a in applied]


def answer(state: State, checkpoint_id: str, choices: list[str]) -> str:
    """Store the user's answer to a checkpoint and print what follows.

    Refused with the valid ids and keys.
    """
    with state.lock("context answer"):
        checkpoint = _checkpoint(state, checkpoint_id)
        keys = [o.key for o in checkpoint.options]
        unknown = [c for c in choices if c not in keys]
        if unknown or (len(choices) != 1 and not checkpoint.multi):
            how = "one or more, joined by commas" if checkpoint.multi else "one"
            text = f"{', '.join(choices)} is no answer to {checkpoint_id}"
            raise Refused("invalid", "CHOICE", text, f"{how} of {', '.join(keys)}")
        _store_answer(state, checkpoint_id, choices)
    return print_current(state)


def answer_in_words(state: State, checkpoint_id: str, words: str) -> str:
    """Store an answer in the user's own words, or several choices; print what follows."""
    with state.lock("context answer"):
        checkpoint = _checkpoint(state, checkpoint_id)
        keys = [o.key for o in checkpoint.options]
        if not words:
            text = "holds no answer"
            raise Refused("invalid", "--file", text, f"the user's words, or of {', '.join(keys)}")
        choices = [word.strip() for word in words.split(",")] if checkpoint.multi else [words]
        _store_answer(state, checkpoint_id, choices if set(choices) <= set(keys) else [words])
    return print_current(state)


def _checkpoint(state: State, checkpoint_id: str) -> Checkpoint:
    plan = open_plan(state)
    found = next((c for c in plan.checkpoints if c.id == checkpoint_id), None)
    if found is None:
        known = ", ".join(c.id for c in plan.checkpoints) or "the plan asks nothing"
        raise Refused("not_found", checkpoint_id, "there is no such checkpoint", known)
    return found


def _store_answer(state: State, checkpoint_id: str, choices: list[str]) -> None:
    with state.database as database:
        database.answer(state.run, checkpoint_id, choices)
        database.audit(state.run, "host", "answer", detail=f"{checkpoint_id}: {choices}")


def import_plan(state: State, path: str) -> list[str]:
    """Take the content of another plan into an empty one; returns notes on what was left out."""
    data = store.check_version(store.read_json(path), path)
    with state.lock("plan import"):
        plan = open_plan(state)
        if plan.milestones or plan.planning_context.decision_log:
            allowed = "a run whose plan is empty"
            raise Refused("conflict", path, "the plan of this run has content already", allowed)
        own = plan.model_dump(mode="python")
        kept = {k: data[k] for k in _IMPORTED if k in data}
        notes = _without_changes(kept)
        imported = finish({**own, **kept, "milestone_dependencies": {"waves": []}})
        store.save_plan(resources.plan_path(state.state_dir), imported)
    return notes


def _without_changes(data: dict[str, Any]) -> list[str]:
    """Drop what capture makes and dependencies that cannot hold; returns a note for each."""
    notes = []
    listed = data.get("milestones")
    milestones = [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
    known = {str(m.get("id")) for m in milestones}
    for milestone in milestones:
        if milestone.pop("code_changes", None):
            notes.append(f"{milestone.get('id')}: its changes; capture makes them anew")
        if isinstance(milestone.get("documentation"), dict):
            milestone["documentation"].pop("changes", None)
        wanted = milestone.get("depends_on")
        if not isinstance(wanted, list):
            continue  # the schema says what is wrong with it
        lost = [d for d in wanted if str(d) not in known or d == milestone.get("id")]
        if lost:
            milestone["depends_on"] = [d for d in wanted if d not in lost]
            notes.append(f"{milestone.get('id')}: dependencies on {', '.join(map(str, lost))}")
    return notes


_IMPORTED = (
    "overview", "planning_context", "invisible_knowledge", "milestones", "diagrams", "checkpoints",
)  # fmt: skip
