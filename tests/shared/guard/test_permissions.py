"""Our own commands: who may run each, in a session that plans and in any other (PP-5)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.commands import COMMANDS, is_for_person
from shared.resources import ROOT, launcher
from tests.forms import part
from tests.journey import FILES, LAUNCHER, Journey
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PP-5")

OURS = launcher()
PERSONS = sorted(name for name in COMMANDS if is_for_person(name))


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session that is being designed."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return Journey(make_repo(files=FILES)).to("design")


@pytest.fixture
def client(journey: Journey) -> Client:
    return Client(journey.repository.path)


@pytest.fixture
def other(journey: Journey) -> Client:
    """Another session of the user, which does not plan."""
    return Client(journey.repository.path.parent, "session-2")


@pytest.mark.parametrize(
    "words",
    part([
        "undo", "undo --state-dir {older}", "exec apply", "exec commit --state-dir {older}",
        "demo --keep src/x", "demo --keep=src/x", "start w --state-dir src/y",
        "start w --state-dir=src/y", "start w --state-dir .planner/../src",
        "start w --state-dir .planner/runs/x --state-dir src/y", "start w --state-dir",
        "plan freeze --state-dir {older}", "plan import f --state-dir {older}",
        "hook claude UserPromptExpansion",
    ], 3),
)  # fmt: skip
def test_what_writes_outside_of_the_run_is_denied_to_a_session_that_plans(
    client: Client, journey: Journey, words: str
) -> None:
    older = os.path.join(os.path.dirname(journey.state_dir), "20200101-abcdef")
    reason = client.denial("Bash", command=f"{OURS} {words.format(older=older)}")
    assert "write" in reason or "only a client" in reason


@pytest.mark.parametrize(
    "words",
    [
        "status", "plan check --phase plan-design --state-dir {own}", "demo", "undo --help",
        "start w --state-dir {own}", "start w --state-dir .planner/runs/x",
        "status --state-dir {older}", "plan show --state-dir {older}", "plan freeze",
    ],
)  # fmt: skip
def test_what_stays_inside_passes(client: Client, journey: Journey, words: str) -> None:
    older = os.path.join(os.path.dirname(journey.state_dir), "20200101-abcdef")
    command = f"{OURS} {words.format(own=journey.state_dir, older=older)}"
    assert client.asks("Bash", command=command) == {}


@pytest.mark.parametrize("name", PERSONS)
def test_a_persons_command_is_denied_to_every_session_while_one_plans(
    client: Client, other: Client, name: str
) -> None:
    for asked in (client, other):
        reason = asked.denial("Bash", command=f"{OURS} {name} x")
        assert f"only a person may run `planner {name}`" in reason
    assert "A session of this user plans" in other.denial("Bash", command=f"ls; {OURS} {name}")


def test_the_hook_of_a_client_is_denied_to_every_session_while_one_plans(other: Client) -> None:
    reason = other.denial("Bash", command=f"echo x | {OURS} hook claude UserPromptExpansion")
    assert "only a client may run" in reason


@pytest.mark.parametrize(
    "command",
    ["bin/planner approve d", "planner approve d", "./link approve d",
     "for x in 1; do {} approve d; done", "x=$({} cancel)", "'{}' 'approve' d",
     "timeout 9 {} approve d", "env -u CLAUDECODE script -qec '{} approve d' /dev/null",
     "bash -c 'cd /; sh -c \"{} cancel\"'"],
)  # fmt: skip
def test_the_launcher_is_known_by_where_it_leads(
    other: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(LAUNCHER) + os.pathsep + os.environ["PATH"])
    (tmp_path / "planner").symlink_to(LAUNCHER)
    (tmp_path / "bin").symlink_to(os.path.dirname(LAUNCHER))
    (tmp_path / "link").symlink_to(LAUNCHER)
    assert Path(other.cwd) == tmp_path
    denied = "link" not in command  # a name that says nothing of us is not looked at
    answer = other.asks("Bash", command=command.format(tmp_path / "bin" / "planner"))
    assert bool(answer) is denied


@pytest.mark.parametrize(
    "command",
    ["ls | xargs rm", "for f in *; do echo $f; done", f"{LAUNCHER} status",
     f"{LAUNCHER} undo --state-dir old", "echo planner approve"],
)  # fmt: skip
def test_all_else_passes_in_a_session_that_does_not_plan(other: Client, command: str) -> None:
    assert other.asks("Bash", command=command) == {}
    assert other.asks("Write", file_path="a") == {}
    assert other.asks("Unheard", x=1) == {}


def test_nothing_is_denied_once_nobody_plans(journey: Journey, other: Client) -> None:
    assert journey.planner("cancel").code == 0
    assert other.asks("Bash", command=f"{OURS} approve d") == {}


def test_the_page_of_commands_says_what_keeps_an_assistant_from_a_persons_command(
    journey: Journey, client: Client, other: Client
) -> None:
    page = Path(ROOT, "docs/commands.md").read_text(encoding="utf-8")
    head, *sections = page.split("\n## ")
    said = " ".join(head.partition('"Who" says')[2].split())
    named = [s.partition("\n")[0] for s in sections if "\nWho: person only." in s]
    assert {name.removeprefix("planner ") for name in named} == {*PERSONS}
    assert "the hooks deny every assistant the commands that only a person may run" in said
    command = f"{OURS} cancel"
    for asked in (client, other):
        assert "only a person may run" in asked.denial("Bash", command=command)
    assert "deny the session that plans what writes the user's files" in said
    assert client.denial("Bash", command=f"{OURS} exec apply")
    assert other.asks("Bash", command=f"{OURS} exec apply") == {}
    assert "A program without hooks is not held" in said
    assert journey.planner("cancel").code == 0
    assert "While a session of the user plans" in said
    assert other.asks("Bash", command=command) == {}, "nobody plans any more"
    # Hooks deny it, whatever the assistant has been told or has promised.
    assert not re.search(r"\b(word|promise|trust|nothing but|only asks?)\b", said, re.IGNORECASE)


@pytest.mark.parametrize(
    "command",
    ["{} status --state-dir $HOME/x", "{} status --state-dir ~/x", '{} status --state-dir "$PWD"',
     "{} status; {} status", "{} status | cat", "{} plan show ./*"],
)  # fmt: skip
def test_our_command_has_literal_words_and_stands_alone(client: Client, command: str) -> None:
    assert client.denial("Bash", command=command.format(OURS, OURS))
