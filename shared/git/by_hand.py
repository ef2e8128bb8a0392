"""Prove a plan that the user has committed by hand: the same blobs, perhaps with other files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import ends, index_lines, read_changes, rebuild_files
from shared.git.few_paths import tree_at
from shared.git.proof import compare_trees

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.git.change import Change, FileChange
    from shared.git.repository import Repository
    from shared.git.vault import Vault

_SEARCHED = 50


class ByHand(NamedTuple):
    """The commit with which a plan is committed, or a part of it, and what was committed beside."""

    commit: str
    # The commit before the first that holds a part of the plan.
    parent: str
    beside: tuple[str, ...]
    # The planned files that are committed.
    paths: frozenset[str]


def find_part(repo: Repository, commit: str, changes: Sequence[Change], base: str) -> ByHand | None:
    """Return how `commit` and the commits before it hold a part of the plan or all of it, or None.

    The parent is looked for among the first parents of `commit`; at last it is the plan's `base`,
    which is none of them where the user has amended it.
    """
    planned = ends(changes)
    now = tree_at(repo.git, commit, planned)
    held = {path for path, end in planned.items() if now.get(path) == end.after}
    if not held:
        return None
    log = repo.git.text("rev-list", "--first-parent", f"-n{_SEARCHED + 1}", commit, "--")
    is_here = not repo.git.attempt("cat-file", "-e", f"{base}^{{commit}}").returncode
    for parent in [*log.split("\n")[1:], *([base] if is_here else [])]:
        found = prove_part(repo, parent, commit, changes)
        if found is not None and found.paths == held:
            return found
    return None


def prove_part(
    repo: Repository, parent: str, commit: str, changes: Sequence[Change]
) -> ByHand | None:
    """Return what of the plan `commit` holds compared with `parent`; None where it is not the plan.

    Each planned path of the part goes from `before` to `after`, and the others do not change.
    """
    planned, found = ends(changes), compare_trees(repo, parent, commit)
    paths = frozenset(planned.keys() & found.keys())
    if not paths or any(found[path] != planned[path] for path in paths):
        return None
    return ByHand(commit, parent, tuple(sorted({*found} - {*planned})), paths)


def is_whole(part: ByHand, changes: Sequence[Change]) -> bool:
    """Return whether what the user has committed is all of the plan."""
    return part.paths == {*ends(changes)}


def without(
    vault: Vault, changes: Sequence[Change], paths: Collection[str], zero: str
) -> list[FileChange]:
    """Return the changes that are left of a plan when these paths of it are committed."""
    before, after = rebuild_files(vault, changes, zero)
    done = {path: end.after for path, end in ends(changes).items() if path in paths}
    with vault.fresh_index() as git:
        git.run("read-tree", before)
        lines = index_lines(done, zero)
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=lines)
        between = git.text("write-tree")
    return read_changes(vault, between, after)
