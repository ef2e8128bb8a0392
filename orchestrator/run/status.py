"""Show the current step and state of a run, as JSON and as a printed block."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from shared import resources
from shared.builders import Block
from shared.git.journal import journal_state
from shared.steps.entry_points import find_workflow

if TYPE_CHECKING:
    from shared.run import State


def status_of(state: State) -> dict[str, Any]:
    """Return the status of a run as a JSON object."""
    run = state.run
    step = find_workflow(run.workflow).steps[run.step]
    planned = os.path.exists(state.plan_path)
    plan = state.plan if planned else {}
    return {
        "run": run.run_id,
        "request": run.request,
        "status": run.status,
        "stage": run.stage,
        "workflow": run.workflow,
        "step": run.step,
        "name": step.name,
        "why": state.halted if run.status in ("PAUSED", "CANCELLED") else "",
        "revision": run.revision,
        "digest": run.digest,
        "commit": run.commit_id,
        "apply": journal_state(resources.journal_path(state.state_dir)),
        "milestones": [
            {"id": m["id"], "name": m["name"], "changes": len(m["code_changes"])}
            for m in plan.get("milestones", [])
        ],
        "state_dir": state.state_dir,
        "next": state.command("step", run.workflow),
    }


def render_status(status: dict[str, Any]) -> str:
    """Return the status of a run as a printed block."""
    lines = [
        " · ".join(str(status[name]) for name in ("status", "stage", "workflow")),
        f"step {status['step']} {status['name']}, revision {status['revision']}",
        *(
            f"{name}: {status[name]}"
            for name in ("why", "digest", "commit", "apply")
            if status[name]
        ),
        *(f"{m['id']} {m['name']} ({m['changes']} changes)" for m in status["milestones"]),
    ]
    block = Block("result", run=status["run"], state_dir=status["state_dir"])
    block.data("request", status["request"]).data("status", "\n".join(lines))
    return block.next("done", status["next"]).render()
