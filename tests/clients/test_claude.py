"""Claude Code while a session of it plans: what is denied, what passes, what the model reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.place.turns import Turn
from tests.clients.conftest import OTHER
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from tests.clients.real_clients import Claude
    from tests.clients.scripted_model import Call
    from tests.journey import Journey

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PM-3", "PM-4")]


def bash(command: str) -> Call:
    return "Bash", {"command": command, "description": "try it"}


def agent(prompt: str) -> Call:
    given = {"description": "a task", "prompt": prompt, "subagent_type": "general-purpose"}
    return "Agent", {**given, "run_in_background": False}


def attempts(planning: Journey) -> list[Call]:
    """Return calls that have to be denied."""
    root, state = planning.repository.path, os.environ["XDG_STATE_HOME"]
    return [
        ("Write", {"file_path": f"{root}/new.py", "content": "x"}),
        ("Write", {"file_path": f"{planning.state_dir}/qr-x.json", "content": "x"}),
        ("Write", {"file_path": f"{state}/planner/typed/x", "content": "x"}),
        ("Write", {"file_path": f"{planning.state_dir}/worktree/sub/.git/x", "content": "x"}),
        ("Read", {"file_path": f"{root}/README.md"}),
        ("Edit", {"file_path": f"{root}/README.md", "old_string": "adds", "new_string": "x"}),
        bash("touch new.py"),
        bash("echo x > new.py"),
        bash("git commit -am x"),
        bash(f"{LAUNCHER} cancel"),
        bash(f"{LAUNCHER} approve {'0' * 64}"),
        bash(f"{LAUNCHER} undo"),
        bash(f"{LAUNCHER} demo --keep kept"),
        bash(f"{LAUNCHER} ro -- cat README.md"),
        ("ScheduleWakeup", {"delaySeconds": 60, "prompt": "x", "reason": "x"}),
    ]


@pytest.mark.smoke
def test_calls_that_write_are_denied_and_the_model_reads_why(
    claude: Claude, planning: Journey
) -> None:
    before = planning.repository.git("status", "--porcelain")
    claude.permit("Write", "Edit", "Bash", "ScheduleWakeup")
    tried = attempts(planning)
    played = claude.play(tried)
    assert len(played.results) == len(tried)
    for (tool, given), result in zip(tried, played.results, strict=True):
        assert result.is_error is (tool != "Read"), (given, result)
        assert ("Planning mode (gathering): " in result.text) is (tool != "Read"), result
    assert planning.repository.git("status", "--porcelain") == before


def test_calls_of_a_sub_agent_that_write_are_denied(claude: Claude, planning: Journey) -> None:
    claude.permit("Write", "Edit", "Bash", "Agent")
    tried = [t for t in attempts(planning) if t[0] != "ScheduleWakeup"]
    played = claude.play([agent("try it")], sub=tried)
    below = [r for r in played.results if r.agent]
    assert len(below) == len(tried), (played.results, played.stdout)
    for (tool, given), result in zip(tried, below, strict=True):
        assert ("Planning mode (gathering): " in result.text) is (tool != "Read"), (given, result)
    assert not (planning.repository.path / "new.py").exists()


def test_reading_git_our_commands_answers_and_the_worktree_pass(
    claude: Claude, planning: Journey
) -> None:
    claude.permit("Write", "Edit")
    root, state_dir = planning.repository.path, planning.state_dir
    source = f"{state_dir}/worktree/src/a.py"
    played = claude.play(
        [
            ("Read", {"file_path": f"{root}/README.md"}),
            bash("git log --oneline -1"),
            bash("grep -n adds README.md | head -3; ls src"),
            bash(f"{LAUNCHER} step planner --state-dir {state_dir}"),
            ("Write", {"file_path": f"{state_dir}/answers/notes.md", "content": "noted"}),
            ("Read", {"file_path": source}),
            ("Edit", {"file_path": source, "old_string": "x + 1", "new_string": "x + 2"}),
        ]
    )
    assert [r.text for r in played.results if r.is_error] == []
    head = planning.repository.git("rev-parse", "--short", "HEAD")
    assert head in played.results[1].text
    assert "adds one" in played.results[2].text
    assert "a.py" in played.results[2].text
    assert '<step workflow="planner"' in played.results[3].text
    with open(f"{state_dir}/answers/notes.md", encoding="utf-8") as file:
        assert file.read() == "noted"
    with open(source, encoding="utf-8") as file:
        assert "x + 2" in file.read()
    # The client has told that the tools that write have ended (PP-10).
    with Turn(state_dir, "ls", wait_s=0) as turn:
        assert turn.number == 1


@pytest.mark.parametrize(
    ("rule", "pattern", "command"),
    [
        ("deny", "Bash(git log:*)", "git log -1"),
        ("deny", "Bash(cat private/*)", "ls; cat private/key.txt"),
        ("deny", "Read(private/**)", "cat private/key.txt"),
        ("ask", "Bash(git log:*)", "git log -1"),
        ("ask", "Bash(head:*)", "cat README.md | head -3"),
    ],
)
@pytest.mark.usefixtures("planning")
def test_the_users_own_rules_hold(claude: Claude, rule: str, pattern: str, command: str) -> None:
    claude.permit(**{rule: [pattern]})
    played = claude.play([bash(command), bash("wc -l README.md")])
    ruled, other = played.results
    assert ruled.is_error
    assert "Planning mode" not in ruled.text
    assert "hidden" not in ruled.text
    assert not other.is_error, other


@pytest.mark.usefixtures("planning")
def test_the_users_own_rules_hold_for_a_session_that_does_not_plan(claude: Claude) -> None:
    claude.session = OTHER
    claude.permit(deny=["Bash(cat private/*)"])
    played = claude.play([bash(f"{LAUNCHER} ro -- cat private/key.txt")])
    assert "no session is in planning mode here" in played.only.text


@pytest.mark.usefixtures("planning")
def test_nothing_passes_that_the_user_did_not_allow(claude: Claude) -> None:
    claude.write(".claude/settings.json", "{}")
    assert "requires approval" in claude.play([bash("git log -1")]).only.text


def test_another_session_is_left_alone(claude: Claude, planning: Journey) -> None:
    claude.permit("Write")
    claude.session = OTHER
    file = planning.repository.path / "new.py"
    played = claude.play([("Write", {"file_path": str(file), "content": "x" * 1_000_000})])
    assert not played.only.is_error
    assert file.stat().st_size == 1_000_000


@pytest.mark.requirement("PM-10")
def test_the_model_is_told_in_which_stage_it_is(claude: Claude, planning: Journey) -> None:
    played = claude.play(["done"])
    told = [text for text in played.heard if '<planning_mode stage="gathering">' in text]
    assert told
    assert planning.state_dir in told[0]


def test_a_guard_that_cannot_start_denies(claude: Claude, planning: Journey) -> None:
    claude.permit("Write")
    file = planning.repository.path / "new.py"
    claude.more = {"PLANNER_PYTHON": "/nowhere/python"}
    played = claude.play([("Write", {"file_path": str(file), "content": "x"})])
    assert "the guard could not be started" in played.only.text
    assert not file.exists()


@pytest.mark.requirement("PP-6")
def test_a_guard_that_is_stopped_denies(claude: Claude, planning: Journey, stopped: str) -> None:
    claude.permit("Bash")
    claude.more = {"PLANNER_PYTHON": stopped}
    played = claude.play([bash("touch made")])
    assert "the guard did not decide within 3 s, so nothing was run" in played.only.text
    assert not (planning.repository.path / "made").exists()


def test_with_broken_hooks_the_fingerprint_stops_the_freeze(
    claude: Claude, planning: Journey
) -> None:
    claude.break_hooks()
    claude.permit("Write")
    file = planning.repository.path / "new.py"
    played = claude.play([("Write", {"file_path": str(file), "content": "x"})])
    assert not played.only.is_error
    assert file.exists()
    refused = planning.planner("plan", "freeze")
    assert refused.code == 1
    assert "new.py" in refused.text
    assert "mode rebase" in refused.text


@pytest.mark.requirement("PP-2")
def test_its_own_tools_read_no_secret(claude: Claude, planning: Journey) -> None:
    root = planning.repository.path
    for name in (".env", ".env.example", "server.key", "sub/.env.local"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(f"VALUE of {name}\n", encoding="utf-8")
    (root / "link.txt").symlink_to(".env")
    names = (".env", "server.key", "link.txt", "sub/.env.local")
    tried: list[Call] = [("Read", {"file_path": str(root / name)}) for name in names]
    tried.append(("Read", {"file_path": str(root / ".env.example")}))
    *denied, read = claude.play(tried).results
    assert len(denied) == len(names)
    for result in denied:
        assert result.is_error
        assert "Planning mode (gathering): " in result.text
    assert "VALUE of .env.example" in read.text
