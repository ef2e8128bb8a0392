"""kill -9 at every moment of every command of the lane: the next one recovers (RL-11)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from shared.requirements_record import CURRENT
from tests.forms import part
from tests.journey import call
from tests.kills import Kept, kill_everywhere
from tests.requirement_rounds import MESSAGE, SUMMARY, WANTED, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Prepared = Callable[[Rounds], tuple[str, ...]]

pytestmark = [pytest.mark.slow, pytest.mark.requirement("RL-11")]

KILLS = 2  # of a command, in the short form

NEW, CURRENT_FILE = "new_requirements.md", "current_requirements.md"


def seen(rounds: Rounds) -> tuple[object, ...]:
    """Return all that a round leaves: files, history, commits, index, the lane's state."""
    files = {
        name: re.sub(r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}", "TIME", path.read_text())
        for path in rounds.path("").iterdir()
        if path.is_file()
        for name in [re.sub(r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}", "TIME", path.name)]
    }
    files["planner_history.txt"] = rounds.history()
    git = rounds.repository.git
    subjects = git("log", "--format=%s")
    status = re.sub(r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}", "TIME", git("status", "--porcelain"))
    return files, subjects, status, rounds.state


def begin(rounds: Rounds) -> tuple[str, ...]:
    rounds.start()
    return ("requirements", "startup", "--yes")


def refine(rounds: Rounds) -> tuple[str, ...]:
    rounds.to_prompt()
    rounds.write("todo.md", "- [ ] old\n")
    rounds.write(NEW, WANTED)
    return ("requirements", "refine")


def decline(rounds: Rounds) -> tuple[str, ...]:
    rounds.to_accepted()
    return ("requirements", "accept", "--no")


def implement(rounds: Rounds) -> tuple[str, ...]:
    rounds.to_accepted()
    rounds.write_answer("summary.md", SUMMARY)
    return ("requirements", "implement", "--summary", "answers/summary.md")


def found(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.write(CURRENT_FILE, f"{CURRENT}\n- f adds two\n")
    rounds.write("todo.md", "- [x] done\n")
    rounds.start()


def resume(rounds: Rounds) -> tuple[str, ...]:
    found(rounds)
    return ("requirements", "startup", "--resume")


def mark_complete(rounds: Rounds) -> tuple[str, ...]:
    found(rounds)
    return ("requirements", "startup", "--mark-complete")


def complete(rounds: Rounds) -> tuple[str, ...]:
    found(rounds)
    rounds.follow("mark-complete")
    rounds.write_answer("commit.md", MESSAGE)
    return ("requirements", "complete", "--message", "answers/commit.md")


def commit(rounds: Rounds) -> tuple[str, ...]:
    rounds.last = call(rounds.repository.path, *complete(rounds), "--state-dir", rounds.state_dir)
    return ("requirements", "commit")


def leave_commit(rounds: Rounds) -> tuple[str, ...]:
    commit(rounds)
    rounds.start()
    return ("requirements", "startup", "--leave-commit")


CASES: dict[str, Prepared] = {
    f.__name__: f
    for f in (begin, refine, decline, implement, resume, mark_complete, complete, commit,
              leave_commit)
}  # fmt: skip


@pytest.mark.parametrize("case", part([*CASES], 3, outer=True))
def test_a_command_killed_anywhere_is_done_once_when_it_is_repeated(
    rounds: Rounds, case: str, say: Callable[[str], None]
) -> None:
    words = (*CASES[case](rounds), "--state-dir", rounds.state_dir)
    kept = Kept(rounds.repository)
    assert call(rounds.repository.path, *words).code == 0
    expected = seen(rounds)

    def check(number: int) -> None:
        _unlock(rounds)
        answer = call(rounds.repository.path, *words)
        assert answer.code == 0, f"moment {number}: {answer.text}"
        assert seen(rounds) == expected, f"moment {number}"
        assert _leftovers(rounds) == []

    say(f"{case}: {kill_everywhere(kept, words, check, KILLS)} kills, all recovered")


@pytest.mark.parametrize("case", part(["refine", "implement", "complete", "commit"], 2, outer=True))
def test_the_next_start_recovers_a_command_killed_anywhere(
    rounds: Rounds, case: str, say: Callable[[str], None]
) -> None:
    """Whatever was written is in exactly one file, and each event once in the history."""
    words = (*CASES[case](rounds), "--state-dir", rounds.state_dir)
    kept = Kept(rounds.repository)

    def check(number: int) -> None:
        _unlock(rounds)
        assert rounds.start().code == 0, f"moment {number}: {rounds.last.text}"
        texts = [p.read_text() for p in rounds.path("").glob("*requirements*.md")]
        assert sum("- f adds two" in text for text in texts) == 1, f"moment {number}"
        lines = rounds.history().splitlines()
        events = [line for line in lines if "TIME" in line]
        assert len({*events}) == len(events), f"moment {number}: {events}"
        made = int(rounds.repository.git("rev-list", "--count", "HEAD")) - 1
        open_yet = rounds.facts.stamp != ""
        assert made + open_yet >= sum("GIT COMMIT" in line for line in lines) >= made
        if open_yet:  # whatever was staged before, it can be staged and shown now
            assert rounds.run("complete").data("staged"), f"moment {number}"
            lines = rounds.history().splitlines()
            assert sum("GIT COMMIT" in line for line in lines) == made + 1, f"moment {number}"
        assert not os.path.exists(f"{rounds.state_dir}/transition.json")
        assert _leftovers(rounds) == []

    count = kill_everywhere(kept, words, check, KILLS)
    say(f"{case}: {count} kills, all found at the next start")


def test_the_commit_of_a_plan_is_made_once_wherever_it_is_killed(
    rounds: Rounds, say: Callable[[str], None]
) -> None:
    rounds.to_ready()
    words = ("requirements", "commit", "--state-dir", rounds.state_dir)
    kept = Kept(rounds.repository)
    assert call(rounds.repository.path, *words).code == 0
    expected = seen(rounds)

    def check(number: int) -> None:
        _unlock(rounds)
        answer = call(rounds.repository.path, *words)
        assert answer.code == 0, f"moment {number}: {answer.text}"
        assert seen(rounds) == expected, f"moment {number}"

    say(f"commit of a plan: {kill_everywhere(kept, words, check, KILLS)} kills, all recovered")


def test_the_first_start_killed_anywhere_is_finished_by_the_next(
    make_repo: Callable[..., Repository], say: Callable[[str], None]
) -> None:
    repository = make_repo()
    kept = Kept(repository)
    words = ("start", "--planning", "--codepath", str(repository.path))

    def check(number: int) -> None:
        rounds = Rounds(repository)
        assert rounds.start().code == 0, f"moment {number}: {rounds.last.text}"
        assert rounds.names() == [".gitattributes", "planner_history.txt"], f"moment {number}"

    say(f"start: {kill_everywhere(kept, words, check, KILLS)} kills, all recovered")


def _unlock(rounds: Rounds) -> None:
    """Remove the lock of a git that was killed with the command, as git tells the user to do."""
    for name in ("index.lock", "HEAD.lock"):
        (rounds.repository.path / ".git" / name).unlink(missing_ok=True)


def _leftovers(rounds: Rounds) -> list[str]:
    return [p.name for p in rounds.path("").iterdir() if p.name.endswith(".planner-tmp")]
