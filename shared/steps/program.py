"""Step scripts as programs: arguments in, one block on standard output, an exit code."""

from __future__ import annotations

import os

from orchestrator.step import begin_run
from shared.output import guarded
from shared.resources import command
from shared.run import open_state
from shared.steps.printing import discover_workflows, find_workflow, print_current, print_step
from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shared.steps.workflow import Workflow


def main(workflow: Workflow, argv: list[str]) -> int:
    """Print a step of `workflow`: `[--step N] [--state-dir DIR]`; returns the exit code."""
    return guarded(lambda: answer(list(argv), workflow))


def answer(argv: list[str], workflow: Workflow | None) -> str:
    if "--help" in argv or "-h" in argv:
        return _help(workflow)
    values, words = _options(argv)
    number = values.get("--step")
    if workflow is None:
        if not words:
            known = ", ".join(sorted(discover_workflows()))
            raise Refused("usage", "step", "name a workflow", known, command("step", "planner"))
        workflow = find_workflow(words.pop(0))
        number = words.pop(0) if words else number
    if words:
        raise Refused("usage", "step", f"unexpected words: {' '.join(words)}", _usage(workflow))
    wanted = _number(number, workflow)
    first = wanted == 1 and workflow.name == "planner"
    state_dir = values.get("--state-dir")
    if first and not (state_dir and os.path.exists(state_dir)):
        return begin_run(os.getcwd(), values.get("--request"), state_dir)
    state = open_state(state_dir, os.getcwd())
    if state.run.status == "IDLE":
        return begin_run(state.run.repository, None, state.state_dir)
    if number is None and not workflow.serves:
        return print_current(state)
    selectors = {name[2:]: values[name] for name in ("--group", "--by") if name in values}
    return print_step(workflow, wanted, state, selectors)


def _number(text: str | None, workflow: Workflow) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit():
        steps = ", ".join(f"{n} {s.name}" for n, s in workflow.steps.items())
        raise Refused("usage", "--step", f"{text!r} is no number of a step", steps)
    return int(text[:9])


def _options(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    known = ("--step", "--state-dir", "--request", "--role", "--group", "--by")
    values: dict[str, str] = {}
    words: list[str] = []
    while argv:
        word = argv.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            words.append(word)
        elif name not in known or (not equals and not argv):
            text = f"{name} needs a value" if name in known else f"there is no option {name}"
            raise Refused("usage", name, text, ", ".join(known))
        else:
            values[name] = value if equals else argv.pop(0)
    return values, words


def _usage(workflow: Workflow) -> str:
    return f"planner step {workflow.name} [N] [--state-dir DIR]"


def _help(workflow: Workflow | None) -> str:
    lines = ["Usage: planner step WORKFLOW [N] [--state-dir DIR]", ""]
    if workflow is None:
        lines.append("Print a step of a workflow; without a number, what is next. Changes nothing.")
        lines += [f"  {w.name:<12} {w.purpose}" for w in discover_workflows().values()]
        lines += ["", "Example: planner step planner"]
    else:
        lines.append(workflow.purpose)
        lines += [f"  {n:>2} {s.name}" for n, s in workflow.steps.items()]
        lines += ["", f"Example: {_usage(workflow)}"]
    return "\n".join(lines) + "\n"
