"""Put HEAD on a new branch at the same commit, so that index and files stay as they are."""

from __future__ import annotations

from shared.git.repository import head
from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shared.git.repository import Repository

_REASON = "planner exec run --branch"


def switch_to_new(repo: Repository, name: str) -> None:
    """Make the branch and let HEAD name it; nothing to do where HEAD does already.

    A branch at HEAD's commit is taken, as a killed call may have made it. Refused for a name that
    git does not take, and for a branch that has other commits or is open in another worktree.
    """
    at, ref = head(repo), f"refs/heads/{name}"
    if at.branch == name:
        return
    if not repo.git.ok("check-ref-format", ref) or name.startswith("-"):
        raise Refused("usage", "--branch", f"git takes no branch of the name {name!r}", "another")
    found = repo.git.text("for-each-ref", "--format=%(objectname) %(worktreepath)", ref)
    commit, _, worktree = found.partition(" ")
    if worktree or commit not in ("", at.commit):
        where = f"is checked out in {worktree}" if worktree else "has other commits than HEAD"
        way = "the name of a new branch; or switch to this one first, and leave --branch out"
        raise Refused("conflict", f"--branch {name}", f"the branch exists and {where}", way)
    if not commit:
        repo.git.run("update-ref", "-m", _REASON, ref, at.commit, repo.zero)
    repo.git.run("symbolic-ref", "-m", _REASON, "HEAD", ref)
