"""The small files by which a hook finds the session that plans (PM-1)."""

from __future__ import annotations

import json
import os
import pwd
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.mode import limits, sessions, transitions
from shared.mode.memory import Memory
from shared.resources import sessions_path, user_config_path
from state.database import Database
from state.errors import Refused
from tests.state.plans import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-1")

LIMITS = {"gathering_timeout_s": 3_600, "approval_timeout_s": 1_800, "on_timeout": "pause"}


def planning(root: Path | str, agent: str | None = None, phase: str = "gathering") -> str:
    """Have an agent, the repository itself when none is named, plan at `root`; return its name."""
    home = Path(root) / ".planner"
    home.mkdir(parents=True, exist_ok=True)
    name = agent or os.path.realpath(root)
    database = Database(str(home / "planner.db"), create=True)
    with database:
        database.set_planning(name, phase=phase, **LIMITS)
    row = database.planning(name)
    assert row is not None
    assert sessions.publish(row, database.path, None)
    database.close()
    return name


def files() -> list[Path]:
    folder = Path(sessions_path())
    return sorted(folder.iterdir()) if folder.exists() else []


class TestASession:
    def test_is_found_by_the_id_of_the_client_from_any_folder(self, tmp_path: Path) -> None:
        planning(tmp_path / "r", "s-1")
        found = sessions.find("s-1", "/")
        assert found is not None
        assert found.agent == "s-1"
        assert found.repository == found.state_dir.removesuffix("/.planner")  # type: ignore[union-attr]
        assert (found.database, found.run_id) == (f"{found.state_dir}/planner.db", None)
        assert sessions.find("s-2", "/") is None
        assert sessions.find("", "/") is None

    def test_of_a_repository_holds_for_every_client_inside_it(self, tmp_path: Path) -> None:
        root = planning(tmp_path / "r")
        inside = tmp_path / "r" / "src" / "deep"
        inside.mkdir(parents=True)
        for folder in (root, str(inside)):
            found = sessions.find("any", folder)
            assert found is not None
            assert found.agent == root
        assert sessions.find("any", str(tmp_path)) is None
        (tmp_path / "r2").mkdir()
        assert sessions.find("any", str(tmp_path / "r2")) is None

    def test_is_that_of_the_innermost_repository(self, tmp_path: Path) -> None:
        outer, inner = planning(tmp_path / "r"), planning(tmp_path / "r" / "vendor" / "lib")
        for folder, agent in ((outer, outer), (inner, inner)):
            found = sessions.find("any", folder)
            assert found is not None
            assert found.agent == agent

    def test_of_its_own_goes_before_that_of_the_repository(self, tmp_path: Path) -> None:
        root = planning(tmp_path / "r")
        planning(tmp_path / "r", "s-1")
        found = sessions.find("s-1", root)
        assert found is not None
        assert found.agent == "s-1"

    def test_that_joined_by_its_repository_holds_there(self, tmp_path: Path) -> None:
        planning(tmp_path / "r", "s-1")
        root = os.path.realpath(tmp_path / "r")
        assert sessions.find("any", root) is None
        assert sessions.join(root, "s-1")
        found = sessions.find("any", f"{root}/src")
        assert found is not None
        assert found.agent == "s-1"

    def test_is_found_through_a_link_to_its_repository(self, tmp_path: Path) -> None:
        root = planning(tmp_path / "r")
        (tmp_path / "link").symlink_to(root)
        found = sessions.find("any", str(tmp_path / "link"))
        assert found is not None
        assert found.agent == root

    def test_that_is_inactive_has_no_file(self, tmp_path: Path) -> None:
        planning(tmp_path / "r", "s-1")
        assert sessions.is_published("s-1")
        planning(tmp_path / "r", "s-1", "inactive")
        planning(tmp_path / "r", "s-1", "inactive")
        assert files() == []

    def test_whose_database_is_gone_stays_and_has_no_memory(self, tmp_path: Path) -> None:
        planning(tmp_path / "r", "s-1")
        os.unlink(tmp_path / "r" / ".planner" / "planner.db")
        found = sessions.find("s-1", "/")
        assert found is not None
        assert "there is no planner database here" in Memory(found).gone
        assert sessions.is_anyone_there()

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"agent": "s-1"}', "\0" * 20, '"s-1"'])
    def test_whose_file_is_damaged_is_known_by_its_name_alone(
        self, tmp_path: Path, text: str
    ) -> None:
        root = planning(tmp_path / "r")
        planning(tmp_path / "r", "s-1")
        for name in ("s-1", root):
            Path(sessions.path_of(name)).write_text(text)
        for session, folder, agent in (("s-1", "/", "s-1"), ("any", f"{root}/src", root)):
            found = sessions.find(session, folder)
            assert found is not None
            assert (found.agent, found.run_id) == (agent, None)
            assert Memory(found).gone
        assert sessions.all_sessions() == []
        assert sessions.is_anyone_there()

    def test_is_written_for_its_user_alone_and_leaves_nothing_else(self, tmp_path: Path) -> None:
        planning(tmp_path / "r", "s-1")
        planning(tmp_path / "r", "s-1")
        assert [f.name for f in files()] == [os.path.basename(sessions.path_of("s-1"))]
        assert os.stat(sessions_path()).st_mode & 0o077 == 0

    def test_is_no_reason_to_fail_where_it_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        database = Database(str(tmp_path / "planner.db"), create=True)
        with database:
            database.set_planning("s-1", phase="gathering", **LIMITS)
        row = database.planning("s-1")
        assert row is not None
        assert not sessions.publish(row, database.path, None)
        assert sessions.find("s-1", "/") is None
        assert sessions.last_call("s-1") == 0


