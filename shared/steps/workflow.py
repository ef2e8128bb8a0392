"""The types of a workflow's table: Workflow, Step, and the Context of a printed step (PL-5, PL-6).

A step's handler turns a `Context` into the printed block. Printing changes nothing.
"""

from __future__ import annotations

from shared.builders import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from shared.run import State
    from state.phases import Phase

    Handler = Callable[["Context"], Block]


class Step:
    """One step of a workflow: an immutable row of the workflow's table of steps."""

    __slots__ = ("agent", "handler", "kind", "name", "on_fail", "phase")
    name: str
    kind: str
    handler: Handler
    phase: Phase | None
    agent: str | None
    on_fail: int | None

    def __init__(
        self,
        name: str,
        kind: str,
        handler: Handler,
        *,
        phase: Phase | None = None,
        agent: str | None = None,
        on_fail: int | None = None,
    ) -> None:
        values = (agent, handler, kind, name, on_fail, phase)
        for slot, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"a Step is immutable: {name}"
        raise AttributeError(message)


class Workflow:
    """An ordered table of steps, started from one entry point."""

    __slots__ = ("ends", "name", "path", "purpose", "serves", "steps")

    def __init__(
        self,
        name: str,
        purpose: str,
        steps: Mapping[int, Step],
        *,
        serves: str | None = None,
        ends: Mapping[str, int] | None = None,
        path: Callable[[Context], str] | None = None,
    ) -> None:
        """Make a workflow; `serves` is the kind of planner step that starts it, or None.

        `ends` names the last step at a depth that leaves later ones out; `path` says where on its
        own path a run is.
        """
        self.name = name
        self.purpose = purpose
        self.steps = dict(steps)
        self.serves = serves
        self.ends = dict(ends or {})
        self.path = path

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

    __slots__ = ("_plan", "number", "selectors", "state", "step", "workflow")

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
        self._plan: dict[str, Any] | None = None

    @property
    def plan(self) -> dict[str, Any]:
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
        return Block(
            "step",
            workflow=self.workflow.name,
            path=self.workflow.path(self) if self.workflow.path else None,
            name=name or self.step.name,
            state_dir=self.state.state_dir,
            iteration=self.iteration if self.step.phase and not name else None,
            number=self.number,
            of=len(self.workflow.steps),
        )
