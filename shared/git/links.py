"""Link folders of the user's tree, such as node_modules, into the scratch worktree (PL-33)."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.files import folder_of, refusing
from shared.git.repository import PLANNER, within
from state.beneath import Beneath
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.repository import Repository


class Linked(NamedTuple):
    """The names now linked into the worktree, and those that the user's tree does not have."""

    linked: list[str]
    missing: list[str]


@refusing()
def link(repo: Repository, worktree: str, names: Iterable[str]) -> Linked:
    """Link the user's `names` (node_modules, .venv …) into the scratch worktree.

    Refused for names outside the repository and for those that git has at the base.
    """
    wanted = list(dict.fromkeys(name.rstrip("/") for name in names))
    problems = [
        Problem(
            "invalid",
            name,
            "leads out of the repository",
            allowed="name a path inside the repository",
        )
        for name in wanted
        if not _is_inside(name)
    ]
    if problems:
        raise Refused.of(problems)
    done = Linked([], [])
    for name in wanted:
        source = os.path.join(repo.root, name)
        if not os.path.lexists(source):
            done.missing.append(name)
        elif _link_one(source, worktree, name):
            done.linked.append(name)
        else:
            text = "git tracks files at this path, so it can't be a link"
            problems.append(Problem("conflict", name, text))
    if problems:
        raise Refused.of(problems)
    return done


def _link_one(source: str, worktree: str, name: str) -> bool:
    """Make `name` a symbolic link to `source`; return False if something else has this name."""
    if above := os.path.dirname(name):
        Beneath(worktree).make_folders(above)
    with folder_of(worktree, name) as (at, last):
        try:
            if os.readlink(last, dir_fd=at) == source:
                return True
            os.unlink(last, dir_fd=at)  # of ours, from before the repository was moved
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return False  # no link
        os.symlink(source, last, dir_fd=at)
    return True


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    plain = all(part not in {"", ".", ".."} for part in parts)
    return plain and parts[0].lower() != ".git" and not within(name, PLANNER)
