"""Which approvals count: typed into the client, typed in a terminal, or unproven."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import resources
from shared.clients import known
from shared.guard import typed
from shared.resources import launcher
from tests.forms import part
from tests.journey import FILES, LAUNCHER, Answer, Journey
from tests.shared.guard import terminals
from tests.shared.guard.client import FAKE, SESSION, Client, alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-13", "PP-7")


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


def approve_inside(waiting: Journey, digest: str, **environment: str) -> Answer:
    """Approve by a command that an assistant with these variables runs, in this process.

    By such a variable it is known whose command it is, whatever started it.
    """
    with pytest.MonkeyPatch.context() as inside:
        for name, value in environment.items():
            inside.setenv(name, value)
        return waiting.call("approve", digest)


def approve(waiting: Journey, digest: str, **environment: str) -> Answer:
    """Approve as a client does when the user has typed the command."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith("CLAUDE")}
    done = subprocess.run(
        [LAUNCHER, "approve", digest],
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
        os.execve(LAUNCHER, [LAUNCHER, "approve", digest], variables)  # noqa: S606 – no shell is meant
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
    [found] = approvals(waiting)
    return found


def approvals(waiting: Journey) -> list[tuple[str, str]]:
    """Return who approved and by which channel, of each approval in the audit."""
    return [(r["who"], r["detail"]) for r in audit(waiting) if r["action"] == "approve"]


def audit(waiting: Journey) -> list[dict[str, str]]:
    """Return the rows of the audit."""
    text = waiting.planner("audit", "--json").text
    return [json.loads(row) for row in text.splitlines()]


INSIDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}