class TestTheLastCall:
    def test_is_the_time_of_the_file(self, tmp_path: Path) -> None:
        planning(tmp_path / "r", "s-1")
        os.utime(sessions.path_of("s-1"), (5, 5))
        assert sessions.last_call("s-1") == 5
        sessions.touch("s-1")
        assert sessions.last_call("s-1") > 5
        os.utime(sessions.path_of("s-1"), (5, 5))
        found = sessions.find("s-1", "/")
        assert found is not None
        found.touch()
        assert sessions.last_call("s-1") > 5

    def test_of_nobody_is_never(self) -> None:
        sessions.touch("s-1")
        assert sessions.last_call("s-1") == 0
        assert files() == []


class TestTheNameOfAnAgent:
    def test_is_the_one_given_else_the_clients_session_else_the_repository(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert sessions.agent_name(None, "/repo") == "/repo"
        monkeypatch.setenv("CODEX_SESSION_ID", "of codex")
        assert sessions.agent_name(None, "/repo") == "of codex"
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of claude")
        assert sessions.agent_name(None, "/repo") == "of claude"
        assert sessions.agent_name("given", "/repo") == "given"

    def test_may_be_any_text(self, tmp_path: Path) -> None:
        for name in ("../../x", "a/b", "\udcff", "ä" * 500):
            assert os.path.dirname(sessions.path_of(name)) == sessions_path()
        planning(tmp_path / "r", "ü/../\n")
        assert sessions.find("ü/../\n", "/") is not None

    def test_of_a_repository_is_the_same_from_its_folders_and_its_scratch_worktree(
        self, repo: Repository
    ) -> None:
        root = os.path.realpath(repo.path)
        scratch = repo.path / ".planner" / "runs" / "x" / "worktree"
        (scratch / "src").mkdir(parents=True)
        (scratch / ".git").write_text("gitdir: elsewhere\n")
        (repo.path / "src").mkdir()
        for folder in (repo.path, repo.path / "src", scratch, scratch / "src"):
            assert sessions.repository_root(str(folder)) == root

    def test_where_there_is_no_repository_is_the_folder(self, tmp_path: Path) -> None:
        assert sessions.repository_root(str(tmp_path)) == os.path.realpath(tmp_path)


def test_the_folder_follows_xdg_and_a_relative_setting_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("relative", ""):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert sessions_path() == f"{tmp_path}/.local/state/planner/sessions"
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert sessions_path() == "/elsewhere/planner/sessions"


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_without_an_absolute_home_the_folder_lies_in_that_of_the_account(
    monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    account = pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    assert sessions_path() == f"{account}/.local/state/planner/sessions"
    assert user_config_path() == f"{account}/.config/planner/config.toml"

    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert sessions_path() == "/.local/state/planner/sessions"


def test_the_users_settings_are_read_in_no_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert os.path.isabs(user_config_path())


def test_the_file_holds_what_hooks_are_promised(tmp_path: Path) -> None:
    planning(tmp_path / "r", "s-1")
    home = os.path.realpath(tmp_path / "r" / ".planner")
    assert json.loads(Path(sessions.path_of("s-1")).read_text()) == {
        "agent": "s-1",
        "session": "s-1",
        "database": f"{home}/planner.db",
        "repository": os.path.dirname(home),
        "state_dir": home,
        "run_id": None,
    }


def test_a_lost_session_file_is_written_again_by_the_next_command_that_changes(
    repo: Repository,
) -> None:
    from tests.journey import call

    answer = call(repo.path, "start", "Make it so", "--depth", "full")
    state_dir = answer.block.get("state_dir", "")
    agent = os.path.realpath(repo.path)
    os.unlink(sessions.path_of(agent))
    assert call(repo.path, "status").code == 0
    assert sessions.find("", agent) is None
    assert call(repo.path, "start", "Make it so", "--depth", "full").code == 0
    found = sessions.find("", agent)
    assert found is not None
    assert found.state_dir == state_dir
    connection = sqlite3.connect(found.database)
    rows = connection.execute("SELECT run_id, phase FROM planning_state").fetchall()
    connection.close()
    assert rows == [(found.run_id, "gathering")]


def test_a_stage_that_was_not_committed_is_published_nowhere(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "planner.db"), create=True)

    def enter_and_fail() -> None:
        with database:
            transitions.change_agent(database, "s-1", "enter", "host", **limits.columns({}))
            raise Refused("refused", "x", "y")

    assert refusal(enter_and_fail)
    assert files() == []
    with database:
        transitions.change_agent(database, "s-1", "enter", "host", **limits.columns({}))
    assert sessions.is_published("s-1")
    database.close()


def test_a_session_that_plans_elsewhere_may_end_its_plan_here(tmp_path: Path) -> None:
    planning(tmp_path, "s-1")
    database = Database(str(tmp_path / ".planner" / "planner.db"))
    row = database.planning("s-1")
    assert row is not None
    assert sessions.publish(row, str(tmp_path / "elsewhere" / "planner.db"), None)
    with database:
        transitions.change_agent(database, "s-1", "cancel", "user")
    row = database.planning("s-1")
    assert row is not None
    assert row.phase == "inactive"
    database.close()
