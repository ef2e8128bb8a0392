"""Workflows as tables: Workflow, Step, the pattern functions, discovery (PL-5, PL-6).

A pattern function returns a frozen `Step`: what is static about it, readable as attributes, and
the handler that turns a `Context` into the printed block. Printing changes nothing.
"""

from __future__ import annotations

import os
import sys

from shared import agents, blocks
from shared.builders import Block
from shared.resources import ROOT, command
from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from shared.qr.types import Phase
    from shared.run import State

    Handler = Callable[["Context"], Block]

FOLDERS = ("orchestrator", "architect", "developer", "technical_writer", "quality_reviewer")


class Step:
    """One row of a workflow's table; immutable."""

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
        """`serves` is the kind of the planner's step that starts it for an agent, None for none.

        `ends` names the last step at a depth that does not go through all of them.
        """
        self.name = name
        self.purpose = purpose
        self.steps = dict(steps)
        self.serves = serves
        self.ends = dict(ends or {})

    def last(self, depth: str) -> int:
        """Return the number of the last step at a depth."""
        return self.ends.get(depth, max(self.steps))

    def number(self, phase: str, kind: str) -> int:
        """Return the number of the step of `kind` (execute, qr or gate) in `phase`."""
        return next(n for n, s in self.steps.items() if (s.phase, s.kind) == (phase, kind))

    def phases(self, depth: str) -> list[Phase]:
        """Return the phases in order that a depth goes through."""
        gates = ((n, s.phase) for n, s in self.steps.items() if s.kind == "gate")
        return [phase for n, phase in gates if phase and n <= self.last(depth)]


class Context:
    """What a handler is given: the run and the row it is asked to print."""

    __slots__ = ("_plan", "number", "selectors", "state", "step", "workflow")

    def __init__(
        self,
        workflow: Workflow,
        number: int,
        state: State,
        selectors: Mapping[str, str] | None = None,
    ) -> None:
        """`selectors` are what a command narrows the step down by: `group`, `by`."""
        self.selectors = selectors or {}
        self.workflow = workflow
        self.number = number
        self.step = workflow.steps[number]
        self.state = state
        self._plan: dict[str, Any] | None = None

    @property
    def plan(self) -> dict[str, Any]:
        """Return plan.json as it was when the block first needed it."""
        if self._plan is None:
            self._plan = self.state.plan
        return self._plan

    @property
    def phase(self) -> str:
        """Return the phase of the step (steps without one have no phase to ask for)."""
        return self.step.phase or ""

    @property
    def iteration(self) -> int:
        """Return which round of its phase this is, from 1."""
        return self.state.database.phase(self.state.run, self.phase)[1]

    def block(self) -> Block:
        """Return the block of the step, empty."""
        return Block(
            "step",
            workflow=self.workflow.name,
            number=self.number,
            of=len(self.workflow.steps),
            name=self.step.name,
            state_dir=self.state.state_dir,
            iteration=self.iteration if self.step.phase else None,
        )


# pattern functions


def init_step(name: str, prompt: str) -> Step:
    """Make the step that begins a workflow and passes on."""
    return Step(name, "init", lambda ctx: blocks.init(ctx, prompt))


def verify_step(name: str, prompt: str) -> Step:
    """Make the step in which the host writes down what it has understood."""
    return Step(name, "verify", lambda ctx: blocks.context(ctx, prompt))


def execute_dispatch_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Make a work step: `script` (`folder.module`) names where its prompts lie."""
    return Step(name, "execute", lambda ctx: blocks.work(ctx, script), phase=phase, agent=agent)


def qr_dispatch_step(name: str, *, phase: Phase) -> Step:
    """Make the step that sends reviewers out."""
    return Step(name, "qr", blocks.review, phase=phase)


def explore_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Make the step in which an agent looks round before it writes."""
    return Step(name, "explore", lambda ctx: agents.explore(ctx, script), phase=phase, agent=agent)


def work_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Make the step in which an agent does the work of a phase and hands it in."""
    return Step(
        name,
        "work",
        lambda ctx: agents.work_task(ctx, script, agent=True),
        phase=phase,
        agent=agent,
    )


def review_step(name: str, *, phase: Phase) -> Step:
    """Make the step in which a reviewer answers its group's questions."""
    return Step(name, "review", agents.questions, phase=phase, agent="quality-reviewer")


