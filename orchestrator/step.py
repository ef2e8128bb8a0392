"""`planner step`: name a workflow, begin a run if there is none, print a step."""

from __future__ import annotations

from shared.output import guarded
from shared.steps.program import answer


def run_step(argv: list[str]) -> int:
    """Print a step: `WORKFLOW [N] [--state-dir DIR]`; returns the exit code."""
    return guarded(lambda: answer(list(argv), None))


def begin_run(folder: str, request: str | None, state_dir: str | None) -> str:
    """Begin a run, or go on with beginning it: the one step that needs more than it prints with."""
    from shared.dependencies import ensure

    ensure()
    from orchestrator.run.start import begin

    return begin(folder, request, state_dir)
