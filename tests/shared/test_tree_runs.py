"""What an assistant has run on a plan's files, and which of that would verify the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.tree_runs import TreeRun, proving, record

if TYPE_CHECKING:
    from pathlib import Path

TREE = "a" * 40


@pytest.mark.requirement("VR-3")
def test_what_only_shows_something_verifies_nothing(tmp_path: Path) -> None:
    shows = (
        "cat a.py", "cd src && ls", "LC_ALL=C grep x a.py | head -1", "(cd src; cat $(ls))",
        "ls a || echo none",
    )  # fmt: skip
    proves = ("echo start && make check", "cat a.sql | sqlite3 a.db", "cd src && ./run-tests")
    for command in (*proves, *shows):
        record(str(tmp_path), TreeRun(command, TREE, 0, 1, ""))
    assert proving(str(tmp_path), TREE) == [*proves]
