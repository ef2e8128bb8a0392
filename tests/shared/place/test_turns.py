"""One thing at a time: commands whose writes last, file tools, what works in the worktree."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from developer.verify.lock import undisturbed
from shared import resources
from shared.place import turns
from shared.place.turns import Alone, Turn, lend, running
from shared.resources import PROGRAM
from state.errors import Refused
from tests.flips import LONGEST_S, SECONDS
from tests.journey import Journey
from tests.place import need_place
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Repository

# Swaps a folder and a link for a while, as a command of the place.
FLIPS = """
import ctypes, os, sys, time
exchange = ctypes.CDLL(None).renameat2
folder, link = map(os.fsencode, sys.argv[1:])
until = time.monotonic() + 0.2
while time.monotonic() < until:
    exchange(-100, folder, -100, link, 2)
    time.sleep(2e-4)
"""


@pytest.fixture
def journey(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run in which code is being written, by a session of a client."""
    need_place()
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return Journey(repo).to("code")


@contextlib.contextmanager
def repeated(command: list[str], cwd: Path) -> Iterator[None]:
    """Run a command again and again meanwhile."""
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            subprocess.run(command, cwd=cwd, capture_output=True, check=False)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.requirement("PP-10")
def test_a_command_never_moves_a_folder_while_a_file_tool_is_about_to_write_there(
    journey: Journey, tmp_path: Path
) -> None:
    worktree = Path(journey.state_dir, "worktree")
    outside = tmp_path / "outside"
    outside.mkdir()
    file, victim = worktree / "src" / "a.py", outside / "a.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text("old\n", encoding="utf-8")
    victim.write_text("the user's\n", encoding="utf-8")
    (worktree / "swapped").symlink_to(outside)
    client = Client(journey.repository.path)
    command = ["python3", "-c", FLIPS, str(file.parent), str(worktree / "swapped")]
    said = {True: 0, False: 0}
    began = time.monotonic()
    with repeated([PROGRAM, "ro", "--", *command], journey.repository.path):
        while (past := time.monotonic() - began) < SECONDS or (
            past < LONGEST_S and not all(said.values())
        ):
            passes = not client.asks("Write", file_path=str(file), content="ours\n")
            said[passes] += 1
            if not passes:
                continue
            time.sleep(0.005)  # the client opens the file later than we have looked at its path
            with contextlib.suppress(OSError):
                file.write_text("ours\n", encoding="utf-8")
            client.sends("PostToolUse", tool_name="Write", tool_input={"file_path": str(file)})
            assert victim.read_text(encoding="utf-8") == "the user's\n", said
    assert all(said.values()), said


def edit(journey: Journey) -> dict[str, str]:
    """Return the input of a file tool that writes in the worktree."""
    return {"file_path": f"{journey.state_dir}/worktree/src/a.py", "content": ""}


