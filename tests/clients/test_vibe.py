"""Mistral vibe with the guard's entry in the user's hooks, while its repository plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.real_clients import Vibe
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from tests.clients.conftest import Repositories
    from tests.clients.scripted_model import Call
    from tests.journey import Journey

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PM-4")]

# What an allowlist names takes the place of vibe's own, in which `git log` stands.
OURS = f'[tools.bash]\nallowlist = ["{LAUNCHER}", "false", "git log"]\n'


@pytest.fixture
def vibe(run: Journey) -> Vibe:
    """Vibe in the repository; its commands know no session, so the repository plans."""
    found = Vibe("vibe-3.0.2", run.repository.path)
    run.to("code")
    return found


def bash(command: str) -> Call:
    return "bash", {"command": command}


def attempts(run: Journey) -> list[Call]:
    """Return calls that have to be denied."""
    return [
        ("write_file", {"path": "new.py", "content": "x"}),
        ("write_file", {"path": f"{run.state_dir}/plan.json", "content": "x"}),
        ("edit", {"file_path": "README.md", "old_string": "adds", "new_string": "x"}),
        bash("touch new.py"),
        bash(f"{LAUNCHER} cancel"),
        bash(f"{LAUNCHER} approve {'0' * 64}"),
        bash(f"{LAUNCHER} undo"),
        bash(f"{LAUNCHER} demo --keep kept"),
    ]


@pytest.mark.smoke("vibe", "is denied")
def test_calls_that_write_are_denied_and_the_model_reads_why(vibe: Vibe, run: Journey) -> None:
    before = run.repository.git("status", "--porcelain")
    tried = attempts(run)
    played = vibe.play(tried, "--auto-approve")
    assert len(played.results) == len(tried), played
    assert all("Planning mode (gathering): " in r.text for r in played.results), played.results
    assert run.repository.git("status", "--porcelain") == before


@pytest.mark.requirement("PP-5")
@pytest.mark.usefixtures("run", "vibe")
def test_a_persons_command_is_denied_in_another_repository_too(make_repo: Repositories) -> None:
    elsewhere = Vibe("vibe-3.0.2", make_repo("elsewhere").path)
    played = elsewhere.play([bash(f"{LAUNCHER} approve {'0' * 64}")], "--auto-approve")
    assert "A session of this user plans: only a person may run" in played.only.text


def test_a_script_of_the_model_is_denied_too(vibe: Vibe, run: Journey) -> None:
    """There vibe tells the model that the call was skipped, and leaves the reason out."""
    script = "return await tools.file_system.bash({command: 'touch new.py'})"
    played = vibe.play([("run_typescript", {"code": script})], "--auto-approve")
    assert "tool_skipped" in played.only.text
    assert not (run.repository.path / "new.py").exists()


def test_calls_of_a_sub_agent_that_write_are_denied(vibe: Vibe, run: Journey) -> None:
    script = """
        const agent = await tools.agents.spawn({name: "helper", message: "sub-agent: try it"});
        return agent
    """
    played = vibe.play(
        [("run_typescript", {"code": script}), ("wait", {}), "done"], "--auto-approve",
        sub=[bash("touch new.py"), ("write_file", {"path": "new.py", "content": "x"})],
    )  # fmt: skip
    below = [r for r in played.results if r.agent]
    assert len(below) == 2, played
    assert all("Planning mode (gathering): " in r.text for r in below), below
    assert not (run.repository.path / "new.py").exists()


def test_reading_git_our_commands_answers_and_the_worktree_pass(vibe: Vibe, run: Journey) -> None:
    source = f"{run.state_dir}/worktree/src/a.py"
    played = vibe.play(
        [
            ("read_file", {"path": "README.md"}),
            bash("git log --oneline -1"),
            bash(f"{LAUNCHER} step planner --state-dir {run.state_dir}"),
            ("write_file", {"path": f"{run.state_dir}/answers/notes.md", "content": "noted"}),
            ("edit", {"file_path": source, "old_string": "x + 1", "new_string": "x + 2"}),
        ],
        settings=OURS,
    )
    head = run.repository.git("rev-parse", "--short", "HEAD")
    assert head in played.results[1].text, played.results[1]
    assert '<step workflow=\\"planner\\"' in played.results[2].text
    with open(f"{run.state_dir}/answers/notes.md", encoding="utf-8") as file:
        assert file.read() == "noted"
    with open(source, encoding="utf-8") as file:
        assert "x + 2" in file.read()


def test_the_users_own_rules_hold(vibe: Vibe) -> None:
    played = vibe.play(
        [
            bash("cat private/key.txt"), bash("ls src && cat README.md"),
            bash("wc -l README.md | cat"), bash("wc -l README.md | head -1"),
        ],
        settings=f'{OURS}denylist = ["cat"]\n',
    )  # fmt: skip
    *denied, passed = played.results
    assert all("denylist" in result.text for result in denied), denied
    assert "README.md" in passed.text
    assert "denylist" not in passed.text


def test_a_guard_that_cannot_start_denies(vibe: Vibe, run: Journey) -> None:
    vibe.more = {"PLANNER_PYTHON": "/nowhere/python"}
    played = vibe.play([("write_file", {"path": "new.py", "content": "x"})], "--auto-approve")
    assert "the guard could not be started" in played.only.text
    assert not (run.repository.path / "new.py").exists()


@pytest.mark.requirement("PP-6")
def test_a_guard_that_is_stopped_denies(vibe: Vibe, run: Journey, stopped: str) -> None:
    vibe.more = {"PLANNER_PYTHON": stopped}
    played = vibe.play([bash("touch made")], "--auto-approve")
    assert "the guard did not decide within 3 s, so nothing was run" in played.only.text
    assert not (run.repository.path / "made").exists()


@pytest.mark.smoke("vibe", "cannot approve")
@pytest.mark.requirement("PM-13")
def test_a_command_that_vibe_runs_cannot_approve(vibe: Vibe, run: Journey) -> None:
    """Not even where no hook is: its commands are known by what it sets in them."""
    run.to("submitted")
    digest = run.last.person().split()[2]
    played = vibe.play([bash(f"{LAUNCHER} approve {digest}")], "--auto-approve", hooks=False)
    assert "an assistant runs this" in played.only.text
