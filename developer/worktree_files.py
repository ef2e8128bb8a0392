"""Changes files of the scratch worktree, and runs commands of planner.toml in it.

Nothing outside the worktree is reached: paths are normal and relative, and no folder on the way
is a link. Callers hold `lock.undisturbed`, since verify breaks files on purpose.
"""

from __future__ import annotations

import difflib
import os
import shutil
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from developer.verify.prepare import check_confirmed, runner_for, set_up
from shared.config import named_commands
from shared.git.worktree import set_executable
from state.errors import Refused
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from developer.verify.job import Job
    from shared.git.worktree import Worktree

SHOWN_NAMES = 8


@dataclass(frozen=True)
class Ran:
    """How a named command ended."""

    command: str
    code: int
    # The end of its output.
    tail: str
    # The file with all of its output.
    log: str


def tree_rm(tree: Worktree, path: str) -> str:
    """Remove a file, link or whole folder from the scratch worktree; return what was done."""
    target = _existing(tree, path)
    if stat.S_ISDIR(os.lstat(target).st_mode):
        shutil.rmtree(target)
    else:
        os.unlink(target)
    _prune(tree.path, path)
    return f"removed {path}"


def tree_mv(tree: Worktree, old: str, new: str) -> str:
    """Move a worktree file, link or folder, making parent folders; never replace another one."""
    source, target = _existing(tree, old), _path_inside(tree.path, new)
    # If names differ in case only, a file system may see one file in both.
    other_case = old.lower() == new.lower() and old != new
    if os.path.lexists(target) and not (other_case and os.path.samefile(source, target)):
        raise Refused(
            "conflict", new, "there is already a file or folder at this path", "choose a free path"
        )
    if new.startswith(old + "/"):
        raise Refused(
            "invalid", new, f"lies inside {old}, the folder to move", "choose another path"
        )
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(source, target)
    except OSError as error:
        text = f"{error.strerror}; nothing was moved"
        raise Refused("refused", new, text, "choose a path that can be made") from None
    _prune(tree.path, old)
    return f"moved {old} to {new}"


def tree_chmod(tree: Worktree, change: str, path: str) -> str:
    """Set (`+x`) or clear (`-x`) the executable bit of a file, on disk and in git's index."""
    if change not in {"+x", "-x"}:
        raise Refused("usage", change, "is not a change of the executable bit", "+x, -x")
    target = _existing(tree, path)
    if not stat.S_ISREG(os.lstat(target).st_mode):
        text = "is not a plain file; only plain files can be executable"
        raise Refused("invalid", path, text, "name a plain file")
    set_executable(tree, [path], executable=change == "+x")
    return f"{path} is {'' if change == '+x' else 'not '}executable"


def tree_run(job: Job, name: str, is_confirmed: Callable[[str], bool]) -> Ran:
    """Run a named command of planner.toml in the worktree, or several in order until one fails.

    Refused for an unknown name (with the known ones), and for commands no person has confirmed.
    """
    known = named_commands(job.config)
    if name not in known:
        allowed = ", ".join(known) or "none: planner.toml names no commands"
        raise Refused("not_found", name, "planner.toml names no command with this name", allowed)
    check_confirmed(job.config, is_confirmed, job.state_dir)
    if name != "setup":
        set_up(job, job.worktree, "worktree")
    runner = runner_for(job, job.worktree)
    for number, command in enumerate(known[name], start=1):
        ended = runner.run(command, job.file(f"{number}-run-{name}.log"))
        if not ended.passed:
            break
    return Ran(ended.command, ended.code, ended.tail(), ended.log)


def _path_inside(worktree: str, path: str) -> str:
    """Return the absolute path of `path` in the worktree; Refused if it could lead outside."""
    if text := path_problem(path):
        raise Refused("invalid", path, text, "name a relative path of a file in the worktree")
    parts = path.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        if os.path.islink(os.path.join(worktree, parent)):
            text = f"{parent} is a symbolic link, so this path may lie outside the worktree"
            raise Refused("refused", path, text, "use a path without symbolic links to folders")
    return os.path.join(worktree, path)


def _existing(tree: Worktree, path: str) -> str:
    target = _path_inside(tree.path, path)
    if not os.path.lexists(target):
        near = difflib.get_close_matches(path, _names(tree), n=SHOWN_NAMES, cutoff=0.5)
        allowed = ", ".join(near) or "name a path that is in the worktree"
        raise Refused("not_found", path, "is not in the worktree", allowed)
    return target


def _names(tree: Worktree) -> list[str]:
    listed = tree.git.names("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = dict.fromkeys(name.decode("utf-8", "replace") for name in listed)
    return [name for name in names if os.path.lexists(os.path.join(tree.path, name))]


def _prune(worktree: str, path: str) -> None:
    """Remove folders of the worktree that became empty, since git does not track empty ones."""
    folder = os.path.dirname(path)
    while folder and not os.listdir(os.path.join(worktree, folder)):
        os.rmdir(os.path.join(worktree, folder))
        folder = os.path.dirname(folder)
