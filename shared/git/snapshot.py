"""Store the user's uncommitted work as a commit that is on no branch (PL-32)."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from shared.git.copies import copied
from shared.git.files import refusing
from shared.git.repository import PLANNER, head, within
from shared.git.scratch import scratch
from shared.git.stage import scan, stage_names, staged_tree

if TYPE_CHECKING:
    from shared.git.repository import Repository

# The same work gives the same commit, whoever makes it and whenever.
IDENTITY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (
        ("NAME", "planner"),
        ("EMAIL", "planner@localhost"),
        ("DATE", "1000000000 +0000"),
    )
}


@refusing()
def snapshot(repo: Repository) -> str:
    """Return a child commit of HEAD with the user's uncommitted work, untracked files included.

    Ignored files, submodules and `.planner` stay as HEAD has them. Index, stash and refs are not
    touched. Without uncommitted work it is HEAD itself.
    """
    at, home = head(repo), os.path.join(repo.root, PLANNER)
    with scratch(home if os.path.isdir(home) else tempfile.gettempdir()) as folder:
        index = os.path.join(folder, "index")
        # Seeded from the user's index: what they added by force is part of their work. Copied with
        # its time, by which git knows of which files it may not trust the times.
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(os.path.join(repo.git_dir, "index"), index)
        git = repo.git.on_index(index)
        names = scan(git)
        nested = {name for name in names.untracked if name.endswith(b"/")}
        keep = {name for name in names.changed | names.untracked - nested if not _ours(name)}
        with copied(git, keep - names.gone, folder) as lent:
            stage_names(lent, keep & names.gone, keep - names.gone)
        tree = staged_tree(git, at.tree, repo.zero)
    if tree == at.tree:
        return at.commit
    text = "Uncommitted work at the start of a planner run"
    settled = repo.git.having("i18n.commitEncoding=UTF-8", **IDENTITY)
    return settled.text("commit-tree", tree, "-p", at.commit, "-m", text)


def _ours(name: bytes) -> bool:
    return within(os.fsdecode(name), PLANNER)
