"""The hooks and filters of git, which run on code that nobody has approved.

They run what lies in the worktree, such as the project's tests, and where nothing holds it that
code reads secrets, uses the network and writes files before anybody has read it. So without a place
a person confirms them: hooks by their content, filters by their command.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from shared.builders import visible_line
from shared.git.filters import unknown
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
    """Return hooks and filters as a text to read and confirm, a line for each; "" for none."""
    lines = [f"git config {visible_line(f'{k}: {v}')}" for k, v in unknown(repo.git).items()]
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
    """Return the hash by which a person confirms what stands in a text, "" for none."""
    return sha256(text.encode()).hexdigest() if text else ""


def not_confirmed(
    repo: Repository, worktree: str, is_confirmed: Callable[[str], bool], state_dir: str
) -> Refused | None:
    """Return why they may not run without a place, None if there are none or they are confirmed."""
    text = render_hooks(repo, worktree)
    digest = hooks_hash(text)
    if not digest or is_confirmed(digest):
        return None
    return Refused(
        "refused",
        "git hooks and filters",
        "they run code that nobody has approved yet, nothing holds them here, and no person has "
        f"confirmed that:\n{text}",
        "ask the user to read what they start and then to confirm them",
        command("config", "confirm", digest, state_dir=state_dir),
    )
