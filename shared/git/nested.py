"""Refuse work in the scratch worktree's submodules, whose files are never captured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.command import project_environment
from shared.git.repository import repository_at, submodules
from shared.git.scratch import scratch
from shared.git.stage import covered
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.repository import Repository
    from shared.git.settle import Runner
    from shared.git.worktree import Worktree


def check_submodules(
    repo: Repository, tree: Worktree, base: str, left_out: Iterable[bytes], runner: Runner
) -> None:
    """Raise Refused if files in a submodule of the worktree changed: a capture would lose them.

    Paths at or below `left_out` are not looked at.
    """
    problems: list[Problem] = []
    for path in submodules(repo, base):
        path_on_disk = os.path.join(tree.path, path)
        if covered(os.fsencode(path), left_out) or not os.path.lexists(path_on_disk):
            continue
        found = _work_in(path_on_disk, runner, os.path.dirname(tree.path))
        if found:
            text = f"is a submodule, and {found}; work inside submodules is never captured"
            allowed = "change files of this repository only"
            problems.append(Problem("refused", path, text, allowed))
    if problems:
        raise Refused.of(problems)


def _work_in(path_on_disk: str, runner: Runner, beside: str) -> str | None:
    """Return in words what changed in a submodule, or None; temporary files go into `beside`."""
    if os.path.islink(path_on_disk) or not os.path.isdir(path_on_disk):
        return "something else is there instead"
    inside = sorted(os.listdir(path_on_disk))
    if ".git" not in inside:
        return f"{inside[0]} lies in it" if inside else None
    try:
        git = repository_at(path_on_disk).git
    except Refused:
        return "its .git is not a repository"
    # A hook may have made this repository, and its settings name programs that git starts.
    status = git.words("status", "--porcelain=v1", "-z", "--no-renames")
    quiet = ["sh", "-c", 'exec "$@" 2>/dev/null', "sh", *status]
    with scratch(beside) as private:
        ran = runner(quiet, path_on_disk, project_environment(path_on_disk), private)
    if ran.code:
        return "git can't tell what differs in it"
    return f"{ran.output.split(chr(0))[0][3:]} differs in it" if ran.output else None
