"""What a person is told by `planner setup`: before the question, after it, and when all is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.mode.sessions import path_of
from shared.place.cache import recall, remember
from shared.resources import PROGRAM, ROOT, installed_path
from tests.journey import FILES, Journey
from tests.terminal import started, typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.setup.homes import Home
    from tests.conftest import Golden, Repository
    from tests.journey import Answer

    Repositories = Callable[..., Repository]

pytestmark = [pytest.mark.requirement("HO-2"), pytest.mark.requirement("HO-5")]

QUESTION = "Write this? [Y/n]: "


def asked(home: Home, keys: str, *words: str) -> Answer:
    """Run `planner setup` as a person does, in a terminal in which the keys are typed."""
    return started(
        home.path, PROGRAM, "setup", *words, keys=keys, width=80, NO_COLOR="1",
        PLANNER_PYTHON=sys.executable,
    )  # fmt: skip


def shown(home: Home, text: str) -> str:
    return text.replace(ROOT, "/opt/planner").replace(str(home.path), "/home/user")


@pytest.fixture
def two(home: Home) -> Home:
    """Return a home with Claude Code, whose settings hold something, and codex."""
    home.write(".claude/settings.json", '{\n  "model": "opus"\n}\n')
    (home.path / ".codex").mkdir()
    return home


def test_all_that_it_does_is_said_once_before_the_question_and_the_next_step_after(
    two: Home, golden: Golden
) -> None:
    answer = asked(two, "y\n")
    assert answer.code == 0
    before, _, after = answer.text.partition(QUESTION)
    rule = f'"Bash({two.path}/.claude/skills/planner/bin/planner *)"'
    assert before.count(rule) == 1
    assert rule not in after
    assert "link ~/.claude/skills/planner" in before
    assert "Not on this machine: vibe, opencode, Gemini and\nCursor." in before
    for said in ("restart", "Plan this: ", f"{PROGRAM} doctor", f"{PROGRAM} setup --remove"):
        assert said in after
    assert "Dry run" not in answer.text
    words = [line for line in answer.text.splitlines() if "/" not in line and line[4:5] not in "+-"]
    assert max(map(len, words)) <= 80
    golden("setup/two-assistants.txt", shown(two, answer.text))


def test_a_no_and_an_interrupt_say_that_nothing_was_written(two: Home) -> None:
    before = two.settings()
    for keys in ("n\n", "\x04"):
        answer = asked(two, keys)
        assert answer.code == 130
        assert answer.text.endswith("Nothing was written.\n")
    assert two.settings() == before
    assert not Path(installed_path()).exists()


@pytest.mark.quick
def test_twice_is_one_line_and_a_dry_run_names_the_command_that_writes(two: Home) -> None:
    dry = typed(two.path, "setup", "--dry-run", width=80).text
    assert dry.endswith(f"Nothing was written. To write it:\n    {PROGRAM} setup\n")
    typed(two.path, "setup")
    again = typed(two.path, "setup", width=80).text
    assert again == "Nothing to do: Claude Code and codex are set up.\n"
    assert typed(two.path, "setup", "--dry-run", width=80).text == again


def test_a_project_of_its_own_is_named_with_the_command_that_takes_it_out(
    home: Home, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = typed(repo.path, "setup", "--project", "vibe").text
    assert f"vibe in {repo.path}\n  link {repo.path}/.vibe/skills/planner to ~/" in text
    assert f"    {PROGRAM} setup --project --remove\n" in text
    assert typed(repo.path, "setup", "--project", "--remove").code == 0
    assert home.left_by_programs() == []


def test_without_an_assistant_it_names_those_that_it_knows(home: Home) -> None:
    text = typed(home.path, "setup").text
    assert "No assistant was found on this machine" in text
    assert f"    {PROGRAM} setup claude\n" in text


def test_a_removal_says_what_goes_and_what_stays(two: Home, golden: Golden) -> None:
    asked(two, "y\n")
    answer = asked(two, "y\n", "--remove")
    assert answer.code == 0
    golden("setup/two-removed.txt", shown(two, answer.text))
    assert typed(two.path, "setup", "--remove").text == "Nothing to do: nothing is set up.\n"


def test_one_of_two_is_removed_and_the_other_is_said_to_stay(two: Home) -> None:
    asked(two, "y\n")
    before, _, after = asked(two, "y\n", "--remove", "codex").text.partition("[Y/n]: ")
    assert "Our own" not in before
    assert "Still set up: Claude Code." in after
    assert "update-ref" not in after


def test_a_removal_leaves_nothing_that_only_we_need(two: Home) -> None:
    typed(two.path, "setup")
    remember("level", "/somewhere", {"name": "none"})
    gone = Path(path_of("/gone"))
    gone.parent.mkdir(parents=True)
    gone.write_text('{"agent": "/gone", "database": "/gone/planner.db"}')
    assert two.setup("--remove").code == 0
    assert recall("level", "/somewhere") == {}
    assert two.left_by_programs() == []
    assert not (two.path / ".state" / "planner").exists()


def test_a_session_that_plans_is_named_by_the_removal_and_stays_held(
    home: Home, make_repo: Repositories
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    home.setup("codex")
    folder = str(journey.repository.path)
    text = typed(home.path, "setup", "--remove").text
    assert f"Still planned in {folder}" in text
    assert f"    {PROGRAM} cancel --state-dir {journey.state_dir}\n" in text
    assert os.path.exists(path_of(folder))
    assert folder in home.setup("--remove").text


def test_the_command_of_the_removal_takes_all_of_ours_out_of_a_repository(
    home: Home, make_repo: Repositories
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    home.setup("codex")
    repository = journey.repository
    refs = ("for-each-ref", "refs/planner", "refs/planner-drafts")
    repository.git("branch", "other")
    repository.git("symbolic-ref", "refs/planner/x", "refs/heads/other")
    assert repository.git(*refs)
    lines = typed(home.path, "setup", "--remove").text.splitlines()
    (command,) = [line.strip() for line in lines if "update-ref" in line]
    subprocess.run(
        ["/bin/sh", "-c", f"PATH=$PATH:/usr/bin:/bin; {command}"], cwd=repository.path, check=True
    )
    assert not repository.git(*refs)
    assert repository.git("branch", "--list", "other")
    assert not (repository.path / ".planner").exists()
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert command in Path(ROOT, "docs", "install.md").read_text()
