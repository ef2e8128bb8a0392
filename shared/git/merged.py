"""Say in which files a merge differs from what git makes of its parents without help (CM-3).

Git from 2.38 merges without an index or files. For an older one the merge is made again in an index
of ours, without following renames: what then differs is named, and never passed over. Merge drivers
and attributes are those of the vault, which has none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import Entry
from shared.git.command import version
from shared.git.failure import error_text
from shared.git.large import MOST_COMPARED, sizes_of
from shared.git.snapshot import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shared.git.command import Git
    from shared.git.vault import Vault

    Merge = Callable[[Vault, str, str], "Merged"]

# The first git that merges without a worktree.
MERGES_TREES = (2, 38)
# Each of them is merged with what the others gave.
MOST_PARENTS = 16
_STAGES = 3
_NO_CONFLICT, _CONFLICT = 0, 1
_WITHOUT_RENAMES = "git before 2.38 does not follow renames here; a newer one may find less"


class Merged(NamedTuple):
    """What git makes of several commits: a tree, the paths that a person has to settle, or why not.

    The tree is "" where the merge cannot be made again.
    """

    tree: str
    conflicts: tuple[str, ...] = ()
    why: str = ""


def merge_of(vault: Vault, parents: Sequence[str]) -> Merged:
    """Return the automatic merge of commits, one after the other."""
    if len(parents) > MOST_PARENTS:
        return Merged("", why=f"it has {len(parents)} parents, more than the {MOST_PARENTS} judged")
    merge = by_git if version() >= MERGES_TREES else by_index
    at, found = parents[0], Merged("")
    conflicts: list[str] = []
    for number, other in enumerate(parents[1:], 2):
        found = merge(vault, at, other)
        if not found.tree:
            return found
        conflicts += found.conflicts
        if number < len(parents):
            git = vault.git.having("i18n.commitEncoding=UTF-8", **IDENTITY)
            at = git.text("commit-tree", found.tree, "-p", at, "-p", other, "-m", "merge")
    return found._replace(conflicts=tuple(dict.fromkeys(conflicts)))


def merge_of_trees(vault: Vault, before: str, one: str, other: str) -> Merged:
    """Return the automatic merge of two git trees that both go on from `before`."""
    git = vault.git.having("i18n.commitEncoding=UTF-8", **IDENTITY)
    start = git.text("commit-tree", before, "-m", "before")
    return merge_of(
        vault, [git.text("commit-tree", tree, "-p", start, "-m", "after") for tree in (one, other)]
    )


def by_git(vault: Vault, one: str, other: str) -> Merged:
    """Merge two commits by git's own command for it."""
    words = ("--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
    done = vault.git.attempt("merge-tree", *words, one, other)
    if done.returncode not in {_NO_CONFLICT, _CONFLICT} or not done.stdout:
        return Merged("", why=_failed(done.stderr, done.returncode))
    tree, *names = done.stdout.split(b"\0")[:-1]
    return Merged(tree.decode(), tuple(map(os.fsdecode, filter(None, names))))


def by_index(vault: Vault, one: str, other: str) -> Merged:
    """Merge two commits in an index of ours, file by file."""
    bases = vault.git.attempt("merge-base", "--all", one, other)
    found = bases.stdout.decode().split()
    if bases.returncode not in {0, 1} or len(found) > 1:
        why = f"its parents have {len(found)} common ancestors, which git before 2.38 cannot join"
        return Merged("", why=why)
    base = found[0] if found else vault.git.text("hash-object", "-w", "-t", "tree", "--stdin")
    with vault.fresh_index() as git:
        done = git.attempt("read-tree", "-i", "-m", "--aggressive", base, one, other)
        if done.returncode:
            return Merged("", why=_failed(done.stderr, done.returncode))
        sides: dict[str, dict[int, Entry]] = {}
        for row in git.names("ls-files", "-u", "-z"):
            meta, _, name = row.partition(b"\t")
            mode, blob, stage = meta.decode().split(" ")
            sides.setdefault(os.fsdecode(name), {})[int(stage)] = Entry(mode, blob)
        made = {path: _merged_file(vault, git, entries) for path, entries in sides.items()}
        gone = Entry("0", "0" * len(one))
        rows = [(path, gone) for path in made]
        rows += [(path, entry or sides[path].get(2, gone)) for path, entry in made.items()]
        lines = [os.fsencode(f"{entry.mode} {entry.blob}\t{path}\0") for path, entry in rows]
        git.run("update-index", "--add", "-z", "--index-info", stdin=b"".join(lines))
        tree = git.text("write-tree")
    conflicts = tuple(path for path, entry in made.items() if entry is None)
    return Merged(tree, conflicts, _WITHOUT_RENAMES)


def _merged_file(vault: Vault, git: Git, sides: Mapping[int, Entry]) -> Entry | None:
    """Return the file that three versions of a text give, None where a person has to settle it."""
    if len(sides) != _STAGES or len({entry.mode for entry in sides.values()}) != 1:
        return None
    base, ours, theirs = (sides[stage] for stage in (1, 2, 3))
    sizes = sizes_of(git, (base.blob, ours.blob, theirs.blob))
    if not ours.mode.startswith("100") or sum(sizes.values()) > MOST_COMPARED:
        return None
    with vault.scratch() as folder:
        paths = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
        for path, entry in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as file:
                file.write(git.run("cat-file", "blob", entry.blob))
        done = git.attempt("merge-file", "-q", "-p", *paths)
    if done.returncode:
        return None
    words = ("hash-object", "-w", "--no-filters", "--stdin")
    return Entry(ours.mode, git.text(*words, stdin=done.stdout))


def _failed(stderr: bytes, code: int) -> str:
    return f"git could not make the merge again: {error_text(stderr, code)}"
