"""Lines are taken out of a file so that it can still be read; a test then fails (RV-9)."""

from __future__ import annotations

import pytest

from developer.trials import without_lines

pytestmark = pytest.mark.requirement("RV-9")

PYTHON = b"""\
import os


def f(x):
    # why
    if x:
        return 1
    return [
        x,
    ]
"""
SCRIPT = b"function f(x) {\n  if (x) { y(); }\n  return x;\n}\n"
CASES = {
    "a block that would be empty gets a pass": ("a.py", PYTHON, 7, 7, b"        pass\n"),
    "a statement goes": ("a.py", PYTHON, 6, 7, b""),
    "one of several lines goes": ("a.py", PYTHON, 8, 10, b""),
    "a line of another language": ("a.js", SCRIPT, 3, 3, b""),
    "one that closes what it opens": ("a.js", SCRIPT, 2, 2, b""),
}
NOTHING = {
    "a comment": ("a.py", PYTHON, 5, 5),
    "an empty line": ("a.py", PYTHON, 2, 3),
    "a half statement": ("a.py", PYTHON, 8, 8),
    "beyond the end": ("a.py", PYTHON, 90, 91),
    "a bracket alone": ("a.js", SCRIPT, 4, 4),
    "the head of a function": ("a.js", SCRIPT, 1, 1),
    "what could not be read before": ("a.py", b"def (\nx = 1\n", 2, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_lines_are_taken_out_so_that_the_file_can_be_read(name: str) -> None:
    file, text, first, last, instead = CASES[name]
    lines = text.splitlines(keepends=True)
    wanted = b"".join([*lines[: first - 1], instead, *lines[last:]])
    assert without_lines(file, text, first, last) == wanted


@pytest.mark.parametrize("name", NOTHING)
def test_what_leaves_nothing_to_test_is_not_taken_out(name: str) -> None:
    assert without_lines(*NOTHING[name]) is None
