"""The copy of its plan that a commit holds where `[commit] plan = "file"` asks for it (CM-1).

Elsewhere a commit holds the approved changes alone, and the plan is kept under a ref.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from shared import resources
from state.files import parse_json

if TYPE_CHECKING:
    from shared.run import State

FILE = "file"


def paths(state: State) -> tuple[str, ...]:
    """Return where in the repository the run's commit holds its plan; empty unless it is asked."""
    if state.config["config"].get("commit_plan") != FILE:
        return ()
    run_id = state.run.run_id
    return resources.archived_plan(run_id), resources.archived_text(run_id)


def files(state: State, data: bytes, text: str) -> dict[str, bytes]:
    """Return these files with their content: the plan, indented for readers of diffs, and `text`.

    The values are those of `data`, the bytes of plan.json, so they have the same digest once they
    are canonical.
    """
    where = paths(state)
    if not where:
        return {}
    plan = parse_json(data, state.plan_path)
    indented = json.dumps(plan, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return dict(zip(where, (indented.encode(), text.encode()), strict=True))
