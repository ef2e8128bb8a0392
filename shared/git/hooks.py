"""The user's hooks, run without what would lead git in them elsewhere.

Git tells a hook of a linked worktree, by GIT_DIR and more, in which repository it is. A hook that
runs the project's tests, and these `git init` in some folder, would act on the user's repository.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from shared.git.files import refusing, write_new

if TYPE_CHECKING:
    from shared.git.command import Git

# What `git rev-parse --local-env-vars` lists in any version, but for the index: a hook needs that.
LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX", "GIT_REF_STORAGE_FORMAT",
)  # fmt: skip


def find_hook(git: Git, name: str) -> str | None:
    """Return the user's hook of this name; None where git would run none."""
    hook = os.path.join(_folder(git), name)
    return hook if os.access(hook, os.X_OK) else None


@refusing()
def plain_hooks(git: Git, folder: str) -> tuple[str, ...]:
    """Return the words for git under which it runs the user's hooks with just their index.

    Each is started by a script in `folder`, which is to stay until git has ended.
    """
    hooks = _folder(git)
    for name in os.listdir(hooks) if os.path.isdir(hooks) else ():
        place = os.path.join(hooks, name)
        if os.path.isfile(place) and os.access(place, os.X_OK) and not name.endswith(".sample"):
            ceiling = shlex.quote(os.path.dirname(os.path.realpath(git.root or "/")))
            script = f"#!/bin/sh\nunset {' '.join(LOCAL)}\n"
            script += f"GIT_CEILING_DIRECTORIES={ceiling}\nexport GIT_CEILING_DIRECTORIES\n"
            script += f'exec {shlex.quote(place)} "$@"\n'
            write_new(os.path.join(folder, name), os.fsencode(script), 0o700)
    return "-c", f"core.hooksPath={folder}"


def _folder(git: Git) -> str:
    """Return the folder of hooks; a relative `core.hooksPath` begins at the working tree."""
    named = git.as_set_up().text("rev-parse", "--git-path", "hooks")
    return os.path.join(git.root or git.git_dir, named)
