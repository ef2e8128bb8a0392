"""Compare a commit with approved changes: the same bytes, the same change, or edited (CM-2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import (
    Ends,
    ends,
    patch_bytes,
    read_changes,
    rebuild_files,
    revert_changes,
)
from shared.git.few_paths import replace_at, tree_at
from shared.git.large import BLOB, sizes_of
from shared.git.merged import merge_of_trees

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change, Entry
    from shared.git.history import Made
    from shared.git.repository import Repository
    from shared.git.vault import Vault

# Lines of a patch that name blobs, places or a measure of likeness, and not what is changed.
_UNSTABLE = re.compile(rb"index [0-9a-f]+\.\.[0-9a-f]+|(dis)?similarity index ")


class Compared(NamedTuple):
    """How a commit differs from approved changes."""

    # Planned files with other content.
    edited: list[str]
    # Planned files that have the same change, at the same place, on other surroundings.
    moved: list[str]
    # Files that nothing approves.
    additional: list[str]
    # Each planned path is changed from just the planned content to just the planned content.
    whole: bool


def compare(
    repo: Repository,
    vault: Vault,
    made: Made,
    plans: Sequence[Sequence[Change]],
    aside: Collection[str] = (),
) -> Compared:
    """Compare a commit with the changes of the plans that it is said to hold.

    Paths of `aside` may be changed as well. Of several plans each goes on from what another left.
    """
    wanted = compose([ends(changes) for changes in plans])
    got = {path: end for path, end in made.changed.items() if path in wanted or path not in aside}
    off = [path for path, end in wanted.items() if got.get(path) != end]
    now = tree_at(repo.git, made.stored.tree, off) if off else {}
    # A file that had the planned content before is as it should be. One that gets it from another
    # content than the plan's loses what nobody has approved to be lost.
    other = {path for path in off if path in got or now.get(path) != wanted[path].after}
    same = _same_change(repo, vault, made, plans, other) if other else set()
    return Compared(
        edited=sorted(other - same),
        moved=sorted(same),
        additional=sorted(path for path in got if path not in wanted),
        whole=not off,
    )


def compose(parts: Sequence[Mapping[str, Ends]]) -> dict[str, Ends]:
    """Return the paths that several plans change as one, each from its first to its last content.

    The plans may come in any order; those that do not fit together come last.
    """
    left, found = list(parts), dict[str, Ends]()
    while left:
        step = next((p for p in left if _follows(found, p) or _follows(p, found)), left[0])
        left.remove(step)
        first, then = (found, step) if _follows(found, step) else (step, found)
        shared = {path: Ends(first[path].before, then[path].after) for path in {*first} & {*then}}
        found = {**first, **then, **shared}
    return found


def _follows(first: Mapping[str, Ends], then: Mapping[str, Ends]) -> bool:
    return all(first[path].after == end.before for path, end in then.items() if path in first)


def _same_change(
    repo: Repository,
    vault: Vault,
    made: Made,
    plans: Sequence[Sequence[Change]],
    paths: Collection[str],
) -> set[str]:
    """Return those of the paths whose planned patch the commit has, where a merge puts it.

    What has no patch has no surroundings.
    """
    planned = [change for changes in plans for change in changes]
    named = [path for change in planned for path in {change.file, change.old_file or change.file}]
    was, now = (tree_at(repo.git, tree, named) for tree in (made.before, made.stored.tree))
    # In a partial clone git fetches here what the vault cannot.
    sizes_of(repo.git, [entry.blob for files in (was, now) for entry in files.values()])
    found = read_changes(vault, made.before, made.stored.tree, sorted({*named}))
    present = {_identity(change) for change in found if change.encoding != BLOB}
    same = [
        change
        for change in planned
        if change.encoding != BLOB and _identity(change) in present
        if all(named.count(path) == 1 for path in (change.file, change.old_file or change.file))
    ]
    merged = _merged(repo, vault, same, was) if same else {}
    return {path for path in merged.keys() & {*paths} if merged[path] == now.get(path)}


def _merged(
    repo: Repository, vault: Vault, changes: Sequence[Change], was: Mapping[str, Entry]
) -> dict[str, Entry | None]:
    """Return what git makes of changes in the files that were there, without what conflicts.

    The lines of a patch may be in a file twice: which of them are meant, only a merge can say.
    """
    before, after = rebuild_files(vault, changes, repo.zero)
    wanted = ends(changes)
    with vault.fresh_index(GIT_OBJECT_DIRECTORY=vault.objects) as git:
        there = replace_at(git, before, {path: was.get(path) for path in wanted})
    merged = merge_of_trees(vault, before, after, there)
    if not merged.tree:
        return {}
    found = tree_at(vault.git, merged.tree, wanted)
    return {path: found.get(path) for path in wanted if path not in merged.conflicts}


def _identity(change: Change) -> tuple[str, str | None, bytes]:
    """Return what makes a patch the same wherever it stands; unlike git's, spaces count."""
    lines = patch_bytes(change).split(b"\n")
    kept = [b"@@" if line.startswith(b"@@ ") else line for line in lines]
    stable = [line for line in kept if not _UNSTABLE.match(line)]
    return change.file, change.old_file, b"\n".join(stable)


def reverse(repo: Repository, vault: Vault, changes: Sequence[Change]) -> Sequence[Change]:
    """Return the changes that take approved ones back."""
    return revert_changes(vault, changes, repo.zero)
