"""An apply that was killed halfway, and what the user commits then: printed ways lead to an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared import resources
from shared.git.journal import journal_state
from tests.forms import part
from tests.journey import FILES, Journey
from tests.kills import Kept, first_moment, moments_of
from tests.ways_out import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

MARK = "# mine, 3e9b\n"
WRITTEN, NOT_YET = "src/a.py", "tests/test_a.py"


def commit_edit(name: str) -> Callable[[Repository], None]:
    """Return a deed of the user: a line of their own in a planned file, committed with all else."""

    def deed(project: Repository) -> None:
        project.write(name, MARK + (project.path / name).read_text())
        project.commit(message="Mine")

    return deed


def commit_removal(project: Repository) -> None:
    (project.path / WRITTEN).unlink()
    project.write("README.md", MARK)
    project.commit(message="Mine")


def commit_one_and_edit_the_other(project: Repository) -> None:
    commit_edit(WRITTEN)(project)
    project.write(NOT_YET, MARK + (project.path / NOT_YET).read_text())


def commit_what_is_there(project: Repository) -> None:
    project.write("README.md", MARK)
    project.commit(message="Mine")


DEEDS: dict[str, Callable[[Repository], None]] = {
    "an edit of what was written": commit_edit(WRITTEN),
    "an edit of what was not yet written": commit_edit(NOT_YET),
    "the removal of what was written": commit_removal,
    "an edit of one and none of the other": commit_one_and_edit_the_other,
    "what was written": commit_what_is_there,
}


def half_applied(journey: Journey) -> None:
    """Kill `exec apply` when it has written one of the two planned files."""
    project = journey.repository
    kept, words = Kept(project), ("exec", "apply", "--state-dir", journey.state_dir)
    moments = moments_of(project.path, *words)

    def changed() -> list[str]:
        return project.git("status", "--porcelain").split()[1::2]

    first_moment(kept, words, moments, lambda: WRITTEN in changed())
    assert changed() == [WRITTEN]
    assert journal_state(resources.journal_path(journey.state_dir)) == "applying"


@pytest.mark.requirement("PL-31")
def test_whatever_the_user_commits_after_an_interrupted_apply_nothing_needs_hand_work(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("approved")
    project, block, planned = journey.repository, journey.last, dict(journey.edits)
    half_applied(journey)
    kept = Kept(project)
    for name in part([*DEEDS], 4):
        kept.restore()
        DEEDS[name](project)
        journey.last = block
        # What a developer makes of the plan and of what the user has committed.
        journey.edits = {file: f"{content!s}# both\n" for file, content in planned.items()}
        walk = Walk(journey)
        walk.go_on()
        walk.to_the_end()
        mine = project.git("log", "--all", "--patch", "-m") + project.git(
            "stash", "list", "--patch"
        )
        assert MARK.strip() in mine, name
        assert walk.status()["status"] == "COMPLETED", (name, walk.taken)
