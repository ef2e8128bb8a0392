"""Prints the developer agent's task: make the planned changes in the scratch worktree (PL-4)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from shared.steps.program import main
from shared.steps.work import work_step
from shared.steps.workflow import Workflow

SCRIPT = "developer.plan_code"
STEPS = {1: work_step("write", phase="plan-code", agent="developer", script=SCRIPT)}
WORKFLOW = Workflow("plan-code", "Make the change in the worktree.", STEPS, serves="execute")

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
