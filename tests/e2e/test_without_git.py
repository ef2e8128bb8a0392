"""A folder that is in no git repository: intents first, changes known by hashes, no commit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.git import private
from shared.run import open_state
from tests.conftest import Repository
from tests.journey import FILES, VERIFIED, Answer, Journey, call, way_out, words_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-35")


class Begun(Journey):
    """A run that begins at depth intent."""

    def start(self, *options: str) -> Answer:
        return super().start(*options, "--depth", "intent")


@pytest.fixture
def journey(tmp_path: Path) -> Journey:
    """Return a run in a plain folder; its files are those of the other tests."""
    plain = Repository(tmp_path / "a project")
    plain.path.mkdir()
    for name, text in {**FILES, "planner.toml": VERIFIED}.items():
        plain.write(name, text)
    return Begun(plain)


def texts(journey: Journey) -> dict[str, str]:
    """Return the files of the user."""
    root = journey.repository.path
    found = (p for p in root.rglob("*") if p.is_file())
    names = {p.relative_to(root): p for p in found}
    return {str(n): p.read_text() for n, p in names.items() if n.parts[0] != ".planner"}


def refusal(answer: Answer) -> str:
    """Return the text of a refused command."""
    assert answer.code == 1, answer.text
    return "\n".join(f"{p.get('at')} {p.text}" for p in answer.block.iter("problem"))


@pytest.mark.quick
def test_a_plan_is_approved_applied_and_compared_and_nothing_is_committed(
    journey: Journey,
) -> None:
    before = texts(journey)
    said = journey.start().text
    assert "no git repository" in said
    assert "nothing is committed" in said
    journey.last = Answer(0, said)
    assert "nothing is committed" in journey.to("submitted").last.data("summary")
    journey.to("writing")
    assert texts(journey) == before
    journey.to("submitted").to("committed")
    assert "Nothing is committed" in journey.last.text
    assert "src/a.py" in journey.last.data("proof")
    assert texts(journey) == {**before, **journey.edits}
    assert not (journey.repository.path / ".git").exists()
    run = open_state(journey.state_dir, "/").run
    assert (run.status, run.stage, run.commit_id) == ("COMPLETED", "inactive", None)
    assert journey.planner("exec", "run").text == journey.last.text
    on_branch = journey.planner("exec", "run", "--branch", "work")
    assert "makes no commit of its own that could be on a branch" in on_branch.problems[0][1]
    assert journey.planner("exec", "commit").text == journey.last.text
    undone = journey.planner("undo")
    assert undone.data("taken back").split() == sorted(journey.edits)
    assert undone.block.find("next") is None
    assert texts(journey) == before


def test_bytes_cannot_be_approved_first_and_the_printed_way_out_works(journey: Journey) -> None:
    path = journey.repository.path
    refused = call(path, "start", "Make f add two", "--depth", "full")
    assert "without git only intents" in refusal(refused)
    assert not (path / ".planner").exists()
    way = way_out(refusal(refused))
    answer = call("/", *words_of(way))
    assert answer.code == 0, answer.text
    assert open_state(answer.block.get("state_dir"), "/").run.depth == "intent"
    again = call(path, "start", "Make f add two", "--depth", "full")
    assert "without git only intents" in refusal(again)


def test_without_a_choice_of_depth_it_is_intent(journey: Journey) -> None:
    answer = call(journey.repository.path, "start", "Make f add two", "--review", "none")
    state = open_state(answer.block.get("state_dir"), "/")
    assert (state.run.depth, state.run.stage) == ("intent", "gathering")


def test_a_changed_file_is_noticed_by_its_hash_before_the_next_gate(journey: Journey) -> None:
    journey.to("design")
    readme = journey.repository.path / "README.md"
    was = readme.stat()
    readme.write_text("# Sample\n\n`f` adds ten.\n")
    os.utime(readme, ns=(was.st_atime_ns, was.st_mtime_ns))
    journey.write_answers()
    command = words_of(journey.last.next("done"))
    assert "README.md (changed)" in refusal(call("/", *command))
    assert journey.planner("mode", "rebase").code == 0
    journey.to("submitted").to("writing").to("submitted").to("committed")
    assert "adds ten" in texts(journey)["README.md"]


def test_a_planned_file_that_changed_is_not_overwritten(journey: Journey) -> None:
    journey.to("writing").to("approved")
    file = journey.repository.path / "src" / "a.py"
    before = file.read_text()
    file.write_text("def f(x):\n    return x\n")
    assert "src/a.py" in refusal(journey.planner("exec", "run"))
    assert file.read_text() == "def f(x):\n    return x\n"
    file.write_text(before)
    journey.repository.write("elsewhere.txt", "mine\n")
    assert journey.planner("exec", "run").data("proof")
    assert texts(journey)["elsewhere.txt"] == "mine\n"


def test_after_the_apply_a_changed_file_keeps_the_run_open(journey: Journey) -> None:
    journey.to("writing").to("submitted").to("applied")
    assert "nothing is committed" in journey.last.text
    file = journey.repository.path / "src" / "a.py"
    applied = file.read_text()
    file.write_text("1\n")
    assert "src/a.py" in refusal(journey.planner("exec", "run"))
    file.write_text(applied)
    assert journey.planner("exec", "run").data("proof")
    file.write_text("1\n")
    assert "the run has ended: nothing is left to do" in refusal(journey.planner("exec", "commit"))


def test_the_next_plan_starts_from_what_the_folder_holds_then(journey: Journey) -> None:
    journey.to("submitted").to("writing").to("submitted").to("committed")
    journey.repository.write("src/new.py", "NEW = 1\n")
    second = call(journey.repository.path / "src", "start", "Another thing", "--depth", "intent")
    worktree = f"{second.block.get('state_dir')}/worktree"
    with open(f"{worktree}/src/a.py", encoding="utf-8") as file:
        assert file.read() == journey.edits["src/a.py"]
    assert os.path.exists(f"{worktree}/src/new.py")


def test_secrets_and_installed_packages_are_not_kept(journey: Journey) -> None:
    for name in (".env", "conf[1]/id_rsa", "node_modules/x/index.js"):
        journey.repository.write(name, "secret\n")
    journey.to("design")
    for name in (".env", "conf[1]/id_rsa", "node_modules"):
        assert not os.path.exists(f"{journey.state_dir}/worktree/{name}")
    assert os.path.exists(f"{journey.state_dir}/worktree/src/a.py")


def test_a_folder_that_is_no_project_is_refused_and_nothing_is_left(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journey.repository.path

    def start() -> str:
        return refusal(call(path, "start", "Do it", "--depth", "intent"))

    monkeypatch.setattr(private, "MOST_FILES", 3)
    assert "more than 3 files" in start()
    monkeypatch.undo()
    inner = Repository(path / "inner")
    inner.path.mkdir()
    inner.git("init", "--quiet")
    assert "git repository inside" in start()
    (inner.path / ".git").rename(path.parent / "moved")
    monkeypatch.setenv("HOME", str(path))
    assert "all your files" in start()
    assert not (path / ".planner").exists()


def test_a_state_directory_among_the_files_is_refused(journey: Journey) -> None:
    path = journey.repository.path
    words = ("start", "Do it", "--depth", "intent", "--state-dir")
    assert "among the files" in refusal(call(path, *words, str(path / "runs" / "one")))
    elsewhere = path.parent / "one"
    assert call(path, *words, str(elsewhere)).block.get("state_dir") == str(elsewhere)


def test_a_damaged_repository_is_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert "not inside a git repository" in refusal(call(tmp_path, "start", "Do it"))
    assert not (tmp_path / ".planner").exists()


@pytest.mark.requirement("SD-7", "PL-35")
def test_a_status_names_no_commit_where_there_is_no_git(journey: Journey) -> None:
    shown = journey.to("submitted").planner("status").data("status")
    assert "waits for you" in shown
    assert "made against" not in shown
