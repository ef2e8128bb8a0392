"""What a command's output says is missing, in one line that may stand in a plan."""

from __future__ import annotations

import pytest

from developer.verify.lacking import lacking


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("setup\n/home/me/.venv/bin/python: No module named tox\n", "python: No module named tox"),
        ("sh: 1: tox: not found\n", "sh: 1: tox: not found"),
        ("E  fixture 'mocker' not found\n", "E fixture 'mocker' not found"),
        ("Ran 0 tests in 0.000s\n\nOK\n", "Ran 0 tests in 0.000s"),
        ("FAILED test_a.py::test_b - assert 1 == 2\n", ""),
    ],
)
def test_the_last_line_about_it_without_folders_of_the_machine(output: str, said: str) -> None:
    assert lacking(output) == said
