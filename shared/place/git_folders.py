"""Finds the git folders of a working tree that lie outside of it, without starting git."""

from __future__ import annotations

import os

from shared.paths import followed

_LONGEST = 1 << 16
_TREES = 50


def git_folder(repository: str) -> str:
    """Return the git folder of a working tree: its `.git`, or where that leads to."""
    own = os.path.join(repository, ".git")
    named = _first_line(own)
    if not named.startswith("gitdir: "):
        return followed(own) if os.path.islink(own) else own
    return followed(os.path.join(repository, named.removeprefix("gitdir: ")))


def git_folders(repository: str) -> list[str]:
    """Return the git folders that a linked worktree's or a submodule's `.git` leads to."""
    own = git_folder(repository)
    if own == os.path.join(repository, ".git"):
        return []
    if not os.path.isfile(os.path.join(own, "HEAD")):
        return []
    shared = _first_line(os.path.join(own, "commondir"))
    common = followed(os.path.join(own, shared)) if shared else own
    # The worktree's own folder usually lies inside the common one.
    return [common] if own.startswith(f"{common}/") else sorted({own, common})


def working_trees(git_folder: str) -> list[str]:
    """Return the other working trees that a git folder knows, the first fifty by name."""
    folder = os.path.join(git_folder, "worktrees")
    try:
        names = sorted(os.listdir(folder))[:_TREES]
    except OSError:
        return []
    found = (_first_line(os.path.join(folder, name, "gitdir")) for name in names)
    return [os.path.dirname(path) for path in found if os.path.isabs(path)]


def borrowed(git_folder: str) -> list[str]:
    """Return the folders of objects that a git folder borrows from other repositories."""
    objects = os.path.join(git_folder, "objects")
    lines = _text(os.path.join(objects, "info", "alternates")).splitlines()
    named = (os.path.join(objects, line) for line in lines if line and not line.startswith("#"))
    return list(filter(os.path.isdir, map(followed, named)))


def _first_line(path: str) -> str:
    return _text(path).partition("\n")[0].rstrip("\r")


def _text(path: str) -> str:
    try:
        # Not waiting at a pipe: a command may have put one there.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as f:
            return os.fsdecode(f.read(_LONGEST) or b"")
    except OSError:
        return ""
