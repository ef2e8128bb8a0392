"""A range as one difference: what no approved commit of it has left is named (CM-3)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from orchestrator.ci.whole_range import WholeRange
from shared.git.reader import Reader
from shared.git.repository import find_repository

if TYPE_CHECKING:
    from orchestrator.ci.judge import Judge
    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("CM-3")


EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_a_file_that_no_approved_commit_left_so_is_a_problem_where_approval_is_demanded(
    repo: Repository,
) -> None:
    start = repo.git("commit-tree", EMPTY, "-m", "Nothing")
    with Reader(find_repository(str(repo.path)).git) as reader:
        judge = cast("Judge", SimpleNamespace(reader=reader))
        for require in (None, "same"):
            judged = WholeRange(judge, require)
            judged._parents.add(start)
            found = judged.judged(start, "HEAD")
            assert (found.files, found.unheld) == (1, ("README.md",))
            texts = [p.problem for p in found.problems]
            what = "its commits are what was approved, and the files that it changes are not:"
            assert texts == ([f"{what} README.md"] if require else [])
        judged._named.add("README.md")
        assert judged.judged(start, "HEAD").problems == ()
