"""Store a user's answer to a question of the plan; a late one makes its phase due again (SD-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.plan.late_words import phase_now, reopen
from shared.contents import answer_of
from shared.execution.deeds import check_choices
from shared.plan_file import check_frozen, open_plan
from state import store
from state.changes import bytes_of
from state.errors import Refused
from state.phases import PLANNING_PHASES
from state.statements import WITHDRAWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from state.models import Checkpoint, Plan
    from state.rows import Answer


class Reply(NamedTuple):
    """What the user has answered, as their assistant hands it on."""

    # Keys of options with commas between them, or where it is `in_words` what a file says.
    text: str
    # Else it has to be one of the options.
    in_words: bool = False
    # Whether the user has left it to the assistant, which has chosen.
    by_assistant: bool = False
    # Whether the question has become pointless; then the text says why.
    withdrawn: bool = False

    def choices(self, checkpoint: str, keys: list[str], *, multi: bool) -> list[str]:
        """Return the keys that answer a question, or the user's words as the only entry.

        Raises Refused for an unknown key, for too many keys, and for no words.
        """
        parts = [word.strip() for word in self.text.split(",")]
        if not self.in_words:
            check_choices(checkpoint, keys, parts, multi=multi)
            return parts
        if not self.text:
            text = "the file holds no answer"
            allowed = "why it is withdrawn" if self.withdrawn else "the user's words, or of "
            known = "" if self.withdrawn else ", ".join(keys)
            raise Refused("invalid", "--file", text, f"{allowed}{known}")
        if self.withdrawn:
            return [f"{WITHDRAWN}{self.text}"]
        chosen = parts if multi else [self.text]
        return chosen if set(chosen) <= {*keys} else [self.text]


def answer(state: State, checkpoint_id: str, reply: Reply) -> None:
    """Store what the user has answered to a question of the plan.

    If the phase that has asked it has ended, that phase is due again (SD-3). Raises Refused for an
    unknown id or key.
    """
    with state.lock("decide"):
        state.reload()
        asked, choices = _read(state, checkpoint_id, reply)
        known = state.database.answers(state.run).get(asked.id)
        if known is not None and _is_same(known, choices, reply):
            return
        plan = open_plan(state)
        if state.is_writing and known is not None and known.phase in PLANNING_PHASES:
            text = f"{asked.id} is answered ({', '.join(known)}); the approved intents rest on it"
            ways = "keep it, or say once the code is submitted what to change as remarks"
            raise Refused("conflict", asked.id, text, ways)
        phase = phase_now(state) if known is None else known.phase or "plan-design"
        if asked.outcome:
            plan = _with_outcome_open(state, plan, asked)
        who = "assistant" if reply.by_assistant else "host"
        with state.database as database:
            database.answer(state.run, asked.id, choices, phase, by_assistant=reply.by_assistant)
            database.audit(state.run, who, "answer", detail=f"{asked.id}: {choices}")
            tell_question(state, plan, asked, selections=choices)
            # A remark that says it is what the work of this revision follows.
            before = plan.revision - 1
            remarks = [one.text for one in plan.user_remarks if one.revision == before]
            said = _otherwise(asked, choices) in remarks
            reopen(
                state, plan, phase, asked.id,
                is_new=known is None, is_of_earlier=asked.revision < plan.revision and not said,
            )  # fmt: skip


def as_remark(state: State, checkpoint_id: str, reply: Reply) -> str:
    """Return what an answer says to a plan that rests on another one; '' if it is the same."""
    asked, choices = _read(state, checkpoint_id, reply)
    known = state.database.answers(state.run).get(asked.id)
    is_same = known is None or _is_same(known, choices, reply)
    return "" if is_same else _otherwise(asked, choices)


def _otherwise(asked: Checkpoint, choices: list[str]) -> str:
    """Return the remark that an answer is to a plan that rests on another one."""
    said = answer_of(asked, {asked.id: choices})
    return f"{asked.id} is answered otherwise now: {asked.question} → {said}"


def _is_same(known: Answer, choices: list[str], reply: Reply) -> bool:
    """Return whether a question is answered so already, and by the same one."""
    return known == choices and known.by_assistant == reply.by_assistant


def _read(state: State, checkpoint_id: str, reply: Reply) -> tuple[Checkpoint, list[str]]:
    """Return a question of the plan and the answer as it is stored; Refused if they do not fit.

    Raises Refused with the places too if the plan is frozen and was edited by hand.
    """
    plan = store.load_plan(state.plan_path)
    # One that is not frozen any more may be the next revision of a command that was killed.
    is_submitted = state.run.digest is not None and plan.revision == state.run.revision
    if is_submitted or plan.frozen_at is not None:
        check_frozen(state)
    asked = _checkpoint(plan, checkpoint_id)
    keys = [option.key for option in asked.options]
    return asked, reply.choices(asked.id, keys, multi=asked.multi)


def _checkpoint(plan: Plan, checkpoint_id: str) -> Checkpoint:
    found = next((c for c in plan.checkpoints if c.id == checkpoint_id), None)
    if found is None:
        known = ", ".join(c.id for c in plan.checkpoints) or "the plan asks nothing"
        raise Refused("not_found", checkpoint_id, "the plan has no such question", known)
    return found


def _with_outcome_open(state: State, plan: Plan, asked: Checkpoint) -> Plan:
    """Store the plan without what was stated of an earlier answer, and return it."""
    opened = asked.model_copy(update={"outcome": "", "version": asked.version + 1})
    kept = tuple(opened if one.id == asked.id else one for one in plan.checkpoints)
    plan = plan.model_copy(update={"checkpoints": kept})
    store.save_plan(state.plan_path, plan)
    return plan


def tell_question(state: State, plan: Plan, asked: Checkpoint, **chosen: Sequence[str]) -> None:
    """Log that a question was asked, or with `selections` how it was answered."""
    payload = {  # the log of events holds JSON
        "plan_id": plan.plan_id, "decision_id": asked.id, "question": asked.question,
        "options": [option.model_dump() for option in asked.options], **chosen,
    }  # fmt: skip
    if chosen:
        payload["changes"] = bytes_of(plan)  # an answer that comes later and alters none is named
    state.database.event(state.run, "PlanDecision", payload)
