"""Tell how long ago a run ended, and how long an age such as `30d` is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from state.errors import Refused

if TYPE_CHECKING:
    from state.database import Database, Run

DEFAULT_AGE = "30d"
_AGE = re.compile(r"(\d{1,6})([dhw])")
_SECONDS = {"h": 3_600, "d": 86_400, "w": 604_800}


def seconds_of(age: str) -> int:
    """Return the seconds of an age such as `30d`, `12h` or `2w`; Refused for anything else."""
    found = _AGE.fullmatch(age)
    if found is None:
        text = f"{age!r} is not an age"
        allowed, retry = "a number with h, d or w, such as 30d", "planner prune --dry-run"
        raise Refused("invalid", "--older-than", text, allowed, retry)
    return int(found[1]) * _SECONDS[found[2]]


def ended_at(database: Database, run: Run) -> str:
    """Return when the audit log last noted something of a run, which then ended."""
    rows = database.audit_rows(run)
    return str(rows[-1]["at"]) if rows else run.created_at
