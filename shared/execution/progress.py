"""How the milestones of a run stand at one moment, for printed steps, panels and deeds alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from shared.defaults import PARALLEL_STEPS
from shared.execution.events import overdue
from state import execution
from state.clock import moment
from state.execution import PENDING, Summary
from state.milestones import unanswered
from state.rows import OF_THE_PLAN, Asked
from state.shape import as_json
from state.stages import ACTIVE

if TYPE_CHECKING:
    from shared.run import State
    from state.rows import Progress


class View:
    """How the milestones of a run stand at one moment, in the plan's order; reading writes nothing.

    A decision whose time limit has passed is shown as blocked, also before that is stored.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.plan = state.plan
        self.milestones = self.plan.milestones
        # How many milestones may be in progress at once.
        self.most: int = state.config["config"].get("max_parallel_steps", PARALLEL_STEPS)
        self.now = moment(time.time())
        database, run = state.database, state.run
        self.answers = database.answers(run)
        # Each question that any milestone waits or has waited for.
        self.checkpoints = database.checkpoints(run)
        stored = database.progress(run)
        # Of each milestone, by id.
        self.progress: dict[str, Progress] = {
            m.id: stored.get(m.id) or execution.initial(m, self.answers) for m in self.milestones
        }
        if run.status == ACTIVE:
            for row in overdue(self.progress.values(), self.checkpoints, time.time()):
                self.progress[row.id] = execution.after(row, "time out")

    def runnable(self) -> list[str]:
        """Return the ids of the milestones to start now; none unless the run is active."""
        if self.state.run.status != ACTIVE:
            return []
        return execution.runnable(self.milestones, self.progress, self.most, self.now)

    def held_off(self) -> str:
        """Return when the first milestone that a rate limit holds off may start; "" if none is."""
        held = [row.not_before for row in self.progress.values() if row.status == PENDING]
        return min((at for at in held if at > self.now), default="")

    def reasons(self) -> dict[str, str]:
        """Return in words why each milestone that neither runs nor could start has to wait."""
        return execution.reasons(self.milestones, self.progress, self.most, self.now)

    def with_status(self, status: str) -> list[str]:
        """Return the ids of the milestones with a given status, in the plan's order."""
        return [name for name, row in self.progress.items() if row.status == status]

    def summary(self) -> Summary:
        """Return the figures of the whole plan and what is blocked."""
        return Summary(self.progress.values())

    def open_checkpoints(self) -> list[Asked]:
        """Return the questions without an answer that planning, or a milestone, waits for."""
        planned = self.state.run.workflow == "planner"
        depth = self.state.run.depth if planned else "intent"
        own = () if planned else self.checkpoints
        waiting = unanswered(self.plan, self.answers, depth, own)
        asked = [Asked({**as_json(one), **OF_THE_PLAN}) for one in waiting]
        held = {one.id for one in asked}
        waited = {name for row in self.progress.values() for name in row.waits} - held
        return asked + [one for one in self.checkpoints.values() if one.id in waited]

    def asked_by(self, milestone: str) -> dict[str, str]:
        """Return the ids of the questions that a milestone's agent has asked, by their texts.

        Also of one that the plan has and nobody asks yet: a command was killed in between.
        """
        begun = {*self.checkpoints, *self.answers}
        new = {c.question: c.id for c in self.plan.checkpoints if c.id not in begun}
        own = {c.question: c.id for c in self.checkpoints.values() if c.milestone == milestone}
        return new | own

    def last_checkpoint(self) -> int:
        """Return the number of the question that was asked last; 0 without one."""
        numbers = [int(name.rpartition("-")[2]) for name in self.checkpoints]
        return max([self.plan.counters.get("CP", 0), *numbers])

    def answers_for(self, milestone: str) -> dict[str, list[str]]:
        """Return what the user has decided about a milestone: checkpoint → chosen keys."""
        planned = next(m.waits_for for m in self.milestones if m.id == milestone)
        asked = {c.id for c in self.checkpoints.values() if c.milestone == milestone}
        return {k: v for k, v in self.answers.items() if k in asked or k in planned}
