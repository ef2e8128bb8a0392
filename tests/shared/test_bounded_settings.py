"""What a repository's planner.toml may decide, and what it cannot: limits, time, size (PP-6)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from shared.config import Config, load_config, parse_config
from shared.git.repository import find_repository
from shared.guard.settings import load_settings
from shared.mode import sessions
from shared.run import open_state
from shared.user_config import UserConfig, limited, load_user_config
from state.errors import Refused
from tests.effort import within
from tests.journey import FILES, Journey, call
from tests.light_plans import Lightly
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]
    Settings = Callable[[str], object]

pytestmark = pytest.mark.requirement("PP-6")

HASTY = (
    '[mode]\ngathering_timeout_minutes = 1\napproval_timeout_minutes = 1\non_timeout = "cancel"\n'
)
SLOW = {
    "one dotted key": ".".join(["a"] * 22_000) + " = 1",
    "a quoted one": ".".join(['"."'] * 11_000) + " = 1",
    "one in an inline table": "x = {" + ".".join(["a"] * 20_000) + " = 1}",
    "one in a header": "[" + ".".join(["a"] * 20_000) + "]",
    "an array in arrays": "x = " + "[" * 30_000,
    "a table in tables": "x = " + "{a = " * 10_000,
    "many long keys": "\n".join(f"k{n}." + ".".join(["a"] * 100) + " = 1" for n in range(300)),
    "a long file": "# " + "x" * 70_000,
}


# Time limits


@pytest.mark.requirement("PM-8")
def test_a_repository_cannot_end_planning_after_a_minute(make_repo: Repositories) -> None:
    """H6: it would be cancelled, and the assistant could write."""
    journey = Journey(make_repo(files={**FILES, "planner.toml": HASTY})).to("design")
    row = open_state(journey.state_dir, os.sep).agents[0]
    assert (row.gathering_timeout_s, row.approval_timeout_s) == (3_600, 1_800)
    assert row.on_timeout == "pause"
    Lightly(journey.repository).set_back(3_700)
    assert open_state(journey.state_dir, os.sep).run.status == "PAUSED"


@pytest.mark.requirement("PM-8")
def test_nor_can_it_where_a_plan_is_made_without_a_run(make_repo: Repositories) -> None:
    repository = make_repo(files={**FILES, "planner.toml": HASTY})
    row = Lightly(repository).to("gathering").row
    assert (row.gathering_timeout_s, row.approval_timeout_s) == (3_600, 1_800)
    assert row.on_timeout == "pause"


def test_a_repository_can_lengthen_and_the_user_decides_all() -> None:
    longer = parse_config(b"[mode]\ngathering_timeout_minutes = 90\n")
    assert limited(longer, UserConfig()).gathering_timeout_minutes == 90
    own = UserConfig(gathering_timeout_minutes=5, on_timeout="cancel")
    found = limited(longer, own)
    assert (found.gathering_timeout_minutes, found.on_timeout) == (5, "cancel")
    assert found.approval_timeout_minutes == Config().approval_timeout_minutes


@pytest.mark.parametrize(("project", "own", "found"), [
    ("any", None, "any"), ("proven", None, "proven"), ("any", "proven", "proven"),
    ("proven", "any", "proven"),
])  # fmt: skip
def test_who_demands_more_of_an_approval_counts(project: str, own: str | None, found: str) -> None:
    config = parse_config(f'[approval]\nrequire = "{project}"\n'.encode())
    assert limited(config, UserConfig(require=own)).require == found


def test_the_users_settings_are_read_and_their_mistakes_are_told_at_once(
    users_settings: Settings,
) -> None:
    assert load_user_config() == UserConfig()
    users_settings('[mode]\non_timeout = "cancel"\n[approval]\nallowed_signers = "~/s"\n[x]\ny=1\n')
    assert load_user_config() == UserConfig(on_timeout="cancel", allowed_signers="~/s")
    users_settings('[mode]\non_timeout = "go"\nspeed = 1\n[approval]\nallowed_signers = "s"\n')
    with pytest.raises(Refused) as refusal:
        load_user_config()
    assert len(refusal.value.problems) == 3
    users_settings("mode = 1\n")
    with pytest.raises(Refused, match="is not a table"):
        load_user_config()


# Read at the base, from the root


@pytest.fixture
def denying(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session in a repository that denies `wc`."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    config = '[guard]\ndeny = ["wc"]\n'
    return Journey(make_repo(files={**FILES, "planner.toml": config})).to("design")


def test_what_the_repository_denies_is_read_once_at_the_base(denying: Journey) -> None:
    client = Client(denying.repository.path)
    assert "[guard] deny" in client.denial("Bash", command="wc README.md")
    (denying.repository.path / "planner.toml").unlink()
    assert "[guard] deny" in client.denial("Bash", command="wc README.md")
    denying.repository.write("planner.toml", '[guard]\ndeny = ["cat"]\n')
    denying.repository.write("src/planner.toml", '[guard]\ndeny = ["cat"]\n')
    assert "updatedInput" in str(client.asks("Bash", command="cat README.md"))
    below = Client(denying.repository.path / "src")
    assert "updatedInput" in str(below.asks("Bash", command="cat a.py"))


@pytest.mark.parametrize("name", SLOW)
def test_a_file_in_the_folder_of_answers_is_never_read(denying: Journey, name: str) -> None:
    """H1: a hook that takes longer than its client waits lets the call pass."""
    answers = f"{denying.state_dir}/answers"
    for folder in (answers, f"{denying.state_dir}/worktree", str(denying.repository.path)):
        with open(f"{folder}/planner.toml", "w", encoding="utf-8") as file:
            file.write(SLOW[name])
        with within(100):
            assert "updatedInput" in str(Client(folder).asks("Bash", command="cat planner.toml"))
            Client(denying.repository.path).asks("Bash", command=f"cd {folder} && ls")


def test_a_plan_without_a_run_keeps_what_head_has(make_repo: Repositories) -> None:
    repository = make_repo(files={**FILES, "planner.toml": '[guard]\ndeny = ["wc"]\n'})
    repository.write("planner.toml", '[guard]\ndeny = ["cat"]\n')
    assert call(repository.path, "mode", "enter", "--agent", SESSION).code == 0
    client = Client(repository.path)
    assert "[guard] deny" in client.denial("Bash", command="wc README.md")
    assert "updatedInput" in str(client.asks("Bash", command="cat README.md"))
    shown = call(repository.path, "guard", "check", "wc README.md")
    assert shown.code == 1


def test_guard_check_reads_head_where_nobody_plans(make_repo: Repositories) -> None:
    repository = make_repo(files={**FILES, "planner.toml": '[guard]\ndeny = ["wc"]\n'})
    assert call(repository.path, "guard", "check", "wc README.md").code == 1
    assert call(repository.path, "guard", "check", "cat README.md").code == 0
    repository.commit({"planner.toml": "[guard\n"})
    answer = call(repository.path, "guard", "check", "cat README.md")
    assert answer.code == 1
    assert "planner.toml" in answer.text


def test_stored_settings_that_cannot_be_read_deny(denying: Journey) -> None:
    found = sessions.of_agent(SESSION)
    assert found is not None
    assert load_settings(found.state_dir).deny == (("wc",),)
    for text in ("{", "[]", json.dumps({"config": {"deny": 3}}), "[" * 100_000):
        with open(f"{denying.state_dir}/config.json", "w", encoding="utf-8") as file:
            file.write(text)
        reason = Client(denying.repository.path).denial("Bash", command="ls")
        assert "settings" in reason or "setting" in reason


# Size


@pytest.mark.parametrize("name", SLOW)
def test_what_would_take_long_is_refused_at_once(
    repo: Repository, users_settings: Settings, name: str
) -> None:
    commit = repo.commit({"planner.toml": SLOW[name]})
    git = find_repository(str(repo.path)).git
    users_settings(SLOW[name])
    for read in (lambda: load_config(git, commit), load_user_config):
        with within(300):
            if name == "many long keys" and read is load_user_config:
                assert read() == UserConfig()  # it is within bounds, and knows none of its tables
            else:
                with pytest.raises(Refused):
                    read()
    assert call(repo.path, "start", "w").code == 1


def test_a_long_line_of_commands_is_in_bounds() -> None:
    line = ", ".join(f'"pytest tests/test_{n}.py"' for n in range(90))
    assert len(parse_config(f"[verify]\ncommands = [{line}]\n".encode()).verify) == 90
