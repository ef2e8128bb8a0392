"""Record the user's files, git index, git settings and hooks, to find out later what changed.

A file is identified by the blob that git would store, with no filter run. A private copy of the
user's index remembers sizes and times, so that only files with another size or time are read; the
user's index and objects are only read. Submodules count; untracked repositories inside do not.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK
from shared.git.files import refusing
from shared.git.filters import drivers
from shared.git.own_files import own_files
from shared.git.repository import PLANNER, find_repository
from shared.git.scratch import scratch, sweep
from shared.git.stage import covered, scan, stage_names
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from shared.git.command import Git
    from shared.git.repository import Repository

# The last is written by Claude Code itself, at times of its own.
ASIDE = (PLANNER, "planning", ".claude/scheduled_tasks.lock")

# Whatever the user has set: a file with its old times put back still has a new ctime.
_STRICT = ("core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false")


_ROWS = re.compile(rb"(?:(?:head|[^ \t\0]* [^\t\0]*)\t[^\0]*\0)+")


class Difference(NamedTuple):
    """A path that has changed since the fingerprint; `.git/…` is a path in the git folder.

    Bytes of the path that are not UTF-8 are surrogates. `of_tree` is true if the file itself
    differs, not only what is staged of it or a setting of git.
    """

    path: str
    how: str
    of_tree: bool


@refusing()
def take(repo: Repository, folder: str, aside: Collection[str] = ()) -> None:
    """Write a fingerprint of the repository's files into `folder`, replacing an older one.

    `aside` are paths of the tree that never count, besides those of ASIDE.
    """
    os.makedirs(folder, exist_ok=True)
    sweep(folder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, "index"))
    _save(folder, _look(repo, folder, aside))


@refusing()
def compare(repo: Repository, folder: str, aside: Collection[str] = ()) -> list[Difference]:
    """Return the paths that have changed since the fingerprint in `folder` was taken."""
    found = _differences(_load(folder), _look(repo, folder, aside))
    left = _left(aside)
    return [one for one in found if not covered(os.fsencode(one.path), left)]


@refusing()
def absorb(
    repo: Repository, folder: str, paths: Iterable[str], aside: Collection[str] = ()
) -> None:
    """Update the fingerprint in `folder` for the given paths only, to their present content."""
    written = {os.fsencode(path) for path in paths}
    then, now = _load(folder), _look(repo, folder, aside)
    kept = {row for row in then if _name(row) not in written}
    _save(folder, kept | {row for row in now if _name(row) in written})


def is_taken(folder: str) -> bool:
    """Return whether a fingerprint that can be read is stored in `folder`."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "rows"), "rb") as file:
        return _ROWS.fullmatch(file.read() + b"\0") is not None
    return False


def head_then(folder: str) -> str:
    """Return the commit at HEAD when the fingerprint was taken; empty if there was no commit."""
    return next((_name(r).decode() for r in _load(folder) if r.startswith(b"head\t")), "")


# A row is `KIND IDENTITY<tab>PATH`; a set of rows is the fingerprint.


def _save(folder: str, rows: Iterable[bytes]) -> None:
    write_atomic(os.path.join(folder, "rows"), b"\0".join(sorted(rows)))


def _load(folder: str) -> set[bytes]:
    with open(os.path.join(folder, "rows"), "rb") as file:
        return set(file.read().split(b"\0"))


def _name(row: bytes) -> bytes:
    return row.split(b"\t", 1)[1]


def _look(repo: Repository, folder: str, aside: Collection[str]) -> set[bytes]:
    """Return the repository's present state as the rows of a fingerprint."""
    done = repo.git.attempt("rev-parse", "--verify", "-q", "HEAD^{commit}")
    staged = repo.git.names("ls-files", "-v", "-s", "-z")
    rows = {b"head\t" + done.stdout.strip(), *own_files(repo)}
    rows |= {b"staged " + row for row in staged}
    rows |= {b"file " + row for row in _files(repo, folder, staged, _left(aside))}
    for name in {_name(row) for row in staged if f" {GITLINK} ".encode() in row}:
        rows |= _look_inside(repo, folder, name)
    return rows


def _left(aside: Iterable[str]) -> list[bytes]:
    return [os.fsencode(path) for path in (*ASIDE, *aside)]


def _look_inside(repo: Repository, folder: str, name: bytes) -> set[bytes]:
    """Return fingerprint rows for a submodule, with paths from the outer repository's root."""
    path = os.path.join(repo.root, os.fsdecode(name))
    if not os.path.lexists(os.path.join(path, ".git")):
        return set()
    inside = find_repository(path)
    # If this `.git` is not a repository, git goes on searching and finds the outer one.
    if os.path.realpath(inside.root) != os.path.realpath(path):
        return set()
    inner = os.path.join(folder, f"inside-{sha256(name).hexdigest()[:16]}")
    os.makedirs(inner, exist_ok=True)
    found = _look(inside, inner, ())
    return {
        row.replace(b"\t", b"\t" + name + b"/", 1) for row in found if not row.startswith(b"head\t")
    }


