"""Gemini CLI with the guard's entries in the user's settings, while its repository plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.real_clients import Gemini
from tests.clients.scripted_model import TASK
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from tests.clients.conftest import Repositories
    from tests.clients.scripted_model import Call
    from tests.journey import Journey

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PM-4", "HO-4")]

MADE = 'python3 -c \'open("made", "w")\''
# Without it nothing that asks is allowed in a session without a terminal.
ANY = "--yolo"


@pytest.fixture
def gemini(run: Journey) -> Gemini:
    """Gemini in the repository; its commands know no session, so the repository plans."""
    found = Gemini("gemini-0.61.0", run.repository.path)
    found.add_hooks()
    run.to("code")
    return found


def shell(command: str, **more: str) -> Call:
    return "run_shell_command", {"command": command, **more}


@pytest.mark.smoke("gemini", "is denied")
def test_calls_that_write_are_denied_and_the_model_reads_why(gemini: Gemini, run: Journey) -> None:
    before = run.repository.git("status", "--porcelain")
    repo = run.repository.path
    change = {"instruction": "x", "old_string": "adds", "new_string": "x"}
    tried = [
        ("write_file", {"file_path": f"{repo}/new.py", "content": "x"}),
        ("write_file", {"file_path": f"{run.state_dir}/plan.json", "content": "x"}),
        ("replace", {"file_path": f"{repo}/README.md", **change}),
        shell("touch new.py"),
        shell("touch a.py", dir_path=f"{repo}/src"),
        shell(f"{LAUNCHER} cancel"),
        shell(f"{LAUNCHER} approve {'0' * 64}"),
        shell(f"{LAUNCHER} undo"),
        shell(f"{LAUNCHER} demo --keep kept"),
    ]
    played = gemini.play(tried, ANY)
    assert len(played.results) == len(tried), played
    assert all("Planning mode (gathering): " in r.text for r in played.results), played.results
    assert run.repository.git("status", "--porcelain") == before


@pytest.mark.requirement("PP-5")
@pytest.mark.usefixtures("run", "gemini")
def test_a_persons_command_is_denied_in_another_repository_too(make_repo: Repositories) -> None:
    elsewhere = Gemini("gemini-0.61.0", make_repo("elsewhere").path)
    elsewhere.add_hooks()
    played = elsewhere.play([shell(f"{LAUNCHER} approve {'0' * 64}")], ANY)
    assert "A session of this user plans: only a person may run" in played.only.text


def test_calls_of_a_sub_agent_that_write_are_denied(gemini: Gemini, run: Journey) -> None:
    given = {"agent_name": "generalist", "prompt": f"{TASK}try it"}
    new = {"file_path": f"{run.repository.path}/new.py", "content": "x"}
    sub = [shell("touch new.py"), ("write_file", new)]
    played = gemini.play([("invoke_agent", given), "done"], ANY, sub=sub)
    below = [r for r in played.results if r.agent]
    assert len(below) == 2, played
    assert all("Planning mode (gathering): " in r.text for r in below), below
    assert not (run.repository.path / "new.py").exists()


def test_reading_any_text_our_commands_answers_and_the_worktree_pass(
    gemini: Gemini, run: Journey
) -> None:
    source = f"{run.state_dir}/worktree/src/a.py"
    change = {"instruction": "x", "old_string": "x + 1", "new_string": "x + 2"}
    played = gemini.play(
        [
            ("read_file", {"file_path": "README.md"}),
            ("grep_search", {"pattern": "adds", "dir_path": "src"}),
            shell("for f in *; do echo $f; done; git log --oneline -1; " + MADE),
            shell(f"{LAUNCHER} step planner --state-dir {run.state_dir}"),
            ("write_file", {"file_path": f"{run.state_dir}/answers/notes.md", "content": "noted"}),
            ("replace", {"file_path": source, **change}),
        ],
        ANY,
    )
    read, _, text, step, *written = played.results
    assert "adds one" in read.text
    assert "README.md" in text.text
    assert run.repository.git("rev-parse", "--short", "HEAD") in text.text
    assert not (run.repository.path / "made").exists()
    assert '<step workflow="planner"' in step.text
    assert not any(result.is_error for result in written), written
    with open(source, encoding="utf-8") as file:
        assert "x + 2" in file.read()


@pytest.mark.requirement("PM-10")
def test_the_model_is_told_in_which_stage_it_is(gemini: Gemini) -> None:
    played = gemini.play(["done"])
    assert any('planning_mode stage="gathering"' in text for text in played.heard)


@pytest.mark.requirement("PP-4")
def test_the_users_own_policies_hold(gemini: Gemini) -> None:
    gemini.write(
        ".gemini/policies/mine.toml",
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "cat"\n'
        'decision = "deny"\npriority = 500\n',
    )
    tried = [shell("cat private/key.txt"), shell("ls src && cat README.md"), shell("ls src")]
    *denied, passed = gemini.play(tried, ANY).results
    assert all("denied by policy" in result.text for result in denied), denied
    assert "a.py" in passed.text


@pytest.mark.requirement("PP-4")
def test_beside_another_hook_the_parser_decides(gemini: Gemini) -> None:
    other = {"hooks": [{"type": "command", "command": "true"}]}
    found = gemini.settings()
    found["hooks"]["BeforeTool"].append(other)
    gemini.add_hooks(**found)
    played = gemini.play([shell("ls src"), shell("for f in *; do echo $f; done")], ANY)
    plain, loop = played.results
    assert "a.py" in plain.text
    assert "Planning mode (gathering): " in loop.text


def test_a_guard_that_cannot_start_denies(gemini: Gemini, run: Journey) -> None:
    gemini.more = {"PLANNER_PYTHON": "/nowhere/python"}
    played = gemini.play([shell("touch new.py")], ANY)
    assert "the guard could not be started" in played.only.text
    assert not (run.repository.path / "new.py").exists()


@pytest.mark.requirement("PP-6")
def test_a_guard_that_is_stopped_denies(gemini: Gemini, run: Journey, stopped: str) -> None:
    gemini.more = {"PLANNER_PYTHON": stopped}
    played = gemini.play([shell("touch made")], ANY)
    assert "the guard did not decide within 3 s, so nothing was run" in played.only.text
    assert not (run.repository.path / "made").exists()


@pytest.mark.smoke("gemini", "cannot approve")
@pytest.mark.requirement("PM-13")
def test_a_command_that_gemini_runs_cannot_approve(run: Journey) -> None:
    """Not even where no hook is: its commands are known by what it sets in them."""
    run.to("submitted")
    digest = run.last.person().split()[2]
    unguarded = Gemini("gemini-0.61.0", run.repository.path)
    played = unguarded.play([shell(f"{LAUNCHER} approve {digest}")], ANY)
    assert "an assistant runs this" in played.only.text
