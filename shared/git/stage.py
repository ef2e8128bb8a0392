"""Stage, by name, exactly those files of a working tree that differ from git's index."""

from __future__ import annotations

import contextlib
import itertools
import os
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK, Entry
from shared.git.copies import copied
from shared.git.environments import without_environments
from shared.git.few_paths import folders_of, replace_at
from shared.git.filters import switched_off

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.git.command import Git


# Running Python leaves these folders; they never count as work.
_BY_PRODUCTS = ("__pycache__",)


class Scan(NamedTuple):
    """Paths that differ from git's index; `x/` is a repository."""

    changed: set[bytes]
    # Part of `changed`.
    gone: set[bytes]
    untracked: set[bytes]
    # What the index holds, as `git ls-files -v -s -z` prints it.
    listed: list[bytes]

    @property
    def unwatched(self) -> set[bytes]:
        """The paths marked, by assume-unchanged or skip-worktree, so that git looks at no file."""
        letters = {row[0] for row in self.listed}
        marks = {letter for letter in letters if letter == ord("S") or chr(letter).islower()}
        # Nearly always none: then the many rows are looked at once.
        return (
            {row.split(b"\t", 1)[1] for row in self.listed if row[0] in marks} if marks else set()
        )


def scan(git: Git) -> Scan:
    """Return the paths, as raw bytes, that differ between the working tree and git's index.

    Submodules, ignored files, compiled Python and untracked virtual environments are not among
    them. Some of `changed` may be equal after all.
    """
    left_out = [f"--exclude={name}/" for name in _BY_PRODUCTS]
    shape = ("-z", "--name-status", "--no-renames", "--ignore-submodules=all")
    # Both walk the whole tree, so they run at the same time.
    words = ("ls-files", "-v", "-s", "-c", "-o", "-z", "--exclude-standard", *left_out)
    with git.names_beside(*words) as listed:
        rows, index = git.names("diff-files", *shape), listed()
    others = [*itertools.takewhile(lambda row: row.startswith(b"? "), index)]
    untracked = without_environments(git.root or "", {row[2:] for row in others})
    status = dict(zip(rows[1::2], rows[0::2], strict=True))
    gone = {name for name, letter in status.items() if letter == b"D"}
    return Scan(set(status), gone, untracked, index[len(others) :])


def stage_names(git: Git, gone: Iterable[bytes], present: Iterable[bytes], *options: str) -> None:
    """Remove the paths `gone` from git's index, and add `present` from the working tree.

    `options` go to `update-index`; with `--info-only` no object is written.
    """
    gone, present = sorted(gone), sorted(present)
    if gone:
        names = b"".join(name + b"\0" for name in gone)
        git.run("update-index", "--force-remove", "-z", "--stdin", stdin=names)
    if present:
        names = b"".join(name + b"\0" for name in present)
        words = ("--add", "--remove", "--replace", *options, "-z", "--stdin")
        git.run("update-index", *words, stdin=names)


