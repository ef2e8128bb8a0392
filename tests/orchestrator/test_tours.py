"""Every step and variant that a run can print: its bytes, that printing changes nothing, commands.

Each block is a prompt, so the diff of its golden file is the review. A tour is walked once for all
that is checked of it; `--quick` compares the bytes alone.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.forms import LONG, SEED
from tests.journey import shell, words_of
from tests.kills import Kept
from tests.orchestrator.every_step import TOURS, normalised
from tests.orchestrator.paths import faults_of_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Golden, Repository
    from tests.journey import Answer, Journey
    from tests.orchestrator.every_step import Stop

    Repositories = Callable[..., Repository]

LONGEST_BLOCK = 30_000
EVERY = 1 if LONG else 10  # of the printed commands, one of so many runs
AGAIN = 4  # in the short form, of the steps one of so many is printed again
# Only these may be refused: there is no place here, a person has not approved yet, the plan is not
# applied yet, or an agent has not written its answer yet.
REFUSED = ("tree run", "exec run", "exec apply", "undo", "exec done", "exec ask", "exec reconcile")


@pytest.mark.slow
@pytest.mark.quick
@pytest.mark.requirement("PL-1", "PL-2", "PL-7", "PL-13", "PL-22", "FC-4")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_step_prints_its_golden_block_changes_nothing_and_its_commands_run_anywhere(
    make_repo: Repositories,
    golden: Golden,
    foreign: Path,
    tour: Callable[[Repositories], Iterator[Stop]],
    pytestconfig: pytest.Config,
) -> None:
    compared_only = pytestconfig.getoption("--quick")
    failures = []
    seen: set[str] = set()
    journeys: dict[int, Journey] = {}
    for name, journey, answer in tour(make_repo):
        assert answer.code == 0, answer.text
        assert answer.block.tag in ("step", "result")
        assert len(answer.text) < LONGEST_BLOCK
        try:
            golden(f"blocks/{name}.xml", normalised(answer.text, journey))
        except pytest.fail.Exception as failure:
            failures.append(str(failure))
        journeys[id(journey)] = journey
        if compared_only:
            continue
        if LONG or (SEED + len(seen)) % AGAIN == 0:
            check_repeated(journey, answer)
        check_commands(journey, answer, foreign, seen)
    failures += [fault for one in journeys.values() for fault in faults_of_path(one.read)]
    assert not failures, "\n".join(failures)
    assert compared_only or seen


def check_repeated(journey: Journey, answer: Answer) -> None:
    """Check that a step that is asked for again prints the same, and that this changes nothing."""
    if answer.block.tag != "step" or answer.block.get("number") is None:
        return
    before = snapshot(journey)
    words: tuple[str, ...] = ("step", str(answer.block.get("workflow")))
    if answer is journey.last and journey.calls[-1][0] == "step":
        words = journey.calls[-1]  # an agent's step and group
    again = [journey.planner(*words) for _ in range(2)]
    assert again[0] == again[1]
    assert snapshot(journey) == before
    if answer.block.get("number") == journey.last.block.get("number"):
        assert again[0].text == journey.last.text


def snapshot(journey: Journey) -> dict[str, bytes]:
    """Return every file of the run's folder and the database, content included."""
    folder = journey.repository.path / ".planner"
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def check_commands(journey: Journey, answer: Answer, foreign: Path, seen: set[str]) -> None:
    """Run what a block prints and no earlier one, from a foreign folder; leave all as it was."""
    due = []
    for command in answer.commands():
        if (plain := normalised(command, journey)) not in seen:
            seen.add(plain)
            due += [command] * ((SEED + len(seen)) % EVERY == 0)
    if not due:
        return
    before = Kept(journey.repository)
    if answer.text == journey.last.text:
        journey.do_the_work()
    worked = shutil.copytree(before.path, before.path.with_suffix(".worked"), symlinks=True)
    for command in due:
        check_command(command, journey, foreign)
        shutil.rmtree(before.path)
        shutil.copytree(worked, before.path, symlinks=True)
    shutil.rmtree(worked)
    before.restore()


def check_command(command: str, journey: Journey, foreign: Path) -> None:
    """Run a command by a shell: nothing of the user's repository is imported, nothing is wrong."""
    is_persons = "--state-dir" not in words_of(command)
    answer = shell(command, journey.repository.path if is_persons else foreign)
    assert "Traceback" not in answer.stderr, answer.stderr
    kinds = {kind for kind, _ in answer.problems} if answer.text.startswith("<") else set()
    assert not kinds & {"usage", "internal"}, answer.text
    expected = (0, 1) if " ".join(words_of(command)).startswith(REFUSED) else (0,)
    assert answer.code in expected, f"{command}\n{answer.text}"