def qr_gate_step(name: str, *, phase: Phase, on_fail: int) -> Step:
    """Make the gate of a phase: pass goes on, fail goes back to step `on_fail`."""
    return Step(name, "gate", blocks.gate, phase=phase, on_fail=on_fail)


def person_step(name: str, prompt: str) -> Step:
    """Make a step that waits for what only a person may do."""
    return Step(name, "person", lambda ctx: blocks.approval(ctx, prompt))


def program_step(name: str, *words: str, prompt: str, intent: str | None = None) -> Step:
    """Make a step that is one command: the program does the work.

    `intent` is the prompt at depth intent, where that differs.
    """
    return Step(name, "program", lambda ctx: blocks.program(ctx, prompt, words, intent or prompt))


# printing


def print_step(
    workflow: Workflow,
    number: int | None,
    state: State,
    selectors: Mapping[str, str] | None = None,
) -> str:
    """Return the block of a step, of the current one when `number` is None.

    A step that is done says so and names the current one; one that is not yet due is Refused.
    `selectors` narrow down what an agent is shown.
    """
    run = state.run
    current = run.step if run.workflow == workflow.name else None
    here = state.command("step", run.workflow)
    if number is None:
        number = 1 if workflow.serves else current or max(workflow.steps)
    if number not in workflow.steps:
        steps = ", ".join(f"{n} {s.name}" for n, s in workflow.steps.items())
        text = f"{workflow.name} has no step {number}"
        raise Refused("usage", "--step", text, steps, here)
    context = Context(workflow, number, state, selectors)
    if workflow.serves:
        return _print_for_agent(context)
    if current is None and _comes_later(workflow):
        raise Refused(
            "conflict", f"{workflow.name} {number}", "the plan is not frozen yet", "", here
        )
    if run.status == "PAUSED":
        return blocks.paused(context).render()
    if current is None or number < current or run.status in ("COMPLETED", "CANCELLED"):
        return blocks.done(context, here).render()
    if number > current:
        text = (
            f"step {number} is not due; the run is at step {current} {workflow.steps[current].name}"
        )
        raise Refused("conflict", f"{workflow.name} {number}", text, f"step {current}", here)
    return context.step.handler(context).render()


def _print_for_agent(context: Context) -> str:
    workflow, run = context.workflow, context.state.run
    here = context.state.command("step", run.workflow)
    current = find_workflow(run.workflow).steps[run.step]
    due = (current.phase, current.kind) == (context.phase, workflow.serves)
    if not due or run.status != "ACTIVE":
        text = f"nothing is to be done here: the run is at {run.workflow} {run.step} {current.name}"
        raise Refused("conflict", workflow.name, text, "end here, or the current step", here)
    return context.step.handler(context).render()


def _comes_later(workflow: Workflow) -> bool:
    return workflow.name == "executor"


def print_current(state: State) -> str:
    """Return the block that the state says is next, in whichever workflow."""
    return print_step(find_workflow(state.run.workflow), None, state)


# discovery


def find_workflow(name: str) -> Workflow:
    """Return the workflow called `name`; Refused with the known ones."""
    module = name.replace("-", "_")
    proper = module.isidentifier() and not module.startswith("_")
    for folder in FOLDERS:
        if proper and os.path.isfile(os.path.join(ROOT, folder, f"{module}.py")):
            return _load(f"{folder}.{module}")
    known = ", ".join(sorted(discover_workflows()))
    raise Refused(
        "usage", "step", f"there is no workflow {name!r}", known, command("step", "planner")
    )


def _load(module: str) -> Workflow:
    # importlib.import_module would cost every printed step an import of `warnings`.
    __import__(module)
    found: Workflow = sys.modules[module].WORKFLOW
    return found


def discover_workflows() -> dict[str, Workflow]:
    """Return every workflow by name: each module of the step folders defines exactly one."""
    found: dict[str, Workflow] = {}
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".py") and name != "__init__.py":
                workflow = _load(f"{folder}.{name[:-3]}")
                found[workflow.name] = workflow
    return found
