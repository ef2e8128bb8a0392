"""Workflow script: a reviewer agent answers questions about code written at depth intent (PL-4)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from quality_reviewer.ask import review_step
from shared.steps.program import main
from shared.steps.workflow import Workflow

STEPS = {1: review_step("answer", phase="impl-code")}
WORKFLOW = Workflow(
    "impl-code-qr", "Answer a group's questions about the written code.", STEPS, serves="qr"
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
