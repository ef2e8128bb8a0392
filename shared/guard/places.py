"""Decides where an assistant's file tools may write in planning; guards planner files (PM-3)."""

from __future__ import annotations

import os
import stat

from shared import resources
from shared.guard import tools
from shared.guard.denial import Denied
from shared.paths import folded, readings
from shared.requirements_record import NEW, WORKFLOW, read_lane
from shared.resources import sessions_path

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.guard.tools import Tool
    from shared.mode.sessions import Session
    from state.database import Run

MOST_PATH = 4_096  # characters, as Linux has it
_GIT = {".git", "git~1"}  # the latter is its short name on Windows' file systems
CONTEXT_STEPS = 3  # until this step of planning the context is still being written
_OURS = "this is one of the planner's own files, which only planner commands may write"
_RUN_ONE = "run the command that the planner printed last"


def check_planning(path: str, cwd: str, session: Session, run: Run | None) -> None:
    """Raise Denied if an assistant that is planning may not write to the file `path`.

    It must be allowed wherever the path may lead.
    """
    for real in _readings(path, cwd):
        _check_reading(real, path, session, run)
        check_one_name(real, path)


def check_one_name(real: str, path: str) -> None:
    """Raise Denied for a file that has another name too, which would change with it.

    `real` is where `path` leads; a link that is still there leads nowhere, or in a circle.
    """
    try:
        found = os.lstat(real)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise Denied(f"{path} cannot be followed ({error.strerror})", "name the file") from None
    if stat.S_ISLNK(found.st_mode):
        text = f"{path} is a link that leads nowhere"
    elif stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        text = f"{path} is a hard link: what is written there stands under its other names too"
    else:
        return
    # Not at the top: hardly any file is one.
    from shlex import quote

    raise Denied(text, f"remove this name first, which leaves the others: rm -- {quote(path)}")


def _check_reading(real: str, path: str, session: Session, run: Run | None) -> None:
    """Raise Denied if the file `real`, to which `path` may lead, must not be written."""
    home = session.home
    answers, worktrees = resources.answer_path(home, ""), resources.worktrees(home)
    if _inside(real, answers):
        return
    inside = next((tree for tree in worktrees if _inside(real, tree)), None)
    if run is not None and inside is not None:
        if not _GIT.isdisjoint(map(folded, os.path.relpath(real, inside).split(os.sep))):
            raise Denied("git's own files in the worktree are not part of the plan", _RUN_ONE)
        return
    if run is not None and real == _new_requirements(home, run):
        return
    early = run is not None and run.workflow == "planner" and run.step < CONTEXT_STEPS
    if early and real == resources.get_context_path(home):
        return
    _check_not_ours(real, session)
    allowed = [f"write answers under {answers}"]
    allowed += (
        [f"change files of the project under {resources.writing_folder(home)}{os.sep}"]
        if run
        else []
    )
    raise Denied(f"{path} must not be written before the plan is approved", "; ".join(allowed))


def _new_requirements(home: str, run: Run) -> str:
    """Return the file in which requirements are refined, while they are; else ''."""
    return read_lane(home).path(NEW) if run.workflow == WORKFLOW else ""


def check_ours(path: str, cwd: str, session: Session) -> None:
    """Raise Denied for a file in the planner's own folders, which only its commands may write."""
    for real in _readings(path, cwd):
        _check_not_ours(real, session)


def _check_not_ours(real: str, session: Session) -> None:
    home = session.home
    mine = (resources.answer_path(home, ""), *resources.worktrees(home))
    user = os.path.dirname(os.path.realpath(sessions_path()))
    state = (os.path.dirname(os.path.realpath(session.database)), home, user)
    above = _folders_above(real)
    inside = any(_inside(real, folder) or _identity(folder) in above for folder in state)
    if inside and not any(_inside(real, folder) for folder in mine):
        raise Denied(_OURS, _RUN_ONE)


def _folders_above(path: str) -> set[tuple[int, int] | None]:
    """Return which folders a path leads through, however its letters spell them."""
    found = set[tuple[int, int] | None]()
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        found.add(_identity(path))
    return found - {None}


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _readings(path: str, cwd: str) -> list[str]:
    """Return where a path may lead; Denied for one so long that following it would take seconds."""
    if len(path) + len(cwd) > MOST_PATH:
        raise Denied("the path is longer than any file's", "name the file by a shorter path")
    return readings(path, cwd)


def written(tool: Tool, given: Mapping[str, Any]) -> list[str]:
    """Return the files that a call of a file tool may write, none for another tool; raises Denied.

    What a client reads as the path may be another field than the one that its table names.
    """
    if tool.kind == tools.WRITE:
        return [str(given[tool.field]), *tools.paths_beside(tool, given)]
    if tool.kind != tools.PATCH or tool.patched is None:
        return []
    files = tool.patched(str(given[tool.field]))
    if files is None:
        raise Denied(
            "the files that this patch changes cannot be read from it",
            "send a patch from *** Begin Patch to *** End Patch that names each file by itself",
        )
    return files


def patched_by_shell(tool: Tool, command: str) -> list[str] | None:
    """Return the files that a client's patch command changes, None for any other command."""
    files = tool.patched(command) if tool.patched else None
    if files and not all(map(os.path.isabs, files)):
        # The call may name another folder to start from, and the hook does not see that.
        raise Denied("the patch names a file by a relative path", "name it by its absolute path")
    return files


def _inside(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))
