"""Changes files of the scratch worktree, and runs commands of planner.toml in it.

Nothing outside the worktree is reached, whatever changes in it meanwhile: paths are normal and
relative, and each folder on the way is opened as one that is no link. Callers hold
`lock.undisturbed`, since verify breaks files on purpose.
"""

from __future__ import annotations

import difflib
import os
import shlex
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from developer.verify.prepare import check_confirmed, runner_for, set_up
from shared.config import named_commands
from shared.git.copies import lay
from shared.git.worktree import set_executable
from state.errors import Refused
from state.validator import path_problem
from state.working_files import WorkingFiles

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
    files = WorkingFiles(tree.path)
    _check_there(tree, files, path)
    files.remove_all(path)
    # Git does not track empty folders.
    files.remove_empty(os.path.dirname(path))
    return f"removed {path}"


def tree_mv(tree: Worktree, old: str, new: str) -> str:
    """Move a worktree file, link or folder, making parent folders; never replace another one."""
    files = WorkingFiles(tree.path)
    source = _check_there(tree, files, old)
    _check_path(new)
    target = files.status(new)
    # If names differ in case only, a file system may see one file in both.
    other_case = old.lower() == new.lower() and old != new
    if target and not (other_case and os.path.samestat(source, target)):
        raise Refused(
            "conflict", new, "there is already a file or folder at this path", "choose a free path"
        )
    if new.startswith(old + "/"):
        raise Refused(
            "invalid", new, f"lies inside {old}, the folder to move", "choose another path"
        )
    if folder := os.path.dirname(new):
        files.make_folders(folder)
    files.move(old, new)
    files.remove_empty(os.path.dirname(old))
    return f"moved {old} to {new}"


def tree_chmod(tree: Worktree, change: str, path: str) -> str:
    """Set (`+x`) or clear (`-x`) the executable bit of a file, on disk and in git's index."""
    if change not in {"+x", "-x"}:
        raise Refused("usage", change, "is not a change of the executable bit", "+x, -x")
    found = _check_there(tree, WorkingFiles(tree.path), path)
    if not stat.S_ISREG(found.st_mode):
        text = "is not a plain file; only plain files can be executable"
        raise Refused("invalid", path, text, "name a plain file")
    if found.st_nlink > 1:
        text = "is a hard link: its other names, wherever they are, would change too"
        raise Refused("conflict", path, text, f"`tree rm {shlex.quote(path)}`, then write it anew")
    set_executable(tree, path, executable=change == "+x")
    return f"{path} is {'' if change == '+x' else 'not '}executable"


def tree_restore(tree: Worktree, path: str) -> str:
    """Change a file back to what it is at the base, on disk and in git's index."""
    _check_path(path)
    rows = tree.git.names("ls-tree", "-z", "--full-tree", "HEAD", "--", path)
    if [row.split(b"\t", 1)[1] for row in rows] != [os.fsencode(path)] or b" tree " in rows[0]:
        text = "is no file of the base; a new one is removed by `tree rm`"
        raise Refused("not_found", path, text, "name a file that the base has")
    tree.git.run("update-index", "-z", "--index-info", stdin=rows[0] + b"\0")
    lay(tree.git, [path])
    return f"{path} is as at the base"


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


def _check_path(path: str) -> None:
    if text := path_problem(path):
        raise Refused("invalid", path, text, "name a relative path of a file in the worktree")


def _check_there(tree: Worktree, files: WorkingFiles, path: str) -> os.stat_result:
    """Return what is at a path of the worktree; Refused if nothing is, with names like it."""
    _check_path(path)
    if found := files.status(path):
        return found
    names = (os.fsdecode(name) for name in tree.git.names("ls-files", "-z"))
    folder = os.path.dirname(path)
    beside = files.names(folder) if folder else os.listdir(tree.path)
    known = {*names, *(os.path.join(folder, name) for name in beside)}
    near = difflib.get_close_matches(path, known, n=SHOWN_NAMES, cutoff=0.5)
    allowed = ", ".join(filter(files.status, near)) or "name a path that is in the worktree"
    raise Refused("not_found", path, "is not in the worktree", allowed)
