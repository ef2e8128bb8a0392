"""The objects that checks read, out of a run's vault."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from shared.checks.subject import Entry
from shared.git.change import rebuild

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change as GitChange
    from shared.git.vault import Vault
    from state.models import Change

KEPT_MAX_BYTES = 64 * 2**20


class VaultTrees:
    """Trees and blobs of a vault; what was read is kept, as several checks ask for it."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._entries: dict[str, dict[str, Entry]] = {}
        self._blobs: dict[str, bytes] = {}
        self._kept_bytes = 0

    def entries(self, tree: str) -> Mapping[str, Entry]:
        """Return every file of a tree by its path, submodules included."""
        if tree not in self._entries:
            found = {}
            for row in self.vault.git.names("ls-tree", "-r", "-z", "--full-tree", tree):
                meta, name = row.split(b"\t", 1)
                mode, _type, blob = meta.decode().split(" ")
                found[os.fsdecode(name)] = Entry(mode, blob)
            self._entries[tree] = found
        return self._entries[tree]

    def read(self, blob: str) -> bytes:
        """Return the content of a blob; Refused when the vault has no such object."""
        if blob in self._blobs:
            return self._blobs[blob]
        data = self.vault.git.run("cat-file", "blob", blob)
        if self._kept_bytes + len(data) <= KEPT_MAX_BYTES:
            self._kept_bytes += len(data)
            self._blobs[blob] = data
        return data

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        """Return the tree that the patches make of `base_tree`; Refused where one does not fit."""
        # Its caller has seen to it that each has a patch, which git's protocol takes for granted.
        return rebuild(self.vault, base_tree, cast("Sequence[GitChange]", changes))
