"""Name the files that a commit of completed requirements has beside its plan (RL-9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.git.proof import Staged, compare_trees, trailers
from shared.git.repository import within
from shared.git.verdict import message_of
from shared.todo import agreed_in

if TYPE_CHECKING:
    from shared.git.repository import Repository

_NAMED = re.compile(r"(?:Requirements|Todo): (completed_(?:requirements|todo)_[0-9_-]+\.md)")


def beside_plan(repository: Repository, commit: str) -> dict[str, Staged]:
    """Return by path the planning folder's changes, and the files that the user agreed to commit.

    They are named by the trailers and the todo list of the commit itself, so whoever reads them
    should look at them: only the plan's files were approved by its digest. Empty for a commit
    without such trailers.
    """
    names = [m[1] for m in map(_NAMED.fullmatch, trailers(message_of(repository, commit))) if m]
    if not names or not repository.git.ok("rev-parse", "--verify", "-q", f"{commit}^"):
        return {}
    changed = compare_trees(repository, f"{commit}^", commit)
    files = [path for path in changed if path.rpartition("/")[2] in names]
    folders = {path.rpartition("/")[0] for path in files}
    agreed = {
        name
        for path in files
        for name in agreed_in(repository.git.run("show", f"{commit}:{path}").decode())
    }
    return {
        path: Staged(end.after)
        for path, end in changed.items()
        if path in agreed or any(within(path, folder) for folder in folders)
    }