@contextlib.contextmanager
def in_background(journey: Journey, text: str = "sleep 60") -> Iterator[subprocess.Popen[str]]:
    """Run a command in the place meanwhile; it has begun when the block begins."""
    before = len(running(journey.state_dir))
    with subprocess.Popen(
        [PROGRAM, "ro", "-c", text], cwd=journey.repository.path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as command:  # fmt: skip
        try:
            until(lambda: len([one for one in running(journey.state_dir) if one.lead]) > before)
            yield command
        finally:
            command.kill()


def until(happened: Callable[[], object]) -> None:
    """Wait until something has happened; fail after a minute."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.requirement("PP-10")
def test_a_file_tool_that_meets_a_running_command_is_denied_with_its_number_and_text(
    journey: Journey,
) -> None:
    client = Client(journey.repository.path)
    with in_background(journey, "echo begun; sleep 60") as command:
        began = time.monotonic()
        reason = client.denial("Write", **edit(journey))
        assert time.monotonic() - began < 1
        assert "command 1 is still running, and what it writes lasts: `echo begun; sleep" in reason
        assert reason.endswith(resources.command("ro", "--end", "1"))
        assert client.asks("Read", file_path=edit(journey)["file_path"]) == {}

        assert client.asks("Bash", command=resources.command("ro", "--end", "1")) == {}
        answer = journey.call("ro", "--end", "1")
        assert answer.code == 0, answer.text
        assert "sleep 60" in answer.text
        assert command.wait() != 0
    assert client.asks("Write", **edit(journey)) == {}


@pytest.mark.requirement("PP-10")
def test_running_commands_have_numbers_and_status_lists_them(journey: Journey) -> None:
    with in_background(journey, "sleep 61"), in_background(journey, "sleep 62"):
        status = json.loads(journey.planner("status", "--json").text)
        assert status["commands"] == [
            {"number": 1, "text": "sleep 61"}, {"number": 2, "text": "sleep 62"},
        ]  # fmt: skip
        shown = journey.planner("status").text
        way = resources.command("ro", "--end", "2")
        assert f"running command 2: sleep 62 (to end it: {way})" in shown
        answer = journey.call("ro", "--end", "7")
        assert answer.code == 1
        assert "1: sleep 61; 2: sleep 62" in answer.text


@pytest.mark.requirement("PP-10")
def test_what_works_in_the_worktree_runs_alone(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Alone.__init__, "__defaults__", (0.2,))
    with in_background(journey):
        answer = journey.planner("tree", "rm", "README.md")
        assert answer.code == 1
        assert 'kind="locked"' in answer.text
        assert resources.command("ro", "--end", "1") in answer.text
    with undisturbed(journey.state_dir):
        reason = Client(journey.repository.path).denial("Write", **edit(journey))
        assert "a planner command is working in the worktree" in reason
        with pytest.raises(Refused, match="is working"), Turn(journey.state_dir, "true", 0.1):
            pass
    assert journey.planner("tree", "rm", "README.md").code == 0


@pytest.mark.requirement("PP-10")
def test_after_the_hooks_yes_new_commands_wait_for_the_clients_word(journey: Journey) -> None:
    client = Client(journey.repository.path)
    assert client.asks("Write", **edit(journey)) == {}
    with subprocess.Popen(
        [PROGRAM, "ro", "-c", "echo ran"], cwd=journey.repository.path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as command:  # fmt: skip
        assert command.stderr
        assert "waiting: a file tool may be writing" in command.stderr.readline()
        client.sends("PostToolUse", tool_name="Write", tool_input=edit(journey))
        assert command.communicate()[0] == "ran\n"


@pytest.mark.requirement("PP-10")
def test_a_file_tool_can_end_while_something_works_in_the_worktree(journey: Journey) -> None:
    client = Client(journey.repository.path)
    assert client.asks("Write", **edit(journey)) == {}
    with undisturbed(journey.state_dir):
        assert client.sends("PostToolUse", tool_name="Write", tool_input=edit(journey)) == {}
    with Turn(journey.state_dir, "true", 5) as turn:
        assert turn.number == 1


@pytest.mark.requirement("PP-10")
@pytest.mark.parametrize("tool", ["Bash", "Task"])
def test_a_tool_that_never_ran_is_in_nobodys_way(journey: Journey, tool: str) -> None:
    """Its user has refused it: the client says nothing, and the agent goes on."""
    client = Client(journey.repository.path)
    assert client.asks("Write", **edit(journey)) == {}
    client.sends("PreToolUse", tool_name=tool, tool_input={"command": "ls"}, agent_id="another")
    with pytest.raises(Refused, match="file tool"), Turn(journey.state_dir, "true", 0.1):
        pass
    client.asks(tool, command="ls")
    with Turn(journey.state_dir, "true", 5) as turn:
        assert turn.number == 1


@pytest.mark.requirement("PP-10")
def test_a_lease_of_a_client_that_says_nothing_is_over_by_itself(tmp_path: Path) -> None:
    lend(str(tmp_path), "a", "src/a.py", 0.3, bool)
    lend(str(tmp_path), "a", "src/b.py", 0.3, bool)
    with pytest.raises(Refused, match="/b"), Turn(str(tmp_path), "true", 0.1):
        pass
    with Turn(str(tmp_path), "true", 5), pytest.raises(Refused, match="command 1"):
        lend(str(tmp_path), "b", "src/a.py", 0.3, bool)


@pytest.mark.requirement("PP-10")
def test_a_lease_counts_from_the_moment_in_which_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written with two digits after the point, and so may seem to last a little too long."""
    monkeypatch.setattr(time, "monotonic", lambda: 100.006)
    lend(str(tmp_path), "a", "src/a.py", turns.TOLD_S, bool)
    lock = os.open(resources.turns_path(str(tmp_path)), os.O_RDONLY)
    assert [owner for _, owner, _ in turns._leases(lock)] == ["a"]
    os.close(lock)


@pytest.mark.requirement("PP-10")
def test_a_command_whose_runner_is_killed_counts_until_all_of_it_has_ended(tmp_path: Path) -> None:
    """The kernel ends it a moment after the lock is free."""
    with subprocess.Popen(["sleep", "60"]) as first:
        turn = Turn(str(tmp_path), "sleep 60").__enter__()
        turn.begin(first.pid)
        os.close(turn._lock)  # as the kernel does for what is killed
        assert running(str(tmp_path)) == []
        with pytest.raises(Refused, match="command 1 is still running"):
            lend(str(tmp_path), "a", "src/a.py", 1, bool)
        with Turn(str(tmp_path), "true") as other:
            assert other.number == 2
        first.kill()
    lend(str(tmp_path), "a", "src/a.py", 1, bool)


def test_a_command_without_a_run_waits_for_nobody() -> None:
    with Turn(None, "true") as turn:
        assert turn.number == 0


def test_there_is_an_end_to_how_much_may_run_and_be_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_MOST", 1)
    with (
        Turn(str(tmp_path), "true"),
        pytest.raises(Refused, match="1 commands are running"),
        Turn(str(tmp_path), "true", 0.1),
    ):
        pass
    for number in range(20):
        lend(str(tmp_path), "a", f"{number}/{'a' * 150}", 5, bool)
    monkeypatch.setattr(turns, "_PART", 2048)
    with pytest.raises(Refused, match="very many files"):
        lend(str(tmp_path), "a", "a", 5, bool)


@pytest.mark.requirement("PP-10")
def test_a_person_ends_a_command_from_a_terminal_in_the_repository(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_background(journey) as command:
        monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
        assert journey.call("ro", "--end", "1").code == 0
        assert command.wait() != 0
