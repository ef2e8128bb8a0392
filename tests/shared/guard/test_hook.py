"""The answers of a client's hook while a session plans, and in its other stages."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import resources
from shared.guard import hook
from shared.mode import sessions
from shared.resources import launcher, quote
from tests.journey import FILES, LAUNCHER, Journey, call, shell, words_of
from tests.light_plans import Lightly
from tests.shared.guard.client import SESSION, Client, planned_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

OURS = launcher()
RO = f"{OURS} ro"


@pytest.fixture
def repo(make_repo: Repositories) -> Repository:
    """A repository in which the session plans without a run."""
    return planned_in(make_repo(files=FILES))


@pytest.fixture
def client(repo: Repository) -> Client:
    return Client(repo.path)


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session that has just started."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return Journey(make_repo(files=FILES))


@pytest.fixture
def user_settings() -> Path:
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "planner" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


# What passes


@pytest.mark.requirement("PM-3")
@pytest.mark.parametrize(
    "tool", ["Read", "Glob", "WebFetch", "AskUserQuestion", "Agent", "Task", "TodoWrite"]
)
def test_reading_asking_agents_and_task_lists_pass_with_an_empty_answer(
    client: Client, tool: str
) -> None:
    assert client.asks(tool, anything="x") == {}


@pytest.mark.requirement("PM-8")
def test_a_call_after_the_time_limit_finds_planning_paused_and_stays_read_only(
    client: Client, repo: Repository
) -> None:
    event = {"tool_name": "Write", "tool_input": {"file_path": "a.py"}}
    raw = {"session_id": SESSION, "cwd": client.cwd, "hook_event_name": "PreToolUse", **event}
    later = time.time() + 2 * 3_600
    answer = hook.answer("claude", "PreToolUse", json.dumps(raw).encode(), later)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    audit = call(repo.path, "audit")
    assert "pause" in audit.text, audit.text


def test_a_session_that_does_not_plan_is_left_alone(repo: Repository) -> None:
    other = Client(repo.path, "session-2")
    assert other.asks("Write", file_path="a.py", content="") == {}
    assert other.asks("Bash", command="rm -r src") == {}


def test_if_a_repository_plans_each_of_its_sessions_plans(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    assert call(repository.path, "mode", "enter").code == 0
    assert Client(repository.path / "src", "any").denial("Write", file_path="a.py")
    assert Client(repository.path.parent, "any").asks("Write", file_path="a.py") == {}


@pytest.mark.requirement("PM-3")
def test_the_planners_own_commands_pass_as_they_are(client: Client) -> None:
    assert client.asks("Bash", command=f"{OURS} status") == {}
    assert client.asks("Bash", command=f"{OURS} mode --help") == {}


def test_the_planners_skill_loads(client: Client) -> None:
    assert client.asks("Skill", skill="planner") == {}


# What does not


@pytest.mark.requirement("PM-3", "PM-4")
@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
def test_a_file_of_the_user_is_denied_with_where_to_write_instead(
    client: Client, tool: str
) -> None:
    reason = client.denial(tool, file_path=f"{client.cwd}/src/a.py")
    assert reason.startswith("Planning mode (gathering): ")
    assert f"Instead: write answers under {client.cwd}/.planner/answers/" in reason


@pytest.mark.requirement("PM-3")
def test_a_notebook_is_denied(client: Client) -> None:
    assert "must not be written" in client.denial("NotebookEdit", notebook_path="a.ipynb")


@pytest.mark.requirement("PM-4")
def test_the_same_is_denied_to_a_sub_agent(client: Client) -> None:
    answer = client.sends(
        "PreToolUse", tool_name="Write", tool_input={"file_path": "a"}, agent_id="a1"
    )
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.requirement("PM-3", "PM-5")
def test_a_command_that_writes_is_denied_with_the_guards_reason(client: Client) -> None:
    reason = client.denial("Bash", command="touch a")
    assert "`touch`" in reason
    assert "Instead: " in reason


@pytest.mark.requirement("PM-13")
@pytest.mark.parametrize(
    "words",
    [
        "approve d",
        "mode reject",
        "cancel",
        "qr accept qa-1",
        "config confirm h",
    ],
)
def test_a_command_that_only_a_person_may_run_is_denied_to_the_assistant(
    client: Client, words: str
) -> None:
    assert "only a person may run" in client.denial("Bash", command=f"{OURS} {words}")


@pytest.mark.requirement("PM-3")
@pytest.mark.parametrize("tool", ["mcp__files__write", "Teleport", "PowerShell"])
def test_an_unknown_tool_is_denied_unless_the_user_names_it(
    client: Client, tool: str, user_settings: Path
) -> None:
    assert "[guard] tools" in client.denial(tool, path="a")
    user_settings.write_text(f'[guard]\ntools = ["{tool}"]\n', encoding="utf-8")
    assert client.asks(tool, path="a") == {}


@pytest.mark.requirement("PM-3")
def test_a_repository_cannot_let_a_tool_pass(client: Client, repo: Repository) -> None:
    repo.write("planner.toml", '[guard]\ntools = ["mcp__files__write"]\n')
    assert client.denial("mcp__files__write", path="a")


def test_the_user_cannot_allow_a_tool_that_is_known_to_do_harm(
    client: Client, user_settings: Path
) -> None:
    user_settings.write_text('[guard]\ntools = ["CronCreate", "Write"]\n', encoding="utf-8")
    assert client.denial("CronCreate", prompt="x")
    assert client.denial("Write", file_path="a")


@pytest.mark.requirement("PM-13")
@pytest.mark.parametrize("tool", ["CronCreate", "ScheduleWakeup"])
def test_a_prompt_for_later_is_denied(client: Client, tool: str) -> None:
    assert "be taken for the user's" in client.denial(tool, prompt="/planner:approve d")


@pytest.mark.parametrize("tool", ["SendMessage", "Workflow"])
def test_asking_what_the_guard_does_not_check_is_denied(client: Client, tool: str) -> None:
    assert "that the guard does not check" in client.denial(tool, to="x")


@pytest.mark.requirement("PM-3", "PM-13")
def test_another_skill_is_denied_since_loading_it_can_run_commands(client: Client) -> None:
    assert "SKILL.md" in client.denial("Skill", skill="deploy")
    assert client.denial("Skill", skill="planner:approve")


# Which files of a run may be written


@pytest.mark.requirement("PM-3")
def test_answers_and_the_worktree_may_be_written(journey: Journey) -> None:
    client = Client(journey.to("code").repository.path)
    state_dir = journey.state_dir
    assert client.asks("Write", file_path=f"{state_dir}/answers/design.json") == {}
    assert client.asks("Edit", file_path=f"{state_dir}/worktree/src/a.py") == {}
    assert client.asks("Write", file_path=f"{state_dir}/worktree/new/b.py") == {}
    assert Client(f"{state_dir}/worktree").asks("Write", file_path="b.py") == {}


@pytest.mark.requirement("PM-3")
@pytest.mark.parametrize(
    "name",
    ["plan.json", "qr-plan-code.json", "config.json", "lock", "answers", "worktree/.git",
     "worktree/.GIT/config", "worktree/sub/.git/hooks/pre-commit", "answers/../plan.json",
     "../../planner.db", "../../planner.db-journal", "vault.git/config", "context.json"],
)  # fmt: skip
def test_the_runs_own_files_must_not_be_written(journey: Journey, name: str) -> None:
    client = Client(journey.to("code").repository.path)
    assert client.denial("Write", file_path=f"{journey.state_dir}/{name}")


@pytest.mark.requirement("PM-3")
def test_the_context_may_be_written_until_it_is_checked(journey: Journey) -> None:
    client = Client(journey.repository.path)
    assert client.asks("Write", file_path=f"{journey.state_dir}/context.json") == {}
    journey.to("design")
    assert "which only planner commands may write" in client.denial(
        "Write", file_path=f"{journey.state_dir}/context.json"
    )


@pytest.mark.requirement("PM-3")
def test_a_link_out_of_the_worktree_leads_nowhere(journey: Journey) -> None:
    root = journey.to("code").repository.path
    worktree, answers = f"{journey.state_dir}/worktree", f"{journey.state_dir}/answers"
    os.symlink(root / "src", f"{worktree}/out")
    os.symlink(root / "README.md", f"{answers}/remarks.md")
    client = Client(root)
    assert client.denial("Write", file_path=f"{worktree}/out/a.py")
    assert client.denial("Write", file_path=f"{answers}/remarks.md")
    assert client.denial("Write", file_path=f"{worktree}/../../../src/a.py")


@pytest.mark.requirement("PP-9")
def test_a_file_with_another_name_and_a_link_in_a_circle_are_not_written(journey: Journey) -> None:
    root = journey.to("code").repository.path
    worktree, answers = f"{journey.state_dir}/worktree", f"{journey.state_dir}/answers"
    os.link(root / "src/a.py", f"{answers}/a note.md")
    os.link(root / "README.md", f"{worktree}/same")
    os.symlink("loop", f"{answers}/loop")
    client = Client(root)
    denial = client.denial("Write", file_path=f"{answers}/a note.md")
    assert f"rm -- '{answers}/a note.md'" in denial
    assert client.denial("Edit", file_path=f"{worktree}/same")
    assert client.denial("Write", file_path=f"{answers}/loop")
    assert client.denial("Write", file_path=f"{answers}/loop/x")
    command = f"rm -- '{answers}/a note.md'"
    ran = client.asks("Bash", command=command)["hookSpecificOutput"]["updatedInput"]["command"]
    assert shell(ran, root).code == 0
    assert client.asks("Write", file_path=f"{answers}/a note.md") == {}
    assert (root / "src/a.py").read_text().startswith("def f")


@pytest.mark.requirement("PM-3")
@pytest.mark.parametrize("field", ["path", "notebook_path", "filePath", "files"])
def test_a_file_in_another_field_than_the_clients_own_is_judged_too(
    journey: Journey, field: str
) -> None:
    client = Client(journey.to("code").repository.path)
    own = f"{journey.state_dir}/answers/x"
    assert client.asks("Write", **{"file_path": own, field: own, "content": "src/a.py"}) == {}
    assert client.denial("Write", **{"file_path": own, field: "src/a.py"})


@pytest.mark.requirement("PM-3")
@pytest.mark.parametrize(
    "path",
    ["{home}/.claude/settings.json", "{root}/.claude/settings.json", "{root}/.mcp.json",
     "{planner}/hooks/guard", "{planner}/bin/planner", "{state}/planner/sessions/x",
     "{state}/planner/typed/x", "{config}/planner/config.toml", "{root}/planner.toml"],
)  # fmt: skip
def test_settings_and_hooks_must_not_be_written(
    client: Client, repo: Repository, path: str
) -> None:
    places = {
        "home": os.environ["HOME"], "root": repo.path, "planner": resources.ROOT,
        "state": os.environ["XDG_STATE_HOME"], "config": os.environ["XDG_CONFIG_HOME"],
    }  # fmt: skip
    assert client.denial("Write", file_path=path.format(**places))


# Other stages


@pytest.mark.requirement("PM-4")
def test_while_a_plan_is_executed_all_passes_but_a_persons_commands_and_our_files(
    journey: Journey, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client = Client(journey.to("submitted").repository.path)
    assert client.denial("Write", file_path="src/a.py").startswith("Planning mode (submitted)")
    client.types(words_of(journey.last.person())[1])
    monkeypatch.setenv("CLAUDECODE", "1")
    journey.to("approved")
    assert client.asks("Write", file_path="src/a.py") == {}
    assert client.asks("Bash", command="pip install x > log") == {}
    assert client.asks("mcp__files__write", path="a") == {}
    assert client.denial("Write", file_path=f"{journey.state_dir}/plan.json")
    assert client.denial("Bash", command=f"{OURS} exec accept a.py")
    linked = tmp_path / "bin"
    linked.mkdir()
    (linked / "planner").symlink_to(LAUNCHER)
    assert client.denial("Bash", command=f"{linked}/planner exec accept a.py")
    assert client.denial("Bash", command=f"x=$({OURS} cancel)")


# Faults


@pytest.mark.requirement("PM-4", "PM-5")
@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b'{"session_id": "session-1"}', b"\xff", b"[" * 100_000,
     b'{"session_id": "session-1", "tool_name": "Bash", "tool_input": {}}',
     b'{"session_id": "session-1", "tool_name": "Write", "tool_input": {"file_path": "\\u0000"}}'],
)  # fmt: skip
@pytest.mark.usefixtures("repo")
def test_an_event_that_cannot_be_parsed_is_denied(raw: bytes) -> None:
    answer = hook.answer("claude", "PreToolUse", raw, time.time())
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.requirement("PM-5")
def test_a_damaged_database_denies_and_says_how_to_learn_more(client: Client) -> None:
    found = sessions.find(SESSION, client.cwd)
    assert found is not None
    Path(found.database).write_bytes(b"no database " * 1000)
    reason = client.denial("Write", file_path="a")
    assert "the database is damaged" in reason
    assert "doctor says what is left" in reason


@pytest.mark.parametrize("is_there", [True, False], ids=["to a file", "dangling"])
def test_a_link_in_place_of_the_database_denies_and_the_session_stays_guarded(
    client: Client, tmp_path: Path, *, is_there: bool
) -> None:
    found = sessions.find(SESSION, client.cwd)
    assert found is not None
    place, aside = Path(found.database), tmp_path / "aside"
    place.rename(aside)
    held = aside.read_bytes()
    place.symlink_to(aside if is_there else tmp_path / "gone")
    for _ in range(2):
        assert "is a symbolic link" in client.denial("Write", file_path="a.py")
    typed = client.sends("UserPromptSubmit", prompt="approve " + "0" * 12)
    assert "is a symbolic link" in json.dumps(typed)
    assert aside.read_bytes() == held
    assert not (tmp_path / "gone").exists()


def test_an_event_that_we_do_not_know_denies(client: Client) -> None:
    answer = client.sends("PreEverything", tool_name="Read", tool_input={})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


# The record


@pytest.mark.requirement("PM-9")
def test_a_denial_is_in_the_audit_and_the_guard_is_noted_once(client: Client) -> None:
    client.denial("Write", file_path="src/a.py")
    client.denial("Bash", command="touch \ud800")
    answer = call(client.cwd, "audit", "--json")
    rows = [json.loads(line) for line in answer.text.splitlines()]
    found = [(r["who"], r["action"], r["detail"][:14]) for r in rows if r["who"] == "guard"]
    assert [action for _, action, _ in found] == ["guarded", "deny", "deny"]
    assert found[1][2] == "Write src/a.py"


@pytest.mark.requirement("PM-8")
def test_each_call_counts_against_the_time_limit(client: Client) -> None:
    found = sessions.find(SESSION, client.cwd)
    assert found is not None
    os.utime(found.path, (1, 1))
    client.asks("Read", file_path="a")
    assert os.stat(found.path).st_mtime > 1


@pytest.mark.requirement("PM-8", "PP-6")
@pytest.mark.parametrize("tool", ["Write", "Read", "Bash"])
@pytest.mark.parametrize(
    ("on_timeout", "model", "user"),
    [("cancel", "ask before you change anything", "Planning has ended by its time limit"),
     ("pause", f"{quote(LAUNCHER)} resume", "Planning is paused by its time limit")],
)  # fmt: skip
def test_the_call_that_finds_a_time_limit_passed_is_denied_and_both_sides_are_told(
    repo: Repository, users_settings: Callable[[str], object], tool: str, on_timeout: str,
    model: str, user: str,
) -> None:  # fmt: skip
    users_settings(f'[mode]\non_timeout = "{on_timeout}"\n')
    lightly = Lightly(repo, "session-2").to("submitted")
    client = Client(repo.path, "session-2")
    lightly.set_back(1_801)
    answer = client.asks(tool, file_path="src/a.py", command="ls")
    said = answer["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert user in said["permissionDecisionReason"]
    assert "nobody has answered for 30 minutes" in said["permissionDecisionReason"]
    assert model in said["permissionDecisionReason"]
    assert user in answer["systemMessage"]
    passes = client.asks("Write", file_path="src/a.py") == {}
    assert passes is (on_timeout == "cancel")


@pytest.mark.requirement("PM-8", "PP-6")
@pytest.mark.parametrize("on_timeout", ["cancel", "pause"])
def test_the_prompt_before_which_a_time_limit_passed_tells_both_sides(
    repo: Repository, users_settings: Callable[[str], object], on_timeout: str
) -> None:
    users_settings(f'[mode]\non_timeout = "{on_timeout}"\n')
    Lightly(repo, "session-2").to("submitted").set_back(1_801)
    client = Client(repo.path, "session-2")
    answer = client.sends("UserPromptSubmit", prompt="go")
    told = answer["hookSpecificOutput"]["additionalContext"]
    assert "by its time limit: nobody has answered" in told
    assert told.count("nobody has answered") == 1
    assert "by its time limit: nobody has answered" in answer["systemMessage"]
    assert "systemMessage" not in client.sends("UserPromptSubmit", prompt="go")


@pytest.mark.requirement("PM-8")
def test_vibe_and_codex_are_told_of_a_time_limit_in_their_own_words(repo: Repository) -> None:
    for host, key, tool in (("vibe", "system_message", "process.list"),
                            ("codex", "systemMessage", "update_plan")):  # fmt: skip
        Lightly(repo, f"{host}-1").to("gathering").set_back(3_601)
        client = Client(repo.path, f"{host}-1", host)
        answer = client.asks(tool)
        assert "Planning is paused by its time limit" in answer[key]
        assert client.asks(tool) == {}


@pytest.mark.quick
@pytest.mark.requirement("PM-10")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_session_is_told_the_rules_of_its_stage(client: Client, event: str) -> None:
    told = client.sends(event, prompt="go")["hookSpecificOutput"]
    assert told["hookEventName"] == event
    assert '<planning_mode stage="gathering">' in told["additionalContext"]
    assert Client(client.cwd, "session-2").sends(event, prompt="go") == {}
