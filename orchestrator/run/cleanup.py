"""Remove the files that an ended run needs no more: worktree, bare repository, fingerprint."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from shared import resources
from shared.git.files import remove_tree
from shared.git.vault import remove_vault
from shared.git.worktree import remove_worktree
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State


def tidy(state: State) -> None:
    """Remove an ended run's worktree, bare repository and fingerprint files, as far as possible.

    A file that cannot be removed is left: the run has ended all the same.
    """
    with contextlib.suppress(OSError, Refused):
        repository = state.repository
        remove_worktree(repository, state.worktree)
        remove_worktree(repository, resources.part_worktree_path(state.state_dir))
        remove_tree(resources.fingerprint_path(state.state_dir))
        folder = resources.milestones_path(state.state_dir)
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if os.path.isdir(os.path.join(folder, name)):
                remove_worktree(repository, os.path.join(folder, name))
        remove_tree(folder)
    remove_vault(resources.vault_path(state.state_dir))
