"""Plan in a folder that is in no git repository: its files are kept beside the runs (PL-35)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.git.private import check_folder, record
from shared.resources import PLANNER_FOLDER, command
from shared.secret_walk import scan, secret_files
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.repository import Repository


def keep_files(root: str) -> Repository:
    """Keep the files of a folder as they are now; Refused where it holds too much for that.

    Secrets are left out, so no worktree has them and no command of the plan reads them.
    """
    problems = check_folder(root)
    if problems:
        raise Refused.of(problems)
    return record(root, secret_files(scan(root)))


def keep_up(repository: Repository) -> None:
    """Keep what the user has changed since; nothing to do where git does that."""
    if repository.is_private:
        keep_files(repository.root)


def check_start(
    root: str, request: str, depth: str | None, state_dir: str | None, lane: Sequence[str] = ()
) -> None:
    """Raise Refused for what cannot be chosen for a run in a folder without git (PL-35).

    `lane` are the options that begin a lane there.
    """
    real = os.path.realpath(state_dir or "")
    inside = os.path.relpath(real, os.path.realpath(root)).split(os.sep)
    if state_dir is not None and inside[0] not in (os.pardir, PLANNER_FOLDER):
        text = "lies among the files to plan, and without git nothing tells them apart"
        raise Refused("refused", "--state-dir", text, "leave it out, or name one elsewhere")
    if depth == "full":
        text = "the folder is in no git repository, and without git only intents are approved first"
        allowed = "--depth intent; or make it a repository with a commit, then start again"
        retry = command(
            "start", *filter(None, [request]), *lane, "--depth", "intent", "--codepath", root
        )
        raise Refused("refused", "--depth", text, allowed, retry)
