"""Check whether the state of a repository allows planning and committing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.command import OLDEST, version
from shared.git.identity import check_identities
from shared.git.repository import PLANNER, find_repository, head
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from shared.git.repository import Head, Repository

# A file or folder of the git folder, and the operation in progress while it exists.
_UNDERWAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


def check_startable(path: str, opened: list[Repository] | None = None) -> list[Problem]:
    """Return a problem for each reason why no run of the planner can start in `path`.

    The repository around it is added to `opened`.
    """
    if (present := version()) < OLDEST:
        found = ".".join(map(str, present))
        return [
            Problem(
                "refused", "git", f"git {found} is too old", allowed="install git 2.30 or newer"
            )
        ]
    try:
        repo = find_repository(path)
    except Refused as refusal:
        return list(refusal.problems)
    if opened is not None:
        opened.append(repo)
    return check_repository(repo)


def check_repository(repo: Repository) -> list[Problem]:
    """Return a problem for each reason why no run of the planner can start in a repository."""
    if repo.is_private:
        return check_path(repo.root)
    return [
        *check_readable(repo), *_check_head(repo), *check_underway(repo),
        *check_identities(repo.git),
    ]  # fmt: skip


def check_readable(repo: Repository) -> list[Problem]:
    """Return a problem for each reason why not even a question is answered in a repository."""
    return [*check_path(repo.root), *_check_own_folder(repo)]


def check_path(folder: str) -> list[Problem]:
    """Return a problem if the path `folder` has a ':', since git could then leave the worktree.

    GIT_CEILING_DIRECTORIES, which does that, is split at each ':' and knows no escape for it.
    """
    if os.pathsep not in folder:
        return []
    problem = f"{os.pathsep!r} in the path: git commands of the project could leave the worktree"
    allowed = f"move the folder to a path without {os.pathsep!r}"
    return [Problem("refused", folder, problem, allowed)]


def _check_head(repo: Repository) -> list[Problem]:
    try:
        return check_branch(head(repo))
    except Refused:
        problem = "the repository has no commit yet, so there is nothing to plan against"
        retry = 'git commit --allow-empty -m "Start"'
        return [Problem("refused", "HEAD", problem, retry=retry)]


def _check_own_folder(repo: Repository) -> list[Problem]:
    """Return a problem if git tracks files of our folder: a database from elsewhere may lie.

    Its runs, and their approvals, would be those of whoever committed it.
    """
    tracked = repo.git.names("ls-files", "-z", "--", PLANNER)
    if not tracked:
        return []
    problem = f"git tracks files in it ({len(tracked)}), so what it says need not be from here"
    allowed = "remove it, commit that, then run the same command again"
    return [Problem("refused", PLANNER, problem, allowed, f"git rm -r -q :/{PLANNER}")]


def check_branch(at: Head) -> list[Problem]:
    """Return a problem if HEAD is detached, that is, on no branch."""
    if at.branch:
        return []
    problem = "HEAD is detached: a commit made here would be on no branch"
    return [
        Problem(
            "refused",
            "HEAD",
            problem,
            allowed="switch to a branch first",
            retry="git switch -c planned-work",
        )
    ]


def check_underway(repo: Repository) -> list[Problem]:
    """Return a problem for each git operation in progress, such as a merge."""
    found = {
        what for name, what in _UNDERWAY.items() if os.path.exists(os.path.join(repo.git_dir, name))
    }
    return [
        Problem(
            "refused", repo.root, f"{what} is in progress", allowed=f"finish or abort {what} first"
        )
        for what in sorted(found)
    ]
