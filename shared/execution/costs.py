"""What agents have reported to have used: tokens, calls of tools, seconds, by milestone (PC-13).

Only reported figures count. An agent that has reported none is named as unknown, never guessed.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from state.database import Database, Run

RESULT = "SubAgentResult"
USAGE = "SubAgentUsage"
WARNING = "PlanResourceWarning"
LEVELS = (70, 85, 95)  # percent of a milestone's max_tokens
NOTES = {70: "", 85: "", 95: "compact the context, or split the milestone"}


class Cost:
    """What the agents of one milestone have used."""

    __slots__ = ("agents", "calls", "seconds", "tokens", "unknown")

    def __init__(self, results: Iterable[Mapping[str, Any]]) -> None:
        stats = [row.get("stats") or {} for row in results]
        self.agents = len(stats)
        # How many have not said.
        self.unknown = sum(tokens_of(one) is None for one in stats)
        self.tokens = sum(tokens_of(one) or 0 for one in stats)
        self.calls = sum(int(one.get("tool_calls", 0)) for one in stats)
        self.seconds = sum(one.get("duration_seconds", 0) for one in stats)

    def to_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}

    def text(self) -> str:
        """Return the figures in a few words; "" if no agent has handed in yet."""
        if not self.agents:
            return ""
        if self.unknown == self.agents:
            return "tokens unknown"
        known = f"{self.tokens:,} tokens, {self.calls} calls"
        if self.agents > 1:
            known += f", {self.agents} agents"
        return f"{known}, {self.unknown} of {self.agents} unknown" if self.unknown else known


def tokens_of(stats: Mapping[str, Any]) -> int | None:
    """Return the tokens that an agent has reported; None if it has reported none."""
    found = [stats[name] for name in ("prompt_tokens", "completion_tokens") if name in stats]
    return int(sum(found)) if found else None


def costs_of(database: Database, run: Run) -> dict[str, Cost]:
    """Return what the agents of each milestone have used, by milestone."""
    results: dict[str, list[Mapping[str, Any]]] = {}
    for report in reports(database.event_rows(run)):
        results.setdefault(report["subagent_step_id"], []).append(report)
    return {name: Cost(found) for name, found in results.items()}


def whole_cost(database: Database, run: Run) -> Cost:
    """Return what the agents of all milestones have used together."""
    return Cost(reports(database.event_rows(run)))


def reports(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what is known of each agent, one entry each, from the rows of the event log.

    What the client has counted comes before what an agent says of itself.
    """
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for kind in (RESULT, USAGE):
        for row in events:
            told = row["payload"]
            if row["kind"] == kind:
                key = (row["run_id"], told.get("subagent_id") or row["seq"])
                stats = {**found.get(key, {}).get("stats", {}), **(told.get("stats") or {})}
                found[key] = {"subagent_step_id": told["subagent_step_id"], "stats": stats}
    return list(found.values())


def warning(tokens: int, limit: int) -> dict[str, Any] | None:
    """Return what a warning says of the tokens used of a limit; None below the first level."""
    percent = 100 * tokens // limit
    level = max((level for level in LEVELS if percent >= level), default=0)
    if not level:
        return None
    return {
        "resource": "tokens", "used": tokens, "limit": limit, "percent": percent,
        "notes": NOTES[level],
    }  # fmt: skip
