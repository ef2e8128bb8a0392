"""What a session may do while requirements are refined, and what it may not (RL-6, RL-7, PM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.requirement_rounds import FILES, Rounds
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.fixture
def rounds(make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch) -> Rounds:
    """Return a requirements lane of the session whose requirements are under review."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    rounds = Rounds(make_repo(files=FILES))
    rounds.to_review()
    return rounds


@pytest.fixture
def client(rounds: Rounds) -> Client:
    return Client(rounds.repository.path)


def denial(client: Client, tool: str, **given: str) -> str:
    """Return why a tool is denied, empty if it is not."""
    answer = client.sends("PreToolUse", tool_name=tool, tool_input=given)
    said: str = answer.get("hookSpecificOutput", {}).get("permissionDecisionReason", "")
    return said


@pytest.mark.requirement("RL-6", "RL-7", "PM-3")
def test_the_reviewing_agent_reads_searches_runs_and_writes_that_one_file(
    rounds: Rounds, client: Client
) -> None:
    new = str(rounds.path("new_requirements.md"))
    for tool in ("Write", "Edit", "MultiEdit"):
        assert denial(client, tool, file_path=new) == ""
    for tool, given in (("Read", {"file_path": new}), ("Grep", {"pattern": "f"}), ("Glob", {}),
                        ("Bash", {"command": "git log | head"})):  # fmt: skip
        assert denial(client, tool, **given) == ""


@pytest.mark.requirement("RL-6", "RL-7", "PM-3")
@pytest.mark.parametrize(
    "name",
    ["src/a.py", "planning/current_requirements.md", "planning/planner_history.txt",
     "planning/../src/new_requirements.md", "new_requirements.md"],
)  # fmt: skip
def test_no_other_file_is_written_while_requirements_are_refined(
    rounds: Rounds, client: Client, name: str
) -> None:
    assert "must not be written" in denial(
        client, "Write", file_path=str(rounds.repository.path / name)
    )


def test_a_link_in_the_files_place_leads_nowhere(rounds: Rounds, client: Client) -> None:
    new = rounds.path("new_requirements.md")
    new.unlink()
    new.symlink_to("../src/a.py")
    assert denial(client, "Write", file_path=str(new))


@pytest.mark.requirement("RL-7")
@pytest.mark.parametrize("tool", ["TodoWrite", "TaskCreate", "TaskUpdate"])
def test_the_reviewing_agent_has_no_todo_list(rounds: Rounds, client: Client, tool: str) -> None:
    assert "without a todo list" in denial(client, tool)
    assert denial(client, "TaskOutput") == ""
    rounds.review()
    rounds.follow("done")
    rounds.write_answer("summary.md", "f adds two.\n")
    rounds.follow("yes")
    assert denial(client, tool) == ""


@pytest.mark.requirement("PM-3")
def test_the_file_is_not_written_while_its_plan_is_made(rounds: Rounds, client: Client) -> None:
    rounds.review()
    rounds.follow("done")
    rounds.write_answer("summary.md", "f adds two.\n")
    rounds.follow("yes")
    for name in ("new_requirements.md", "current_requirements.md"):
        assert "must not be written" in denial(client, "Write", file_path=str(rounds.path(name)))


@pytest.mark.requirement("PM-3")
def test_completing_and_committing_are_denied_while_the_plan_is_made(
    rounds: Rounds, client: Client
) -> None:
    rounds.review()
    rounds.follow("done")
    rounds.write_answer("summary.md", "f adds two.\n")
    rounds.follow("yes")
    for words in ("complete --agree", "commit"):
        command = f"{rounds.last.next().split()[0]} requirements {words}"
        assert "may not change while you plan" in denial(client, "Bash", command=command)
    again = f"{rounds.last.next().split()[0]} requirements implement --state-dir {rounds.state_dir}"
    assert "outside of your run" not in denial(client, "Bash", command=again)
