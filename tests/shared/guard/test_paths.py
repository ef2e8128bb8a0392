"""A path is judged in each way in which the kernel, a client or a file system may read it (X3)."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.clients import client_of
from shared.guard import hook, tools
from shared.guard.denial import Denied
from shared.guard.places import check_ours
from shared.known_secrets import SecretPlaces, is_secret_name
from shared.mode import sessions
from shared.named_files import read_answer
from shared.paths import folded, readings
from state.errors import Refused
from tests.generated_clients import names
from tests.journey import FILES, Journey, call
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-3", "PM-4")


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run whose worktree has links: to a deep folder in it, and to one outside."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    found = Journey(make_repo(files={**FILES, "deep/a/b/c/x.txt": "x\n"})).to("code")
    assert sessions.join(str(found.repository.path), SESSION)  # for clients without session ids
    worktree = Path(found.state_dir, "worktree")
    (worktree / "deep" / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
    (worktree / "inner").symlink_to("deep/a/b/c/d/e")
    (worktree / "outer").symlink_to(found.repository.path / "src")
    return found


def asked(host: str, tool: str, given: dict[str, Any], cwd: str) -> dict[str, Any]:
    """Return what the hook answers before a call of a client's tool."""
    event = next(name for name, deed in client_of(host).EVENTS.items() if deed == "call")
    sent = {"session_id": SESSION, "cwd": cwd, "hook_event_name": event}
    raw = json.dumps({**sent, "tool_name": tool, "tool_input": given}).encode()
    return hook.answer(host, event, raw, time.time())


def writing_tools() -> list[tuple[str, str]]:
    kinds = (tools.WRITE, tools.PATCH)
    rows = [(host, name) for host in names() for name in client_of(host).TOOLS]
    return [(host, name) for host, name in rows if tools.find_tool(host, name).kind in kinds]


def given_to(host: str, tool: str, path: str) -> dict[str, Any]:
    """Return the input by which a tool writes a file."""
    found = tools.find_tool(host, tool)
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
    return {found.field: patch if found.kind == tools.PATCH else path}


@pytest.mark.parametrize(("host", "tool"), writing_tools())
def test_every_tool_that_writes_is_denied_a_path_that_one_of_two_readings_leads_outside(
    journey: Journey, host: str, tool: str
) -> None:
    worktree, root = f"{journey.state_dir}/worktree", str(journey.repository.path)
    steps = os.path.relpath(root, f"{worktree}/inner/..")
    clients_way = f"{worktree}/inner/../{steps}/src/a.py"
    assert os.path.realpath(clients_way).startswith(worktree)
    assert os.path.normpath(clients_way) == f"{root}/src/a.py"
    kernels_way = f"{worktree}/outer/../worktree.txt"
    assert os.path.normpath(kernels_way) == f"{worktree}/worktree.txt"
    relative = f"{os.path.relpath(worktree, root)}/inner/../{steps}/src/a.py"
    for path in (clients_way, kernels_way, relative):
        said = json.dumps(asked(host, tool, given_to(host, tool, path), root))
        assert "must not be written before the plan is approved" in said, path
    for path in (f"{worktree}/inner/f.py", f"{worktree}/deep/../src/a.py"):
        assert asked(host, tool, given_to(host, tool, path), root) == {}, path


