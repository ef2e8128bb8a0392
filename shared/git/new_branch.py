"""Put HEAD on a new branch at the same commit, so that index and files stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.git.refs import leads_to
from shared.git.repository import head
from state.errors import Refused

if TYPE_CHECKING:
    from shared.git.repository import Repository

_REASON = "planner exec run --branch"


def switch_to_new(repo: Repository, name: str) -> None:
    """Make the branch and let HEAD name it; nothing to do where HEAD does already.

    A branch at HEAD's commit is taken, as a killed call may have made it. Refused for a name that
    git does not take, and for a branch that has other commits, is open in another worktree, or
    is only another name of a branch.
    """
    at, ref = head(repo), f"refs/heads/{name}"
    if at.branch == name:
        return
    if not repo.git.ok("check-ref-format", ref) or name.startswith("-"):
        raise Refused("usage", "--branch", f"git takes no branch of the name {name!r}", "another")
    found = repo.git.text("for-each-ref", "--format=%(objectname) %(worktreepath)", ref)
    commit, _, worktree = found.partition(" ")
    if other := leads_to(repo, ref):
        where = f"is another name of {other}"
    elif worktree:
        where = f"is checked out in {worktree}"
    else:
        where = "" if commit in ("", at.commit) else "has other commits than HEAD"
    if where:
        way = "the name of a new branch; or switch to this one first, and leave --branch out"
        raise Refused("conflict", f"--branch {name}", f"the branch exists and {where}", way)
    if not commit:
        repo.git.run("update-ref", "--no-deref", "-m", _REASON, ref, at.commit, repo.zero)
    repo.git.run("symbolic-ref", "-m", _REASON, "HEAD", ref)
