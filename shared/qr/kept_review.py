"""Read the review of a phase as a run keeps it, which has to be there while it is due."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared import resources
from shared.qr.schema import read_review
from shared.steps.entry_points import workflow_of
from state.kept_files import gone
from state.stages import ACTIVE, PAUSED

if TYPE_CHECKING:
    from shared.qr.schema import Review
    from shared.run import State
    from state.database import Database, Run


def read_kept_review(state: State, phase: str) -> Review | None:
    """Return the review of a phase, None where there is none.

    Refused, with the repair as the way out, where its file is damaged, or gone while it is due.
    """
    path = resources.review_path(state.state_dir, phase)
    if not os.path.exists(path):
        if is_review_due(state.database, state.run, phase):
            raise gone(path)
        return None
    return read_review(path)


def is_review_due(database: Database, run: Run, phase: str) -> bool:
    """Return whether a run is where the questions of a phase are answered or decided."""
    workflow = workflow_of(phase)
    steps = (workflow.number(phase, "qr"), workflow.number(phase, "gate"))
    here = run.status in (ACTIVE, PAUSED) and run.workflow == workflow.name
    # The last gate of a plan stays the run's step until the freeze.
    return here and run.step in steps and database.phase(run, phase)[0] != "COMPLETE"
