"""The git trees of a plan's revisions: what each starts from, what it makes of it, what differs.

They are made in a temporary repository: neither the user's nor the run's is written.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK, ends, read_changes
from shared.git.few_paths import rebuild, replace_at, tree_at
from shared.git.large import MEBIBYTE
from shared.git.vault import open_vault
from shared.workspace import base_of, config_of
from state.changes import plan_changes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from shared.git.change import Entry, FileChange
    from shared.git.vault import Vault
    from shared.run import State
    from state.models import Plan


class Trees(NamedTuple):
    """The trees of all revisions of a run, in a repository that is gone afterwards."""

    vault: Vault
    # Bytes of patches.
    limit: int

    def new(self, plan: Plan) -> str:
        """Return the id of a plan's tree to come."""
        return rebuild(self.vault, base_of(plan).tree, plan_changes(plan))

    def files(self, tree: str, paths: Collection[str]) -> dict[str, Entry]:
        """Return those of the paths that are files or links in a tree."""
        found = tree_at(self.vault.git, tree, paths)
        return {p: one for p, one in found.items() if p in paths and one.mode != GITLINK}

    def lines(self, blobs: Sequence[str]) -> list[list[str] | None]:
        """Return the lines of each blob; None of one that is binary."""
        return [_lines(one.content) for one in self.vault.git.objects(blobs)]

    def between(self, earlier: Plan, plan: Plan) -> list[FileChange]:
        """Return the changes from one tree to come to another.

        Where the base has moved, those of the planned files alone.
        """
        old, new = self.new(earlier), self.new(plan)
        if base_of(earlier).tree != base_of(plan).tree:
            paths = {*ends(plan_changes(earlier)), *ends(plan_changes(plan))}
            new = self._with(old, new, paths)
        return read_changes(self.vault, old, new, limit=self.limit)

    def between_bases(self, earlier: Plan, plan: Plan, paths: Collection[str]) -> list[FileChange]:
        """Return the changes of some files from one base to another."""
        old, new = base_of(earlier).tree, base_of(plan).tree
        if old == new:
            return []
        return read_changes(self.vault, old, self._with(old, new, paths), limit=self.limit)

    def _with(self, old: str, new: str, paths: Collection[str]) -> str:
        """Return the id of a tree `old` that has these paths as `new` has them."""
        there = tree_at(self.vault.git, new, paths)
        return replace_at(self.vault.git, old, {path: there.get(path) for path in paths})


def _lines(data: bytes) -> list[str] | None:
    if b"\0" in data:
        return None
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


@contextlib.contextmanager
def opened_trees(state: State) -> Iterator[Trees]:
    """Yield the trees of a run's revisions, and remove what was made for them."""
    limit = config_of(state).max_patch_mb * MEBIBYTE
    with tempfile.TemporaryDirectory(prefix="planner-since-") as folder:
        yield Trees(open_vault(state.repository, os.path.join(folder, "objects.git")), limit)
