"""hooks/guard, what the clients' entries start, and what a hook costs to load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from shared.clients import client_of
from shared.guard import hook
from shared.place.level import level
from shared.resources import ROOT
from tests.forms import part
from tests.generated_clients import names
from tests.hook_entries import hooks_of
from tests.journey import call
from tests.orchestrator.test_imports import AVOIDED, TRACE
from tests.shared.guard.client import GUARD, SESSION

APPROVE = Path(ROOT, "commands", "approve.md")
EVENTS = (
    "PreToolUse", "pre_tool", "SessionStart", "UserPromptSubmit", "UserPromptExpansion",
    "SubagentStop", "PostToolUse",
)  # fmt: skip


def run_guard(event: str, given: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run hooks/guard as a client does, with these variables alone."""
    return subprocess.run(
        ["/bin/sh", GUARD, "claude", event],
        input=json.dumps(given),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("event", EVENTS)
def test_while_nobody_plans_it_starts_no_program_and_says_nothing(
    event: str, tmp_path: Path
) -> None:
    folders = {"HOME": str(tmp_path), "PATH": "", "PLANNER_PYTHON": "/nowhere/python"}
    for more in ({}, {"XDG_STATE_HOME": str(tmp_path / "state")}, {"XDG_STATE_HOME": "relative"}):
        done = run_guard(event, {"text": "x" * 1_000_000}, **folders, **more)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (tmp_path / "state" / "planner" / "sessions").mkdir(parents=True)
    done = run_guard(event, {}, **folders, XDG_STATE_HOME=str(tmp_path / "state"))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.requirement("PP-9", "PP-10")
@pytest.mark.parametrize("home", [None, "", "relative", "relative:/home"])
@pytest.mark.parametrize("state", [None, "", "relative", "relative:/state"])
def test_without_an_absolute_home_the_program_is_asked_who_plans(
    home: str | None, state: str | None
) -> None:
    given = {"HOME": home, "XDG_STATE_HOME": state}
    environment = {name: value for name, value in given.items() if value is not None}
    done = run_guard("PreToolUse", {}, **environment, PLANNER_PYTHON="/bin/false", PATH="/bin")
    assert (done.returncode, "could not be started" in done.stderr) == (2, True)


@pytest.mark.parametrize("kind", ["missing", "/dev/null"])
def test_a_session_file_that_is_a_link_is_one(tmp_path: Path, kind: str) -> None:
    sessions = tmp_path / "planner" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "0123456789abcdef").symlink_to(kind)
    environment = {"XDG_STATE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = run_guard("PreToolUse", {}, **environment, PLANNER_PYTHON="/bin/false")
    assert done.returncode == 2


@pytest.mark.requirement("PM-4", "PM-5")
@pytest.mark.parametrize(
    ("event", "python"), part([*product(EVENTS, ["/nowhere/python", "/bin/false"])], 3)
)
def test_a_hook_that_cannot_start_stops_only_tool_calls(
    event: str, python: str, tmp_path: Path
) -> None:
    sessions = tmp_path / "planner" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "0123456789abcdef").write_text("{}")
    environment = {"XDG_STATE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = run_guard(event, {}, **environment, PLANNER_PYTHON=python)
    stops = any(client_of(name).EVENTS.get(event) == "call" for name in names())
    assert done.returncode == (2 if stops else 0)
    assert ("the guard could not be started" in done.stderr) is stops


@pytest.mark.requirement("PM-4", "PM-13")
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_every_entry_names_an_event_that_the_hook_answers(host: str) -> None:
    for event, groups in json.loads(hooks_of(host))["hooks"].items():
        deed = client_of(host).EVENTS[event]
        assert deed in hook.DEEDS
        # Of what has ended only what writes matters.
        writing = [name for name, row in client_of(host).TOOLS.items() if row[0] == "write"]
        tools = "|".join(writing) if deed == "after" else "*"
        for group in groups:
            assert group.get("matcher", "*") == tools
            for entry in group["hooks"]:
                assert entry["command"].endswith(f'/hooks/guard" {host} {event}')


@pytest.mark.requirement("PM-4", "PM-10", "PM-13")
def test_each_client_asks_before_a_tool_and_tells_what_is_typed() -> None:
    events = {"PreToolUse", "UserPromptSubmit", "SessionStart"}
    for host, more in (
        ("claude", {"UserPromptExpansion", "SubagentStop", "PostToolUse"}),
        ("codex", set()),
    ):
        groups = json.loads(hooks_of(host))["hooks"]
        assert {event for event, found in groups.items() if found} == events | more


@pytest.mark.requirement("PM-13")
def test_only_the_user_can_call_the_command_that_approves() -> None:
    _, fields, body = APPROVE.read_text(encoding="utf-8").split("---\n", 2)
    assert "disable-model-invocation: true" in fields.splitlines()
    assert "!`${CLAUDE_PLUGIN_ROOT}/bin/planner approve $ARGUMENTS || true`" in body


def test_vibes_entry_fails_closed() -> None:
    (entry,) = tomllib.loads(hooks_of("vibe"))["hooks"]
    assert client_of("vibe").EVENTS[entry["type"]] == "call"
    assert entry["strict"] is True
    assert entry["command"].endswith("/hooks/guard' vibe pre_tool")


def test_the_plugin_has_the_projects_name_and_version() -> None:
    project = tomllib.loads(Path(ROOT, "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugin = json.loads(Path(ROOT, ".claude-plugin", "plugin.json").read_text(encoding="utf-8"))
    assert [plugin[n] for n in ("name", "version")] == [project[n] for n in ("name", "version")]


def test_a_hook_loads_neither_third_party_nor_slow_modules(tmp_path: Path) -> None:
    assert call(tmp_path, "mode", "enter", "--agent", SESSION).code == 0
    level(str(tmp_path))  # tried once, then remembered
    event = {"session_id": SESSION, "cwd": str(tmp_path), "tool_name": "Bash",
             "tool_input": {"command": "git log -1"}}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", TRACE, f"{ROOT}/bin/planner", "hook",
         "claude", "PreToolUse"],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=True,
    )  # fmt: skip
    assert "updatedInput" in done.stdout
    code, modules = json.loads(done.stderr)
    assert code == 0
    assert not {m for m in modules if m in AVOIDED or m.partition(".")[0] in AVOIDED}
    assert not {
        m for m in modules if m.startswith(("cli", "shared.git", "quality_reviewer.checks"))
    }
    clients = {m for m in modules if m.startswith("shared.clients.")}
    assert clients == {"shared.clients.claude", "shared.clients.known"}
