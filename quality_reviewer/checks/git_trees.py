"""Read for the checks from git: trees, file contents and trees rebuilt from patches."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shared.git.few_paths import alike, all_of, rebuild
from shared.git.proof import compare_trees

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change, Ends, Entry
    from shared.git.repository import Repository
    from shared.git.vault import Vault


class Objects:
    """A cached reader of a repository's git trees and file contents (blobs)."""

    def __init__(self, repository: Repository, vault: Vault) -> None:
        self._repository, self._git = repository, repository.git
        self._vault = vault
        self._held: dict[str, bytes] = {}
        self._asked: set[str] = set()
        self._listed: tuple[str, dict[str, Entry]] | None = None
        self.entries = cache(self._entries)
        self.read = cache(self._read)
        self.differing = cache(self._differing)

    def _entries(self, tree: str) -> Mapping[str, Entry]:
        """Return the files of a git tree as a dict from path to mode and blob id."""
        if self._listed is None:
            found = all_of(self._git, tree)
            self._listed = tree, found
            return found
        # A plan's trees differ in few files, and the repository may have very many.
        known, files = self._listed
        found = dict(files)
        for path, (_, after) in self.differing(known, tree).items():
            if after is None:
                del found[path]
            else:
                found[path] = after
        return found

    def alike(self, tree: str, paths: Collection[str]) -> set[str]:
        """Return which of these paths, and folders above, a git tree has, in any letter case."""
        return alike(self._git, tree, paths)

    def _differing(self, old: str, new: str) -> dict[str, Ends]:
        """Return the files that differ between two git trees, in order, each as in both."""
        return compare_trees(self._repository, old, new)

    def _read(self, blob: str) -> bytes:
        """Return the content of a git blob (a stored file) as bytes."""
        if blob in self._held:
            return self._held[blob]
        return self._git.run("cat-file", "blob", blob)

    def hold(self, blobs: Collection[str]) -> None:
        """Read these git blobs at once; those that are missing are left to `read`."""
        found = self._git.objects(sorted({*blobs} - self._asked))
        self._held |= {one.id: one.content for one in found if one.kind == "blob"}
        self._asked.update(blobs)

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        """Apply a plan's patches to the git tree `base_tree` and return the resulting tree's id."""
        return rebuild(self._vault, base_tree, changes)
