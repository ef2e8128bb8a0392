"""Run the user's hooks without the variables that tell git which repository to use.

In a linked worktree, git sets GIT_DIR and more for a hook. If the hook runs the project's tests and
these run `git init` in another folder, git would act on the user's repository instead.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from shared.git.command import SINGLE_CALL, user_environment
from shared.git.files import refusing, write_new
from shared.git.git_file import common_dir
from shared.paths import real_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.command import Git

# What `git rev-parse --local-env-vars` lists in any version, except the index: a hook needs that.
LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR", "GIT_INTERNAL_SUPER_PREFIX", "GIT_REF_STORAGE_FORMAT",
)  # fmt: skip


# In the folder of the starting scripts: a line for each hook that began, and one when it has ended.
_RAN = "ran"


class Ran(NamedTuple):
    """The hooks that ran, in their order, and in words the one that failed or has not ended."""

    names: tuple[str, ...]
    failed: str


def find_hook(git: Git, name: str) -> str | None:
    """Return the path of the user's git hook `name`, or None if git would run none."""
    hook = os.path.join(hook_folder(git), name)
    return hook if os.access(hook, os.X_OK) else None


def plain_hooks(git: Git, folder: str) -> tuple[str, ...]:
    """Return git options that run the user's hooks without variables naming another repository.

    A script in `folder` starts each hook, so `folder` must stay until git has ended.
    """
    hooks = hook_folder(git)
    return wrapped_hooks(folder, hooks, executables(hooks))


@refusing()
def wrapped_hooks(folder: str, hooks: str, names: Iterable[str], root: str = "") -> tuple[str, ...]:
    """Return git options that run the hooks with these names, which are in the folder `hooks`.

    Each writes into `folder` that it ran. A git that it starts elsewhere does not leave `root`.
    """
    unwanted = (*LOCAL, *(name for name in user_environment() if name.startswith(SINGLE_CALL)))
    above = shlex.quote(os.path.dirname(real_path(root)))
    ceiling = f"GIT_CEILING_DIRECTORIES={above}\nexport GIT_CEILING_DIRECTORIES\n" if root else ""
    ran = shlex.quote(os.path.join(folder, _RAN))
    for name in names:
        hook = shlex.quote(os.path.join(hooks, name))
        script = f"#!/bin/sh\n[ -x {hook} ] || exit 0\nunset {' '.join(unwanted)}\n"
        script += f'{ceiling}echo {name} >>{ran}\n{hook} "$@"\ncode=$?\n'
        script += f"echo {name} $code >>{ran}\nexit $code\n"
        write_new(os.path.join(folder, name), os.fsencode(script), 0o700)
    return "-c", f"core.hooksPath={folder}"


def ran_hooks(folder: str) -> Ran:
    """Return which hooks ran that `wrapped_hooks` has prepared in `folder`."""
    try:
        with open(os.path.join(folder, _RAN), encoding="utf-8", errors="replace") as file:
            rows = [line.split() for line in file if line.strip()]
    except FileNotFoundError:
        rows = []
    # After one that failed, git may run another to tell it so.
    failed = [name for name, *code in rows if code and code != ["0"]]
    hanging = [name for name, *code in rows[-1:] if not code]
    return Ran(
        tuple(dict.fromkeys(row[0] for row in rows)),
        next((f"the hook {name}" for name in (*hanging, *failed)), ""),
    )


def executables(folder: str) -> list[str]:
    """Return the names of the hooks in a folder that git would run."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = {name: os.path.join(folder, name) for name in names if not name.endswith(".sample")}
    return [n for n, hook in found.items() if os.path.isfile(hook) and os.access(hook, os.X_OK)]


def hook_folder(git: Git, users: str = "") -> str:
    """Return the folder of the user's git hooks; a relative path starts at the working tree.

    Where that has no such folder, as for one that git ignores, it starts at the root `users`.
    """
    if "core.hookspath" in git.settings():
        named = git.as_set_up().text("rev-parse", "--git-path", "hooks")
    else:
        named = os.path.join(common_dir(git.git_dir), "hooks")
    folder = os.path.join(git.root or git.git_dir, named)
    return folder if os.path.isdir(folder) or not users else os.path.join(users, named)
