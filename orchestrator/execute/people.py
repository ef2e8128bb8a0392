"""Who is approved to make a plan's commit, and how the commits that hold it differ (CM-4)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared import approval
from shared.git.history import stored_in
from shared.git.people import people_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.git.people import People
    from shared.git.repository import Repository
    from shared.run import State


def approved_people(state: State, repository: Repository) -> People | None:
    """Return who is approved to make the run's commit, None if the approval does not say it.

    Where it was given on another machine, it is who git names on this one.
    """
    if not os.path.isfile(approval.path_in(state.state_dir)):
        return None
    given = approval.of_run(state.state_dir)
    if given.digest != state.run.digest:
        return None
    is_sent = approval.is_sent(state.database, state.run)
    return people_here(repository) if is_sent else given.people


def other_people(state: State, repository: Repository, commits: Iterable[str]) -> list[str]:
    """Return in words how people and signatures of commits that are there are not as approved."""
    is_sent = approval.is_sent(state.database, state.run)
    given = None if is_sent else approved_people(state, repository)
    if given is None:
        return []
    made = [stored_in(repository.git, commit) for commit in commits]
    texts = [f"{s.commit[:12]} {t}" for s in made for t in given.differences(s).values()]
    return list(dict.fromkeys(texts))


def proved_or_not(others: Sequence[str]) -> str:
    """Return how a proof of the files begins, by what `other_people` says of the commits."""
    return f"NOT PROVED as a whole: {'; '.join(others)}. Of the files" if others else "Proved"
