"""A session whose memory is gone stays read-only until a person ends it in a terminal (X2)."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.mode import limits, sessions
from shared.mode.memory import Memory
from state.database import Database
from state.errors import Refused
from tests.forms import part
from tests.journey import FILES, LAUNCHER, Journey, call, words_of
from tests.light_plans import Lightly
from tests.shared.guard.client import SESSION, Client, planned_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-4", "PM-5")


@pytest.fixture
def repo(make_repo: Repositories) -> Repository:
    """A repository in which the session plans without a run."""
    return planned_in(make_repo(files=FILES))


def _gone(root: Path) -> None:
    (root / ".planner" / "planner.db").unlink()


def _folder_gone(root: Path) -> None:
    shutil.rmtree(root / ".planner")


def _empty(root: Path) -> None:
    (root / ".planner" / "planner.db").write_bytes(b"")


def _damaged(root: Path) -> None:
    (root / ".planner" / "planner.db").write_bytes(b"no database " * 1000)


def _of_others(root: Path) -> None:
    _gone(root)
    connection = sqlite3.connect(root / ".planner" / "planner.db")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()


def _without_row(root: Path) -> None:
    connection = sqlite3.connect(root / ".planner" / "planner.db")
    connection.execute("DELETE FROM planning_state")
    connection.commit()
    connection.close()


def _repository_gone(root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()


def _session_file_damaged(root: Path) -> None:
    del root
    Path(sessions.path_of(SESSION)).write_bytes(b"\0" * 200)


def _session_file_endless(root: Path) -> None:
    del root
    path = Path(sessions.path_of(SESSION))
    path.unlink()
    path.symlink_to("/dev/zero")


def _session_file_waits(root: Path) -> None:
    del root
    os.unlink(sessions.path_of(SESSION))
    os.mkfifo(sessions.path_of(SESSION))


def _session_file_of_another(root: Path) -> None:
    del root
    path = Path(sessions.path_of(SESSION))
    path.write_text(path.read_text().replace(SESSION, "another"))


def _leads_nowhere(root: Path) -> None:
    _gone(root)
    (root / ".planner" / "planner.db").symlink_to("none")


def _leads_elsewhere(root: Path) -> None:
    moved = (root / ".planner" / "planner.db").rename(root.with_name("planner.db"))
    (root / ".planner" / "planner.db").symlink_to(moved)


def _folder_leads_elsewhere(root: Path) -> None:
    moved = (root / ".planner").rename(root.with_name("elsewhere-planner"))
    (root / ".planner").symlink_to(moved)


def _folder_beside(root: Path) -> None:
    (root / ".planner" / "planner.db-wal").mkdir()


def _sql(root: Path, line: str) -> None:
    connection = sqlite3.connect(root / ".planner" / "planner.db")
    connection.execute(line)
    connection.commit()
    connection.close()


def _newer(root: Path) -> None:
    _sql(root, "PRAGMA user_version=9999")


LOSSES = [
    _gone, _folder_gone, _empty, _damaged, _of_others, _without_row, _repository_gone,
    _session_file_damaged, _session_file_endless, _session_file_waits, _session_file_of_another,
    _leads_nowhere, _leads_elsewhere, _folder_leads_elsewhere, _folder_beside, _newer,
]  # fmt: skip


def ending(client: Client) -> list[str]:
    """Return the words of the command that the denial of a change names to a person."""
    reason = client.denial("Write", file_path="src/a.py", content="")
    assert "what remembers the plan of this session is gone" in reason
    return words_of(LAUNCHER + reason.rpartition(LAUNCHER)[2])


@pytest.mark.parametrize("lose", part(LOSSES, 2))
def test_what_forgets_a_session_ends_no_guarding_and_a_person_can_from_any_folder(
    repo: Repository, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    client = Client(repo.path)
    lose(repo.path)
    for _ in range(4):  # what is denied is denied each time
        assert client.denial("Bash", command="touch src/a.py")
        assert client.denial("mcp__files__write", path="src/a.py")
    for reads in (("Read", "file_path"), ("LS", "path"), ("Grep", "path")):
        assert "deny" not in str(client.asks(reads[0], **{reads[1]: "src"}))
    words = ending(client)
    assert words == ["cancel", "--agent", SESSION]
    for other in (client, Client(repo.path, "session-2"), Client("/", "session-3", "vibe")):
        tool = "Bash" if other.host == "claude" else "file_system.bash"
        assert "person" in other.denial(tool, command=f"{LAUNCHER} cancel --agent {SESSION}")
    assert Client(repo.path, "session-2").asks("Write", file_path="src/a.py") == {}
    told = client.sends("UserPromptSubmit", prompt="go")
    assert "cancel --agent" in told["systemMessage"]
    (tmp_path / "elsewhere").mkdir()
    ended = call(tmp_path / "elsewhere", *words)
    assert (ended.code, ended.block.tag) == (0, "result"), ended.text
    assert client.asks("Write", file_path="src/a.py", content="") == {}
    assert not os.path.exists(sessions.path_of(SESSION))


def test_a_database_that_goes_while_the_hook_decides_lets_no_call_pass(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, settle = Client(repo.path), limits.settle

    def lose(database: Database, agent: str, now: float) -> str:
        _folder_gone(repo.path)
        return settle(database, agent, now)

    with monkeypatch.context() as patch:
        patch.setattr(limits, "settle", lose)
        assert client.denial("Write", file_path="src/a.py", content="")
    assert ending(client)
    assert not (repo.path / ".planner").exists()


def test_a_database_that_is_gone_is_not_made_anew_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "odd ?#%41.db"
    Database(str(path), create=True).close()
    Database(str(path)).close()
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os.path, "isfile", lambda _: True)
        with pytest.raises(Refused):
            Database(str(path))
    assert not path.exists()


@pytest.mark.parametrize("lose", [_gone, _folder_gone, _damaged])
def test_in_the_repository_cancel_needs_no_name(
    repo: Repository, lose: Callable[[Path], None]
) -> None:
    lose(repo.path)
    assert call(repo.path, "cancel").code == 0
    assert Client(repo.path).asks("Write", file_path="src/a.py", content="") == {}


@pytest.mark.parametrize("lose", [_folder_gone, _empty, _repository_gone])
def test_a_client_without_session_ids_stays_held_by_the_folder(
    make_repo: Repositories, lose: Callable[[Path], None]
) -> None:
    repository = make_repo(files=FILES)
    Lightly(repository).to("submitted")
    lose(repository.path)
    client = Client(repository.path, "any", "gemini")
    assert client.sends("BeforeTool", tool_name="write_file", tool_input={"file_path": "a"})
    (repository.path / "src").mkdir(exist_ok=True)
    inside = Client(repository.path / "src", "any")
    assert ending(inside) == ["cancel", "--agent", str(repository.path)]
    assert Client(repository.path.parent, "any").asks("Write", file_path="a") == {}
    assert call(repository.path, *ending(inside)).code == 0
    assert inside.asks("Write", file_path="a", content="") == {}


@pytest.mark.parametrize("with_run", [True, False])
def test_a_repository_that_has_moved_is_held_where_it_is_now(
    make_repo: Repositories, *, with_run: bool
) -> None:
    repository = make_repo(files=FILES)
    if with_run:
        Journey(repository).to("design")
    else:
        Lightly(repository).to("gathering")
    moved = repository.path.rename(repository.path.with_name("moved"))
    client = Client(moved, "any", "claude")
    assert ending(client) == ["cancel", "--agent", str(repository.path)]
    assert client.denial("Bash", command="touch a")
    assert call(moved, "cancel").code == 0
    assert client.asks("Write", file_path="a", content="") == {}


def test_a_run_whose_folder_is_gone_is_cancelled_by_its_database(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    journey = Journey(make_repo(files=FILES)).to("design")
    root = journey.repository.path
    client = Client(root)
    shutil.rmtree(journey.state_dir)
    assert client.denial("Write", file_path="src/a.py", content="")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert call(root, "cancel", "--state-dir", str(root)).code == 1
    for words in (("--state-dir", journey.state_dir), ()):
        ended = call(root, "cancel", *words)
        assert ended.code == (0 if words else 1), ended.text
    assert client.asks("Write", file_path="src/a.py", content="") == {}
    audit = call(root, "audit")
    assert "its folder is gone" in audit.text


def test_what_is_left_of_a_database_keeps_who_ended_the_guarding(repo: Repository) -> None:
    _without_row(repo.path)
    assert call(repo.path, "cancel", "--agent", SESSION).code == 0
    audit = call(repo.path, "audit", "--json").text
    assert "does not know it" in audit
    assert '"cancel"' in audit


def test_a_run_that_has_ended_is_forgotten_without_a_word(repo: Repository) -> None:
    client = Client(repo.path)
    held = Path(sessions.path_of(SESSION)).read_bytes()
    assert call(repo.path, "cancel", "--agent", SESSION).code == 0
    _folder_gone(repo.path)
    assert client.asks("Write", file_path="src/a.py", content="") == {}
    # A kill between the end and the removal of the file leaves it, and its database says the end.
    assert call(repo.path, "mode", "enter", "--agent", SESSION).code == 0
    assert call(repo.path, "cancel", "--agent", SESSION).code == 0
    Path(sessions.path_of(SESSION)).write_bytes(held)
    assert client.asks("Write", file_path="src/a.py", content="") == {}


def test_the_same_session_can_plan_anew_where_its_memory_is_gone_and_nowhere_else(
    repo: Repository, make_repo: Repositories
) -> None:
    _folder_gone(repo.path)
    other = make_repo("other", files=FILES)
    refused = call(other.path, "mode", "enter", "--agent", SESSION)
    assert (refused.code, refused.problems[0][0]) == (1, "conflict")
    assert f"cancel --agent {SESSION}" in refused.problems[0][1]
    assert call(repo.path, "mode", "enter", "--agent", SESSION).code == 0
    reason = Client(repo.path).denial("Write", file_path="src/a.py", content="")
    assert "Planning mode (gathering)" in reason


@pytest.mark.usefixtures("repo")
def test_a_session_file_of_an_earlier_release_is_read() -> None:
    path = Path(sessions.path_of(SESSION))
    values = json.loads(path.read_text())
    del values["session"]
    path.write_text(json.dumps(values))
    found = sessions.find(SESSION, "/")
    assert found is not None
    assert Memory(found).gone == ""


def test_a_session_whose_file_was_renamed_stays_held_and_ends_as_ever(repo: Repository) -> None:
    path = Path(sessions.path_of(SESSION))
    moved = path.rename(path.with_name("0123456789abcdef"))
    client = Client(repo.path)
    assert "Planning mode (gathering)" in client.denial("Write", file_path="src/a.py", content="")
    assert Client(repo.path, "session-2").asks("Write", file_path="src/a.py", content="") == {}
    assert call(repo.path, "cancel", "--agent", SESSION).code == 0
    assert not moved.exists()
    assert client.asks("Write", file_path="src/a.py", content="") == {}


def test_a_file_that_names_another_session_is_not_ended_with_that(
    repo: Repository, make_repo: Repositories
) -> None:
    other = make_repo("other", files=FILES)
    assert call(other.path, "mode", "enter", "--agent", "another").code == 0
    shutil.copy(sessions.path_of("another"), sessions.path_of(SESSION))
    assert call(other.path, "cancel", "--agent", "another").code == 0
    assert Client(other.path, "another").asks("Write", file_path="a", content="") == {}
    assert ending(Client(repo.path)) == ["cancel", "--agent", SESSION]


def test_a_session_file_with_values_of_other_kinds_concerns_that_session_alone(
    repo: Repository,
) -> None:
    values = json.loads(Path(sessions.path_of(SESSION)).read_text())
    for name in ("agent", "session", "database", "repository", "state_dir", "run_id"):
        Path(sessions.path_of(SESSION)).write_text(json.dumps({**values, name: 5}))
        assert ending(Client(repo.path)) == ["cancel", "--agent", SESSION]
        assert Client(repo.path, "session-2").asks("Write", file_path="a", content="") == {}


@pytest.mark.parametrize("table", ["audit", "runs"])
def test_what_else_is_missing_in_the_database_can_be_ended_too(
    repo: Repository, table: str
) -> None:
    _sql(repo.path, f"DROP TABLE {table}")
    client = Client(repo.path)
    assert client.asks("Read", file_path="src/a.py") == {}
    assert client.denial("Write", file_path="src/a.py", content="")
    assert call(repo.path, "cancel", "--agent", SESSION).code == 0
    assert client.asks("Write", file_path="src/a.py", content="") == {}


def test_a_person_named_nobody_cancels_no_other_plan(repo: Repository) -> None:
    assert call(repo.path, "cancel", "--agent", "nobody").code == 1
    assert Client(repo.path).denial("Write", file_path="src/a.py", content="")


def test_a_session_file_that_cannot_be_removed_is_named(repo: Repository) -> None:
    path = Path(sessions.path_of(SESSION))
    path.unlink()
    path.mkdir()
    assert Client(repo.path).denial("Write", file_path="src/a.py", content="")
    answer = call("/", "cancel", "--agent", SESSION)
    assert (answer.code, str(path) in answer.text) == (1, True)
    path.rmdir()
    assert Client(repo.path).asks("Write", file_path="src/a.py", content="") == {}


def test_the_doctor_names_what_is_forgotten_with_its_end(
    repo: Repository, make_repo: Repositories
) -> None:
    _folder_gone(repo.path)
    found = call(make_repo("other").path, "doctor").data("findings")
    assert f"session {SESSION}" in found
    assert f"cancel --agent {SESSION}" in found


def test_a_forgotten_session_hinders_no_approval_of_another(
    repo: Repository, make_repo: Repositories
) -> None:
    _folder_gone(repo.path)
    light = Lightly(make_repo("other", files=FILES), "s-2").to("submitted")
    assert light.run("approve", light.row.digest or "").code == 0
