"""The git hooks that run on code which nobody has approved: without a place a person confirms them.

A hook runs what lies in the worktree, such as the project's tests, and where nothing holds it that
code reads secrets, uses the network and writes files before anybody has read it.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from shared.git.hooks import executables, hook_folder
from shared.resources import command
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.git.repository import Repository


def hook_names(repo: Repository, worktree: str) -> list[str]:
    """Return the hooks that git would run, of the user's tree and of the worktree."""
    return sorted({name for folder in _folders(repo, worktree) for name in executables(folder)})


def _folders(repo: Repository, worktree: str) -> tuple[str, str]:
    return hook_folder(repo.git), hook_folder(repo.git_in(worktree))


def render_hooks(repo: Repository, worktree: str) -> str:
    """Return the hooks as text that a person reads and confirms, a line for each; "" for none."""
    lines = []
    for folder in _folders(repo, worktree):
        for name in executables(folder):
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    what = f"SHA-256 {sha256(file.read()).hexdigest()[:16]}"
            except OSError as error:
                what = f"cannot be read: {error.strerror}"
            lines.append(f"git hook {name}: {what}")
    return "\n".join(sorted({*lines}))


def hooks_hash(text: str) -> str:
    """Return the hash by which a person confirms the hooks of a text, "" for none."""
    return sha256(text.encode()).hexdigest() if text else ""


def not_confirmed(
    repo: Repository, worktree: str, is_confirmed: Callable[[str], bool], state_dir: str
) -> Refused | None:
    """Return the refusal of hooks without a place, None if there are none or they are confirmed."""
    text = render_hooks(repo, worktree)
    digest = hooks_hash(text)
    if not digest or is_confirmed(digest):
        return None
    return Refused(
        "refused",
        "git hooks",
        "they run code that nobody has approved yet, nothing holds them here, and no person has "
        f"confirmed that:\n{text}",
        "ask the user to read the hooks and then to confirm them",
        command("config", "confirm", digest, state_dir=state_dir),
    )
