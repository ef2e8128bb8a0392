"""A symbolic link in place of one of our SQLite files is refused by every command that opens it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import DATABASE, MEMORY
from state.database import Database
from state.recall_index import Memory
from tests.e2e.test_swapped_places import POINTS, everything, finish, refused
from tests.forms import part
from tests.journey import FILES, Answer, Journey, call
from tests.state.plans import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PL-32", "PL-11")

TAILS = ("", "-journal", "-wal", "-shm")
# What reads or writes the database of the repository that it is called in.
STARTS = (
    ("start", "Make f add two"), ("start", "--planning", "--codepath", "."),
    ("queue", "add", "Make f add two"),
)  # fmt: skip
COMMANDS = (
    ("status",), ("step", "planner"), ("mode", "enter", "--reason", "look"), ("mode", "status"),
    ("stats",), ("audit",), ("queue", "list"), ("prune", "--dry-run"), ("repair",),
    ("approve", "0" * 64), ("approve", "0" * 12), ("undo",), ("cancel",),
    ("requirements", "history"), ("requirements", "refine"),
)  # fmt: skip


def assert_refused(answer: Answer, place: Path) -> None:
    assert answer.code == 1, answer
    assert answer.stderr == ""
    (problem,) = answer.block.iter("problem")
    assert (problem.get("kind"), problem.get("at")) == ("refused", str(place))
    assert "is a symbolic link" in (problem.text or "")
    assert "allowed: move the link away" in (problem.text or "")


def all_files(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and not p.is_symlink()
    }


@pytest.mark.parametrize("to", ["empty", "src/new.py"], ids=["to a tracked file", "dangling"])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_database_that_the_repository_ships_as_a_link_is_refused(
    make_repo: Repositories, words: tuple[str, ...], to: str
) -> None:
    repository = make_repo(files={**FILES, "empty": ""})
    place = linked(repository, to)
    repository.git("add", "--force", ".planner")
    repository.commit()
    before = all_files(repository.path)
    assert_refused(call(repository.path, *words), place)
    assert all_files(repository.path) == before
    assert repository.git("status", "--porcelain") == ""


def linked(repository: Repository, to: str) -> Path:
    """Put a link to a path of the repository in the place of its database; return the place."""
    place = repository.path / ".planner" / DATABASE
    place.parent.mkdir()
    place.symlink_to(Path("..") / to)
    return place


@pytest.mark.parametrize("to", ["empty", "src/new.py"], ids=["to a tracked file", "dangling"])
@pytest.mark.parametrize("words", STARTS, ids=" ".join)
@pytest.mark.parametrize("shipped", [True, False])
def test_nothing_starts_on_a_database_that_is_a_link(
    make_repo: Repositories, words: tuple[str, ...], to: str, *, shipped: bool
) -> None:
    """A folder of ours that git tracks is refused whole, before anybody looks into it."""
    repository = make_repo(files={**FILES, "empty": ""})
    place = linked(repository, to)
    if shipped:
        repository.git("add", "--force", ".planner")
        repository.commit()
    before = all_files(repository.path)
    answer = call(repository.path, *words)
    if shipped:
        (problem,) = answer.block.iter("problem")
        assert (answer.code, problem.get("at")) == (1, ".planner")
        assert "git tracks files in it (1)" in (problem.text or "")
    else:
        assert_refused(answer, place)
    after = all_files(repository.path)
    after[".git/info/exclude"] = before[".git/info/exclude"]  # has our folder now
    assert after == before


@pytest.mark.parametrize("words", STARTS, ids=" ".join)
def test_a_database_that_the_repository_ships_is_refused_and_its_way_out_works(
    make_repo: Repositories, words: tuple[str, ...]
) -> None:
    """A clone would otherwise go on with runs, and approvals, of whoever committed them."""
    repository = make_repo(files=FILES)
    Journey(repository).to("submitted")
    repository.git("add", "--force", f".planner/{DATABASE}")
    repository.git("commit", "-q", "-m", "a run of somebody")
    before = (repository.path / ".planner" / DATABASE).read_bytes()
    answer = call(repository.path, *words)
    assert answer.code == 1, answer.text
    (problem,) = answer.block.iter("problem")
    assert problem.get("at") == ".planner", answer.text
    assert (repository.path / ".planner" / DATABASE).read_bytes() == before
    assert "user: git rm -r -q :/.planner" in (problem.text or "")
    repository.git("rm", "-r", "-q", ":/.planner")
    repository.git("commit", "-q", "-m", "no runs")
    assert call(repository.path, *words).code == 0


@pytest.mark.parametrize(
    "name", [*(f"{DATABASE}{tail}" for tail in TAILS[1:]), *(f"{MEMORY}{tail}" for tail in TAILS)]
)
def test_a_start_is_refused_where_a_file_beside_the_database_is_a_link(
    make_repo: Repositories, name: str
) -> None:
    repository = make_repo(files=FILES)
    place = repository.path / ".planner" / name
    place.parent.mkdir()
    place.symlink_to("../src/a.py")
    before = all_files(repository.path)
    assert_refused(call(repository.path, "start", "Make f add two"), place)
    assert all_files(repository.path) == before


@pytest.mark.parametrize(
    ("point", "tail"),
    part([*((point, "") for point in POINTS), *(("code", t) for t in TAILS[1:])], 3),
)
def test_a_link_put_in_place_of_the_database_during_a_run_is_refused(
    make_repo: Repositories, point: str, tail: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to(point)
    project = journey.repository.path
    place, aside = project / ".planner" / f"{DATABASE}{tail}", project.with_name("aside")
    if place.exists():
        place.rename(aside)
    else:
        aside.write_bytes(b"")
    place.symlink_to(aside)
    before, held = everything(project), aside.read_bytes()
    answer = refused(journey)
    assert f'at="{place}"' in answer
    assert "symbolic link" in answer
    assert (everything(project), aside.read_bytes()) == (before, held)
    place.unlink()
    if not tail:
        aside.rename(place)
    finish(journey)


@pytest.mark.parametrize("name", [".planner", ".planner/runs"])
def test_a_linked_folder_above_the_run_is_refused_where_no_command_names_the_run(
    make_repo: Repositories, name: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    project = journey.repository.path
    place, aside = project / name, project.with_name("aside")
    place.rename(aside)
    place.symlink_to(aside)
    before = all_files(aside)
    for words in (("status",), ("plan", "capture"), ("mode", "status"), ("pause",)):
        assert_refused(call(project, *words), place)
    # A person ends the session by its own file, so that nobody is held for ever (PP-10).
    assert "symbolic link" in call(project, "cancel").text
    assert all_files(aside) == before
    place.unlink()
    aside.rename(place)
    finish(journey)


@pytest.mark.parametrize("name", [DATABASE, f"{DATABASE}-journal", "lock", "plan.json"])
@pytest.mark.parametrize("is_there", [True, False], ids=["to a file", "dangling"])
def test_a_link_in_a_state_directory_elsewhere_is_refused_by_the_start(
    make_repo: Repositories, tmp_path: Path, name: str, *, is_there: bool
) -> None:
    repository, home = make_repo("project", FILES), tmp_path / "home"
    home.mkdir()
    (home / "answers").mkdir()
    place = home / name
    place.symlink_to(repository.path / ("src/a.py" if is_there else "src/new.py"))
    before = all_files(tmp_path)
    command = ("start", "Make f add two", "--state-dir", str(home))
    assert_refused(call(repository.path, *command), place)
    assert all_files(tmp_path) == before


@pytest.mark.parametrize("is_there", [True, False], ids=["to a file", "dangling"])
def test_a_link_put_in_place_of_a_database_elsewhere_during_a_run_is_refused(
    make_repo: Repositories, tmp_path: Path, *, is_there: bool
) -> None:
    home = tmp_path / "home"
    journey = Journey(make_repo("project", FILES))
    journey.start("--state-dir", str(home))
    journey.to("code")
    place, aside = home / DATABASE, tmp_path / "aside"
    place.rename(aside)
    place.symlink_to(aside if is_there else tmp_path / "gone")
    answer = refused(journey)
    assert f'at="{place}"' in answer
    assert "symbolic link" in answer
    assert not (tmp_path / "gone").exists()
    again = call(journey.repository.path, "start", "Make f add two", "--state-dir", str(home))
    assert_refused(again, place)
    assert not (tmp_path / "gone").exists()
    place.unlink()
    aside.rename(place)
    finish(journey)


def test_a_recall_does_not_write_its_index_through_a_link(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    repository = journey.repository
    place = repository.path / ".planner" / MEMORY
    place.unlink(missing_ok=True)
    for to in ("src/a.py", "src/new.py"):
        place.symlink_to(repository.path / to)
        assert_refused(call(repository.path, "recall", "two"), place)
        place.unlink()
    assert repository.git("status", "--porcelain") == ""
    assert call(repository.path, "recall", "two").code == 0


def test_doctor_says_what_to_do_about_a_link(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    place = repository.path / ".planner" / DATABASE
    place.parent.mkdir()
    for to in ("src/a.py", "src/new.py"):
        place.symlink_to(repository.path / to)
        said = call(repository.path, "doctor").text
        assert "is a symbolic link" in said
        assert "move the link away" in said
        place.unlink()
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("opened", [Database, Memory])
def test_a_link_is_refused_before_sqlite_sees_it(
    tmp_path: Path, opened: Callable[[str], object], tail: str
) -> None:
    path, aside = tmp_path / "it.db", tmp_path / "aside"
    if tail:
        path.write_bytes(b"")
    Path(f"{path}{tail}").symlink_to(aside)
    (problem,) = refusal(opened, str(path))
    assert problem.at == f"{path}{tail}"
    assert not aside.exists()