def refresh_names(git: Git, names: Iterable[bytes]) -> None:
    """Have git's index learn sizes and times of these files alone: a refresh looks at every one."""
    words = ("add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
    lines = b"".join(name + b"\0" for name in names)
    git.having(GIT_LITERAL_PATHSPECS="1").ok(*words, stdin=lines)


class _Row(NamedTuple):
    """What `git diff-index --raw` says of a path: modes and blobs, and a letter."""

    old_mode: bytes
    mode: bytes
    old: bytes
    new: bytes
    status: bytes


# How git's index differs from a tree, by path.
_Rows = list[tuple[_Row, bytes]]


def staged_tree(git: Git, tree: str, zero: str, rows: _Rows | None = None) -> str:
    """Return the tree of git's index, which differs from the git tree `tree` in few paths.

    An entry of a submodule is first reset to that of `tree`. `rows` are the differences, if known.
    """
    entries: dict[str, Entry | None] = {}
    links: list[bytes] = []
    for row, name in _staged(git, tree) if rows is None else rows:
        if GITLINK.encode() in {row.old_mode, row.mode}:
            is_new = row.status == b"A"
            entry = b"0 " + zero.encode() if is_new else row.old_mode + b" " + row.old
            links.append(entry + b"\t" + name + b"\0")
        else:
            gone = row.status == b"D"
            entries[os.fsdecode(name)] = (
                None if gone else Entry(row.mode.decode(), row.new.decode())
            )
    if links:
        git.run("update-index", "--replace", "-z", "--index-info", stdin=b"".join(links))
    return replace_at(git, tree, entries) if entries else tree


def _staged(git: Git, tree: str) -> _Rows:
    words = ("diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames")
    rows = git.names(*words, "--ignore-submodules=none", tree)
    parts = (row.removeprefix(b":").split(b" ") for row in rows[0::2])
    return [(_Row(*part), name) for part, name in zip(parts, rows[1::2], strict=True)]


def stage_all(
    git: Git, index: str, tree: str, zero: str, leave_out: Iterable[bytes]
) -> tuple[Scan, str]:
    """Set git's index to `tree` plus the working tree's differences from it; return both.

    It always starts from `tree`, so what was staged before does not count; only x bits that the
    file system can't hold are taken from the index. The names are staged
    except nested repositories and those at or below `leave_out`. The tree is that of the index.
    """
    without_bits = not git.is_on("core.fileMode", default=True)
    bits = _entries(git) if without_bits else {}
    left = tuple(leave_out)
    names = scan(git)
    rows = _start_from(git, index, tree, left, names, anew=without_bits)
    names = scan(git) if rows is None else names
    changed = {name for name in names.changed if not covered(name, left)}
    untracked = {name for name in names.untracked if not covered(name, left)}
    plain = {name for name in untracked if not name.endswith(b"/")}
    present = (changed - names.gone) | plain
    with copied(git, present) as lent:
        stage_names(lent, changed & names.gone, present)
    if without_bits:
        _take_bits(git, bits)
    if present:
        # Git learns the times of the files whose copies it has read: those it need not read again.
        refresh_names(git.having(*switched_off(git)), present)
    found = Scan(changed, changed & names.gone, untracked, names.listed)
    return found, staged_tree(git, tree, zero, None if changed or plain else rows)


def _start_from(
    git: Git, index: str, tree: str, left: tuple[bytes, ...], names: Scan, *, anew: bool
) -> _Rows | None:
    """Set git's index to `tree`, or leave it where a scan makes of it the same as of `tree`.

    To write a large index takes long, and a large file staged before would be read again. Returns
    how an index that was left differs from `tree`.
    """
    if names.unwatched:
        # Edits would be hidden; a new index has no such marks.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(index)
    elif not anew and _may_stay(git, rows := _staged(git, tree), left):
        return rows
    git.run("read-tree", "--reset", tree)
    return None


def _may_stay(git: Git, rows: Sequence[tuple[_Row, bytes]], left: Sequence[bytes]) -> bool:
    """Return whether files are staged only as a scan would have them staged, or looks at them."""
    added = [os.fsdecode(name) for row, name in rows if row.status == b"A"]
    is_plain = all(
        row.mode.decode() not in {GITLINK, "000000"} and row.old_mode in {row.mode, b"000000"}
        if row.status in {b"A", b"M"}
        else row.status == b"D" and not _is_there(git, os.fsdecode(name))
        for row, name in rows
    )
    if not is_plain or any(covered(name, left) or not is_utf8(name) for _, name in rows):
        return False
    if not added:
        return True
    above = {*folders_of(added)}
    if any(posixpath.basename(folder) in _BY_PRODUCTS for folder in above):
        return False
    # What git ignores is not captured, and what lies in another repository is refused.
    names = b"".join(os.fsencode(name) + b"\0" for name in added)
    ignored = git.attempt("check-ignore", "--no-index", "-z", "--stdin", stdin=names).stdout
    return not ignored and not any(_is_there(git, f"{folder}/.git") for folder in above)


def is_utf8(name: bytes) -> bool:
    """Return whether a file's name is UTF-8, as a plan needs it."""
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_there(git: Git, path: str) -> bool:
    return os.path.lexists(os.path.join(git.root or "", path))


def covered(name: bytes, folders: Iterable[bytes]) -> bool:
    """Return whether the path `name` is one of `folders` or lies inside one of them."""
    name = name.rstrip(b"/")
    return any(name == folder or name.startswith(folder + b"/") for folder in folders)


def _entries(git: Git) -> dict[bytes, tuple[bytes, bytes]]:
    """Return mode and blob of every file in git's index."""
    rows = (row.split(b"\t", 1) for row in git.names("ls-files", "-s", "-z"))
    return {name: (meta[:6], meta.split(b" ")[1]) for meta, name in rows}


def _take_bits(git: Git, before: dict[bytes, tuple[bytes, bytes]]) -> None:
    """Give the files in git's index the x bits that they had in it before."""
    files, lines = {b"100644", b"100755"}, []
    for name, (mode, blob) in _entries(git).items():
        old = before.get(name, (b"",))[0]
        if mode in files and old in files and old != mode:
            lines.append(old + b" " + blob + b"\t" + name + b"\0")
    if lines:
        git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
