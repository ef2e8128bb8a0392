"""Read for the checks from git: trees, file contents and trees rebuilt from patches."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shared.git.change import Entry
from shared.git.few_paths import rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault


class Objects:
    """A cached reader of a repository's git trees and file contents (blobs)."""

    def __init__(self, repository: Repository, vault: Vault) -> None:
        self._git = repository.git
        self._vault = vault
        self.entries = cache(self._entries)
        self.read = cache(self._read)

    def _entries(self, tree: str) -> Mapping[str, Entry]:
        """Return the files of a git tree as a dict from path to mode and blob id."""
        found = {}
        for row in self._git.names("ls-tree", "-r", "-z", "--full-tree", tree):
            meta, name = row.split(b"\t", 1)
            mode, _, blob = meta.decode().split(" ")
            found[name.decode("utf-8", "surrogateescape")] = Entry(mode, blob)
        return found

    def _read(self, blob: str) -> bytes:
        """Return the content of a git blob (a stored file) as bytes."""
        return self._git.run("cat-file", "blob", blob)

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        """Apply a plan's patches to the git tree `base_tree` and return the resulting tree's id."""
        return rebuild(self._vault, base_tree, changes)
