"""Read the file in which an agent says how its milestone went; refuse one that is malformed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from state.errors import Problem, Refused, value_text
from state.written_json import TEXT_OR_NULL, an_object, list_of, problems_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.named_files import Named
    from state.rows import Progress

SUCCESS, FAILURE = "success", "failure"
_STATS = (
    "prompt_tokens", "completion_tokens", "tool_calls", "tool_successes", "tool_failures",
    "duration_seconds",
)  # fmt: skip
_PATHS = '["path", …]'
_FIGURE = {"type": "number", "minimum": 0, "allowed": "a number from 0"}
_SCHEMA = an_object(
    {
        "milestone": {}, "status": {"enum": [SUCCESS, FAILURE]},
        "output": TEXT_OR_NULL, "error": TEXT_OR_NULL,
        "stats": {**an_object(dict.fromkeys(_STATS, _FIGURE), (), ", ".join(_STATS)),
                  "type": ["object", "null"]},
        "artifacts": {**list_of({"type": "string", "allowed": _PATHS}, _PATHS),
                      "type": ["array", "null"]},
    },
    ["status"],
    '{"status": "success", "output": "what was done, in a sentence"}',
)  # fmt: skip


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
    problems = problems_in(value, _SCHEMA, file.path) or list(_contradictions(value, milestone))
    if problems:
        raise Refused.of(problems)
    return Result(
        value.get("output") or "",
        value.get("error") or "",
        value.get("stats") or {},
        value.get("artifacts") or [],
    )


def _contradictions(value: dict[str, Any], milestone: str) -> Iterator[Problem]:
    named = value.get("milestone", milestone)
    if named != milestone:
        text = (
            f"the result is for {value_text(named)}, and the command is for {milestone}; "
            "nothing is lost"
        )
        yield Problem("conflict", "milestone", text, f"hand in the result of {milestone}")
    status, error = value["status"], value.get("error")
    if status == FAILURE and not error:
        yield Problem("invalid", "error", "the status is failure without `error`", "say why")
    if status == SUCCESS and error:
        text = "the status is success, and `error` says that something failed"
        yield Problem("invalid", "error", text, f"leave out `error`, or the status {FAILURE}")
