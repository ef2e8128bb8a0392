"""The seed's tests about tools and shell commands, asked of the hook as a client asks it (PM-14).

`view`, `create_file`, `str_replace` and `bash_execute` are Read, Write, Edit and Bash here;
`own_settings` stands for the tools by which its agent edits itself.
"""

from __future__ import annotations

import json
import os
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from shared.resources import ROOT
from tests.light_plans import Lightly

if TYPE_CHECKING:
    from tests.conftest import Repository

pytestmark = [
    pytest.mark.requirement("PM-3", "PM-14"),
    pytest.mark.skipif(
        not os.path.exists(f"{ROOT}/shared/guard/hook.py"), reason="shared/guard/hook.py is missing"
    ),
]

SESSION = "s-1"
WRITING = (
    ("Write", {"file_path": "new.py", "content": "x"}),
    ("Edit", {"file_path": "README.md", "old_string": "a", "new_string": "b"}),
    ("Bash", {"command": "touch new.py"}),
)


class Client:
    """An assistant's client in a repository: it asks the hook before each call of a tool."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.mode = Lightly(repository, SESSION)

    def ask(self, tool: str, **values: str) -> dict[str, Any]:
        """Return the hook's answer to a call; paths are relative to the repository."""
        if "file_path" in values:
            values["file_path"] = str(self.repository.path / values["file_path"])
        payload = {
            "session_id": SESSION, "cwd": str(self.repository.path), "tool_name": tool,
            "tool_input": values, "hook_event_name": "PreToolUse",
        }  # fmt: skip
        hook = import_module("shared.guard.hook")
        answer = hook.answer("claude", "PreToolUse", json.dumps(payload).encode(), time.time())
        said: dict[str, Any] = answer.get("hookSpecificOutput", {})
        return said

    def allows(self, tool: str, **values: str) -> bool:
        """Return whether a call passes: it is never *granted*, the client's own rules apply."""
        said = self.ask(tool, **values)
        assert said.get("permissionDecision") in (None, "deny")
        if said:
            assert said.get("permissionDecisionReason") or said.get("updatedInput")
        return "permissionDecision" not in said

    def denies(self, command: str) -> bool:
        """Return whether a shell command is denied, with the reason and what to do instead."""
        said = self.ask("Bash", command=command)
        if said.get("permissionDecision") != "deny":
            return False
        assert "Instead: " in said["permissionDecisionReason"]
        return True


@pytest.fixture
def client(repo: Repository) -> Client:
    return Client(repo)


@pytest.fixture
def planning(client: Client) -> Client:
    client.mode.to("gathering")
    return client


# Planning mode lifecycle


def test_enter_planning_mode_restricts_tools(client: Client) -> None:
    assert all(client.allows(tool, **values) for tool, values in WRITING)
    client.mode.to("gathering")
    assert not any(client.allows(tool, **values) for tool, values in WRITING)
    client.mode.submit()
    assert not any(client.allows(tool, **values) for tool, values in WRITING)


@pytest.mark.parametrize("stage", ["gathering", "submitted"])
def test_exit_planning_mode_restores_tools(client: Client, stage: str) -> None:
    client.mode.to(stage).run("cancel")
    assert all(client.allows(tool, **values) for tool, values in WRITING)


# Context gathering phase


def test_view_tool_allowed_in_planning(planning: Client) -> None:
    assert planning.allows("Read", file_path="README.md")
    assert planning.allows("Grep", pattern="Sample")
    assert planning.allows("Glob", pattern="*.md")


def test_bash_read_only_allowed_in_planning(planning: Client) -> None:
    for command in ("cat README.md", "ls -la", "git log -1", "head -n 5 README.md | wc -l"):
        assert planning.allows("Bash", command=command), command


def test_bash_write_blocked_in_planning(planning: Client) -> None:
    for command in ("mv a b", "cp a b", "mkdir d", "chmod +x a", "tee a", "sed -i s/a/b/ a"):
        assert planning.denies(command), command


def test_create_file_blocked_in_planning(planning: Client) -> None:
    assert not planning.allows("Write", file_path="new.py", content="x")
    assert planning.allows("Write", file_path=".planner/answers/light.json", content="{}")


def test_str_replace_blocked_in_planning(planning: Client) -> None:
    values = {"file_path": "README.md", "old_string": "a", "new_string": "b"}
    assert not planning.allows("Edit", **values)
    assert not planning.allows("MultiEdit", file_path="README.md")


def test_git_tools_blocked_in_planning(planning: Client) -> None:
    for verb in ("add .", "commit -m x", "push", "checkout -b x", "reset --hard", "stash"):
        assert planning.denies(f"git {verb}"), verb


def test_own_settings_blocked_in_planning(planning: Client) -> None:
    for path in (".claude/settings.json", "planner.toml", ".planner/planner.db", "CLAUDE.md"):
        assert not planning.allows("Write", file_path=path, content="x"), path


def test_ask_user_allowed_in_planning(planning: Client) -> None:
    assert planning.allows("AskUserQuestion", question="Which format?")


# Execution phase


def test_execution_has_full_tool_access(client: Client) -> None:
    client.mode.to("executing")
    assert all(client.allows(tool, **values) for tool, values in WRITING)


# Read-only bash enforcement


def test_planning_bash_allows_cat(planning: Client) -> None:
    assert planning.allows("Bash", command="cat README.md")


def test_planning_bash_allows_ls(planning: Client) -> None:
    assert planning.allows("Bash", command="ls")


def test_planning_bash_allows_grep(planning: Client) -> None:
    assert planning.allows("Bash", command="grep -rn Sample README.md")


def test_planning_bash_allows_find(planning: Client) -> None:
    assert planning.allows("Bash", command="find . -name '*.md'")


def test_planning_bash_blocks_rm(planning: Client) -> None:
    assert planning.denies("rm README.md")
    assert planning.denies("rm -rf /")


def test_planning_bash_blocks_write_redirect(planning: Client) -> None:
    assert planning.denies("echo x > new.py")
    assert planning.denies("cat README.md >> new.py")


def test_planning_bash_blocks_pip_install(planning: Client) -> None:
    assert planning.denies("pip install requests")


def test_planning_bash_blocks_git_push(planning: Client) -> None:
    assert planning.denies("git push origin main")
