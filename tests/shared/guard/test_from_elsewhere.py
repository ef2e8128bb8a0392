"""A client that gives no session's id is held from whatever folder it was started in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.mode import sessions
from shared.resources import quote
from tests.journey import FILES, LAUNCHER, Journey, call
from tests.shared.guard.client import FAKE, GUARD, alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("HO-4", "PM-4")

PLANNER = quote(LAUNCHER)
# Program → its name for our hook, the event before a tool, a tool that writes, the field of a path.
CLIENTS = {
    "vibe": ("vibe", "pre_tool", "file_system.write_file", "file_path"),
    "gemini": ("gemini", "BeforeTool", "write_file", "file_path"),
    "opencode": ("opencode", "PreToolUse", "write", "filePath"),
    "cursor-agent": ("cursor", "preToolUse", "Write", "file_path"),
}


@pytest.fixture
def repo(make_repo: Repositories) -> Repository:
    if not alone():
        pytest.skip("a process space of its own cannot be had here")
    return make_repo(files=FILES)


def asked(program: str, repo: Repository, folder: Path | str) -> str:
    """Return the shell line by which a client in a folder asks its hook, and prints the answer."""
    host, event, tool, field = CLIENTS[program]
    given = {field: str(repo.path / "src" / "a.py"), "content": ""}
    sent = {"session_id": "one", "cwd": str(folder), "hook_event_name": event}
    payload = json.dumps({**sent, "tool_name": tool, "tool_input": given})
    return f"echo {quote(payload)} | sh {quote(GUARD)} {host} {event}"


def played(program: str, *lines: str) -> list[str]:
    """Return what these shell lines print, each after the other, below one client's process."""
    text = "\n".join(f"{line} || echo failed; echo; echo ---" for line in lines)
    done = subprocess.run(
        [*alone(), sys.executable, "-I", str(FAKE), program], input=json.dumps({"shell": text}),
        text=True, cwd="/", capture_output=True, check=False,
        env={**os.environ, "PLANNER_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [said.strip() for said in done.stdout.split("---\n")][: len(lines)]


@pytest.mark.parametrize("program", CLIENTS)
def test_a_client_above_or_beside_the_repository_is_held_by_its_process(
    repo: Repository, tmp_path_factory: pytest.TempPathFactory, program: str
) -> None:
    beside, end = tmp_path_factory.mktemp("beside"), f"cd {repo.path} && {PLANNER}"
    said = played(
        program, asked(program, repo, beside), f"{end} mode enter",
        asked(program, repo, repo.path.parent), asked(program, repo, beside), "true",
    )  # fmt: skip
    before, entered, *held, _ = said
    assert before == ""
    assert '<result stage="gathering"' in entered
    for answer in held:
        assert "must not be written before the plan is approved" in answer, said
    assert len(sessions.all_sessions()) == 2
    assert call(repo.path, "cancel").code == 0
    assert sessions.all_sessions() == []


def test_another_process_of_the_client_elsewhere_is_left_alone(repo: Repository) -> None:
    assert "gathering" in played("gemini", f"cd {repo.path} && {PLANNER} mode enter")[0]
    # Each has the number 1 in a process space of its own, and began at another time.
    assert played("gemini", asked("gemini", repo, repo.path.parent)) == [""]


def test_a_client_started_anew_is_held_once_it_goes_on_with_the_plan(repo: Repository) -> None:
    Journey(repo).to("design")
    goes_on = f"cd {repo.path} && {PLANNER} context add-quote 'as I said'"
    said = played("vibe", goes_on, asked("vibe", repo, repo.path.parent))
    assert "must not be written before the plan is approved" in said[1], said


def test_the_first_command_that_no_hook_has_seen_says_so(repo: Repository) -> None:
    enter, status = (
        f"cd {repo.path} && GEMINI_CLI=1 {PLANNER} mode {word}" for word in ("enter", "status")
    )
    entered, unseen, _, seen = played(
        "gemini", enter, status, asked("gemini", repo, repo.path), status
    )
    assert "not guarded" not in entered
    assert "not guarded: no hook has checked a tool call" in unseen
    assert "not guarded" not in seen


def test_a_step_and_the_page_of_a_run_that_no_hook_has_seen_say_so(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Journey(repo).to("submitted")
    shown = "not guarded: no hook has checked a tool call of the session that plans"
    assert shown in Path(run.state_dir, "review.html").read_text()
    assert shown not in run.planner("step", "executor").text
    monkeypatch.setenv("OPENCODE", "1")
    assert shown in run.planner("step", "executor").text
