"""What each state of the requirements lane prints, byte for byte; each command in it works."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.forms import LONG, SEED
from tests.journey import SHOWN, Answer, call, shell, words_of
from tests.orchestrator.test_imports import NOT_FOR_STEPS, costly, traced
from tests.requirement_rounds import FILES, MESSAGE, SUMMARY, TIME, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

STAMP = r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}"
Stop = tuple[str, Rounds, Answer]
EVERY = 4  # of the printed commands, one of so many runs in the short form


def happy(make_repo: Repositories) -> Iterator[Stop]:
    """A round from the first question to its commit."""
    rounds = Rounds(make_repo(files=FILES))
    yield "0-folder", rounds, call(rounds.repository.path, "start", "--planning")
    rounds.repository.write("loose.txt", "new\n")
    yield "1-startup", rounds, rounds.start()
    yield "2-new-requirements", rounds, rounds.follow("yes")
    rounds.write("new_requirements.md", "- f adds two\n")
    yield "3-refine", rounds, rounds.follow("done")
    yield "review", rounds, call(rounds.repository.path, *words_of(rounds.last.runs()[0]))
    rounds.follow("rewrite")
    yield "review.rewrite", rounds, call(rounds.repository.path, *words_of(rounds.last.runs()[0]))
    rounds.review("- f adds 2\n")
    yield "3-refine.reviewed", rounds, rounds.follow("done")
    yield "2-new-requirements.again", rounds, rounds.follow("no")
    rounds.follow("done")
    rounds.review("- f adds two\n")
    rounds.follow("done")
    yield "result.left-read-only", rounds, rounds.planner("requirements", "accept", "--quit")
    rounds.write_answer("summary.md", SUMMARY)
    asked = rounds.follow("yes")
    begun = call(rounds.repository.path, *words_of(asked.next("head")))
    plan = rounds.begin_plan(begun)
    yield "plan.context", rounds, begun
    yield "4-implement", rounds, rounds.planner("step", "requirements")
    rounds.last = plan.to("applied").last
    yield "plan.applied", rounds, rounds.last
    yield "5-complete.ready", rounds, rounds.follow("done")
    yield "result.left", rounds, rounds.planner("requirements", "commit", "--quit")
    yield "1-startup.pending", rounds, rounds.start()
    yield "2-new-requirements.committed", rounds, rounds.follow("commit")
    yield "result.finished", rounds, rounds.planner("requirements", "refine", "--quit")
    yield "result.history", rounds, rounds.planner("requirements", "history")


def recovered(make_repo: Repositories) -> Iterator[Stop]:
    """A round that was left behind, completed with an open todo."""
    rounds = Rounds(make_repo(files=FILES))
    rounds.to_prompt()
    rounds.write("current_requirements.md", "- f adds two\n")
    rounds.write("todo.md", "- [ ] M-001 Add two\n")
    yield "1-startup.found", rounds, rounds.start()
    yield "4-implement.not-begun", rounds, rounds.follow("resume")
    rounds.write_answer("commit.md", MESSAGE)
    yield "5-complete.open", rounds, rounds.follow("complete")
    rounds.start()
    yield "5-complete.marked", rounds, rounds.follow("mark-complete")


def without_git(make_repo: Repositories) -> Iterator[Stop]:
    """What differs without git."""
    rounds = Rounds(make_repo(files=FILES), "--no-git")
    rounds.to_applied("- f adds two\n")
    yield "plan.applied.no-git", rounds, rounds.last
    yield "1-startup.no-git", rounds, rounds.start()


TOURS = (happy, recovered, without_git)


def normalised(text: str, rounds: Rounds) -> str:
    """Replace what differs between two machines or two runs by placeholders."""
    text = text.replace(str(rounds.repository.path), "REPO")
    text = text.replace(SHOWN, "PLANNER")
    text = re.sub(r"\d{8}-[0-9a-f]{6}", "RUN", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", "COMMIT", text)
    return re.sub(STAMP, "TIME", re.sub(TIME, "TIME", text))


@pytest.mark.quick
@pytest.mark.requirement("RL-1", "RL-4", "RL-5", "RL-6", "RL-9")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_state_prints_its_golden_block(
    make_repo: Repositories, golden: Golden, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    failures = []
    for name, rounds, answer in tour(make_repo):
        assert answer.code == 0, answer.text
        try:
            golden(f"requirements_lane/{name}.xml", normalised(answer.text, rounds))
        except pytest.fail.Exception as failure:
            failures.append(str(failure))
    assert not failures, "\n".join(failures)


@pytest.mark.slow
@pytest.mark.requirement("PL-1", "RL-1")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_printed_command_runs_from_a_foreign_folder(
    make_repo: Repositories, tmp_path: Path, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    seen: set[str] = set()
    for name, rounds, answer in tour(make_repo):
        for name_of_answer, text in (("summary.md", SUMMARY), ("commit.md", MESSAGE)):
            if rounds.state_dir and name_of_answer in answer.text:
                rounds.write_answer(name_of_answer, text)
        for command in answer.commands():
            plain = normalised(command, rounds)
            if plain not in seen and name != "0-folder":
                seen.add(plain)
                if LONG or (SEED + len(seen)) % EVERY == 0:
                    check_command(command, rounds, tmp_path)
    assert seen


def check_command(command: str, rounds: Rounds, elsewhere: Path) -> None:
    """Run a command by a shell and put the repository back as it was."""
    live = rounds.repository.path
    kept = live.with_suffix(".kept")
    shutil.copytree(live, kept, symlinks=True)
    try:
        answer = shell(command, elsewhere)
        assert "Traceback" not in answer.stderr, answer.stderr
        kinds = {kind for kind, _ in answer.problems} if answer.text.startswith("<") else set()
        assert not kinds & {"usage", "internal"}, answer.text
        # Nothing is written or reviewed yet, and a plan that is not made yet is not approved.
        early = ("requirements refine", "requirements accept", "plan done", "undo")
        expected = (0, 1) if " ".join(words_of(command)).startswith(early) else (0,)
        assert answer.code in expected, f"{command}\n{answer.text}"
    finally:
        shutil.rmtree(live)
        kept.rename(live)


@pytest.mark.requirement("PL-1")
def test_printing_a_state_loads_nothing_slow_and_changes_nothing(make_repo: Repositories) -> None:
    for _name, rounds, answer in happy(make_repo):
        workflow = answer.block.get("workflow", "")
        if not workflow.startswith("requirements") or not rounds.state_dir:
            continue
        before = contents(rounds)
        text, modules = traced("step", workflow, "--state-dir", rounds.state_dir)
        assert text == answer.text
        assert not costly(modules)
        assert not [m for m in modules if m.startswith(NOT_FOR_STEPS)]
        assert contents(rounds) == before


def contents(rounds: Rounds) -> dict[str, bytes]:
    """Return every file of our folder and of the planning folder, content included."""
    found = {}
    for folder in (".planner", "planning"):
        for at, _, files in os.walk(rounds.repository.path / folder):
            for name in files:
                with open(os.path.join(at, name), "rb") as file:
                    found[os.path.join(at, name)] = file.read()
    return found
