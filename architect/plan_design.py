"""Workflow script: the architect agent explores the code and writes the plan's design (PL-4)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from architect.explore import explore_step
from shared.steps.program import main
from shared.steps.work import work_step
from shared.steps.workflow import Workflow

SCRIPT = "architect.plan_design"
STEPS = {
    1: explore_step("explore", phase="plan-design", agent="architect", script=SCRIPT),
    2: work_step("write", phase="plan-design", agent="architect", script=SCRIPT),
}
WORKFLOW = Workflow("plan-design", "Design the change.", STEPS, serves="execute")

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
