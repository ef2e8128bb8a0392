"""Read the event log of a run or a repository, follow it, and export a run as one log (PC-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.run import panel
from orchestrator.run.status import ENDED, notice, status_of, view_of
from shared.builders import json_text, visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.run import State
    from state.database import Database, Run


def rows_of(database: Database, run: Run | None, after: int = 0) -> list[dict[str, Any]]:
    """Return events after number `after` as JSON objects: seq, at, run, event, then the payload."""
    return [
        {"seq": row["seq"], "at": row["at"], "run": row["run_id"], "event": row["kind"],
         **row["payload"]}
        for row in database.event_rows(run, after)
    ]  # fmt: skip


def follow(
    database: Database, run: Run | None, after: int, wait: Callable[[], bool]
) -> Iterator[dict[str, Any]]:
    """Yield every event after number `after`, then each new one, until `wait` returns False.

    Of a run that has ended the last event is the last one yielded.
    """
    last = after
    while True:
        ended = run is not None and _has_ended(database, run)
        for row in rows_of(database, run, last):
            last = row["seq"]
            yield row
        if ended or not wait():
            return


def _has_ended(database: Database, run: Run) -> bool:
    now = database.run(run.run_id)
    return now is None or now.status in ENDED


def as_json(row: dict[str, Any]) -> str:
    """Return an event as one line of JSON."""
    return json_text(row, indent=None)


def as_line(row: dict[str, Any]) -> str:
    """Return an event as one line of text."""
    return notice({"at": row["at"], "kind": row["event"], "payload": row})


# the session's log


def export(state: State) -> dict[str, Any]:
    """Return all that is remembered of a run as one JSON object: status, events, audit, answers."""
    return {
        "status": status_of(state),
        "answers": state.database.answers(state.run),
        "events": rows_of(state.database, state.run),
        "audit": state.database.audit_rows(state.run),
    }


def export_markdown(state: State) -> str:
    """Return a run's log as Markdown: goal, progress, decisions, events, audit."""
    run, view = state.run, view_of(state)
    database = state.database
    parts = [
        f"# {visible_line(run.request)}",
        f"Run {run.run_id}, {run.status}, revision {run.revision}"
        + (f", commit {run.commit_id}" if run.commit_id else ""),
    ]
    if view is not None and view.milestones:
        parts += ["## Milestones", _fenced("\n".join(panel.panel(view)))]
    answers = database.answers(run)
    if answers:
        lines = [f"- {name}: {visible_line(', '.join(chosen))}" for name, chosen in answers.items()]
        parts += ["## Decisions", "\n".join(lines)]
    events = [as_line(row) for row in rows_of(database, run)]
    audit = [
        visible_line(f"{r['at']} {r['action']} by {r['who']} {r['detail']}".rstrip())
        for r in database.audit_rows(run)
    ]
    parts += ["## Events", _fenced("\n".join(events)), "## Audit", _fenced("\n".join(audit))]
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    """Return text as a code block that no line of it can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{visible(text)}\n{fence}"
