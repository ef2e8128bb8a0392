"""The places of the product that refuse: none leaves its reader without a way on."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import ROOT
from state.errors import Refused
from tests.refusal_notes import wrapper
from tests.refusals import calls

if TYPE_CHECKING:
    from tests.conftest import Repository

ALLOWED, RETRY = 3, 4


def says_a_way(call: ast.Call) -> bool:
    """Return whether a refusal that is made at once says what is allowed, or names a command."""
    named = {keyword.arg for keyword in call.keywords}
    return len(call.args) > ALLOWED or bool(named & {"allowed", "retry"})


def shows_a_command_as_allowed(call: ast.Call) -> bool:
    """Return whether a command stands where it is printed as it is, and runs nowhere."""
    given = call.args[ALLOWED] if len(call.args) == RETRY else None
    text = given.value if isinstance(given, ast.Constant) else ""
    return str(text).startswith("planner ")


@pytest.mark.requirement("PL-31")
def test_every_refusal_says_what_is_allowed_or_which_command_leads_on() -> None:
    made = [(place, call) for place, call in calls() if isinstance(call.func, ast.Name)]
    assert len(made) > 300
    stops = [f"{place.path}:{place.first}" for place, call in made if not says_a_way(call)]
    assert not stops
    wrong = [f"{p.path}:{p.first}" for p, call in made if shows_a_command_as_allowed(call)]
    assert not wrong


def test_refusals_of_a_launcher_in_a_process_of_its_own_are_noted(
    repo: Repository, tmp_path: Path
) -> None:
    python, notes = wrapper(str(tmp_path))
    command = [python, "-I", "-S", "-X", "utf8", f"{ROOT}/bin/planner", "status"]
    done = subprocess.run(command, cwd=repo.path, capture_output=True, text=True, check=False)
    plain = subprocess.run([sys.executable, *command[1:]], cwd=repo.path, capture_output=True,
                           text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert done.stdout.startswith("<error")
    path, _, line = Path(notes).read_text(encoding="utf-8").splitlines()[-1].rpartition(":")
    place = next(p for p, _ in calls() if p.path == path and p.first <= int(line) <= p.last)
    assert Refused.__name__ in Path(ROOT, place.path).read_text(encoding="utf-8")


def test_a_program_that_is_only_given_a_launcher_runs_as_it_is(tmp_path: Path) -> None:
    python, notes = wrapper(str(tmp_path))
    program = "import sys; print(sys.argv[1:])"
    command = [python, "-c", program, f"{ROOT}/bin/planner", "two words", ""]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr([f"{ROOT}/bin/planner", "two words", ""])
    assert not Path(notes).read_text(encoding="utf-8")