# files of the tree


def _files(
    repo: Repository, folder: str, staged: Iterable[bytes], left: Sequence[bytes]
) -> list[bytes]:
    """Return `MODE BLOB STAGE<tab>PATH` for every file of the tree that git does not ignore.

    What cannot be read, and what is neither file nor link, is named by its size and times.
    """
    known = os.path.join(folder, "index")
    with scratch(folder) as lent:
        index = os.path.join(lent, "index")
        git = _unfiltered(repo, index)
        if not (_copied(known, index) and git.ok("ls-files", "--", ":(literal).git")):
            _copied(os.path.join(repo.git_dir, "index"), index)
            _distrust(git, list(staged))
        names = scan(git)
        found = {n for n in names.changed | names.untracked if not covered(n, left)}
        gone = found & names.gone
        odd = {n: _odd(repo.root, n) for n in found - gone if not n.endswith(b"/")}
        stage_names(git, gone, {n for n, what in odd.items() if not what}, "--info-only")
        rows = git.names("ls-files", "-s", "-z")
        # Git makes no index while there is nothing to put into one.
        if os.path.exists(index):
            os.replace(index, known)
    odd = {name: what for name, what in odd.items() if what}
    shown = [row for row in rows if _name(row) not in odd] if odd else rows
    return shown + [what + b"\t" + name for name, what in odd.items()]


def _copied(source: str, target: str) -> bool:
    """Copy a git index with its file time, on which git relies; return whether it existed."""
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        return False
    return True


def _unfiltered(repo: Repository, index: str) -> Git:
    """Return a Git on a private index, with every configured content filter switched off."""
    settings = [*_STRICT]
    names = {key.removeprefix("filter.").rpartition(".")[0] for key in drivers(repo.git)}
    for driver in sorted(names):
        off = ("clean=", "smudge=", "process=", "required=false")
        settings += [f"filter.{driver}.{setting}" for setting in off]
    return repo.git.having(*settings).on_index(index)


def _distrust(git: Git, staged: list[bytes]) -> None:
    """Make git reread the files that a fresh copy of the user's index would let git skip.

    These are files marked as not to be checked, and files that a filter changes: their blobs are
    not the bytes on disk.
    """
    tags = {_name(row): row[:1] for row in staged}
    for mark, marked in (("assume-unchanged", b"hsmrck"), ("skip-worktree", b"Ss")):
        names = [name for name, tag in tags.items() if tag in marked]
        if names:
            stdin = b"".join(name + b"\0" for name in names)
            git.run("update-index", f"--no-{mark}", "-z", "--stdin", stdin=stdin)
    filtered = _filtered(git, tags)
    lines = [row[2:] + b"\0" for row in staged if _name(row) in filtered]
    if lines:
        git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))


def _filtered(git: Git, names: Iterable[bytes]) -> set[bytes]:
    """Return the paths for which a git attribute sets a content filter, such as Git LFS."""
    if git.config is None or not any(s.startswith("filter.") for s in git.config):
        return set()
    stdin = b"".join(name + b"\0" for name in names)
    parts = git.names("check-attr", "-z", "--stdin", "filter", stdin=stdin)
    values = zip(parts[0::3], parts[2::3], strict=True)
    return {name for name, value in values if value not in {b"unspecified", b"unset", b"set"}}


def _odd(root: str, name: bytes) -> bytes:
    """Return mode, size and times of a file that git cannot hash; empty for any other file."""
    path = os.path.join(os.fsencode(root), name)
    try:
        found = os.lstat(path)
    except OSError:
        return b""
    mode = found.st_mode
    plain = stat.S_ISLNK(mode) or stat.S_ISDIR(mode)
    if plain or (stat.S_ISREG(mode) and os.access(path, os.R_OK)):
        return b""
    return f"{mode:o} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}".encode()


# differences


def _differences(then: set[bytes], now: set[bytes]) -> list[Difference]:
    was, is_now = _kinds(then - now), _kinds(now - then)
    return [
        _difference(name, was.get(name, set()), is_now.get(name, set()))
        for name in sorted({*was, *is_now})
    ]


def _kinds(rows: set[bytes]) -> dict[bytes, set[str]]:
    """Return the kinds of a fingerprint's rows for each path, without HEAD's row: HEAD may move."""
    found: dict[bytes, set[str]] = {}
    for row in rows:
        kind = row[: row.index(b" ")].decode() if not row.startswith(b"head\t") else ""
        if kind:
            found.setdefault(_name(row), set()).add(kind)
    return found


def _difference(name: bytes, was: set[str], is_now: set[str]) -> Difference:
    files = {"file", "own"}
    old, new = not files.isdisjoint(was), not files.isdisjoint(is_now)
    words = {(True, True): "changed", (True, False): "gone", (False, True): "new"}
    how = [words[old, new]] if (old, new) in words else []
    if "staged" in was | is_now:
        how.append("staged")
    return Difference(os.fsdecode(name), ", ".join(how), "file" in was | is_now)
