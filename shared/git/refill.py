"""Make a scratch worktree that somebody removed once more, with the changes captured from it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import GITLINK, listed
from shared.git.few_paths import rebuild
from shared.git.files import refusing
from shared.git.scratch import scratch
from shared.git.worktree import REFILLING, base_is_gone, restore_record
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault


@refusing()
def refill(repo: Repository, path: str, vault: Vault, base: str, changes: Sequence[Change]) -> int:
    """Write the files of commit `base` with the plan's changes into a lost worktree.

    A file that somebody has written there since stays as it is. Returns how many were written.
    """
    if not repo.git.ok("cat-file", "-e", f"{base}^{{commit}}"):
        raise base_is_gone(path, base)
    held = rebuild(vault, base, changes, into=repo.objects)
    write_atomic(path + REFILLING, b"")
    tree = restore_record(repo, path, base)
    with scratch(os.path.dirname(path)) as folder:
        git = tree.git.on_index(os.path.join(folder, "index"))
        git.run("read-tree", held)
        files = [name for name, entry in listed(git).items() if entry.mode != GITLINK]
        gone = [name for name in files if not os.path.lexists(os.path.join(path, name))]
        names = b"".join(os.fsencode(name) + b"\0" for name in gone)
        git.run("checkout-index", "-z", "--stdin", stdin=names)
    os.unlink(path + REFILLING)
    return len(gone)
