"""Read the file in which an agent says how its milestone went; refuse one that is malformed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from state.errors import Problem, Refused, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.named_files import Named
    from state.rows import Progress

SUCCESS, FAILURE = "success", "failure"
_FIELDS = ("milestone", "status", "output", "error", "stats", "artifacts")
_STATS = (
    "prompt_tokens", "completion_tokens", "tool_calls", "tool_successes", "tool_failures",
    "duration_seconds",
)  # fmt: skip
_EXAMPLE = '{"status": "success", "output": "what was done, in a sentence"}'


class Result(NamedTuple):
    """What an agent says about its milestone."""

    output: str
    # Why it failed, else empty.
    error: str
    stats: dict[str, float]
    artifacts: list[str]

    def payload(self, row: Progress) -> dict[str, Any]:
        """Return the event payload that records the result of the agent that works on `row`."""
        status = FAILURE if self.error else SUCCESS
        names = {"subagent_id": row.subagent, "subagent_step_id": row.id, "agent": row.agent}
        names["status"] = status
        return {**names, **self._asdict(), "error": self.error or None}


def read_result(file: Named, milestone: str) -> Result:
    """Return an agent's result of a milestone; Refused, with all problems, if it is malformed."""
    value = file.json()
    if not isinstance(value, dict):
        raise Refused("invalid", file.path, "the file is not a JSON object", f"write {_EXAMPLE}")
    problems = list(_problems(value, milestone))
    if problems:
        raise Refused.of(problems)
    return Result(
        value.get("output") or "",
        value.get("error") or "",
        value.get("stats") or {},
        value.get("artifacts") or [],
    )


def _problems(value: dict[str, Any], milestone: str) -> Iterator[Problem]:
    for name in value.keys() - set(_FIELDS):
        text = f"a result has no field {value_text(name)}"
        yield Problem("invalid", str(name), text, ", ".join(_FIELDS))
    named = value.get("milestone", milestone)
    if named != milestone:
        text = (
            f"the result is for {value_text(named)}, and the command is for {milestone}; "
            "nothing is lost"
        )
        yield Problem("conflict", "milestone", text, f"hand in the result of {milestone}")
    status, error = value.get("status"), value.get("error")
    if status not in (SUCCESS, FAILURE):
        yield Problem(
            "invalid", "status", f"the status is {value_text(status)}", f"{SUCCESS}, {FAILURE}"
        )
    for name in ("output", "error"):
        if not isinstance(value.get(name), str | None):
            yield Problem("invalid", name, "it is not a text", "a text, or null")
    if status == FAILURE and not error:
        yield Problem("invalid", "error", "the status is failure without `error`", "say why")
    if status == SUCCESS and error:
        text = "the status is success, and `error` says that something failed"
        yield Problem("invalid", "error", text, f"leave out `error`, or the status {FAILURE}")
    if not _are_figures(value.get("stats")):
        yield Problem("invalid", "stats", "these are not figures", ", ".join(_STATS))
    artifacts = value.get("artifacts") or []
    if not isinstance(artifacts, list) or not all(isinstance(a, str) for a in artifacts):
        yield Problem("invalid", "artifacts", "it is not a list of texts", '["path", …]')


def _are_figures(stats: object) -> bool:
    if stats is None:
        return True
    return isinstance(stats, dict) and all(
        name in _STATS and isinstance(n, int | float) and not isinstance(n, bool) and n >= 0
        for name, n in stats.items()
    )
