"""Any command runs on the planned files, in the place, and is remembered as evidence (VR-3)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.guard.decide import decide
from shared.guard.permissions import refusal_while_planning
from shared.run import open_state
from shared.tree_runs import runs_on
from tests.journey import FILES, SHOWN, VERIFIED, Journey, words_of
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("VR-3")
TEST = "PYTHONPATH=src python3 tests/test_a.py"


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """Return a run whose code is written and not yet captured."""
    need_place()
    made = Journey(make_repo(files=FILES)).to("code")
    made.do_the_work()
    return made


def test_a_command_runs_on_what_is_in_the_worktree_now_and_its_exit_code_is_kept(
    journey: Journey,
) -> None:
    (journey.repository.path / "src/a.py").write_text("def f(x):\n    return 'mine'\n")
    passed = journey.planner("tree", "run", "--role", "developer", TEST)
    assert passed.code == 0, passed.text
    worktree = Path(journey.state_dir, "worktree")
    (worktree / "src/a.py").write_text("def f(x):\n    return x + 5\n")
    failed = journey.planner("tree", "run", f"{TEST} || exit 7")
    assert failed.code == 7
    assert "AssertionError" in failed.data("output")
    assert failed.block.get("code") == "7"
    assert failed.block.get("tree") != passed.block.get("tree")


def test_a_record_says_that_exit_code_or_counts_are_of_the_last_part_alone(
    journey: Journey,
) -> None:
    one, two = ("printf '%s passed in 0.1s\\n' " + number for number in "12")
    tree = journey.planner("tree", "run", f"{one} && {two}").block.get("tree") or ""
    journey.planner("tree", "run", f"false; {two}")
    journey.planner("tree", "run", "false; false")
    said = [run.line() for run in runs_on(journey.state_dir, tree)]
    last = "(this exit code is that of the last part)"
    assert f"{two}: 2 passed, 0 failed (the last of 2 summaries) · 1 passed in" in said[0]
    assert f"{two}: {last} · 2 passed, 0 failed · 2 passed in" in said[1]
    assert last not in said[2]


def test_a_pipeline_fails_with_any_command_in_it(journey: Journey) -> None:
    failed = journey.planner("tree", "run", f"{{ {TEST}; exit 3; }} | tail -5")
    assert (failed.code, failed.block.get("code")) == (3, "3")
    assert journey.planner("tree", "run", "seq 3 | grep 2 | tail -1").data("output") == "2"
    tree = failed.block.get("tree") or ""
    assert [run.code for run in runs_on(journey.state_dir, tree)] == [3, 0]
    # It is verified as it was run.
    journey.write_answer("verify.txt", "false | true\n")
    answer = journey.planner("plan", "verify", "--command-file", "answers/verify.txt")
    assert answer.data("verify").startswith("false | true: known-failure (base: fail)")


def test_the_verify_commands_run_by_name_as_they_do_when_they_verify(
    make_repo: Repositories,
) -> None:
    need_place()
    verify = """[verify]
