"""The user's `.git` or a folder of the run is moved or replaced: nothing outside is touched."""

from __future__ import annotations

import os
import shutil
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.forms import part
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

POINTS = ["design", "code", "submitted", "approved", "applied"]
PLACES = ["fingerprint", "vault.git", "apply", "verify", "answers", "milestones", "plan.json"]


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, without those of the planner."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and ".planner" not in path.parts
    }


def finish(journey: Journey) -> None:
    journey.to("committed")
    git = journey.repository.git
    assert journey.last.block.get("commit") == git("rev-parse", "HEAD"), journey.last.text
    assert git("status", "--porcelain") == ""


def refused(journey: Journey) -> str:
    """Do what is next, be refused, and stand where it was before."""
    block = journey.last
    journey.advance()
    answer, journey.last = journey.last, block
    assert answer.code == 1, answer
    assert answer.stderr == ""
    return answer.text


@pytest.fixture
def inner(make_repo: Callable[..., Repository]) -> Repository:
    """Return a repository inside another one, with the outer one not ignoring it."""
    make_repo("outer", {"a.txt": "outer\n"})
    return make_repo("outer/project", FILES)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("point", part(POINTS, 3))
def test_where_git_is_moved_away_the_repository_around_it_is_not_taken(
    inner: Repository, point: str
) -> None:
    journey = Journey(inner).to(point)
    outer = inner.path.parent
    inner.path.joinpath(".git").rename(outer.parent / "away")
    before = everything(outer)
    # A short approval names no run, so it looks for its plan in the repository around.
    missing = f"in {outer} no plan" if point == "submitted" else ".git"
    assert missing in refused(journey)
    assert everything(outer) == before
    (outer.parent / "away").rename(inner.path / ".git")
    finish(journey)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("point", part(POINTS, 3))
def test_a_git_folder_that_moved_and_left_a_file_is_followed(
    make_repo: Callable[..., Repository], point: str
) -> None:
    """As `git init --separate-git-dir` does it."""
    project = make_repo("project", FILES)
    journey = Journey(project).to(point)
    journey.repository.git("init", "--quiet", f"--separate-git-dir={project.path.parent}/elsewhere")
    assert (project.path / ".git").is_file()
    if point == "code":
        journey.edit_worktree(journey.edits)
        journey.edits = {}
    finish(journey)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("point", part(POINTS, 3))
def test_another_repository_in_its_place_is_not_written_to(
    make_repo: Callable[..., Repository], point: str
) -> None:
    project, other = make_repo("project", FILES), make_repo("other", {"b.txt": "b\n"})
    journey = Journey(project).to(point)
    (project.path / ".git").rename(project.path.parent / "own")
    shutil.copytree(other.path / ".git", project.path / ".git")
    refs = project.git("for-each-ref")
    files = {n: d for n, d in everything(project.path).items() if not n.startswith(".git/")}
    refused(journey)
    assert project.git("for-each-ref") == refs
    now = {n: d for n, d in everything(project.path).items() if not n.startswith(".git/")}
    assert now == files
    shutil.rmtree(project.path / ".git")
    (project.path.parent / "own").rename(project.path / ".git")
    finish(journey)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("name", [".planner", ".planner/runs"])
def test_a_link_on_the_way_to_a_run_is_refused_and_putting_it_back_leads_on(
    make_repo: Callable[..., Repository], name: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    place, aside = journey.repository.path / name, journey.repository.path.with_name("aside")
    place.rename(aside)
    place.symlink_to(aside)
    answer = refused(journey)
    assert f'at="{place}"' in answer
    assert "symbolic link" in answer
    place.unlink()
    aside.rename(place)
    finish(journey)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize(("point", "name"), part([*product(["code", "approved"], PLACES)], 4))
def test_a_link_in_place_of_a_run_s_folder_is_refused_and_not_followed(
    make_repo: Callable[..., Repository], point: str, name: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to(point)
    project, place = journey.repository.path, Path(journey.state_dir, name)
    aside = place.with_name(f"{name}-aside")
    if place.exists():
        place.rename(aside)
    place.symlink_to(project / ".git" if name != "plan.json" else project / "README.md")
    before = everything(project)
    journey.write_answers = lambda: None  # type: ignore[method-assign]  # nothing is written here
    assert "symbolic link" in refused(journey)
    assert everything(project) == before
    place.unlink()
    if aside.exists():
        os.rename(aside, place)
    del journey.write_answers
    finish(journey)
