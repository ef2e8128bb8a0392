"""The strategy workflow: decide whether there is anything to plan, and follow the route (ST-3)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from orchestrator.step import main
from orchestrator.strategy_steps import (
    choose,
    clarify,
    execute,
    extend,
    gather,
    state_step,
    synthesise,
    validate,
)
from shared.steps.workflow import Workflow
from shared.strategy_record import WORKFLOW as NAME

STEPS = {
    1: state_step("gather", gather),
    2: state_step("strategy", choose),
    3: state_step("clarify", clarify),
    4: state_step("execute", execute),
    5: state_step("synthesis", synthesise),
    6: state_step("validation", validate),
    7: state_step("extend", extend),
}
WORKFLOW = Workflow(NAME, "Decide whether there is anything to plan.", STEPS)
number_of = WORKFLOW.number_of

# Step and answer, of the model or of a command that ended → the next step. The route "executor"
# leads out of this table in the mode code: to the planner, or to the end of the run.
EDGES = {
    ("gather", "gathered"): "strategy",
    ("strategy", "refresh_context"): "gather",
    ("strategy", "clarify"): "clarify",
    ("strategy", "synthesis"): "synthesis",
    ("strategy", "executor"): "execute",
    ("strategy", "self_extend"): "extend",
    ("clarify", "answered"): "strategy",
    ("execute", "goals ended"): "synthesis",
    ("synthesis", "written"): "validation",
    ("validation", "REVISE"): "synthesis",
    ("validation", "RETRY"): "strategy",
}


def after(step: int, answer: str) -> int:
    """Return the number of the step that an answer leads to."""
    return number_of(EDGES[STEPS[step].name, answer])


if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
