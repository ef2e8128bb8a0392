"""The planner workflow: eleven steps from a user's request to a frozen plan (PL-2)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from orchestrator.host_steps import (
    execute_dispatch_step,
    init_step,
    qr_dispatch_step,
    qr_gate_step,
    verify_step,
)
from orchestrator.path import path_of
from orchestrator.step import main
from shared.steps.workflow import Workflow

STEPS = {
    1: init_step("plan-init", prompt="plan-init"),
    2: verify_step("context-verify", prompt="context-verify"),
    3: execute_dispatch_step(
        "plan-design-execute",
        phase="plan-design",
        agent="architect",
        script="architect.plan_design",
    ),
    4: qr_dispatch_step("plan-design-qr", phase="plan-design"),
    5: qr_gate_step("plan-design-qr-gate", phase="plan-design", on_fail=3),
    6: execute_dispatch_step(
        "plan-code-execute", phase="plan-code", agent="developer", script="developer.plan_code"
    ),
    7: qr_dispatch_step("plan-code-qr", phase="plan-code"),
    8: qr_gate_step("plan-code-qr-gate", phase="plan-code", on_fail=6),
    9: execute_dispatch_step(
        "plan-docs-execute",
        phase="plan-docs",
        agent="technical-writer",
        script="technical_writer.plan_docs",
    ),
    10: qr_dispatch_step("plan-docs-qr", phase="plan-docs"),
    11: qr_gate_step("plan-docs-qr-gate", phase="plan-docs", on_fail=9),
}
# At depth intent the design is frozen and approved before anybody writes code.
WORKFLOW = Workflow(
    "planner", "Turn a request into a frozen plan.", STEPS, ends={"intent": 5}, path=path_of
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
