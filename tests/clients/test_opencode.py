"""Opencode with the planner's plugin among the user's, while its repository plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.real_clients import Opencode
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from tests.clients.conftest import Repositories
    from tests.clients.scripted_model import Call
    from tests.journey import Journey

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PM-4", "HO-4")]

NAME = "opencode-1.18.33"
MADE = 'python3 -c \'open("made", "w")\''


@pytest.fixture
def opencode(run: Journey) -> Opencode:
    """Opencode in the repository; its commands know no session, so the repository plans."""
    found = Opencode(NAME, run.repository.path)
    found.add_hooks()
    run.to("code")
    return found


def bash(command: str, **more: str) -> Call:
    return "bash", {"command": command, "description": "x", **more}


@pytest.mark.smoke("opencode", "is denied")
def test_calls_that_write_are_denied_and_the_model_reads_why(
    opencode: Opencode, run: Journey
) -> None:
    before = run.repository.git("status", "--porcelain")
    repo = run.repository.path
    tried = [
        ("write", {"filePath": f"{repo}/new.py", "content": "x"}),
        ("write", {"filePath": f"{run.state_dir}/plan.json", "content": "x"}),
        ("edit", {"filePath": f"{repo}/README.md", "oldString": "adds", "newString": "x"}),
        bash("touch new.py"),
        bash("touch a.py", workdir=f"{repo}/src"),
        bash(f"{LAUNCHER} cancel"),
        bash(f"{LAUNCHER} approve {'0' * 64}"),
        bash(f"{LAUNCHER} undo"),
        bash(f"{LAUNCHER} demo --keep kept"),
    ]
    played = opencode.play(tried)
    assert len(played.results) == len(tried), played
    assert all("Planning mode (gathering): " in r.text for r in played.results), played.results
    assert run.repository.git("status", "--porcelain") == before


@pytest.mark.requirement("PP-5")
@pytest.mark.usefixtures("run", "opencode")
def test_a_persons_command_is_denied_in_another_repository_too(make_repo: Repositories) -> None:
    elsewhere = Opencode(NAME, make_repo("elsewhere").path)
    played = elsewhere.play([bash(f"{LAUNCHER} approve {'0' * 64}")])
    assert "A session of this user plans: only a person may run" in played.only.text


def test_calls_of_a_sub_agent_that_write_are_denied(opencode: Opencode, run: Journey) -> None:
    given = {"description": "try", "prompt": "sub-agent: try it", "subagent_type": "general"}
    played = opencode.play(
        [("task", given), "done"],
        sub=[
            bash("touch new.py"),
            ("write", {"filePath": f"{run.repository.path}/new.py", "content": "x"}),
        ],
    )
    below = [r for r in played.results if r.agent]
    assert len(below) == 2, played
    assert all("Planning mode (gathering): " in r.text for r in below), below
    assert not (run.repository.path / "new.py").exists()


def test_reading_any_text_our_commands_answers_and_the_worktree_pass(
    opencode: Opencode, run: Journey
) -> None:
    source = f"{run.state_dir}/worktree/src/a.py"
    played = opencode.play(
        [
            ("read", {"filePath": f"{run.repository.path}/README.md"}),
            ("grep", {"pattern": "adds", "path": "src"}),
            bash("for f in *; do echo $f; done; git log --oneline -1; " + MADE),
            bash(f"{LAUNCHER} step planner --state-dir {run.state_dir}"),
            ("write", {"filePath": f"{run.state_dir}/answers/notes.md", "content": "noted"}),
            ("read", {"filePath": source}),
            ("edit", {"filePath": source, "oldString": "x + 1", "newString": "x + 2"}),
        ]
    )
    read, _, text, step, *_ = played.results
    assert "adds one" in read.text
    assert "README.md" in text.text
    assert run.repository.git("rev-parse", "--short", "HEAD") in text.text
    assert not (run.repository.path / "made").exists()
    assert '<step workflow="planner"' in step.text
    with open(f"{run.state_dir}/answers/notes.md", encoding="utf-8") as file:
        assert file.read() == "noted"
    with open(source, encoding="utf-8") as file:
        assert "x + 2" in file.read()


@pytest.mark.requirement("PP-4")
def test_the_users_own_rules_hold(opencode: Opencode) -> None:
    rules = {"bash": {"*": "allow", "cat *": "deny"}}
    tried = [bash("cat private/key.txt"), bash("ls src && cat README.md"), bash("ls src")]
    *denied, passed = opencode.play(tried, permission=rules).results
    assert all("prevents you from using this" in result.text for result in denied), denied
    assert "a.py" in passed.text


def test_a_guard_that_cannot_start_denies(opencode: Opencode, run: Journey) -> None:
    opencode.more = {"PLANNER_PYTHON": "/nowhere/python"}
    played = opencode.play([bash("touch new.py")])
    assert "the guard could not be started" in played.only.text
    assert not (run.repository.path / "new.py").exists()


@pytest.mark.requirement("PP-6")
def test_a_guard_that_is_stopped_denies(opencode: Opencode, run: Journey, stopped: str) -> None:
    opencode.more = {"PLANNER_PYTHON": stopped}
    played = opencode.play([bash("touch made")])
    assert "the guard did not decide within 3 s, so nothing was run" in played.only.text
    assert not (run.repository.path / "made").exists()


@pytest.mark.smoke("opencode", "cannot approve")
@pytest.mark.requirement("PM-13")
def test_a_command_that_opencode_runs_cannot_approve(run: Journey) -> None:
    """Not even where no plugin is: its commands are known by what it sets in them."""
    run.to("submitted")
    digest = run.last.person().split()[2]
    unguarded = Opencode(NAME, run.repository.path)
    played = unguarded.play([bash(f"{LAUNCHER} approve {digest}")])
    assert "an assistant runs this" in played.only.text
