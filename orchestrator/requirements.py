"""The requirements workflow: refine what is wanted, implement it, complete it, again (RL-1)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from orchestrator.requirements_steps import (
    complete,
    implement,
    new_requirements,
    refine,
    startup,
    state_step,
)
from orchestrator.step import main
from shared.requirements_record import WORKFLOW as NAME
from shared.resources import command
from shared.steps.workflow import Workflow
from state.errors import Refused

STEPS = {
    1: state_step("startup", startup),
    2: state_step("new-requirements", new_requirements),
    3: state_step("refine", refine),
    4: state_step("implement", implement),
    5: state_step("complete", complete),
}
WORKFLOW = Workflow(NAME, "Refine requirements, implement them, complete them, again.", STEPS)
number_of = WORKFLOW.number_of

# State and answer, of the user or of a command that ended → the next state.
EDGES = {
    ("startup", "yes"): "new-requirements",
    ("startup", "resume"): "implement",
    ("startup", "mark-complete"): "complete",
    ("startup", "commit"): "complete",
    ("startup", "complete"): "complete",
    ("startup", "leave-commit"): "new-requirements",
    ("new-requirements", "refine"): "refine",
    ("refine", "yes"): "implement",
    ("refine", "no"): "new-requirements",
    ("implement", "complete"): "complete",
    ("complete", "not-done"): "implement",
    ("complete", "closed"): "new-requirements",
    ("complete", "leave-commit"): "new-requirements",
}


def closed() -> str:
    """Return the state in which the next round begins, once one is closed."""
    return EDGES["complete", "closed"]


def after(step: int, answer: str, state_dir: str) -> str | None:
    """Return the state that an answer leads to from a step, None where it has led to this one.

    Refused if the state has no such edge.
    """
    name = STEPS[step].name
    if (name, answer) in EDGES:
        return EDGES[name, answer]
    if name in (to for (_, given), to in EDGES.items() if given == answer):
        return None
    answers = ", ".join(a for state, a in EDGES if state == name)
    text = f"{answer} is not possible in the state {name}"
    here = command("step", NAME, state_dir=state_dir)
    raise Refused("conflict", f"{NAME} {step}", text, f"here: {answers}", here)


if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
