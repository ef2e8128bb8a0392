"""Keep files in commits without parents, each under a ref of our own, outside all branches.

A symbolic ref in the place of one of ours is never followed: it may lead to a branch of the user's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared.git.command import DURABLE
from shared.git.files import refusing
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.repository import Repository


class Told(NamedTuple):
    """What such a commit says of itself: its message and its time."""

    message: str
    # Since 1970.
    seconds: int
    # A commit of the repository to which the plan belongs.
    base: str


@refusing()
def keep(repo: Repository, ref: str, files: Mapping[str, bytes | str], told: Told) -> str:
    """Store files in a commit under `ref`, unless the ref is there; return what it points to.

    A ref that is there is never moved. The same files and words give the same commit. A file is
    given by its bytes, or by the id of a blob that the repository has.
    """
    _check_not_symbolic(repo, ref)
    found = commit_at(repo, ref)
    if found:
        return found
    at = f"@{told.seconds} +0000"
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    git = repo.git.having(*DURABLE, "i18n.commitEncoding=UTF-8", **dates)
    blobs = {
        name: data
        if isinstance(data, str)
        else git.text("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
        for name, data in files.items()
    }
    rows = "".join(f"100644 blob {blob}\t{name}\n" for name, blob in sorted(blobs.items()))
    tree = git.text("mktree", stdin=rows.encode())
    made = git.text("commit-tree", tree, stdin=told.message.encode())
    # Where another repository took the place of this one before here, it has no such base; if it
    # does after here, it does not have the commit just made, and git makes no ref of it.
    git.run("cat-file", "-e", f"{told.base}^{{commit}}")
    words = ("update-ref", "--no-deref", ref, made, repo.zero)
    if git.ok(*words):
        return made
    found = commit_at(repo, ref)
    if not found:
        git.run(*words)
    return found or made


def leads_to(repo: Repository, ref: str) -> str:
    """Return the ref that a symbolic ref leads to, "" if it is none; that one need not exist."""
    return repo.git.attempt("symbolic-ref", "-q", ref).stdout.decode("utf-8", "replace").strip()


def _check_not_symbolic(repo: Repository, ref: str) -> None:
    other = leads_to(repo, ref)
    if other:
        text = f"is a symbolic ref, which leads to {other}; the planner keeps plans in refs of its "
        text += "own alone"
        way = f"`git symbolic-ref --delete {ref}` takes it away and leaves {other} as it is; then "
        raise Refused("conflict", ref, text, way + "run the same command again")


def commit_at(repo: Repository, ref: str) -> str:
    """Return the commit that a ref points to, "" if there is no such ref."""
    done = repo.git.attempt("rev-parse", "--verify", "-q", f"{ref}^{{commit}}")
    return done.stdout.decode().strip()


def drop(repo: Repository, ref: str) -> None:
    """Remove a ref of ours, if it is there."""
    repo.git.run("update-ref", "--no-deref", "-d", ref)


def listed_refs(repo: Repository, *prefixes: str) -> dict[str, str]:
    """Return each ref below these prefixes, with the commit that it points to."""
    rows = repo.git.text("for-each-ref", "--format=%(refname) %(objectname)", *prefixes)
    return dict(row.split(" ", 1) for row in rows.splitlines()) if prefixes else {}


def files_in(repo: Repository, commit: str, *names: str) -> list[bytes | None]:
    """Return the content of files at the top of a commit, None for each that it does not have."""
    found = repo.git.objects([f"{commit}:{name}" for name in names])
    return [one.content if one.kind == "blob" else None for one in found]