def test_home_and_blanks_are_read_as_clients_do(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = f"{journey.state_dir}/worktree"
    monkeypatch.setenv("HOME", str(journey.repository.path))
    client = Client(worktree)
    for path in ("~/src/a.py", f" {journey.repository.path}/src/a.py", " ~/src/a.py\n"):
        assert client.denial("Write", file_path=path, content=""), path
    assert client.asks("Write", file_path="src/a.py", content="") == {}


def test_a_shell_in_a_folder_of_two_readings_is_denied(journey: Journey) -> None:
    folder = f"{journey.state_dir}/worktree/inner/.."
    given = {"command": "ls", "dir_path": folder}
    said = json.dumps(asked("gemini", "run_shell_command", given, "/"))
    assert "may be read as one of several" in said


def test_a_secret_is_denied_to_reading_tools_by_either_reading(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".azure" / "in").mkdir(parents=True)
    (tmp_path / "home" / ".azure" / "plain.json").write_text("{}")
    journey = Journey(make_repo(files=FILES)).to("design")
    root = journey.repository.path
    (root / "to_secrets").symlink_to(tmp_path / "home" / ".azure" / "in")
    (root / "l").symlink_to(root / "src")
    (root / "~").symlink_to(tmp_path / "home" / ".azure")
    (root / "src" / "k").symlink_to(tmp_path / "home" / ".azure")
    client = Client(root)
    # Links first; `..` first; the `~` of the folder itself; a name that blanks surround.
    for path in ("to_secrets/../plain.json", "l/../src/k/plain.json", "~/plain.json",
                 f" {tmp_path}/home/.azure/plain.json "):  # fmt: skip
        assert "key, a password or a token" in client.denial("Read", file_path=path), path
    # `nested/l/..` is `nested` to a client and `src` to the kernel.
    (root / "nested").mkdir()
    (root / "nested" / "l").symlink_to(root / "src" / "deep")
    (root / "src" / "deep").mkdir()
    (root / "nested" / "k").symlink_to(tmp_path / "home" / ".azure")
    assert client.denial("Read", file_path="nested/l/../k/plain.json")
    assert client.asks("Read", file_path="nested/l/../a.py") == {}


@pytest.mark.parametrize(
    "name", [".ENV", ".e\u200dnv", ".\u017f\u017fh", "ID_R\u017fA", "\ufe0f.env"]
)
def test_a_name_is_compared_as_a_file_system_does_that_folds_names(
    name: str, tmp_path: Path
) -> None:
    places = SecretPlaces({"HOME": f"{tmp_path}/caf\u00e9"})
    assert is_secret_name(name) or f"{tmp_path}/cafe\u0301/{name}/x" in places
    assert folded("\u212a\u00c9\u200b") == "k\u00e9"


def test_gits_own_files_in_the_worktree_are_denied_in_any_spelling(journey: Journey) -> None:
    worktree = f"{journey.state_dir}/worktree"
    client = Client(worktree)
    for name in (".git", ".GIT/config", ".g\u200cit/x", "sub/GIT~1/x", ".g\u0131t/../.git"):
        denied = client.denial("Write", file_path=f"{worktree}/{name}", content="")
        assert "not part of the plan" in denied, name


def test_our_own_folder_is_known_by_what_it_is_not_by_its_name(
    journey: Journey, tmp_path: Path
) -> None:
    found = sessions.find(SESSION, "/")
    assert found is not None
    same = tmp_path / "same"
    os.symlink(journey.state_dir, same)
    with pytest.raises(Denied, match="own files"):
        check_ours(f"{same}/plan.json", "/", found)
    assert check_ours(f"{same}/answers/x", "/", found) is None  # type: ignore[func-returns-value]


def test_our_own_commands_refuse_a_path_of_two_readings(journey: Journey) -> None:
    state_dir = journey.state_dir
    away = journey.repository.path / "away"
    away.symlink_to(f"{state_dir}/answers")
    Path(state_dir, "answers", "x.md").write_text("x")
    with pytest.raises(Refused, match="in two ways"):
        read_answer(state_dir, f"{away}/../answers/x.md")
    for words in (("status",), ("start", "Other")):
        answer = call(journey.repository.path, *words, "--state-dir", f"{away}/../new")
        assert (answer.code, "in two ways" in answer.text) == (1, True), words


def test_a_path_mostly_has_one_reading(tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    assert readings("a/../b", real) == [f"{real}/b"]
    assert readings(f"{real}/b/", "/") == [f"{real}/b"]
