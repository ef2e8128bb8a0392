"""Figures of all runs of a repository: how they ended, how long, rounds of reviews, costs (PC-15).

All of it is counted from what the database keeps anyway; what nobody has reported is said.
"""

from __future__ import annotations

import calendar
import time
from statistics import median
from typing import TYPE_CHECKING, Any

from shared.builders import counted
from shared.execution.costs import Cost, reports
from state.stages import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from state.database import Database

_HOUR_S = 3600


def stats_of(database: Database) -> dict[str, Any]:
    """Return the figures of a repository as a JSON object."""
    runs = database.runs()
    events = database.event_rows(None)
    steps = [e["payload"] for e in events if e["kind"] == "PlanStepUpdate"]
    started = {run.run_id: run.created_at for run in runs}
    hours = list(_hours(started, events).values())
    return {
        "runs": _counted(run.status for run in runs),
        "revisions": sum(run.revision for run in runs),
        "median_hours": round(median(hours), 2) if hours else None,
        "depths": costs_by_depth(database),
        "milestones": {
            "starts": sum(s["new_status"] == "IN_PROGRESS" for s in steps),
            "completed": sum(s["new_status"] == COMPLETED for s in steps),
            "blocked": sum(s["new_status"] == "BLOCKED" for s in steps),
            "asked": sum(s["new_status"] == "NEEDS_DECISION" for s in steps),
        },
        "reviews": _reviews(database),
        "agents": Cost(reports(events)).to_json(),
    }


def render_stats(found: dict[str, Any]) -> str:
    """Return the figures as lines of text."""
    runs, done, hours = found["runs"], found["milestones"], found["median_hours"]
    ended = ", ".join(f"{n} {status.lower()}" for status, n in runs.items()) or "none"
    lines = [
        f"runs: {ended}; {counted(found['revisions'], 'revision')}",
        f"from start to end: {_time(hours)} (median)",
        "milestones: " + ", ".join(f"{n} {name}" for name, n in done.items()),
    ]
    lines += [f"depth {line}" for line in render_depths(found["depths"])]
    lines += [
        f"{phase}: {counted(row['gates'], 'gate')}, {row['first_time']} passed the first time, "
        f"{counted(row['rounds'], 'round')} at most"
        for phase, row in found["reviews"].items()
    ]
    cost = found["agents"]
    unknown = f", {cost['unknown']} did not say" if cost["unknown"] else ""
    lines.append(
        f"agents: {cost['agents']}, {cost['tokens']:,} tokens, {cost['calls']} calls{unknown}"
    )
    return "\n".join(lines)


def _time(hours: float | None) -> str:
    if hours is None:
        return "unknown"
    return f"{hours} hours" if hours >= 1 else counted(round(hours * 60), "minute")


def _counted(words: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def _hours(started: dict[str, str], events: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Return how many hours each completed run took, by run."""
    return {
        event["run_id"]: (_seconds(event["at"]) - _seconds(started[event["run_id"]])) / _HOUR_S
        for event in events
        if event["kind"] == "PlanCompleted"
        and event["payload"]["final_status"] == COMPLETED
        and event["run_id"] in started
    }


def costs_by_depth(database: Database) -> dict[str, dict[str, Any]]:
    """Return for each depth how many plans were committed, and what they took in the median.

    `tokens` are those that agents have reported, 0 if none has.
    """
    runs = [run for run in database.runs() if run.commit_id]
    if not runs:
        return {}
    events = database.event_rows(None)
    hours = _hours({run.run_id: run.created_at for run in runs}, events)
    found = {}
    for depth in sorted({run.depth for run in runs if run.run_id in hours}):
        own = [run.run_id for run in runs if run.depth == depth and run.run_id in hours]
        told = [reports([e for e in events if e["run_id"] == name]) for name in own]
        found[depth] = {
            "plans": len(own),
            "minutes": round(median(hours[name] for name in own) * 60, 1),
            "tokens": round(median(Cost(results).tokens for results in told)),
        }
    return found


def render_depths(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return a line for each depth: what a plan took here, from start to end."""
    lines = []
    for depth, row in found.items():
        tokens = f", {row['tokens']:,} tokens of agents" if row["tokens"] else ""
        plans = counted(row["plans"], "plan")
        lines.append(f"{depth}: {plans}, {row['minutes']} minutes{tokens} (median)")
    return lines


def _seconds(text: str) -> int:
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def _reviews(database: Database) -> dict[str, dict[str, int]]:
    """Return for each phase how many gates were passed, how many at once, and the most rounds."""
    found: dict[str, dict[str, int]] = {}
    for phase, iteration, verdict in database.verdicts():
        row = found.setdefault(phase, {"gates": 0, "first_time": 0, "rounds": 0})
        row["rounds"] = max(row["rounds"], iteration)
        if verdict == "pass":
            row["gates"] += 1
            row["first_time"] += iteration == 1
    return found
