"""Record the user's files, git index, git settings and hooks, to find out later what changed.

A file is identified by the blob that git would store, with no filter run; a large one that git does
not track by its size and times, since it may be data that takes long to read. A private copy of the
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

from shared.clients import known
from shared.git.change import GITLINK
from shared.git.files import refusing
from shared.git.filters import switched_off
from shared.git.own_files import own_files
from shared.git.repository import PLANNER, find_repository
from shared.git.scratch import scratch, sweep
from shared.git.stage import Scan, covered, scan, stage_names
from shared.paths import real_path
from state.errors import Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from shared.git.command import Git
    from shared.git.repository import Repository

# Our own, and what clients write by themselves.
ASIDE = (PLANNER, "planning", *known.OWN_FILES)

# Whatever the user has set: a file with its old times put back still has a new ctime.
_STRICT = ("core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false")


# Beyond this size an untracked file is not read.
MOST_READ_BYTES = 64 << 10

_ROWS = re.compile(rb"(?:(?:head|[^ \t\0]* [^\t\0]*)\t[^\0]*\0)+")


class Difference(NamedTuple):
    """A path that has changed since the fingerprint."""

    # `.git/…` is a path in the git folder. Bytes that are not UTF-8 are surrogates.
    path: str
    how: str
    # Whether the file itself differs, not only what is staged of it or a setting of git.
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
    head = repo.git.attempt("rev-parse", "--verify", "-q", "HEAD^{commit}").stdout.strip()
    now = _look(repo, folder, aside)
    _save(folder, now.rows() | {_HEAD + head}, now.seal)


@refusing()
def compare(repo: Repository, folder: str, aside: Collection[str] = ()) -> list[Difference] | None:
    """Return the paths that have changed since the fingerprint in `folder` was taken.

    None if there is no fingerprint that can be read.
    """
    sealed = _sealed(folder)
    if sealed is None:
        return None
    now = _look(repo, folder, aside)
    if sealed == now.seal:
        return []
    if not is_taken(folder):
        return None
    found = _differences(_load(folder), now.rows())
    left = _left(aside)
    return [one for one in found if not covered(os.fsencode(one.path), left)]


@refusing()
def absorb(
    repo: Repository, folder: str, paths: Iterable[str], aside: Collection[str] = ()
) -> None:
    """Update the fingerprint in `folder` for the given paths only, to their present content."""
    written = {os.fsencode(path) for path in paths}
    then, seen = _load(folder), _look(repo, folder, aside)
    now = seen.rows()
    kept = {row for row in then if _name(row) not in written}
    rows = kept | {row for row in now if _name(row) in written}
    same = {row for row in rows if not row.startswith(_HEAD)} == now
    _save(folder, rows, seen.seal if same else b"")


def is_taken(folder: str) -> bool:
    """Return whether a fingerprint that can be read is stored in `folder`."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "rows"), "rb") as file:
        return _ROWS.fullmatch(file.read() + b"\0") is not None
    return False


def head_then(folder: str) -> str:
    """Return the commit at HEAD when the fingerprint was taken; empty if there was no commit."""
    return next((_name(r).decode() for r in _load(folder) if r.startswith(_HEAD)), "")


# A row is `KIND IDENTITY<tab>PATH`; a set of rows is the fingerprint. The first row stored is its
# seal, by which an unchanged repository is known without comparing rows; another is HEAD's, which
# may move.
_HEAD = b"head\t"
_SEAL = b"seal "
_SEAL_BYTES = len(_SEAL) + 2 * sha256().digest_size


class _Seen(NamedTuple):
    """A repository's state: a few rows, and two lists of all files as git prints them."""

    few: set[bytes]
    staged: bytes
    files: bytes

    def rows(self) -> set[bytes]:
        """Return all rows, which takes long for many files."""
        lists = ((b"staged ", self.staged), (b"file ", self.files))
        return self.few | {kind + row for kind, text in lists for row in _split(text)}

    @property
    def seal(self) -> bytes:
        """What tells this state from any other."""
        digest = sha256()
        for text in (b"\0".join(sorted(self.few)), self.staged, self.files):
            digest.update(sha256(text).digest())
        return digest.hexdigest().encode()


def _save(folder: str, rows: Iterable[bytes], seal: bytes) -> None:
    first = [_SEAL + seal + b"\t"] if seal else []
    write_atomic(os.path.join(folder, "rows"), b"\0".join([*first, *sorted(rows)]))


