"""Reads from a test runner's own summary how many tests passed and failed (VR-4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from developer.verify.job import Counts

_WORDS = r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)"


_OF_PYTEST = rf"^(?:=+ )?((?:{_WORDS}(?:, )?)+) in [\d.]+"
_OF_UNITTEST = r"^Ran (\d+) tests? in "


def counted(output: str) -> Counts | None:
    """Return the numbers of passed and failed tests in the end of an output; None without one."""
    return next(filter(None, (read(output) for read in _READERS)), None)


def summaries(output: str) -> int:
    """Return how many summaries of pytest or unittest an output has; `counted` reads the last."""
    return max(len(re.findall(row, output, re.MULTILINE)) for row in (_OF_PYTEST, _OF_UNITTEST))


def _pytest(output: str) -> Counts | None:
    rows = re.findall(_OF_PYTEST, output, re.MULTILINE)
    return _of_words(rows[-1][0]) if rows else None


def _of_words(text: str) -> Counts:
    found = {word.rstrip("s"): int(number) for number, word in re.findall(_WORDS, text)}
    return found.get("passed", 0), found.get("failed", 0) + found.get("error", 0)


def _unittest(output: str) -> Counts | None:
    ran = re.findall(_OF_UNITTEST, output, re.MULTILINE)
    end = re.search(r"^(?:OK|FAILED)(?: \((.*)\))?\s*$", output, re.MULTILINE)
    if not ran or not end:
        return None
    named = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", end[1] or "")}
    failed = named.get("failures", 0) + named.get("errors", 0)
    return int(ran[-1]) - failed - named.get("skipped", 0), failed


def _jest(output: str) -> Counts | None:
    """Read jest's `Tests: 1 failed, 3 passed` and vitest's `Tests  1 failed | 3 passed (4)`."""
    rows = re.findall(r"^\s*Tests:?\s+(.*\d+ (?:passed|failed).*)$", output, re.MULTILINE)
    return _of_words(rows[-1]) if rows else None


def _pairs(passing: str, failing: str) -> Callable[[str], Counts | None]:
    """Return a reader of runners that print the two numbers on lines of their own, or in one."""

    def read(output: str) -> Counts | None:
        passed = [int(n) for n in re.findall(passing, output, re.MULTILINE)]
        failed = [int(n) for n in re.findall(failing, output, re.MULTILINE)]
        return (sum(passed), sum(failed)) if passed or failed else None

    return read


def _maven(output: str) -> Counts | None:
    row = r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?!, Time)"
    rows = re.findall(row, output)
    if not rows:
        return None
    ran, failures, errors, skipped = map(int, rows[-1])
    return ran - failures - errors - skipped, failures + errors


_cargo = _pairs(r"^test result: \w+\. (\d+) passed", r"^test result: .* (\d+) failed;")
_mocha = _pairs(r"^\s*(\d+) passing\b", r"^\s*(\d+) failing\b")
_node = _pairs(r"^(?:#|ℹ) pass +(\d+)$", r"^(?:#|ℹ) fail +(\d+)$")  # tape's are aligned


def _lines(output: str) -> Counts | None:
    """Count the lines of TAP, if all that its plan `1..N` names are there, and of `go test -v`."""
    found = re.findall(r"^\s*(?:--- (PASS|FAIL): |(not ok|ok) \d+)", output, re.MULTILINE)
    good = [go == "PASS" or tap == "ok" for go, tap in found]
    announced = re.findall(r"^1\.\.(\d+)", output, re.MULTILINE)
    whole = not announced or int(announced[-1]) == len(good)
    return (good.count(True), good.count(False)) if good and whole else None


_READERS = (_pytest, _unittest, _jest, _cargo, _mocha, _node, _maven, _lines)
