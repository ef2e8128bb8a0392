"""Cursor's hooks: payloads as its documentation has them, since no registry has the client."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from shared.clients import client_of
from shared.guard import hook
from shared.resources import quote
from tests.hook_entries import hooks_of
from tests.journey import FILES, LAUNCHER
from tests.shared.guard.client import planned_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("HO-4", "PM-4")

# What every event has.
COMMON = {
    "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
    "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
    "model": "auto",
    "cursor_version": "2.4.0",
    "user_email": None,
}


@pytest.fixture
def repo(make_repo: Callable[..., Repository]) -> Repository:
    """A repository that plans."""
    return planned_in(make_repo(files={**FILES, ".env": "TOKEN=1"}), "")


def answer(repo: Repository, event: str, **given: object) -> dict[str, Any]:
    """Return what the hook answers to an event of Cursor."""
    root = str(repo.path)
    sent = {**COMMON, "hook_event_name": event, "workspace_roots": [root], **given}
    return hook.answer("cursor", event, json.dumps(sent).encode(), time.time())


def tool(repo: Repository, name: str, **given: object) -> dict[str, Any]:
    """Return what it answers before a tool, which newer versions tell of each."""
    ids = {"tool_use_id": "abc123", "cwd": str(repo.path)}
    return answer(repo, "preToolUse", tool_name=name, tool_input=given, **ids)


def reason(answered: dict[str, Any]) -> str:
    """Return why a call is denied, which the user and the model read."""
    assert answered["permission"] == "deny", answered
    assert answered["user_message"] == answered["agent_message"]
    return str(answered["agent_message"])


@pytest.mark.parametrize("command", ["touch new.py", f"{LAUNCHER} cancel", f"{LAUNCHER} undo"])
def test_a_shell_command_that_changes_something_is_denied(repo: Repository, command: str) -> None:
    before = answer(repo, "beforeShellExecution", command=command, cwd=str(repo.path))
    either = tool(repo, "Shell", command=command, working_directory=str(repo.path))
    for answered in (before, either):
        assert reason(answered).startswith("Planning mode (gathering): ")


def test_a_command_runs_in_the_folder_that_the_tool_is_given(repo: Repository) -> None:
    assert tool(repo, "Shell", command="cat a.py", working_directory="src") == {}
    (repo.path / "src" / ".env").write_text("TOKEN=2", encoding="utf-8")
    assert reason(tool(repo, "Shell", command="cat .env", working_directory="src"))


@pytest.mark.parametrize("name", ["Write", "Delete"])
def test_a_file_of_the_user_is_denied_and_an_answer_passes(repo: Repository, name: str) -> None:
    assert "must not be written" in reason(tool(repo, name, file_path=f"{repo.path}/src/a.py"))
    assert tool(repo, name, path=f"{repo.path}/.planner/answers/notes.md") == {}


def test_a_change_whose_file_is_not_named_in_a_known_way_is_denied(repo: Repository) -> None:
    assert "the guard failed" in reason(tool(repo, "Write", somewhere="src/a.py"))


def test_a_tool_of_a_server_is_denied(repo: Repository) -> None:
    given = {"tool_name": "create_issue", "tool_input": '{"title": "x"}', "url": "http://x"}
    assert "MCP:create_issue" in reason(answer(repo, "beforeMCPExecution", **given))
    assert "MCP:create_issue" in reason(tool(repo, "MCP:create_issue", title="x"))


def test_reading_passes_but_for_secrets(repo: Repository) -> None:
    for name, denied in (("README.md", False), (".env", True)):
        path = f"{repo.path}/{name}"
        read = answer(repo, "beforeReadFile", file_path=path, content="x", attachments=[])
        assert bool(read) is denied
        assert bool(tool(repo, "Read", file_path=path)) is denied


def test_a_search_that_would_read_secrets_is_denied(repo: Repository) -> None:
    assert "run this safer form: " in reason(tool(repo, "Shell", command="rg -uu TOKEN"))
    assert reason(tool(repo, "Grep", pattern="TOKEN", glob=".env*"))
    assert reason(tool(repo, "Grep", pattern="TOKEN", glob="*"))
    assert tool(repo, "Grep", pattern="TOKEN", glob="*.py") == {}


def test_our_commands_and_sub_agents_pass(repo: Repository) -> None:
    assert tool(repo, "Shell", command=f"{quote(LAUNCHER)} status") == {}
    assert tool(repo, "Task", description="review", prompt="x") == {}


@pytest.mark.usefixtures("repo")
def test_elsewhere_nothing_is_denied(make_repo: Callable[..., Repository]) -> None:
    other = make_repo("elsewhere")
    assert tool(other, "Write", file_path=f"{other.path}/new.py") == {}


def test_each_event_of_our_entries_is_one_that_the_guard_answers() -> None:
    settings = json.loads(hooks_of("cursor"))
    assert settings["version"] == 1
    for event, (entry,) in settings["hooks"].items():
        assert client_of("cursor").EVENTS[event] == "call"
        assert entry["command"].endswith(f'hooks/guard" cursor {event}')
