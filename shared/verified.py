"""Says in one line where a verify command ran, who chose it, and what came out (VR-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from state import plan_table, results

    Result = plan_table.VerifyResult | results.VerifyResult

_PLACES = {"place": "confined, at the project's own path", "worktree": "in the worktree"}
_CHOSEN = {
    "project": "from planner.toml",
    "candidate": "found in the project",
    "assistant": "the assistant's own",
}
# Whether a command runs the changed code, as breaking it shows.
EXERCISED = {
    True: "it fails with the changed code broken, so it runs some of it",
    False: "it passes with the changed code broken, so it runs none of it",
}
# What evidence calls the program's own run of a verify command, with its number.
VERIFY = "verify"
_UNNOTICED = "passes with the changed code broken too"
_PROVES_NOTHING = f"NOT VERIFIED by it, since it {_UNNOTICED}"


def facts_of(result: Result) -> str:
    """Return place, who chose the command, counts of tests where they are known, and seconds.

    A command of the assistant's own that does not notice broken code verifies nothing.
    """
    own = result.chosen_by == "assistant"
    parts = [
        _PROVES_NOTHING if own and result.exercised is False else "",
        _PLACES[result.where],
        _CHOSEN[result.chosen_by],
    ]
    parts += [_counts(result), _lacking(result)]
    if result.seconds:
        parts.append(f"{result.seconds} s")
    return " · ".join([*filter(None, parts), *passed_over(result)])


def lines_for_review(results: Sequence[Result]) -> list[str]:
    """Return a line for each verify command: the name that evidence cites it by, and how it ended.

    Before them stand the commands that were passed over.
    """
    lines = [text for result in results for text in passed_over(result)]
    for number, result in enumerate(results, start=1):
        parts = [
            f"{VERIFY} {number}: {result.outcome} (base: {result.baseline})",
            _counts(result),
            _lacking(result),
            _UNNOTICED if result.exercised is False else "",
            result.command,
        ]
        lines.append(" · ".join(filter(None, parts)))
    return lines


def passed_over(result: Result) -> list[str]:
    """Return a sentence for each command that this one verifies in place of."""
    said = "passed over, since it fails on the base as well"
    return [f"{said}: {text}" for text in result.passed_over]


def _lacking(result: Result) -> str:
    return f"cannot run here: {result.lacks}" if result.lacks else ""


def _counts(result: Result) -> str:
    if result.passed is None:
        return ""
    said = f"{result.passed} passed, {result.failed} failed"
    if result.base_passed is None:
        return said
    return f"{said} (base: {result.base_passed}, {result.base_failed})"
