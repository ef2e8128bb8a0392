"""Make a scratch worktree that somebody removed once more, with the changes captured from it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK, ends, listed
from shared.git.copies import lay
from shared.git.few_paths import rebuild, tree_at
from shared.git.files import refusing
from shared.git.scratch import scratch
from shared.git.worktree import REFILLING, base_is_gone, restore_record
from state.files import write_atomic
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault


class Refilled(NamedTuple):
    """How many files were written, and the changed files among them."""

    written: int
    changed: list[str]
    # Their changes were captured on another base, which had these files otherwise.
    left: list[str]


@refusing()
def refill(
    repo: Repository, path: str, vault: Vault, base: str, changes: Sequence[Change]
) -> Refilled:
    """Write the files of commit `base`, with the changes that fit it, into a lost worktree.

    A file that somebody has written there since stays as it is.
    """
    if not repo.git.ok("cat-file", "-e", f"{base}^{{commit}}"):
        raise base_is_gone(path, base)
    there = tree_at(repo.git, base, ends(changes))
    fit = [c for c in changes if all(there.get(p) == e.before for p, e in ends([c]).items())]
    held = rebuild(vault, base, fit, into=repo.objects)
    write_atomic(path + REFILLING, b"")
    tree = restore_record(repo, path, base)
    with scratch(os.path.dirname(path)) as folder:
        git = tree.git.on_index(os.path.join(folder, "index"))
        git.run("read-tree", held)
        files = [name for name, entry in listed(git).items() if entry.mode != GITLINK]
        at = WorkingFiles(path)
        gone = [name for name in files if at.reach(name) is None]
        lay(git, gone)
    os.unlink(path + REFILLING)
    left = [change.file for change in changes if change not in fit]
    return Refilled(len(gone), [change.file for change in fit], left)
