"""The executor workflow: nine steps from an approved plan to a commit proven to match it (PL-3).

At depth full one command, `exec run`, does them all, and a host sees 1 alone. At depth intent
agents write in 3 and 6, and 9 submits what they wrote for an approval of its own
(docs/decisions/0015).
"""

from __future__ import annotations

import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from orchestrator.executor_steps import program_step, reconcile_step
from orchestrator.host_steps import (
    execute_dispatch_step,
    person_step,
    qr_dispatch_step,
    qr_gate_step,
)
from orchestrator.milestone_steps import wave_step
from orchestrator.path import path_of
from orchestrator.step import main
from shared.steps.workflow import Workflow

STEPS = {
    1: person_step("init", prompt="approval"),
    2: program_step("load-verify", "exec", "run", prompt="apply", intent="begin-writing"),
    3: wave_step(
        "impl-execute", phase="impl-code", agent="developer", script="developer.exec_implement"
    ),
    4: qr_dispatch_step("impl-code-qr", phase="impl-code"),
    5: qr_gate_step("impl-code-qr-gate", phase="impl-code", on_fail=3),
    6: execute_dispatch_step(
        "impl-docs-execute",
        phase="impl-docs",
        agent="technical-writer",
        script="technical_writer.exec_docs",
    ),
    7: qr_dispatch_step("impl-docs-qr", phase="impl-docs"),
    8: qr_gate_step("impl-docs-qr-gate", phase="impl-docs", on_fail=6),
    9: reconcile_step("reconcile", prompt="commit"),
}
WORKFLOW = Workflow(
    "executor", "Carry out an approved plan, commit it, prove it.", STEPS, path=path_of
)

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
