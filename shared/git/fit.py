"""Say why a plan does not fit the user's files and HEAD, and what the user can do then (PL-26)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import ends
from shared.git.few_paths import index_at, tree_and_rules
from shared.git.intended import check_clashes
from shared.git.proof import describe
from shared.git.users_files import (
    REVISE,
    Blocked,
    difference,
    pathspec,
    same,
    states_before,
    to_stash,
)
from state.errors import AGAIN, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change, Entry
    from shared.git.repository import Repository
    from shared.git.vault import Vault


class Ways(NamedTuple):
    """What a refusal offers."""

    # What to do where HEAD has moved on, with the command `moved_retry`.
    moved: str
    moved_retry: str = ""
    # The command to run when work is committed or stashed, and that in words.
    again: str = AGAIN
    then: str = "run the same command again"


TO_APPLY = Ways("revise the plan for the present files", REVISE)


def check_fit(
    repo: Repository, vault: Vault, changes: Sequence[Change], ways: Ways = TO_APPLY
) -> list[Problem]:
    """Return a problem for each planned file that is not as the plan found it, on disk or in HEAD.

    Uncommitted work of the user's is to be committed or stashed, and then the command `ways.again`
    works: a revision would meet the same work once more. What is committed needs a revision.
    """
    planned = ends(changes)
    head = tree_and_rules(repo.git, "HEAD", planned)
    states = states_before(repo, vault, changes, head)
    problems: list[Problem] = []
    for path, end in planned.items():
        state, committed = states[path], head.get(path)
        there = same(repo, state, end.before)
        if there and committed == end.before:
            continue
        if there:
            text = "the plan was made on work of yours in this file that is not committed yet"
            way = f"commit your own work on this file first, then {ways.then}"
        elif same(repo, state, committed):
            text = f"is {describe(committed)} in HEAD; the plan expects {describe(end.before)}"
            problems.append(Problem("refused", path, text, ways.moved, ways.moved_retry))
            continue
        else:
            text = f"holds uncommitted work of yours: it {difference(state, end.before)}"
            way = f"commit or stash it, then {ways.then}; {_aside(repo, path, state)}"
        problems.append(Problem("refused", path, text, way, ways.again))
    clashes = check_clashes(planned, head, "HEAD")
    return problems + [
        Problem(p.kind, p.at, p.problem, ways.moved, ways.moved_retry) for p in clashes
    ]


def _aside(repo: Repository, path: str, state: Entry | Blocked | None) -> str:
    """Return the words that tell a user how to put aside their own work on one file of HEAD."""
    if isinstance(state, Blocked):
        return "or move away what is at this path"
    if state is None and not index_at(repo.git, [path]):
        # The path is neither in the index nor in the tree, so a stash of it alone finds nothing.
        return f"to take the removal back: git restore --staged --worktree -- {pathspec(path)}"
    return to_stash(path)
