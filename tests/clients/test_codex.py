"""Codex with the guard's entry in the user's hooks, while a session of it plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.place.level import level
from tests.clients.real_clients import Codex
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from tests.clients.conftest import Repositories
    from tests.clients.scripted_model import Call
    from tests.journey import Journey

pytestmark = [pytest.mark.slow, pytest.mark.requirement("PM-4")]


@pytest.fixture
def codex(run: Journey) -> Codex:
    """Codex in the repository, which plans: no session can be named before it begins."""
    found = Codex("codex-0.169.0", run.repository.path)
    run.to("code")
    return found


def shell(command: str) -> Call:
    return "exec_command", {"cmd": command}


def patch(path: str, text: str) -> Call:
    lines = ["*** Begin Patch", f"*** Add File: {path}", f"+{text}", "*** End Patch"]
    return shell("apply_patch <<'EOF'\n{}\nEOF".format("\n".join(lines)))


def test_calls_that_write_are_denied_and_the_model_reads_why(codex: Codex, run: Journey) -> None:
    before = run.repository.git("status", "--porcelain")
    tried = [
        shell("touch new.py"),
        shell("echo x > new.py"),
        patch("new.py", "x"),
        patch(f"{run.repository.path}/new.py", "x"),
        patch(f"{run.state_dir}/qr-x.json", "x"),
        shell(f"{LAUNCHER} cancel"),
        shell(f"{LAUNCHER} mode approve {'0' * 64}"),
        shell(f"{LAUNCHER} undo"),
        shell(f"{LAUNCHER} demo --keep kept"),
    ]
    played = codex.play(tried)
    assert len(played.results) == len(tried), played
    assert all("Planning mode (gathering): " in r.text for r in played.results), played.results
    assert run.repository.git("status", "--porcelain") == before


@pytest.mark.requirement("PP-5")
@pytest.mark.usefixtures("run", "codex")
def test_a_persons_command_is_denied_in_another_repository_too(make_repo: Repositories) -> None:
    elsewhere = Codex("codex-0.169.0", make_repo("elsewhere").path)
    played = elsewhere.play([shell(f"{LAUNCHER} mode approve {'0' * 64}")])
    assert "A session of this user plans: only a person may run" in played.only.text


def test_reading_hardened_git_our_commands_answers_and_the_worktree_pass(
    codex: Codex, run: Journey
) -> None:
    played = codex.play(
        [
            shell("cat README.md"),
            shell("git log --oneline -1"),
            shell(f"{LAUNCHER} ro -- git log --oneline -1"),
            shell(f"{LAUNCHER} step planner --state-dir {run.state_dir}"),
            patch(f"{run.state_dir}/answers/notes.md", "noted"),
            patch(f"{run.state_dir}/worktree/new.py", "made = 1"),
        ]
    )
    read, plain, hardened, step, *_ = played.results
    assert "adds one" in read.text
    named = "--file " if level(str(run.repository.path)).holds else "-- git log --oneline -1"
    assert f"{LAUNCHER} ro {named}" in plain.text
    assert run.repository.git("rev-parse", "--short", "HEAD") in hardened.text
    assert '<step workflow="planner"' in step.text
    with open(f"{run.state_dir}/answers/notes.md", encoding="utf-8") as file:
        assert file.read() == "noted\n"
    with open(f"{run.state_dir}/worktree/new.py", encoding="utf-8") as file:
        assert file.read() == "made = 1\n"


@pytest.mark.requirement("PM-10")
def test_the_model_is_told_in_which_stage_it_is(codex: Codex) -> None:
    played = codex.play(["done"])
    assert any('<planning_mode stage="gathering">' in text for text in played.heard)


def test_a_guard_that_cannot_start_denies(codex: Codex, run: Journey) -> None:
    codex.more = {"PLANNER_PYTHON": "/nowhere/python"}
    played = codex.play([shell("touch new.py")])
    assert "the guard could not be started" in played.only.text
    assert not (run.repository.path / "new.py").exists()


@pytest.mark.requirement("PP-6")
def test_a_guard_that_is_stopped_denies(codex: Codex, run: Journey, stopped: str) -> None:
    codex.more = {"PLANNER_PYTHON": stopped}
    played = codex.play([shell("touch made")])
    assert "the guard did not decide within 3 s, so nothing was run" in played.only.text
    assert not (run.repository.path / "made").exists()


@pytest.mark.requirement("PM-13")
def test_a_command_that_codex_runs_cannot_approve(codex: Codex, run: Journey) -> None:
    """Not even where no hook is: its commands are known by what it sets in them."""
    run.to("submitted")
    digest = run.last.person().split()[2]
    played = codex.play([shell(f"{LAUNCHER} mode approve {digest}")], hooks=False)
    assert "an assistant runs this" in played.only.text
