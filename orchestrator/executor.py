"""The executor workflow: the steps from an approved plan to a commit proven to match it."""

from __future__ import annotations

import sys

from orchestrator.host_steps import person_step, program_step
from orchestrator.step import main
from shared.steps.workflow import Workflow

STEPS = {
    1: person_step("approval", prompt="approval"),
    2: program_step("apply", "exec", "apply", prompt="apply", intent="begin-writing"),
    3: program_step("commit", "exec", "commit", prompt="commit"),
}
WORKFLOW = Workflow("executor", "Apply an approved plan, commit it, prove it.", STEPS)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
