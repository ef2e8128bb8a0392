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
    """One step of a workflow, a row of the workflow's table; immutable."""

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
    """The ordered steps of one entry point."""

    __slots__ = ("ends", "name", "purpose", "serves", "steps")

    def __init__(
        self,
        name: str,
        purpose: str,
        steps: Mapping[int, Step],
        *,
        serves: str | None = None,
        ends: Mapping[str, int] | None = None,
    ) -> None:
        """Make a workflow; `serves` is the kind of planner step that starts it for agents, or None.

        `ends` names the last step at a depth that leaves later ones out.
        """
        self.name = name
        self.purpose = purpose
        self.steps = dict(steps)
        self.serves = serves
        self.ends = dict(ends or {})

    def last(self, depth: str) -> int:
        """Return the number of the last step at a depth (full or intent)."""
        return self.ends.get(depth, max(self.steps))

    def number(self, phase: str, kind: str) -> int:
        """Return the number of the step of `kind` (execute, qr or gate) in `phase`."""
        return next(n for n, s in self.steps.items() if (s.phase, s.kind) == (phase, kind))

    def phases(self, depth: str) -> list[Phase]:
        """Return the phases at a depth (full or intent), in order."""
        gates = ((n, s.phase) for n, s in self.steps.items() if s.kind == "gate")
        return [phase for n, phase in gates if phase and n <= self.last(depth)]


class Context:
    """What a handler gets: the run, and the row of the table to print."""

    __slots__ = ("_plan", "number", "selectors", "state", "step", "workflow")

    def __init__(
        self,
        workflow: Workflow,
        number: int,
        state: State,
        selectors: Mapping[str, str] | None = None,
    ) -> None:
        """Make the context of a step; `selectors` narrow what is shown: `group`, `by`."""
        self.selectors = selectors or {}
        self.workflow = workflow
        self.number = number
        self.step = workflow.steps[number]
        self.state = state
        self._plan: dict[str, Any] | None = None

    @property
    def plan(self) -> dict[str, Any]:
        """Return plan.json, read when it is first asked for."""
        if self._plan is None:
            self._plan = self.state.plan
        return self._plan

    @property
    def phase(self) -> str:
        """Return the phase of the step, or ''."""
        return self.step.phase or ""

    @property
    def iteration(self) -> int:
        """Return the round of the step's phase, from 1."""
        return self.state.database.phase(self.state.run, self.phase)[1]

    def block(self) -> Block:
        """Return a block without content, with the step's attributes."""
        return Block(
            "step",
            workflow=self.workflow.name,
            number=self.number,
            of=len(self.workflow.steps),
            name=self.step.name,
            state_dir=self.state.state_dir,
            iteration=self.iteration if self.step.phase else None,
        )
