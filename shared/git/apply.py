"""Apply a plan's changes to the user's tree, all or nothing, and take them back (PL-31)."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import Ends, apply_patches, ends, index_lines
from shared.git.files import remove_tree
from shared.git.journal import (
    Journal,
    Move,
    Stored,
    check_copies,
    empty_journal,
    load_journal,
    parent_folders,
    save_journal,
    seal_copies,
    store,
)
from shared.git.play import Raced, check_sides, play
from shared.git.tree import check_before, check_tree, compare_at, is_set, quarantined
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault

_FINISH = "planner exec apply"
_TAKE_BACK = "planner undo"


class Applied(NamedTuple):
    """What an apply did; `how` is applied, finished (after a crash) or already."""

    files: tuple[str, ...]
    how: str


def apply(
    repo: Repository, vault: Vault, changes: Sequence[Change], folder: str, digest: str
) -> Applied:
    """Bring the changes into the user's tree, with a journal in `folder`.

    Run again after a crash at any point it finishes. Refused, with the tree as it was, where a
    planned file is not as the plan found it, or where the system fails while writing.
    """
    journal = load_journal(folder)
    if journal is None or journal.state == "undone":
        problems = check_before(repo, vault, changes)
        if problems:
            raise Refused.of(problems)
        journal, how = _prepare(repo, vault, changes, folder, digest), "applied"
    else:
        _check_same(journal, digest, folder)
        how = "already" if journal.state == "applied" else "finished"
    if how != "already":
        _go_forward(repo, folder, journal)
    problems = check_tree(repo, vault, changes)
    if problems:
        raise Refused.of(problems)
    if how != "already":
        _note(folder, journal._replace(state="applied"), _FINISH)
    return Applied(tuple(move.path for move in journal.moves), how)


def _note(folder: str, journal: Journal, again: str) -> None:
    try:
        save_journal(folder, journal)
    except Refused as refusal:
        text = f"every file is written, but the journal could not note it ({refusal})"
        raise Refused("refused", folder, text, "mend the cause, then again", again) from refusal


def _check_same(journal: Journal, digest: str, folder: str) -> None:
    if journal.state == "undoing":
        text = "these changes are being taken back, and that was interrupted"
        raise Refused("refused", folder, text, retry=_TAKE_BACK)
    if journal.digest != digest:
        text = f"the journal there is of revision {journal.digest[:12]}, not {digest[:12]}"
        raise Refused(
            "conflict", folder, text, allowed="take that one back first", retry=_TAKE_BACK
        )


def _go_forward(repo: Repository, folder: str, journal: Journal) -> None:
    try:
        play(repo.root, folder, journal, "after")
    except OSError as error:
        where = str(error.filename or folder)
        _go_back(repo, folder, journal, where, error.strerror or str(error))
    except Raced as raced:
        text = "was changed by somebody else at the very moment of the apply"
        _go_back(repo, folder, journal, raced.path, text, leave={raced.path})


def _go_back(
    repo: Repository,
    folder: str,
    journal: Journal,
    where: str,
    why: str,
    leave: Collection[str] = (),
) -> None:
    """Take back what an apply did that can't go on; always raises Refused."""
    try:
        play(repo.root, folder, journal, "before", leave)
        save_journal(folder, journal._replace(state="undone"))
    except (OSError, Refused, Raced) as second:
        text = f"{why}; taking back failed too ({second}); the journal knows every file"
        allowed = f"mend the cause, then `{_FINISH}` finishes or `{_TAKE_BACK}` takes back"
        raise Refused("refused", where, text, allowed, _FINISH) from second
    text = f"{why}; nothing was applied"
    raise Refused("refused", where, text, "mend the cause, then apply again", _FINISH)


def _prepare(
    repo: Repository, vault: Vault, changes: Sequence[Change], folder: str, digest: str
) -> Journal:
    """Put the bytes of both sides and the journal on disk; nothing of the user's is touched."""
    planned = ends(changes)
    try:
        empty_journal(folder)
        staged = os.path.join(folder, "staged")
        _stage_after(repo, vault, changes, staged)
        moves = _store_moves(repo, planned, folder, staged)
        remove_tree(staged)
        seal_copies(folder)
        folders = parent_folders(repo.root, list(planned))
        journal = Journal(digest, "applying", is_set(repo, "core.fileMode"), moves, folders)
        # A file may have been saved between the comparison and its copy.
        problems = check_before(repo, vault, changes) or check_sides(repo.root, journal)
        if problems:
            raise Refused.of(problems)
        save_journal(folder, journal)
    except OSError as error:
        text = f"{error.strerror}; nothing was changed"
        raise Refused("refused", str(error.filename or folder), text, retry=_FINISH) from error
    return journal


def _stage_after(repo: Repository, vault: Vault, changes: Sequence[Change], staged: str) -> None:
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
        git.run("read-tree", "HEAD")
        lines = index_lines(after, repo.zero)
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=lines)
        names = "".join(f"{path}\0" for path, entry in after.items() if entry).encode()
        git.run("checkout-index", "-z", "--stdin", f"--prefix={staged}/", stdin=names)
    problems = compare_at(repo, vault, after, staged)
    if problems:
        raise Refused.of(problems)


def _store_moves(
    repo: Repository, planned: dict[str, Ends], folder: str, staged: str
) -> tuple[Move, ...]:
    moves: list[Move] = []
    for number, (path, end) in enumerate(planned.items()):
        name = f"{number:03d}"
        place = os.path.join(repo.root, path)
        before = store(folder, f"before/{name}", place) if end.before else None
        after: Stored | None = None
        if end.after:
            bits = _bits(before, end, os.path.join(staged, path))
            after = store(folder, f"after/{name}", os.path.join(staged, path), bits)
        moves.append(Move(path, before, after))
    return tuple(moves)


def _bits(before: Stored | None, end: Ends, staged: str) -> int:
    """Return the permission bits after: the user's own, with the x bit as the plan has it."""
    fresh = stat.S_IMODE(os.lstat(staged).st_mode)
    if before is None or before.raw.kind == "link" or end.before is None or end.after is None:
        return fresh
    if end.before.mode == end.after.mode:
        return before.bits
    executable = end.after.mode == "100755"
    return before.bits | (before.bits & 0o444) >> 2 if executable else before.bits & ~0o111


def undo(repo: Repository, folder: str) -> tuple[str, ...]:
    """Give the user's tree back the bytes from before the apply; return the files.

    Also ends an apply or an undo that was interrupted. Refused, with nothing changed, where a
    file differs from what the apply left.
    """
    journal = load_journal(folder)
    if journal is None:
        raise Refused("not_found", folder, "nothing was applied, so there is nothing to take back")
    files = tuple(move.path for move in journal.moves)
    if journal.state == "undone":
        return files
    problems = check_copies(folder, journal, "before") + check_sides(repo.root, journal)
    if problems:
        raise Refused.of(problems)
    save_journal(folder, journal._replace(state="undoing"))
    try:
        play(repo.root, folder, journal, "before")
    except (OSError, Raced) as error:
        text = f"{error}; some files may be taken back and others not"
        raise Refused("refused", folder, text, "mend the cause, then again", _TAKE_BACK) from error
    _note(folder, journal._replace(state="undone"), _TAKE_BACK)
    return files