def _sealed(folder: str) -> bytes | None:
    """Return the seal of the stored fingerprint, empty where it has none; None without one."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "rows"), "rb") as file:
        first = file.read(_SEAL_BYTES)
        return first.removeprefix(_SEAL) if first.startswith(_SEAL) else b""
    return None


def _load(folder: str) -> set[bytes]:
    with open(os.path.join(folder, "rows"), "rb") as file:
        return {row for row in file.read().split(b"\0") if not row.startswith(_SEAL)}


def _split(text: bytes) -> list[bytes]:
    return text.split(b"\0")[:-1]


def _name(row: bytes) -> bytes:
    return row.split(b"\t", 1)[1]


def _look(repo: Repository, folder: str, aside: Collection[str]) -> _Seen:
    """Return the repository's present state, for a fingerprint."""
    staged = repo.git.run("ls-files", "-v", "-s", "-z")
    few = {*own_files(repo)}
    link = f" {GITLINK} ".encode()
    for name in {_name(row) for row in _split(staged) if link in row} if link in staged else ():
        few |= _look_inside(repo, folder, name)
    return _Seen(few, staged, _files(repo, folder, staged, _left(aside)))


def _left(aside: Iterable[str]) -> list[bytes]:
    return [os.fsencode(path) for path in (*ASIDE, *aside)]


def _look_inside(repo: Repository, folder: str, name: bytes) -> set[bytes]:
    """Return fingerprint rows for a submodule, with paths from the outer repository's root."""
    path = os.path.join(repo.root, os.fsdecode(name))
    if not os.path.lexists(os.path.join(path, ".git")):
        return set()
    inside = find_repository(path)
    # If this `.git` is not a repository, git goes on searching and finds the outer one.
    if real_path(inside.root) != real_path(path):
        return set()
    inner = os.path.join(folder, f"inside-{sha256(name).hexdigest()[:16]}")
    os.makedirs(inner, exist_ok=True)
    found = _look(inside, inner, ()).rows()
    return {row.replace(b"\t", b"\t" + name + b"/", 1) for row in found}


# files of the tree


def _files(repo: Repository, folder: str, staged: bytes, left: Sequence[bytes]) -> bytes:
    """Return `MODE BLOB STAGE<tab>PATH<nul>` for every file of the tree that git does not ignore.

    What cannot be read, large untracked files, and what is neither file nor link are named by their
    size and times.
    """
    known = os.path.join(folder, "index")
    with scratch(folder) as lent:
        index = os.path.join(lent, "index")
        git = _unfiltered(repo, index)
        names = _scan_of(git, index) if _copied(known, index) else None
        if names is None:
            _copied(os.path.join(repo.git_dir, "index"), index)
            _distrust(git, _split(staged))
            names = scan(git)
        found = {n for n in names.changed | names.untracked if not covered(n, left)}
        gone = found & names.gone
        odd = {
            name: _odd(repo.root, name, names.untracked)
            for name in found - gone
            if not name.endswith(b"/")
        }
        present = {name for name, what in odd.items() if not what}
        if gone or present:
            stage_names(git, gone, present, "--info-only")
            listed = git.run("ls-files", "-s", "-z")
        else:
            listed = b"".join(row[2:] + b"\0" for row in names.listed)
        # Git makes no index while there is nothing to put into one.
        if os.path.exists(index):
            os.replace(index, known)
    odd = {name: what for name, what in sorted(odd.items()) if what}
    if not odd:
        return listed
    shown = [row for row in _split(listed) if _name(row) not in odd]
    shown += [what + b"\t" + name for name, what in odd.items()]
    return b"".join(row + b"\0" for row in shown)


def _scan_of(git: Git, index: str) -> Scan | None:
    """Return how the files differ from our copy of the index; None, without it, if it is broken."""
    try:
        return scan(git)
    except Refused:
        os.unlink(index)
        return None


def _copied(source: str, target: str) -> bool:
    """Copy a git index with its file time, on which git relies; return whether it existed."""
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        return False
    return True


def _unfiltered(repo: Repository, index: str) -> Git:
    """Return a Git on a private index, with every configured content filter switched off."""
    return repo.git.having(*_STRICT, *switched_off(repo.git)).on_index(index)


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


def _odd(root: str, name: bytes, untracked: Collection[bytes]) -> bytes:
    """Return mode, size and times of a file that git cannot hash, or need not; empty for others."""
    path = os.path.join(os.fsencode(root), name)
    try:
        found = os.lstat(path)
    except OSError:
        return b""
    mode = found.st_mode
    plain = stat.S_ISLNK(mode) or stat.S_ISDIR(mode)
    is_large = found.st_size > MOST_READ_BYTES and name in untracked
    if plain or (stat.S_ISREG(mode) and not is_large and os.access(path, os.R_OK)):
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
    """Return the kinds of a fingerprint's rows for each path, without HEAD's row."""
    found: dict[bytes, set[str]] = {}
    for row in rows:
        if not row.startswith(_HEAD):
            found.setdefault(_name(row), set()).add(row[: row.index(b" ")].decode())
    return found


def _difference(name: bytes, was: set[str], is_now: set[str]) -> Difference:
    files = {"file", "own"}
    old, new = not files.isdisjoint(was), not files.isdisjoint(is_now)
    words = {(True, True): "changed", (True, False): "gone", (False, True): "new"}
    how = [words[old, new]] if (old, new) in words else []
    if "staged" in was | is_now:
        how.append("staged")
    return Difference(os.fsdecode(name), ", ".join(how), "file" in was | is_now)