secrets = [".env.test"]
commands = ["cat .env.test", "cat ignored.txt; pwd -L; exit 3", "echo never"]
"""
    files = {**FILES, ".gitignore": "ignored.txt\n.env.test\n", "planner.toml": verify}
    made = Journey(make_repo(files=files))
    (made.repository.path / "ignored.txt").write_text("of the project\n")
    (made.repository.path / ".env.test").write_text("TOKEN=x\n")
    made.confirms = False
    made.to("code").do_the_work()
    assert made.planner("tree", "run", "verify").data("output").startswith("cat: .env.test")
    digest = open_state(made.state_dir, "/").config["hash"]
    assert made.planner("config", "confirm", digest).code == 0
    ended = made.planner("tree", "run", "verify")
    assert ended.code == 3
    assert ended.data("output") == f"of the project\n{made.repository.path}"
    runs = runs_on(made.state_dir, ended.block.get("tree") or "")
    assert (runs[0].code, runs[0].said) == (0, "TOKEN=x")


SHOWS_VARIABLES = 'echo "<$PYTHONUNBUFFERED$NO_COLOR$PAGER>"'


@pytest.mark.requirement("VR-1")
def test_what_a_client_sets_for_its_model_is_not_passed_on(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONUNBUFFERED", "NO_COLOR", "PAGER"):
        monkeypatch.setenv(name, "set")
    assert journey.planner("tree", "run", SHOWS_VARIABLES).data("output") == "<>"
    own = f"PYTHONUNBUFFERED=mine; {SHOWS_VARIABLES}"
    assert journey.planner("tree", "run", own).data("output") == "<mine>"


def test_a_command_of_several_lines_is_shown_by_its_first(journey: Journey) -> None:
    shown = journey.planner("tree", "run", "python3 - <<'E'\nprint(1)\nprint(2)\nE")
    output = shown.block.find("data[@name='output']")
    assert output is not None
    assert (output.get("command"), output.text) == ("python3 - <<'E' … (3 more lines)", "1\n2")
    state = open_state(journey.state_dir, "/")
    (run,) = runs_on(state.state_dir, shown.block.get("tree") or "")
    assert "<<'E' … (3 more lines): 1 · 2" in run.line()


def test_lines_that_only_show_how_far_tests_have_come_are_left_out(journey: Journey) -> None:
    lines = ["..F. [ 50%]", "tests/test_a.py .s [100%]", "....", "E  assert 1 == 2", "3 passed"]
    shown = journey.planner("tree", "run", "printf '%s\\n' " + " ".join(f"'{x}'" for x in lines))
    assert shown.data("output") == "E  assert 1 == 2\n3 passed"
    assert not shown.data("all of the output")


def test_words_are_passed_on_as_they_are(journey: Journey) -> None:
    words = ("printf", "%s|", "a b", "$HOME", "--role")
    shown = journey.run("tree", "run", "--state-dir", journey.state_dir, "--", *words)
    assert shown.data("output") == "a b|$HOME|--role|"
    here = journey.planner("tree", "run", "pwd", "-L").data("output")
    assert here == str(journey.repository.path)


def test_what_ran_on_a_tree_is_remembered_with_how_it_ended_last(journey: Journey) -> None:
    tree = ""
    for command in ("echo one; false", TEST, TEST):
        tree = journey.planner("tree", "run", command).block.get("tree") or ""
    first, second = runs_on(journey.state_dir, tree)
    assert (first.command, first.code, first.said) == ("echo one; false", 1, "one")
    assert (second.command, second.code) == (TEST, 0)
    assert runs_on(journey.state_dir, "0" * 40) == []


def test_a_reviewer_is_shown_what_ran_on_the_files_that_are_reviewed(
    make_repo: Repositories,
) -> None:
    need_place()
    made = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    made.review = "small"
    made.to("code").do_the_work()
    ran = made.planner("tree", "run", f"{TEST} && echo fine")
    assert ran.block.get("run") == "1"
    made.to("code review")
    agents = [made.planner(*words_of(command)[:-2]).text for command in made.last.runs()]
    asked = "".join(agents) or made.last.text
    assert f"run 1: exit 0 (0 s): {TEST} && echo fine: fine" in asked


def test_a_long_output_is_cut_and_the_rest_is_named(journey: Journey) -> None:
    shown = journey.planner("tree", "run", "seq 100000")
    assert len(shown.text) < 5_000
    assert shown.data("output").endswith("\n99999\n100000")
    log, _, size = shown.data("all of the output").partition(" ")
    assert size == "(588895 bytes)"
    assert Path(log).read_text().startswith("1\n2\n3\n")


@pytest.mark.requirement("PP-2")
def test_what_a_command_misses_of_the_home_is_named_in_its_output(journey: Journey) -> None:
    (Path.home() / "other").mkdir()
    shown = journey.planner("tree", "run", "ls ~/other")
    assert "[not shown: ~/other, since of a home" in shown.data("output")


def test_what_a_command_writes_is_not_kept_and_that_is_said(journey: Journey) -> None:
    command = "echo x > src/b.py; sed -i s/x/y/ src/a.py; rm README.md"
    shown = journey.planner("tree", "run", command)
    assert shown.data("not kept").startswith("README.md, src/a.py, src/b.py; edit in ")
    assert (journey.repository.path / "README.md").exists()
    assert not Path(journey.state_dir, "worktree/src/b.py").exists()


def test_secrets_of_the_user_are_not_printed(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "hidden-value")
    (journey.repository.path / ".env").write_text("TOKEN=hidden-value\n")
    (Path.home() / ".netrc").write_text("machine x password hidden-value\n")
    shown = journey.planner("tree", "run", "env; cat .env ~/.netrc")
    assert "hidden-value" not in shown.text
    assert shown.code != 0


def test_where_there_is_no_place_only_named_commands_run(journey: Journey) -> None:
    mounted = journey.repository.path / "mounted"
    mounted.mkdir()
    planner = Path(__file__).parents[2] / "bin" / "planner"
    words = ["mount -t tmpfs none $0 && exec $@", str(mounted), str(planner), "tree", "run", ""]
    line = ["unshare", "-rm", "sh", "-c", *words[:-1], "--state-dir", journey.state_dir, "true"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "any command may run only in the place, and here a file system is" in done.stdout
    assert "tree run NAME" in done.stdout


def test_the_newest_outputs_are_kept(journey: Journey) -> None:
    kept = Path(journey.state_dir, "verify/runs")
    kept.mkdir(parents=True)
    for number in range(20):
        (kept / f"{number + 1}-run-echo-{number}.log").write_text(f"{number}\n")
    for number in range(20, 23):
        assert journey.planner("tree", "run", f"echo {number}").code == 0
    names = os.listdir(kept)
    assert len(names) == 20
    assert "23-run-echo-22.log" in names


def test_the_guard_lets_it_pass_and_names_it_where_it_denies_tests(journey: Journey) -> None:
    folder = str(journey.repository.path)
    denied = decide("pytest -q", cwd=folder)
    assert not denied.allowed
    assert "planner tree run" in denied.instead
    home = journey.state_dir

    def refusal(words: list[str]) -> str | None:
        return refusal_while_planning(words, folder, home, os.path.dirname(home))

    command = f"{SHOWN} tree run --state-dir {home} 'pytest -q | tail -5'"
    allowed = decide(command, cwd=folder, planner=refusal)
    assert (allowed.allowed, allowed.rewritten) == (True, None)
