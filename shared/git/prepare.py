"""Store the file copies and journal that an apply needs, before any of the user's files changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.change import Ends, apply_patches, ends, index_lines
from shared.git.few_paths import fill_index, tree_and_rules
from shared.git.files import refusing, remove_tree
from shared.git.journal import (
    Journal,
    Move,
    Stored,
    empty_journal,
    parent_folders,
    read_file,
    save_journal,
    seal_copies,
    store,
)
from shared.git.replay import check_sides
from shared.git.users_files import check_before, compare_at, is_set, quarantined
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change, Entry
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from state.errors import Problem


@refusing()
def prepare(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    folder: str,
    digest: str,
    there: Mapping[str, Entry],
) -> Journal:
    """Store copies of the planned files before and after the apply; save and return the journal.

    Refused if a planned file is not as the plan found it; the user's tree is only read. `there` is
    what `tree_and_rules` says of HEAD.
    """
    planned = ends(changes)
    empty_journal(folder)
    # Copied, then compared through git, then compared with the copy again: one of the two
    # finds a file that was saved meanwhile.
    before = _copy_before(repo, planned, folder)
    found = check_before(repo, vault, changes, there)
    for problem in found:
        problem.allowed = "commit or stash this file, then run the same command again"
    _refuse(found)
    staged = os.path.join(folder, "staged")
    _stage_after(repo, vault, changes, staged, there)
    after = _copy_after(planned, before, folder, staged)
    remove_tree(staged)
    seal_copies(folder)
    moves = tuple(Move(path, before[path], after[path]) for path in planned)
    folders = parent_folders(repo.root, list(planned))
    journal = Journal(digest, "applying", is_set(repo, "core.fileMode"), moves, folders)
    _refuse(check_sides(repo.root, journal))
    save_journal(folder, journal)
    return journal


def check_checkout(repo: Repository, vault: Vault, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each planned file that git would not check out with the plan's bytes.

    Filters run for it, such as git-lfs; what they give is removed again.
    """
    with vault.scratch() as folder:
        try:
            there = tree_and_rules(repo.git, "HEAD", ends(changes))
            _stage_after(repo, vault, changes, os.path.join(folder, "staged"), there)
        except Refused as refusal:
            return list(refusal.problems)
    return []


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise Refused.of(problems)


def _copy_before(
    repo: Repository, planned: Mapping[str, Ends], folder: str
) -> dict[str, Stored | None]:
    found: dict[str, Stored | None] = {}
    for number, (path, end) in enumerate(planned.items()):
        found[path] = None
        if end.before:
            found[path] = store(folder, f"before/{number:03d}", read_file(repo.root, path))
    return found


def _copy_after(
    planned: Mapping[str, Ends], before: Mapping[str, Stored | None], folder: str, staged: str
) -> dict[str, Stored | None]:
    found: dict[str, Stored | None] = {}
    for number, (path, end) in enumerate(planned.items()):
        found[path] = None
        if end.after and (made := read_file(staged, path)):
            bits = _bits(before[path], end, made.bits)
            found[path] = store(folder, f"after/{number:03d}", made, bits)
    return found


def _stage_after(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    staged: str,
    there: Mapping[str, Entry],
) -> None:
    """Write the planned files below `staged` as git would check them out in the user's tree.

    The blobs are made from the plan's patches alone; each file is then read back through git:
    a filter that does not give the planned blob is refused here, before any file is touched.
    """
    planned = ends(changes)
    after = {path: end.after for path, end in planned.items()}
    os.makedirs(staged)
    with vault.fresh_index() as git:
        before = {path: end.before for path, end in planned.items() if end.before}
        git.run("update-index", "-z", "--index-info", stdin=index_lines(before, repo.zero))
        apply_patches(git, changes)
    with vault.scratch() as scratch:
        git = quarantined(repo, vault, os.path.join(scratch, "index"), repo.root)
        fill_index(git, there, after, repo.zero)
        names = "".join(f"{path}\0" for path, entry in after.items() if entry).encode()
        git.run("checkout-index", "-z", "--stdin", f"--prefix={staged}/", stdin=names)
    _refuse(compare_at(repo, vault, after, staged, there))


def _bits(before: Stored | None, end: Ends, fresh: int) -> int:
    """Return a file's permissions after the apply: the user's, with the plan's executable bit.

    `fresh` are those that git gave the file.
    """
    if before is None or before.raw.kind == "link" or end.before is None or end.after is None:
        return fresh
    if end.before.mode == end.after.mode:
        return before.bits
    executable = end.after.mode == "100755"
    return before.bits | (before.bits & 0o444) >> 2 if executable else before.bits & ~0o111