def test_what_the_user_types_into_the_client_counts(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types(digest)
    assert approve(waiting, digest, **INSIDE).code == 0
    assert recorded(waiting) == ("person", "channel: command")


def test_a_typed_prefix_counts_for_the_whole_digest(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types(digest[:12])
    answer = approve_inside(waiting, digest[:12], **INSIDE)
    assert answer.code == 0, answer.text
    assert recorded(waiting) == ("person", "channel: command")


def test_a_typed_prefix_that_is_short_or_of_no_plan_does_not_count(
    waiting: Journey, client: Client, digest: str
) -> None:
    for given in (digest[:1], digest[:11], "0" * 12, "0" * 63, f"{digest}0", digest[:12].upper()):
        client.types(given)
        assert not is_typed(digest, INSIDE), given
    assert approve_inside(waiting, digest, **INSIDE).code == 1


def test_spaces_around_the_digest_are_ignored(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types(f" {digest}\n")
    assert approve_inside(waiting, digest, **INSIDE).code == 0


@pytest.mark.usefixtures("client")
def test_the_same_command_without_a_typed_record_is_refused(waiting: Journey, digest: str) -> None:
    answer = approve_inside(waiting, digest, **INSIDE)
    assert answer.code == 1
    kind, text = answer.problems[0]
    assert kind == "refused"
    assert f"/planner:approve {digest}" in text
    assert f"{launcher()} approve {digest}" in text


@pytest.mark.parametrize("name", part([*known.MARKS], 3))
@pytest.mark.usefixtures("client")
def test_an_assistant_cannot_approve_without_a_typed_record(
    waiting: Journey, digest: str, name: str
) -> None:
    assert approve_inside(waiting, digest, **{name: "1"}).code == 1
    assert approve_on_a_terminal(waiting, digest, **{name: "1"}).code == 1


def test_typing_another_digest_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    client.types("0" * 64)
    assert approve_inside(waiting, digest, **INSIDE).code == 1
    assert approve_inside(waiting, "0" * 64, **INSIDE).code == 1


def test_typing_into_another_session_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    Client(client.cwd, "session-2").types(digest)
    assert approve_inside(waiting, digest, **INSIDE).code == 1
    inside = {**INSIDE, "CLAUDE_CODE_SESSION_ID": "session-2"}
    assert approve_inside(waiting, digest, **inside).code == 0


def test_an_approval_that_was_typed_long_ago_has_expired(digest: str, client: Client) -> None:
    client.types(digest)
    typed_at = time.time()
    environ = {"CLAUDE_CODE_SESSION_ID": SESSION}
    assert typed.is_typed(digest, environ, typed_at + typed.VALID_S - 60)
    assert not typed.is_typed(digest, environ, typed_at + typed.VALID_S + 60)
    assert not typed.is_typed(digest, environ, typed_at - 60)


@pytest.mark.parametrize(
    "typed",
    [{"command_name": "planner:plan"}, {"command_name": "approve"}, {"agent_id": "a1"},
     {"command_args": "please"}, {"command_args": ""}],
)  # fmt: skip
def test_typing_another_command_or_other_words_does_not_approve(
    waiting: Journey, client: Client, digest: str, typed: dict[str, str]
) -> None:
    client.types(typed.pop("command_args", digest), **typed)
    assert approve_inside(waiting, digest, **INSIDE).code == 1


def test_a_prompt_with_the_same_text_does_not_approve(
    waiting: Journey, client: Client, digest: str
) -> None:
    """A scheduled prompt comes as this event, and nothing else follows."""
    client.sends("UserPromptSubmit", prompt=f"/planner:approve {digest}")
    assert approve_inside(waiting, digest, **INSIDE).code == 1


# Who tells the hook that something was typed

LATER = {**INSIDE, "CLAUDE_CODE_SESSION_ID": "session-2"}


@pytest.fixture
def later(client: Client) -> Client:
    """A session of the same user that does not plan."""
    return Client(client.cwd, "session-2")


def approved_after(waiting: Journey, digest: str) -> bool:
    """Return whether the approval that the session's client then runs counts."""
    return approve_inside(waiting, digest, **LATER).code == 0


def is_typed(digest: str, within: dict[str, str]) -> bool:
    """Return whether a command of a session would find that its user typed this approval."""
    return typed.is_typed(digest, within, time.time())


def test_the_client_itself_counts(waiting: Journey, later: Client, digest: str) -> None:
    done = later.run_client({"hooks": [later.hooked(digest)]})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert approved_after(waiting, digest)


PIPED = (
    "{hook} <<< '{said}'", "echo '{said}' | {hook}", "echo '{said}' >$HOME/f; {hook} <$HOME/f",
    "mkfifo $HOME/p; (echo '{said}' >$HOME/p &); {hook} <$HOME/p", "echo '{said}' | exec {hook}",
    "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID {hook} <<< '{said}'",
    "setsid -w {hook} <<< '{said}'", "{planner} hook claude UserPromptExpansion <<< '{said}'",
    "python3 $HOME/pair.py '{said}' {hook}",
)  # fmt: skip
PAIR = """
import socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.send(sys.argv[1].encode())
ours.close()
subprocess.run(sys.argv[2:], stdin=theirs)
"""


def test_what_a_tool_of_the_client_pipes_to_the_hook_does_not_count(
    waiting: Journey, later: Client, digest: str
) -> None:
    """H7: also where the client's variables are removed, and by a pair of sockets of its own."""
    home = Path(os.environ["HOME"])
    (home / "pair.py").write_text(PAIR)
    line, said = later.hooked(digest)
    hook = line.partition(" ")[2].removesuffix("; exit $?")
    for how in part(PIPED, 2):
        shell = how.format(hook=hook, said=said, planner=shlex.quote(LAUNCHER))
        done = later.run_client({"shell": shell})
        assert done.returncode == 0, done.stderr
        assert not is_typed(digest, LATER), how
    assert not approved_after(waiting, digest)


def test_a_client_that_an_assistant_started_does_not_count(
    waiting: Journey, later: Client, digest: str
) -> None:
    path = Path(os.environ["HOME"]) / "given.json"
    path.write_text(json.dumps({"hooks": [later.hooked(digest)]}))
    begun = f"{sys.executable} -I {shlex.quote(str(FAKE))} claude < {path}"
    terminals.needs("script")
    typed = terminals.script(begun)
    variables = ("export CLAUDECODE=1; ", "")
    for line, variable in part(
        [*product((begun, f"env -u CLAUDECODE {begun}", typed), variables)], 2
    ):
        assert later.run_client({"shell": variable + line}).returncode == 0
        assert not is_typed(digest, LATER), line
    assert not approved_after(waiting, digest)


def test_a_program_that_is_no_client_does_not_count(
    waiting: Journey, later: Client, digest: str
) -> None:
    given = json.dumps({"hooks": [later.hooked(digest)]})
    words = [sys.executable, "-I", str(FAKE), "gardener"]
    subprocess.run([*alone(), *words], input=given, text=True, check=True, capture_output=True)
    assert not approved_after(waiting, digest)


# A terminal


COMMAND = f"{shlex.quote(LAUNCHER)} approve {{}} --state-dir {{}}"
# The act after the first, where nothing shows that a person approves.
TWICE = f"{{{{ {COMMAND}; {COMMAND} --unproven; }}}}"


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("how", "channel"), part([
    ("person", "terminal"), ("copied", "unproven"), ("python", "unproven"), ("script", "unproven"),
    ("tmux", "unproven"), ("detached", "unproven"),
], 2))  # fmt: skip
def test_a_terminal_is_as_strong_as_what_started_it(
    waiting: Journey, digest: str, how: str, channel: str
) -> None:
    if how in ("script", "tmux"):
        terminals.needs(how)
    acts = (COMMAND if how == "person" else TWICE).format(*(digest, waiting.state_dir) * 2)
    line = getattr(terminals, how)(acts)
    answer = terminals.run(line, waiting.repository.path)
    assert answer.code == 0, (answer.text, answer.stderr)
    who, detail = recorded(waiting)
    assert who == "person (unproven)"
    assert detail.partition(" (")[0] == f"channel: {channel}"
    assert (" (" in detail) is (channel == "unproven")
    assert ("a program that others can type into (tmux" in detail) is (how == "tmux")


@pytest.mark.usefixtures("client")
def test_a_terminal_beside_an_assistant_that_nothing_holds_is_unproven(
    waiting: Journey, digest: str
) -> None:
    given = shlex.quote(json.dumps({"shell": "touch $HOME/there; sleep 30"}))
    beside = f"(echo {given} | {sys.executable} -I {shlex.quote(str(FAKE))} claude &)"
    wait = "for n in $(seq 200); do [ -e $HOME/there ] && break; sleep 0.05; done"
    line = terminals.person(TWICE.format(*(digest, waiting.state_dir) * 2))
    answer = terminals.run(f"{beside}; {wait}; {line}", waiting.repository.path)
    assert answer.code == 0, answer.text
    assert recorded(waiting)[1] == (
        "channel: unproven (an assistant runs that nothing holds (claude))"
    )


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("how", ["person", "python", "script", "tmux", "detached"])
def test_an_assistant_gains_nothing_by_removing_its_variables(
    waiting: Journey, digest: str, how: str
) -> None:
    """H7: it approves nothing, or the approval is called what it is."""
    if how in ("script", "tmux"):
        terminals.needs(how)
    line = getattr(terminals, how)(COMMAND.format(digest, waiting.state_dir))
    given = shlex.quote(
        json.dumps({"shell": f"env -u CLAUDECODE -u AI_AGENT bash -c {shlex.quote(line)}"})
    )
    client = f"echo {given} | {sys.executable} -I {shlex.quote(str(FAKE))} claude"
    answer = terminals.run(client, waiting.repository.path)
    assert answer.code == 1
    assert approvals(waiting) == []
    if how not in ("tmux", "detached"):
        assert "an assistant runs this command" in answer.text, answer.stderr


@pytest.mark.usefixtures("client")
def test_an_approval_that_nothing_shows_to_be_a_persons_takes_a_second_act(
    waiting: Journey, digest: str
) -> None:
    """M8: one command of another session starts nothing."""
    alone = terminals.python(f"{COMMAND} --unproven".format(digest, waiting.state_dir))
    first = terminals.run(alone, waiting.repository.path)
    assert first.code == 1
    assert approvals(waiting) == []
    assert json.loads(waiting.planner("status", "--json").text)["stage"] == "submitted"
    assert "nothing shows that a person gives this approval: " in first.text
    assert f"approve {digest} --unproven" in first.text
    asked = [row for row in audit(waiting) if row["action"] == "ask to approve"]
    assert [row["who"] for row in asked] == ["person (unproven)"]
    told = Client(waiting.repository.path).sends("UserPromptSubmit", prompt="and now?")
    assert "shows no person. Tell the user" in told["hookSpecificOutput"]["additionalContext"]
    again = terminals.run(alone, waiting.repository.path)
    assert again.code == 0, again.text
    assert recorded(waiting)[1].startswith("channel: unproven (")


def test_hooks_that_were_set_up_and_have_seen_nothing_are_no_way_round_the_second_act(
    waiting: Journey, digest: str
) -> None:
    """A session that plans unguarded, from elsewhere, could else approve its own plan."""
    guard = Path(resources.installed_path("hooks", "guard"))
    guard.parent.mkdir(parents=True)
    guard.touch()
    one = COMMAND.format(digest, waiting.state_dir)
    first = terminals.run(terminals.python(one), waiting.repository.path)
    assert first.code == 1
    assert "no hook checks the session that plans. So it takes two acts" in first.text
    given = shlex.quote(json.dumps({"shell": f"env -u CLAUDECODE {one} --unproven"}))
    inside = f"echo {given} | {sys.executable} -I {shlex.quote(str(FAKE))} claude"
    refused = terminals.run(inside, waiting.repository.path)
    assert "an assistant runs this command (claude started it)" in refused.text
    assert approvals(waiting) == []
    again = terminals.run(terminals.python(f"{one} --unproven"), waiting.repository.path)
    assert again.code == 0, again.text


@pytest.mark.usefixtures("client")
def test_an_approval_in_advance_takes_a_second_act_too(waiting: Journey) -> None:
    command = f"{shlex.quote(LAUNCHER)} auto on --state-dir {waiting.state_dir}"
    first = terminals.run(terminals.python(command), waiting.repository.path)
    assert first.code == 1
    assert "auto on --files 10 --risk low --unproven" in first.text
    both = terminals.python(f"{command} --unproven")
    assert terminals.run(both, waiting.repository.path).code == 0
    assert [row["action"] for row in audit(waiting) if "auto" in row["action"]] == ["auto on"]


@pytest.mark.quick
def test_an_approval_without_hooks_is_unproven(waiting: Journey, digest: str) -> None:
    assert approve_on_a_terminal(waiting, digest).code == 0
    assert recorded(waiting) == (
        "person (unproven)", "channel: unproven (no hook checks the session that plans)"
    )  # fmt: skip


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
    assert recorded(second)[1].startswith("channel: unproven (no hook")


def test_approving_again_prints_what_is_next(waiting: Journey, client: Client, digest: str) -> None:
    client.types(digest)
    first = approve_inside(waiting, digest, **INSIDE)
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
    assert approve_inside(journey, digest, **INSIDE).code == 1
    client.types(digest)
    assert approve_inside(journey, digest, **INSIDE).code == 0
