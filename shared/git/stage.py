"""Stage, by name, exactly those files of a working tree that differ from git's index."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.command import Git


# Running Python leaves these files; they never count as work.
BY_PRODUCTS = ("--exclude=__pycache__/",)

# In `ls-files -v`: an entry that is marked so that git does not look at its file.
_HIDING = re.compile(rb"\0(?:S|[a-z]) ")


class Scan(NamedTuple):
    """Paths that differ from git's index; `gone` is part of `changed`; `x/` is a repository."""

    changed: set[bytes]
    gone: set[bytes]
    untracked: set[bytes]


def scan(git: Git) -> Scan:
    """Return the paths, as raw bytes, that differ between the working tree and git's index.

    Submodules, ignored files and compiled Python are not among them. Some of `changed` may be
    equal after all.
    """
    rows = git.names("diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all")
    status = dict(zip(rows[1::2], rows[0::2], strict=True))
    gone = {name for name, letter in status.items() if letter == b"D"}
    others = git.names("ls-files", "-z", "--others", "--exclude-standard", *BY_PRODUCTS)
    return Scan(set(status), gone, set(others))


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


def undo_gitlinks(git: Git, tree: str, zero: str) -> None:
    """Reset every submodule entry in git's index to the entry in the git tree `tree`."""
    rows = git.names("diff-index", "--cached", "-z", "--raw", "--no-renames", tree)
    lines: list[bytes] = []
    for meta, name in zip(rows[0::2], rows[1::2], strict=True):
        old_mode, mode, old = meta.lstrip(b":").split(b" ")[:3]
        if GITLINK.encode() in {old_mode, mode}:
            entry = b"0 " + zero.encode() if old_mode == b"000000" else old_mode + b" " + old
            lines.append(entry + b"\t" + name + b"\0")
    if lines:
        git.run("update-index", "--replace", "-z", "--index-info", stdin=b"".join(lines))


def stage_all(git: Git, index: str, tree: str, leave_out: Iterable[bytes]) -> Scan:
    """Set git's index to `tree` plus the working tree's differences from it; return the latter.

    It always starts from `tree`, so what was staged before does not count; only x bits that the
    file system can't hold are taken from the index. The names are staged
    except nested repositories and those at or below `leave_out`.
    """
    without_bits = git.attempt("config", "--type=bool", "core.fileMode").stdout == b"false\n"
    bits = _modes(git) if without_bits else {}
    if _HIDING.search(b"\0" + git.run("ls-files", "-v", "-z")):
        # assume-unchanged and skip-worktree would hide edits; a new index has no such marks.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(index)
    git.run("read-tree", "--reset", tree)
    left = tuple(leave_out)
    names = scan(git)
    changed = {name for name in names.changed if not covered(name, left)}
    untracked = {name for name in names.untracked if not covered(name, left)}
    plain = {name for name in untracked if not name.endswith(b"/")}
    stage_names(git, changed & names.gone, (changed - names.gone) | plain)
    if without_bits:
        _take_bits(git, bits)
    return Scan(changed, changed & names.gone, untracked)


def covered(name: bytes, folders: Iterable[bytes]) -> bool:
    """Return whether the path `name` is one of `folders` or lies inside one of them."""
    name = name.rstrip(b"/")
    return any(name == folder or name.startswith(folder + b"/") for folder in folders)


def _modes(git: Git) -> dict[bytes, bytes]:
    """Return the mode of every file in git's index."""
    rows = (row.split(b"\t", 1) for row in git.names("ls-files", "-s", "-z"))
    return {name: meta.split(b" ")[0] for meta, name in rows}


def _take_bits(git: Git, modes: dict[bytes, bytes]) -> None:
    for mode, sign in ((b"100755", "+x"), (b"100644", "-x")):
        now = _modes(git)
        files = {b"100644", b"100755"}
        names = [n for n, m in now.items() if m in files and m != mode and modes.get(n) == mode]
        if names:
            stdin = b"".join(name + b"\0" for name in names)
            git.run("update-index", f"--chmod={sign}", "-z", "--stdin", stdin=stdin)
