"""Which approvals count: typed into the client, typed in a terminal, or unproven."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from shared.guard import consent
from shared.resources import launcher
from tests.journey import FILES, LAUNCHER, Answer, Journey
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-13")


@pytest.fixture
def waiting(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session, submitted."""
    with monkeypatch.context() as inside:
        inside.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
        return Journey(make_repo(files=FILES)).to("submitted")


@pytest.fixture
def digest(waiting: Journey) -> str:
    answer = waiting.planner("status", "--json")
    return str(json.loads(answer.text)["digest"])


@pytest.fixture
def client(waiting: Journey) -> Client:
    """The client of the session, after its hook has checked a call."""
    found = Client(waiting.repository.path)
    assert found.asks("Read", file_path="a") == {}
    return found


def approve(waiting: Journey, digest: str, **environment: str) -> Answer:
    """Approve as a client does when the user has typed the command."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith("CLAUDE")}
    done = subprocess.run(
        [LAUNCHER, "mode", "approve", digest],
        cwd=waiting.repository.path,
        env={**kept, "PLANNER_PYTHON": sys.executable, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def approve_on_a_terminal(waiting: Journey, digest: str, **environment: str) -> Answer:
    """Approve in a terminal."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith("CLAUDE")}
    variables = {**kept, "PLANNER_PYTHON": sys.executable, **environment}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(waiting.repository.path)
        os.execve(LAUNCHER, [LAUNCHER, "mode", "approve", digest], variables)  # noqa: S606 – no shell is meant
    shown = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return Answer(os.waitstatus_to_exitcode(status), shown.decode().replace("\r\n", "\n"))


def recorded(waiting: Journey) -> tuple[str, str]:
    """Return who approved and by which channel, from the audit."""
    rows = [json.loads(r) for r in waiting.planner("audit", "--json").text.splitlines()]
    found = [(r["who"], r["detail"]) for r in rows if r["action"] == "approve"]
    assert len(found) == 1, rows
    return found[0]


INSIDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}


def test_what_the_user_types_into_the_client_counts(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types(digest)
    assert approve(waiting, digest, **INSIDE).code == 0
    assert recorded(waiting) == ("person", "channel: command")


def test_spaces_around_the_digest_are_ignored(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types(f" {digest}\n")
    assert approve(waiting, digest, **INSIDE).code == 0


@pytest.mark.usefixtures("client")
def test_the_same_command_without_a_typed_record_is_refused(waiting: Journey, digest: str) -> None:
    answer = approve(waiting, digest, **INSIDE)
    assert answer.code == 1
    kind, text = answer.problems[0]
    assert kind == "refused"
    assert f"/planner:approve {digest}" in text
    assert f"{launcher()} mode approve {digest}" in text


@pytest.mark.parametrize("name", consent.ASSISTANTS)
@pytest.mark.usefixtures("client")
def test_an_assistant_cannot_approve_without_a_typed_record(
    waiting: Journey, digest: str, name: str
) -> None:
    assert approve(waiting, digest, **{name: "1"}).code == 1
    assert approve_on_a_terminal(waiting, digest, **{name: "1"}).code == 1


def test_typing_another_digest_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types("0" * 64)
    assert approve(waiting, digest, **INSIDE).code == 1
    assert approve(waiting, "0" * 64, **INSIDE).code == 1


def test_typing_into_another_session_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    Client(client.cwd, "session-2").types(digest)
    assert approve(waiting, digest, **INSIDE).code == 1
    inside = {**INSIDE, "CLAUDE_CODE_SESSION_ID": "session-2"}
    assert approve(waiting, digest, **inside).code == 0


def test_an_approval_that_was_typed_long_ago_has_expired(digest: str, client: Client) -> None:
    client.types(digest)
    typed_at = time.time()
    environ = {"CLAUDE_CODE_SESSION_ID": SESSION}
    assert consent._is_typed(digest, environ, typed_at + consent.VALID_S - 60)
    assert not consent._is_typed(digest, environ, typed_at + consent.VALID_S + 60)
    assert not consent._is_typed(digest, environ, typed_at - 60)


@pytest.mark.parametrize(
    "typed",
    [{"command_name": "planner:plan"}, {"command_name": "approve"}, {"agent_id": "a1"},
     {"command_args": "please"}, {"command_args": ""}],
)  # fmt: skip
def test_typing_another_command_or_other_words_does_not_approve(
    waiting: Journey, client: Client, digest: str, typed: dict[str, str]
) -> None:
    client.types(typed.pop("command_args", digest), **typed)
    assert approve(waiting, digest, **INSIDE).code == 1


def test_a_prompt_with_the_same_text_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    """A scheduled prompt comes as this event, and nothing else follows."""
    client.sends("UserPromptSubmit", prompt=f"/planner:approve {digest}")
    assert approve(waiting, digest, **INSIDE).code == 1


def test_typing_into_a_client_that_an_assistant_started_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    Client(client.cwd, "session-2").types(digest, within=SESSION)
    inside = {**INSIDE, "CLAUDE_CODE_SESSION_ID": "session-2"}
    assert approve(waiting, digest, **inside).code == 1


@pytest.mark.usefixtures("client")
def test_a_terminal_counts_if_hooks_check_the_session(waiting: Journey, digest: str) -> None:
    answer = approve_on_a_terminal(waiting, digest)
    assert answer.code == 0, answer.text
    assert recorded(waiting) == ("person", "channel: terminal")


def test_an_approval_without_hooks_is_unproven(waiting: Journey, digest: str) -> None:
    assert approve_on_a_terminal(waiting, digest).code == 0
    assert recorded(waiting) == ("person (unproven)", "channel: unproven")


@pytest.mark.usefixtures("client")
def test_an_approval_without_a_terminal_is_refused_if_hooks_check_the_session(
    waiting: Journey, digest: str
) -> None:
    answer = approve(waiting, digest)
    assert answer.code == 1
    assert "does not run in a terminal" in answer.problems[0][1]


def test_a_hook_of_an_earlier_planning_proves_nothing(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    first = Journey(make_repo(files=FILES)).to("design")
    Client(first.repository.path).asks("Read", file_path="a")
    assert first.planner("cancel").code == 0
    time.sleep(1.1)  # the database's times have seconds
    second = Journey(first.repository).to("approved")
    assert recorded(second)[1] == "channel: unproven"


def test_approving_again_prints_what_is_next(waiting: Journey, client: Client, digest: str) -> None:
    client.types(digest)
    first = approve(waiting, digest, **INSIDE)
    assert approve(waiting, digest).text == first.text


def test_a_light_plan_is_approved_by_the_same_channels(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repo(files=FILES)
    plan = {"summary": "One step.", "steps": [{"description": "d", "tools": [], "risk": "low"}],
            "questions": [], "context_notes": ""}  # fmt: skip
    repository.write("light.json", json.dumps(plan))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    journey = Journey(repository)
    assert journey.run("mode", "enter").code == 0
    client = Client(repository.path)
    client.asks("Read", file_path="a")
    submitted = journey.run("mode", "submit", "--file", f"{repository.path}/light.json")
    assert submitted.code == 0, submitted.text
    digest = str(json.loads(journey.run("mode", "status", "--json").text)["digest"])
    assert approve(journey, digest, **INSIDE).code == 1
    client.types(digest)
    assert approve(journey, digest, **INSIDE).code == 0
