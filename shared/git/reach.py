"""Find planned files that git would not write or commit where they lie in the user's tree."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import ends
from state.errors import AGAIN, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository


def check_reach(repo: Repository, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each planned file outside a sparse checkout or in another repository."""
    planned = ends(changes)
    problems: list[Problem] = []
    for path in _left_out(repo, [path for path, end in planned.items() if end.before]):
        text = "is outside your sparse checkout, so it is not among your files"
        folder = os.path.dirname(path) or path
        way = f"add it: git sparse-checkout add {folder}; then run the same command again"
        problems.append(Problem("refused", path, text, way, AGAIN))
    for path in planned:
        if other := _repository_above(repo.root, path):
            text = f"lies in another git repository of yours, {other}, which git does not commit"
            way = "move that repository away, or take this file out of the plan"
            problems.append(Problem("refused", path, text, way, AGAIN))
    return problems


def _left_out(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Return the paths that a sparse checkout leaves out of the user's files."""
    missing = [path for path in paths if not os.path.lexists(os.path.join(repo.root, path))]
    if not missing:
        return []
    names = [f":(top,literal){path}" for path in missing]
    rows = repo.git.names("ls-files", "-t", "-z", "--", *names)
    return [os.fsdecode(row[2:]) for row in rows if row.startswith(b"S ")]


def _repository_above(root: str, path: str) -> str:
    """Return the folder of the user's that is a repository of its own and holds `path`, or ""."""
    parts = path.split("/")[:-1]
    above = ("/".join(parts[: count + 1]) for count in range(len(parts)))
    return next((f for f in above if os.path.lexists(os.path.join(root, f, ".git"))), "")
