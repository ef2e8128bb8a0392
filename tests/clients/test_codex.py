"""Codex with the guard's entry in the user's hooks, while a session of it plans."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.place.level import level
from tests.clients.bot import CODE_MODE, Tools
from tests.clients.real_clients import Codex
from tests.clients.scripted_model import TASK
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from tests.clients.conftest import Repositories
    from tests.clients.scripted_model import Call
    from tests.journey import Journey

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PM-4")]


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


@pytest.mark.smoke
def test_calls_that_write_are_denied_and_the_model_reads_why(codex: Codex, run: Journey) -> None:
    before = run.repository.git("status", "--porcelain")
    tried = [
        shell("touch new.py"),
        shell("echo x > new.py"),
        patch("new.py", "x"),
        patch(f"{run.repository.path}/new.py", "x"),
        patch(f"{run.state_dir}/qr-x.json", "x"),
        shell(f"{LAUNCHER} cancel"),
        shell(f"{LAUNCHER} approve {'0' * 64}"),
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
    played = elsewhere.play([shell(f"{LAUNCHER} approve {'0' * 64}")])
    assert "A session of this user plans: only a person may run" in played.only.text


@pytest.fixture
def own(codex: Codex) -> Codex:
    """Codex with a model of its own, which writes scripts that call the tools."""
    codex.model = codex.OWN
    return codex


TOOLS = Tools(CODE_MODE)
TOLD = {"task_name": "a", "message": f"{TASK}try it", "fork_turns": "none"}
AGENT: Call = ("collaboration.spawn_agent", TOLD)
WAIT: Call = ("collaboration.wait_agent", {"timeout_ms": 60_000})


def attempts(run: Journey) -> list[Call]:
    """Return calls of code mode that have to be denied."""
    new = f"{run.repository.path}/new.py"
    writes = [TOOLS.write(path, "x\n") for path in (new, "new.py", f"{run.state_dir}/qr-x.json")]
    runs = [TOOLS.shell(text) for text in ("touch new.py", f"{LAUNCHER} approve {'0' * 64}")]
    return [*writes, *runs]


def test_scripts_of_its_own_models_cannot_write_and_read_why(own: Codex, run: Journey) -> None:
    before = run.repository.git("status", "--porcelain")
    tried = attempts(run)
    played = own.play(tried)
    assert len(played.results) == len(tried), played
    assert all("Planning mode (gathering): " in r.text for r in played.results), played.results
    assert run.repository.git("status", "--porcelain") == before


def test_calls_of_a_sub_agent_that_write_are_denied(own: Codex, run: Journey) -> None:
    tried = attempts(run)
    played = own.play([AGENT, WAIT, "done"], sub=tried)
    below = [r for r in played.results if r.agent]
    assert len(below) == len(tried), played
    assert all("Planning mode (gathering): " in r.text for r in below), below
    assert not (run.repository.path / "new.py").exists()


def test_patches_of_answers_and_the_worktree_pass_by_relative_paths_too(
    own: Codex, run: Journey
) -> None:
    root, home = str(run.repository.path), run.state_dir
    paths = [os.path.relpath(f"{home}/answers/notes.md", root), f"{home}/worktree/new.py"]
    played = own.play([TOOLS.write(path, "made = 1\n") for path in paths])
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            assert file.read() == "made = 1\n", played.results


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


@pytest.mark.smoke
@pytest.mark.requirement("PM-13")
def test_a_command_that_codex_runs_cannot_approve(codex: Codex, run: Journey) -> None:
    """Not even where no hook is: its commands are known by what it sets in them."""
    run.to("submitted")
    digest = run.last.person().split()[2]
    played = codex.play([shell(f"{LAUNCHER} approve {digest}")], hooks=False)
    assert "an assistant runs this" in played.only.text
