"""Every command that is printed runs unchanged, from whatever folder the host is in."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer, Journey, shell, words_of
from tests.orchestrator.every_step import TOURS, normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Repository
    from tests.orchestrator.every_step import Stop

    Repositories = Callable[..., Repository]

# Modules of ours and of the standard library, as a user's repository may have them.
THEIRS = (
    "cli/__init__.py", "click.py", "enum.py", "json.py", "orchestrator/__init__.py", "os.py",
    "pydantic.py", "shared/__init__.py", "sqlite3.py", "state.py", "state/__init__.py",
)  # fmt: skip
# Only these may be refused: there is no place here, a person has not approved yet, the plan is not
# applied yet, or an agent has not written its answer yet.
REFUSED = ("tree run", "exec run", "exec apply", "undo", "exec done", "exec ask", "exec reconcile")


@pytest.fixture
def foreign(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of which every module raises, first on the import path by PYTHONPATH."""
    raising = "raise SystemExit('a module of the user was imported')\n"
    path = make_repo("foreign", files=dict.fromkeys(THEIRS, raising)).path
    monkeypatch.setenv("PYTHONPATH", str(path))
    monkeypatch.setenv("PYTHONSTARTUP", str(path / "state.py"))
    return path


@pytest.mark.slow
@pytest.mark.requirement("PL-1")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_printed_command_of_every_step_runs_from_a_foreign_folder(
    make_repo: Repositories, foreign: Path, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    seen: set[str] = set()
    for _name, journey, answer in tour(make_repo):
        if answer.text == journey.last.text:
            journey.do_the_work()
        for command in answer.commands():
            plain = normalised(command, journey)
            if plain not in seen:
                seen.add(plain)
                check_command(command, journey, foreign)
    assert seen


def check_command(command: str, journey: Journey, foreign: Path) -> None:
    """Run a command by a shell and put the repository back as it was."""
    kept = journey.repository.path.with_suffix(".kept")
    shutil.copytree(journey.repository.path, kept, symlinks=True)
    try:
        is_persons = "--state-dir" not in words_of(command)
        answer = shell(command, journey.repository.path if is_persons else foreign)
        assert "Traceback" not in answer.stderr, answer.stderr
        kinds = {kind for kind, _ in answer.problems} if answer.text.startswith("<") else set()
        assert not kinds & {"usage", "internal"}, answer.text
        expected = (0, 1) if " ".join(words_of(command)).startswith(REFUSED) else (0,)
        assert answer.code in expected, f"{command}\n{answer.text}"
    finally:
        shutil.rmtree(journey.repository.path)
        kept.rename(journey.repository.path)


@pytest.mark.slow
@pytest.mark.requirement("PL-1")
def test_a_whole_run_is_driven_from_a_foreign_folder(
    make_repo: Repositories, foreign: Path
) -> None:
    raising = dict.fromkeys(THEIRS, "raise SystemExit('imported')\n")
    repository = make_repo("a repo's own", files={**FILES, **raising})
    journey = Journey(repository, shell_from=foreign)
    journey.to("committed")
    assert repository.git("log", "-1", "--format=%s") == "Add two"


def test_a_step_runs_by_hand_as_a_module_too(make_repo: Repositories) -> None:
    import subprocess
    import sys

    from shared.resources import ROOT

    journey = Journey(make_repo(files=FILES)).to("design")
    by_hand = subprocess.run(
        [sys.executable, "-m", "orchestrator.planner", "--step", "3", "--state-dir",
         journey.state_dir],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    assert by_hand.stdout.decode() == journey.last.text
    assert Answer(0, by_hand.stdout.decode()).block.get("number") == "3"
