"""Find the branch that holds a commit, and whether a remote is known to hold it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.git.repository import head
from state.errors import Refused

if TYPE_CHECKING:
    from shared.git.repository import Repository


def branch_of(repo: Repository, commit: str) -> str:
    """Return the branch that holds a commit, HEAD's before others; Refused if none does."""
    found = _holding(repo, commit, "refs/heads")
    if not found:
        text = f"no branch holds the commit {commit[:12]} any more"
        raise Refused("not_found", commit, text, "a branch that holds it: git branch NAME COMMIT")
    names = [name.removeprefix("refs/heads/") for name in found]
    here = head(repo).branch
    return here if here in names else names[0]


def is_pushed(repo: Repository, branch: str, commit: str) -> bool:
    """Return whether a remote's branch of this name held the commit when git last heard of it."""
    found = _holding(repo, commit, "refs/remotes")
    return any(name.split("/", 3)[3:] == [branch] for name in found)


def _holding(repo: Repository, commit: str, where: str) -> list[str]:
    words = ("for-each-ref", f"--contains={commit}", "--format=%(refname)", where)
    done = repo.git.attempt(*words)  # fails where the commit itself is gone
    return done.stdout.decode("utf-8", "replace").split() if done.returncode == 0 else []
