"""The table of all workflows by name, written out so that no helper module is taken for one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from shared.resources import command
from state.errors import Refused
from state.phases import PLANNING_PHASES

if TYPE_CHECKING:
    from shared.steps.workflow import Workflow

# Name of a workflow → the module that defines it as WORKFLOW. The host's come first.
MODULES = {
    "strategy": "orchestrator.strategy",
    "planner": "orchestrator.planner",
    "executor": "orchestrator.executor",
    "requirements": "orchestrator.requirements",
    "requirements-review": "architect.requirements_review",
    "plan-design": "architect.plan_design",
    "plan-code": "developer.plan_code",
    "plan-docs": "technical_writer.plan_docs",
    "exec-implement": "developer.exec_implement",
    "exec-docs": "technical_writer.exec_docs",
    "plan-design-qr": "quality_reviewer.plan_design_qr",
    "plan-code-qr": "quality_reviewer.plan_code_qr",
    "plan-docs-qr": "quality_reviewer.plan_docs_qr",
    "impl-code-qr": "quality_reviewer.impl_code_qr",
    "impl-docs-qr": "quality_reviewer.impl_docs_qr",
    "exec-reconcile": "quality_reviewer.exec_reconcile",
}


def find_workflow(name: str) -> Workflow:
    """Return the workflow called `name`; Refused, listing the known names, if there is none."""
    if name not in MODULES:
        text = f"there is no workflow {name!r}"
        known = ", ".join(sorted(MODULES))
        raise Refused("usage", "step", text, known, command("step", "planner"))
    # importlib.import_module would cost every printed step an import of `warnings`.
    __import__(MODULES[name])
    found: Workflow = sys.modules[MODULES[name]].WORKFLOW
    return found


def workflow_of(phase: str) -> Workflow:
    """Return the main assistant's workflow that a review phase belongs to."""
    return find_workflow("planner" if phase in PLANNING_PHASES else "executor")


def discover_workflows() -> dict[str, Workflow]:
    """Return all workflows as a dictionary by name."""
    return {name: find_workflow(name) for name in MODULES}
