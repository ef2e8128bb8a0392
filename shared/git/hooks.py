"""Run the user's hooks without the variables that tell git which repository to use.

In a linked worktree, git sets GIT_DIR and more for a hook. If the hook runs the project's tests and
these run `git init` in another folder, git would act on the user's repository instead.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from shared.git.command import SINGLE_CALL, user_environment
from shared.git.files import refusing, write_new

if TYPE_CHECKING:
    from shared.git.command import Git

# What `git rev-parse --local-env-vars` lists in any version, except the index: a hook needs that.
LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX", "GIT_REF_STORAGE_FORMAT",
)  # fmt: skip


def find_hook(git: Git, name: str) -> str | None:
    """Return the path of the user's git hook `name`, or None if git would run none."""
    hook = os.path.join(_folder(git), name)
    return hook if os.access(hook, os.X_OK) else None


@refusing()
def plain_hooks(git: Git, folder: str) -> tuple[str, ...]:
    """Return git options that run the user's hooks without variables naming another repository.

    A script in `folder` starts each hook, so `folder` must stay until git has ended.
    """
    hooks = _folder(git)
    unwanted = (*LOCAL, *(name for name in user_environment() if name.startswith(SINGLE_CALL)))
    ceiling = shlex.quote(os.path.dirname(os.path.realpath(git.root or "/")))
    for name in os.listdir(hooks) if os.path.isdir(hooks) else ():
        hook = os.path.join(hooks, name)
        if os.path.isfile(hook) and os.access(hook, os.X_OK) and not name.endswith(".sample"):
            script = f"#!/bin/sh\nunset {' '.join(unwanted)}\n"
            script += f"GIT_CEILING_DIRECTORIES={ceiling}\nexport GIT_CEILING_DIRECTORIES\n"
            script += f'exec {shlex.quote(hook)} "$@"\n'
            write_new(os.path.join(folder, name), os.fsencode(script), 0o700)
    return "-c", f"core.hooksPath={folder}"


def _folder(git: Git) -> str:
    """Return the folder of the user's git hooks; a relative path starts at the working tree."""
    named = git.as_set_up().text("rev-parse", "--git-path", "hooks")
    return os.path.join(git.root or git.git_dir, named)
