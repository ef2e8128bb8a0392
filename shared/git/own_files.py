"""List the user's configuration and hooks in the git folder, with hashes of their content."""

from __future__ import annotations

import contextlib
import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING

from shared.git.repository import PLANNER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.repository import Repository

_OUR_LINE = f"/{PLANNER}/\n".encode()
# What git-lfs adds to a configuration without it, at its first use in a repository.
_LFS_LINES = b"[lfs]\n\trepositoryformatversion = 0\n"
_OWN_FILES = ("config", "info/attributes", "info/exclude")


def own_files(repo: Repository) -> Iterator[bytes]:
    """Yield a fingerprint row `own IDENTITY<tab>PATH` for each git configuration file and hook."""
    folders = {".git/hooks": os.path.join(repo.common_dir, "hooks")}
    chosen = b""
    if "core.hookspath" in repo.git.settings():
        chosen = repo.git.as_set_up().attempt("config", "--path", "core.hooksPath").stdout
    if chosen.strip():
        named = os.fsdecode(chosen.removesuffix(b"\n"))
        folders[named] = os.path.join(repo.root, named)
    paths = {f".git/{name}": os.path.join(repo.common_dir, name) for name in _OWN_FILES}
    paths[".git/config.worktree"] = os.path.join(repo.git_dir, "config.worktree")
    for shown, folder in folders.items():
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            names = [name for name in os.listdir(folder) if not name.endswith(".sample")]
            paths |= {f"{shown}/{name}": os.path.join(folder, name) for name in names}
    for shown, path in paths.items():
        what = _bit_and_hash(path)
        if what:
            yield b"own " + what + b"\t" + os.fsencode(shown)


def _bit_and_hash(path: str) -> bytes:
    """Return a file's executable bit and content hash, links followed; empty without a file.

    Two things do not count, since a run may add them at any time: the line that makes git ignore
    our own folder, and that git-lfs was used.
    """
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            return b""
        with open(path, "rb") as file:
            content = file.read().replace(_OUR_LINE, b"").replace(_LFS_LINES, b"").rstrip(b"\n")
    except FileNotFoundError:
        return b""
    except OSError as error:
        return os.fsencode(error.strerror or "unreadable")
    if not content and not mode & 0o100:
        return b""
    return (b"x " if mode & 0o100 else b"- ") + sha256(content).hexdigest().encode()
