"""What the checks read from git: trees, file contents, and whether patches rebuild a tree."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shared.git.change import Entry, rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault


class Objects:
    """Git trees and file contents (blobs) of a repository, each read once."""

    def __init__(self, repository: Repository, vault: Vault) -> None:
        self._git = repository.git
        self._vault = vault
        self.entries = cache(self._entries)
        self.read = cache(self._read)

    def _entries(self, tree: str) -> Mapping[str, Entry]:
        """Return every file of a git tree by its path."""
        found = {}
        for row in self._git.names("ls-tree", "-r", "-z", "--full-tree", tree):
            meta, name = row.split(b"\t", 1)
            mode, _, blob = meta.decode().split(" ")
            found[name.decode("utf-8", "surrogateescape")] = Entry(mode, blob)
        return found

    def _read(self, blob: str) -> bytes:
        """Return the content of a git blob."""
        return self._git.run("cat-file", "blob", blob)

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        """Return the git tree that a plan's patches make of the tree `base_tree`."""
        return rebuild(self._vault, base_tree, changes)
