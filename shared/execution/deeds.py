"""Change how the milestones of a run stand: start, succeed, block, ask, decide, retry, recover.

`Execution(state)` is how all milestones stand at one moment; make it anew to see later changes.
Reading writes nothing: a decision whose time limit has passed is shown as blocked, and stored by
the next deed. Every deed is checked against the table in `state/execution.py`, stored, and told by
an event, all in the caller's transaction, which begins before the Execution is made:

    with state.database:
        execution = Execution(state)
        execution.begin()                    # once the plan is approved; repeated: nothing
        for name in execution.runnable():    # [] while the run is paused
            execution.start(name, agent)     # its worktree is made before or after, repeatably
        execution.succeed(name)              # or block(name, why), or ask(name, questions)

A deed that is repeated changes nothing. A milestone that is started again after a block, a
question or a crash (`attempts` > 1) may keep its worktree if no other milestone has changed its
files since; `progress[name].note` says what failed, `answers_for(name)` what the user has decided.
Printed steps read through this module, so it imports no third-party package.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from shared.execution import costs, events
from shared.execution.progress import View
from shared.requirements_record import lane_of
from state import execution
from state.backoff import TRIES, delay_s
from state.clock import moment
from state.errors import Refused
from state.execution import BLOCKED, COMPLETED, IN_PROGRESS, PENDING
from state.shape import as_json
from state.stages import PAUSED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.run import State
    from state.rows import Progress

Json = dict[str, Any]

DECISION_TIMEOUT_S = 0  # none, unless planner.toml says otherwise


class Execution(View):
    """How the milestones of a run stand at one moment, and the deeds that change it.

    Each deed is part of the caller's transaction.
    """

    def __init__(self, state: State) -> None:
        state.reload()  # what another command has stored since the run was opened
        super().__init__(state)

    def begin(self) -> None:
        """Store every milestone of the plan, pending or in need of a decision, and say so once.

        Milestones that are stored already stay as they are; those that the plan no longer has go.
        """
        database, run = self.state.database, self.state.run
        stored = database.progress(run)
        new = [m for m in self.milestones if m.id not in stored]
        for name in stored.keys() - self.progress.keys():
            database.drop_progress(run, name)
        if not new:
            return
        steps = [
            {"id": m.id, "title": m.name, "mode": m.mode, "depends_on": m.depends_on}
            for m in self.milestones
        ]
        self._tell("PlanStarted", goal=run.request, steps=steps)
        waited = {name for m in new for name in self.progress[m.id].waits}
        for asked in self.plan.checkpoints:
            if asked.id in waited:
                self._ask(as_json(asked), "")
        for milestone in new:
            database.set_progress(run, self.progress[milestone.id])

    def start(self, name: str, agent: str = "") -> None:
        """Record that an agent begins a milestone; Refused unless it is runnable now."""
        row = self._known(name)
        if row.status == IN_PROGRESS and agent in ("", row.agent):
            return
        if name not in self.runnable():
            self._check_going("start")
            why = self.reasons().get(name) or f"it is {row.status}"
            now = ", ".join(self.runnable()) or "nothing can start now"
            raise Refused("conflict", name, f"{name} cannot start: {why}", now, "planner status")
        self._do(row, "start", agent=agent, started_at=moment(time.time()))

    def succeed(self, name: str) -> None:
        """Record that a milestone in progress is done; what failed before is cleared."""
        row = self._known(name)
        if row.status != COMPLETED:
            self._check_not_ended("succeed")
            self._do(row, "succeed")

    def spend(self, name: str, stats: Mapping[str, Any]) -> None:
        """Warn if the tokens that a milestone's agent reports come near its limit or pass it."""
        limit = next(m.max_tokens for m in self.milestones if m.id == name)
        tokens = costs.tokens_of(stats)
        told = costs.warning(tokens, limit) if limit and tokens is not None else None
        if told is not None:
            who = self.progress[name].subagent
            self._tell(costs.WARNING, step_id=name, subagent_id=who, **told)

    def block(self, name: str, why: str) -> None:
        """Record that a milestone cannot go on, and why; it stays so until retry or cancel."""
        row = self._known(name)
        if (row.status, row.note) != (BLOCKED, why):
            self._check_not_ended("block")
            self._do(row, "block", note=why)

    def hold_off(self, name: str, share: float) -> None:
        """Let a milestone whose agent a rate limit ended start again after a while (PC-13).

        `share` of the longest wait, drawn at random. After too many rate limits in a row it is
        blocked. Repeated while it waits, nothing changes.
        """
        self._check_not_ended("hold off")
        row = self._known(name)
        if row.not_before and row.status == PENDING:
            return
        limits = row.limited + 1
        note = f"rate limit {limits} of {TRIES}"
        if limits < TRIES:
            at = moment(math.ceil(time.time() + delay_s(limits, share)))
            self._do(row, "hold off", not_before=at, limited=limits, note=note)
        else:
            self._do(row, "block", note=f"{note}; retry it when the limit has passed")

    def ask(self, name: str, questions: Sequence[Json]) -> list[str]:
        """Let a milestone wait for the user's answers; return the ids of the questions.

        A question has question, options ({"key", "label"} each) and may have header and multi. One
        that this milestone has asked before keeps its id, and its answer if it has one.
        """
        self._check_not_ended("ask")
        row = self._known(name)
        known = self.asked_by(name)
        found = []
        for question in questions:
            number = known.get(question["question"]) or f"CP-{self.last_checkpoint() + 1:03}"
            if number not in self.checkpoints:
                self._ask({"header": "", "multi": False, **question, "id": number}, name)
            found.append(number)
        waits = [number for number in found if number not in self.answers]
        if waits:
            self._do(row, "ask", waits=waits)
        return found

    def decide(
        self,
        checkpoint: str,
        choices: Sequence[str],
        *,
        in_words: bool = False,
        by_assistant: bool = False,
    ) -> None:
        """Store the user's answer, also after its time limit, and unblock what waits for it.

        Unless it is `in_words`, it is made of the options; `by_assistant` if the user has left it
        to the assistant.
        """
        self._check_not_ended("decide")
        asked = self.checkpoints.get(checkpoint)
        if asked is None:
            known = ", ".join(c.id for c in self.open_checkpoints()) or "no question is open"
            raise Refused("not_found", checkpoint, "there is no such checkpoint", known)
        if self.answers.get(checkpoint) == list(choices):
            return
        if not in_words:
            check_choices(asked.id, asked.keys, choices, multi=asked.multi)
        if checkpoint in self.answers:
            self._check_changeable(checkpoint)
        database, run = self.state.database, self.state.run
        database.answer(run, checkpoint, list(choices), by_assistant=by_assistant)
        who = "assistant" if by_assistant else "host"
        database.audit(run, who, "decide", detail=f"{checkpoint}: {', '.join(choices)}")
        self.answers = database.answers(run)
        self._tell(
            "PlanDecision", decision_id=checkpoint, question=asked.question,
            options=asked.options, selections=list(choices),
        )  # fmt: skip
        for row in list(self.progress.values()):
            if checkpoint in row.waits:
                self._do(row, "decide", waits=[w for w in row.waits if w != checkpoint])

    def retry(self, name: str) -> None:
        """Set a blocked milestone to pending, so that it runs again; one that is pending stays.

        One whose decision timed out needs the decision again, and its time limit counts anew.
        """
        self._check_not_ended("retry")
        row = self._known(name)
        if row.status not in (BLOCKED, PENDING):
            can = ", ".join(self.with_status(BLOCKED)) or "no milestone is blocked"
            text = f"{name} is {row.status}; only a blocked milestone is tried again"
            raise Refused("conflict", name, text, can, "planner status")
        for checkpoint in row.waits:
            self.state.database.ask_again(self.state.run, checkpoint)
        if row.status == BLOCKED or row.limited:
            self._do(row, "retry")

    def complete_all(self) -> None:
        """Record that the program has applied every milestone that was still pending."""
        for name in self.with_status(PENDING):
            self._do(self.progress[name], "start", started_at=moment(time.time()))
            self._do(self.progress[name], "succeed")

    def recover(self, names: Collection[str] | None = None) -> list[str]:
        """Set milestones in progress back to pending, and return them: all, or those of `names`.

        Their agents are gone, or the files that they began on are others now.
        """
        at_work = self.with_status(IN_PROGRESS)
        found = [name for name in at_work if names is None or name in names]
        for name in found:
            self._do(self.progress[name], "recover")
        return found

    # parts of the deeds

    def _do(self, row: Progress, action: str, **values: Any) -> None:  # noqa: ANN401
        self._store(execution.after(row, action, **values))

    def _store(self, moved: Progress) -> None:
        self.progress[moved.id] = moved
        events.store(self.state.database, self.state.run, self.plan.plan_id, moved)
        if lane_of(self.state.state_dir):
            # Only here, since few runs implement requirements and printed steps load this module.
            from shared.todo import refresh_todo

            self.state.database.after_commit(lambda: refresh_todo(self.state))

    def _ask(self, asked: Json, milestone: str) -> None:
        config = self.state.config["config"]
        limit = config.get("decision_timeout_seconds", DECISION_TIMEOUT_S)
        values = {**asked, "milestone": milestone, "timeout_s": limit}
        self.state.database.add_checkpoint(self.state.run, values)
        self.checkpoints = self.state.database.checkpoints(self.state.run)
        who = self.progress[milestone].subagent if milestone else ""
        self._tell(
            "PlanDecision", decision_id=asked["id"], question=asked["question"],
            options=asked["options"], step_id=milestone, subagent_id=who,
        )  # fmt: skip

    def _tell(self, kind: str, **payload: object) -> None:
        values = {"plan_id": self.plan.plan_id, **payload}
        self.state.database.event(self.state.run, kind, values)

    def _known(self, name: str) -> Progress:
        if name not in self.progress:
            text = "the plan has no such milestone"
            raise Refused("not_found", name, text, ", ".join(self.progress), "planner status")
        return self.progress[name]

    def _check_changeable(self, checkpoint: str) -> None:
        begun = [
            m.id
            for m in self.milestones
            if checkpoint in self.answers_for(m.id)
            and self.progress[m.id].status in (IN_PROGRESS, COMPLETED)
        ]
        if begun:
            given = ", ".join(self.answers[checkpoint])
            text = f"it is decided ({given}), and {', '.join(begun)} has gone on with that"
            ways = "keep the decision, or say what to change as remarks of a revision"
            raise Refused("conflict", checkpoint, text, ways, "planner status")

    def _check_going(self, deed: str) -> None:
        self._check_not_ended(deed)
        if self.state.run.status == PAUSED:
            text = "the run is paused, and nothing new starts"
            raise Refused("refused", deed, text, "resume it first", "planner resume")

    def _check_not_ended(self, deed: str) -> None:
        if ending := self.state.run.ending:
            text = f"the run is {ending}, so its milestones stay as they are"
            raise Refused("refused", deed, text, "start a new run", "planner start")


def check_choices(checkpoint: str, keys: list[str], choices: Sequence[str], *, multi: bool) -> None:
    """Raise Refused unless `choices` answer a checkpoint: options of it, one if not `multi`."""
    unknown = [c for c in choices if c not in keys]
    if unknown or not choices or (len(choices) != 1 and not multi):
        how = "one or more, joined by commas" if multi else "one"
        text = f"{', '.join(choices) or 'nothing'} is not an answer to {checkpoint}"
        raise Refused("invalid", "CHOICE", text, f"{how} of {', '.join(keys)}")
