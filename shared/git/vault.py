"""The planner's own bare repository, which borrows the user's objects but no settings of theirs.

All patches are made and applied here, so no setting, attribute or filter alters a byte of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.git.command import DURABLE, OWN_INDEX, Git
from shared.git.files import refusing
from shared.git.record import read_text
from shared.git.scratch import scratch, sweep
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from shared.git.repository import Repository

_SETTINGS = (
    "core.quotePath=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
    *OWN_INDEX,
)

# Git's own files of the vault, and what each holds; a half of it ends before that.
_MARKS = {"HEAD": "ref: refs/heads/", "config": "bare = true"}


@dataclass(frozen=True)
class Vault:
    """The planner's bare repository; objects written to it never reach the user's repository."""

    path: str
    objects: str
    git: Git
    # The trees made so far by `few_paths.rebuild`, by what they were made from.
    rebuilt: dict[tuple[object, ...], str] = field(default_factory=dict, compare=False, repr=False)

    def scratch(self) -> AbstractContextManager[str]:
        """Yield a temporary folder inside the bare repository, and remove it afterwards."""
        return scratch(self.path)

    @contextlib.contextmanager
    def fresh_index(self, **env: str) -> Iterator[Git]:
        """Yield a Git on the bare repository with an empty index, which is removed afterwards."""
        with self.scratch() as folder:
            yield self.git.on_index(os.path.join(folder, "index"), **env)


@refusing()
def open_vault(repo: Repository, path: str) -> Vault:
    """Open the planner's bare repository at `path`, or create it if it is missing."""
    path = os.path.abspath(path)
    git = Git(
        path,
        None,
        config=(*_SETTINGS, *DURABLE),
        env={
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_COUNT": "0",
            "GIT_ATTR_NOSYSTEM": "1",
            # Git before 2.32 does not know GIT_CONFIG_GLOBAL and would read the user's files.
            "HOME": path,
            "XDG_CONFIG_HOME": path,
        },
    )
    # Whatever the user's repository holds, this one borrows.
    git.known.facts = repo.git.known.facts
    vault = Vault(path, os.path.join(path, "objects"), git)
    _make(repo, vault)
    _borrow(repo, vault)
    sweep(path)
    sweep(os.path.dirname(path), os.path.basename(path) + "-")
    return vault


def remove_vault(path: str) -> None:
    """Remove the planner's bare repository at `path`; the next `open_vault` removes leftovers."""
    # Renamed first: a half removed one would be in the way of the next.
    gone = f"{path}-{os.getpid()}-gone"
    with contextlib.suppress(OSError):
        os.rename(path, gone)
    shutil.rmtree(gone, ignore_errors=True)


def _make(repo: Repository, vault: Vault) -> None:
    """Make the vault where it is missing; what is damaged of it is taken from a new one."""
    damaged = [part for part in _MARKS if not _is_whole(repo, vault, part)]
    if not damaged:
        return
    folder, name = os.path.split(vault.path)
    os.makedirs(folder, exist_ok=True)
    new = tempfile.mkdtemp(prefix=f"{name}-{os.getpid()}-", dir=folder)
    Git(new, None, env=vault.git.env, config=vault.git.config).run(
        "init", "-q", "--bare", "--template=", f"--object-format={repo.object_format}", new
    )
    try:
        # Made elsewhere, then renamed into place: with its files it is complete.
        os.rename(new, vault.path)
    except OSError:
        # Another process was quicker, a file of the vault is damaged, or something else is there.
        is_vault = os.path.isdir(vault.objects)
        for part in damaged if is_vault else ():
            os.replace(os.path.join(new, part), os.path.join(vault.path, part))
        shutil.rmtree(new, ignore_errors=True)
        if not is_vault:
            raise


def _is_whole(repo: Repository, vault: Vault, part: str) -> bool:
    """Return whether one of git's files, which git does not sync, is as `git init` wrote it."""
    text = read_text(os.path.join(vault.path, part))
    own = f"objectformat = {repo.object_format}" if repo.object_format != "sha1" else ""
    return _MARKS[part] in text and (part != "config" or own in text.lower())


def _borrow(repo: Repository, vault: Vault) -> None:
    # Written at every opening: the repository may have moved since.
    data = alternates(repo.objects)
    path = os.path.join(vault.objects, "info", "alternates")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        if file.read() == data:
            return
    write_atomic(path, data)


def alternates(objects: str) -> bytes:
    """Return the content of git's `info/alternates` file for a store that borrows `objects`."""
    stores = [objects, *_alternates(objects)]
    return b"".join(_quoted(os.fsencode(store)) + b"\n" for store in stores)


def _alternates(objects: str) -> list[str]:
    # Git takes relative ones from the first store only, so those of the user's store are spelt out.
    try:
        with open(os.path.join(objects, "info", "alternates"), "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    relative = [line for line in lines if line and not line.startswith((b"#", b'"', b"/"))]
    return [os.path.abspath(os.path.join(objects, os.fsdecode(line))) for line in relative]


def _quoted(path: bytes) -> bytes:
    if b"\n" not in path:
        return path
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
