"""The types of a workflow's table: Workflow, Step, and the Context of a printed step (PL-5, PL-6).

A step's handler turns a `Context` into the printed block. Printing changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from shared.builders import Block
from shared.mode.guarded import unguarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.run import State
    from state.phases import Phase
    from state.plan_table import Plan

    Handler = Callable[["Context"], Block]


class Step(NamedTuple):
    """One step of a workflow: a row of the workflow's table of steps."""

    name: str
    kind: str
    handler: Handler
    phase: Phase | None = None
    agent: str | None = None
    on_fail: int | None = None


@dataclass(frozen=True)
class Workflow:
    """An ordered table of steps, started from one entry point."""

    name: str
    purpose: str
    steps: Mapping[int, Step]
    # The kind of planner step that starts it, or None.
    serves: str | None = None
    # The last step at each depth that leaves later ones out.
    ends: Mapping[str, int] = field(default_factory=dict)
    # Where on its own path a run is.
    path: Callable[[Context], str] | None = None

    def last(self, depth: str) -> int:
        """Return the number of the workflow's last step at a depth (full or intent)."""
        return self.ends.get(depth, max(self.steps))

    def number_of(self, name: str) -> int:
        """Return the number of the step called `name`."""
        return next(number for number, step in self.steps.items() if step.name == name)

    def number(self, phase: str, kind: str) -> int:
        """Return the number of the workflow step of a `kind` (execute, qr or gate) in `phase`."""
        return next(n for n, s in self.steps.items() if (s.phase, s.kind) == (phase, kind))

    def phases(self, depth: str) -> list[Phase]:
        """Return the workflow's phases at a depth (full or intent), in order."""
        gates = ((n, s.phase) for n, s in self.steps.items() if s.kind == "gate")
        return [phase for n, phase in gates if phase and n <= self.last(depth)]


class Context:
    """What a step's handler function gets: the run, and the row of the workflow table to print."""

    def __init__(
        self,
        workflow: Workflow,
        number: int,
        state: State,
        selectors: Mapping[str, str] | None = None,
    ) -> None:
        """Make a step's context; `selectors` (`group`, `by` …) narrow what the step shows."""
        self.selectors = selectors or {}
        self.workflow = workflow
        self.number = number
        self.step = workflow.steps[number]
        self.state = state
        self._plan: Plan | None = None

    @property
    def plan(self) -> Plan:
        """Return the plan in plan.json, which is read at the first use."""
        if self._plan is None:
            self._plan = self.state.plan
        return self._plan

    @property
    def phase(self) -> str:
        """Return the name of the phase that the step belongs to, or ''."""
        return self.step.phase or ""

    @property
    def iteration(self) -> int:
        """Return which round of reviews the step's phase is in, counted from 1."""
        return self.state.database.phase(self.state.run, self.phase)[1]

    def block(self, name: str | None = None) -> Block:
        """Return an empty output block with the step's attributes.

        `name` is what is due after the last gate, which is no round of a review any more.
        """
        # What counts the run's own steps comes first; the place in the table is for programs.
        block = Block(
            "step",
            workflow=self.workflow.name,
            path=self.workflow.path(self) if self.workflow.path else None,
            name=name or self.step.name,
            state_dir=self.state.state_dir,
            iteration=self.iteration if self.step.phase and not name else None,
            number=self.number,
            of=len(self.workflow.steps),
        )
        request = self.state.command("plan", "show", "said")
        block.wholes = dict.fromkeys(("request", "§0 user query"), request)
        database = self.state.database
        return block.data("guard", unguarded(database, database.planning_of(self.state.run.run_id)))
