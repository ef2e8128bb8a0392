"""Workflow script: the technical writer agent writes the plan's documentation (PL-4)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from shared.steps.program import main
from shared.steps.work import work_step
from shared.steps.workflow import Workflow

SCRIPT = "technical_writer.plan_docs"
STEPS = {1: work_step("write", phase="plan-docs", agent="technical-writer", script=SCRIPT)}
WORKFLOW = Workflow("plan-docs", "Document the change.", STEPS, serves="execute")

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
