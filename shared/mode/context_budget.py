"""Tells an assistant how full its context is, by what its client has counted (PC-13).

Claude Code names the session's transcript in each event. The last message of the model there says
how many tokens it was given; where there is none, nothing is told.
"""

from __future__ import annotations

import json
import os

from shared.execution import costs
from shared.resources import command, run_config_path
from state.database import Database
from state.kept_settings import read_settings

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Run

CONTEXT = "context"
_COMPACT = "compact the context"
_TAIL_BYTES = 1 << 20
_COUNTED = (
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
)  # fmt: skip


def budget_note(payload: Mapping[str, Any], session: Session) -> str:
    """Return what the assistant is told of its context, from 70 % of the limit on; else "".

    No client tells its hooks how much its context can hold, so the limit is the one that was named.
    A level that is reached for the first time is stored as an event.
    """
    used = tokens_in_context(str(payload.get("transcript_path") or ""))
    if used is None or not session.state_dir or not session.run_id:
        return ""
    config = read_settings(run_config_path(session.state_dir))["config"]
    limit = config.get("max_context_tokens")
    warned = costs.warning(used, limit) if limit else None
    if warned is None:
        return ""
    database = Database(session.database)
    run = database.run(session.run_id)
    warned["resource"], warned["notes"] = CONTEXT, warned["notes"] and _COMPACT
    if run is not None:
        _store(database, run, warned)
    text = f"Your context holds {used:,} of {limit:,} tokens ({warned['percent']} %)."
    if not warned["notes"]:
        return text
    here = command("status", state_dir=session.state_dir)
    way = f"the plan is kept on disk, and {here} says what is next"
    return f"{text} Compact it before you go on, or ask the user to: {way}."


def tokens_in_context(path: str) -> int | None:
    """Return the tokens of the last message of the model in a transcript; None if unknown."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return None
    return next((n for n in map(_tokens, reversed(lines)) if n), None)


def _tokens(line: bytes) -> int:
    """Return the tokens that a line says the model was given and wrote; 0 for any other line."""
    try:
        row = json.loads(line)
        own = row["type"] == "assistant" and not row.get("isSidechain")
        usage = row["message"]["usage"] if own else {}
        figures = [usage.get(name) for name in _COUNTED]
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0
    return sum(n for n in figures if type(n) is int and n > 0)


def _store(database: Database, run: Run, warned: dict[str, Any]) -> None:
    """Store the warning as an event, unless the one before was of the same level or a higher."""
    rows = [r["payload"] for r in database.event_rows(run) if r["kind"] == costs.WARNING]
    before = next((r["percent"] for r in reversed(rows) if r["resource"] == CONTEXT), 0)
    if _level(warned["percent"]) > _level(before):
        names = {"plan_id": database.plan_id(run), "step_id": "", "subagent_id": ""}
        with database:
            database.event(run, costs.WARNING, {**names, **warned})


def _level(percent: int) -> int:
    return sum(percent >= level for level in costs.LEVELS)
