"""Prove a plan that the user has committed by hand: the same blobs, perhaps with other files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import ends
from shared.git.proof import compare_trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository

_SEARCHED = 50


class ByHand(NamedTuple):
    """The commit with which all of a plan is committed, and what was committed beside the plan.

    `parent` is the commit before the first that holds a part of the plan.
    """

    commit: str
    parent: str
    beside: tuple[str, ...]


def find_by_hand(repo: Repository, commit: str, changes: Sequence[Change]) -> ByHand | None:
    """Return how `commit` and the commits before it hold exactly the plan's blobs, or None.

    Between the parent and `commit` each planned path goes from `before` to `after`.
    """
    planned = ends(changes)
    log = repo.git.text("rev-list", "--first-parent", f"-n{_SEARCHED + 1}", commit, "--")
    for parent in log.split("\n")[1:]:
        found = compare_trees(repo, parent, commit)
        if planned and all(found.get(path) == end for path, end in planned.items()):
            return ByHand(commit, parent, tuple(sorted({*found} - {*planned})))
    return None
