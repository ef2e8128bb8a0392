"""A reviewer answers its questions about the plan's code (PL-4, PL-23)."""

from __future__ import annotations

import sys

from shared.stepping import main
from shared.workflow import Workflow, review_step

STEPS = {1: review_step("answer", phase="plan-code")}
WORKFLOW = Workflow(
    "plan-code-qr", "Answer a group's questions about the code.", STEPS, serves="qr"
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
