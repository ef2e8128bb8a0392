"""A run is started once for a request, and found again."""

from __future__ import annotations

import contextlib
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from orchestrator.run.choices import Choices
from orchestrator.run.start import render_start, start_run
from shared.resources import plan_path
from state.database import Database
from state.errors import Refused
from state.files import read_json
from tests.journey import FILES, REQUEST, Journey, call, parsed, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_without_a_request_the_user_is_asked_and_nothing_is_made(repo: Repository) -> None:
    started = start_run(str(repo.path), " ", None)
    assert started.state is None
    assert parsed(render_start(started)).find("ask") is not None
    assert not (repo.path / ".planner").exists()


@pytest.mark.requirement("PL-1")
def test_the_same_words_find_the_same_run_and_others_start_another(repo: Repository) -> None:
    first, again = (start_run(str(repo.path), REQUEST, None).state for _ in range(2))
    other = start_run(str(repo.path), "Something else", None).state
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.run.run_id == again.run.run_id != other.run.run_id
    assert [r.status for r in first.database.runs()] == ["ACTIVE", "ACTIVE"]


@pytest.mark.requirement("PL-32")
def test_uncommitted_work_leaves_the_base_open_until_it_is_chosen(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    repository.write("src/a.py", "changed\n")
    started = start_run(str(repository.path), REQUEST, None)
    assert started.state is not None
    assert (started.uncommitted, started.state.run.status) == (("src/a.py",), "IDLE")
    assert not os.path.exists(started.state.worktree)
    chosen = start_run("/", None, started.state.state_dir, Choices(base="head"))
    assert chosen.uncommitted == ()
    assert chosen.state is not None
    assert (chosen.state.run.status, chosen.state.run.stage) == ("ACTIVE", "gathering")
    assert os.path.isdir(chosen.state.worktree)


@pytest.mark.requirement("PL-20")
def test_the_draft_says_the_depth_that_was_chosen_last(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start("--depth", "intent")
    assert read_json(plan_path(journey.state_dir))["depth"] == "intent"
    journey.planner("start", journey.request, "--depth", "full")
    assert read_json(plan_path(journey.state_dir))["depth"] == "full"


def test_the_depth_is_not_changed_after_the_design_is_decided(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    with pytest.raises(Refused, match="the depth is full"):
        start_run("/", None, journey.state_dir, Choices(depth="intent"))


# A refused start leaves nothing


def everything(repository: Repository) -> list[str]:
    """Return all paths around the repository, git's record of worktrees among them."""
    found = sorted(str(p) for p in repository.path.parent.rglob("*") if "objects" not in p.parts)
    return [*found, repository.git("worktree", "list")]


@pytest.mark.requirement("PP-5")
@pytest.mark.parametrize("options", [{}, {"state_dir": "out/x"}, {"state_dir": "repo/src/y"}])
def test_a_start_with_broken_settings_leaves_nothing(
    make_repo: Repositories, options: dict[str, str]
) -> None:
    repository = make_repo(files={**FILES, "planner.toml": "[verify]\ncommands = 3\n"})
    before = everything(repository)
    given = {n: str(repository.path.parent / v) for n, v in options.items()}
    with pytest.raises(Refused, match="is not a list"):
        start_run(str(repository.path), REQUEST, given.get("state_dir"))
    assert everything(repository) == before


@pytest.mark.requirement("PP-5")
def test_a_start_that_is_refused_late_leaves_nothing(
    make_repo: Repositories, tmp_path: Path
) -> None:
    """A snapshot's settings are read when it is made, after the run's folder was."""
    repository = make_repo(files=FILES)
    repository.write("planner.toml", "[verify]\ncommands = 3\n")
    kept = tmp_path / "out"
    kept.mkdir()
    (kept / "lock").touch()  # of a start that was killed
    for place in (tmp_path / "new" / "x", kept):
        before = everything(repository)
        with pytest.raises(Refused, match="is not a list"):
            start_run(str(repository.path), REQUEST, str(place), Choices(base="snapshot"))
        assert everything(repository) == before
    with pytest.raises(Refused, match="is not a list"):
        start_run(str(repository.path), REQUEST, None, Choices(base="snapshot"))
    planner = repository.path / ".planner"
    assert list((planner / "runs").iterdir()) == []
    assert Database(str(planner / "planner.db")).runs() == []


@pytest.mark.requirement("PP-5")
@pytest.mark.parametrize("place", [".planner", ".planner/runs", ".planner/answers"])
@pytest.mark.parametrize("what", ["a link", "a file"])
def test_what_stands_in_place_of_our_folder_is_refused_and_not_written_to(
    make_repo: Repositories, tmp_path: Path, place: str, what: str
) -> None:
    repository = make_repo(files=FILES)
    outside, path = tmp_path / "outside", repository.path / place
    outside.mkdir()
    outside.joinpath(".gitignore").write_text("mine\n")
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine\n") if what == "a file" else path.symlink_to(outside)
    answer = call(repository.path, "start", "Add two", "--depth", "full")
    assert (answer.code, answer.problems[0][0]) == (1, "refused"), answer.text
    assert "move it away" in answer.text
    assert [p.read_text() for p in outside.iterdir()] == ["mine\n"]
    assert len(repository.git("worktree", "list").splitlines()) == 1
    path.unlink()
    assert call(repository.path, "start", "Add two", "--depth", "full").code == 0


def test_a_folder_with_files_of_the_user_becomes_no_state_directory(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files=FILES)
    words = ("start", "Add two", "--depth", "full", "--state-dir")
    answer = call(repository.path, *words, "src")
    assert answer.code == 1
    assert "holds files that are not the planner's, such as a.py" in answer.text
    assert repository.git("status", "--porcelain", "--ignored") == ""
    empty = repository.path.parent / "empty"
    empty.mkdir()
    assert call(repository.path, *words, str(empty)).code == 0


def test_a_run_that_was_asked_about_can_start_after_its_settings_are_fixed(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files={**FILES, "planner.toml": "[verify]\ncommands = 3\n"})
    repository.write("src/a.py", "changed\n")
    asked = start_run(str(repository.path), REQUEST, None).state
    assert asked is not None
    with pytest.raises(Refused, match="is not a list"):
        start_run("/", None, asked.state_dir, Choices(base="head"))
    repository.commit({"planner.toml": ""})
    state = start_run("/", None, asked.state_dir, Choices(base="head")).state
    assert state is not None
    assert state.run.status == "ACTIVE"


@pytest.mark.requirement("PP-5")
def test_a_session_that_plans_elsewhere_makes_nothing_and_is_told_where(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-1")
    journey = Journey(make_repo("first", FILES)).to("design")
    other = make_repo("other", FILES)
    before = everything(other)
    refused = [
        call(other.path, "start", "w"),
        call(other.path, "mode", "enter"),
        call(journey.repository.path, "start", "w", "--state-dir", str(tmp_path / "out")),
    ]
    for answer in refused:
        kind, text = answer.problems[0]
        assert kind == "conflict"
        assert f"in {journey.state_dir}" in text
        assert everything(other) == before
    end = way_out(text)
    assert call("/", *words_of(end)).code == 0
    assert call(other.path, "start", "w").code == 0


def detached(repo: Repository) -> None:
    repo.git("checkout", "-q", "--detach")


def in_a_merge(repo: Repository) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({"a.txt": "theirs\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"a.txt": "ours\n"})
    with contextlib.suppress(subprocess.CalledProcessError):
        repo.git("merge", "-q", "other")


def without_commits(repo: Repository) -> None:
    repo.git("update-ref", "-d", "HEAD")


@pytest.mark.requirement("ST-5", "RL-2")
@pytest.mark.parametrize("unfit", [detached, in_a_merge, without_commits])
def test_a_chat_is_held_wherever_head_is(
    make_repo: Repositories, unfit: Callable[[Repository], None]
) -> None:
    repo = make_repo(files=FILES)
    unfit(repo)
    refused = call(repo.path, "start", "Make f add two")
    assert refused.code == 1
    begun = call(repo.path, "start", "--chat", "What does f do?")
    assert (begun.code, begun.name) == (0, "strategy")
    assert begun.data("request") == "What does f do?"


@pytest.mark.requirement("PC-10")
def test_what_a_killed_first_start_left_unfinished_is_removed(repo: Repository) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = [
        repo.path / folder / f".{name}.{ended.pid}.planner-tmp"
        for folder, name in ((".planner", ".gitignore"), (".git/info", "exclude"))
    ]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text("*")
    assert start_run(str(repo.path), REQUEST, None).state is not None
    assert not any(path.exists() for path in left)
