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
from tests.refusals import LEAST_PERCENT, calls, is_whole, not_as_listed, places, unreached

if TYPE_CHECKING:
    from tests.conftest import Repository

ALLOWED, RETRY = 3, 4
pytest_plugins = ["pytester"]


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


def test_a_place_is_reached_listed_or_named() -> None:
    first, second = places()[0], next(p for p in places() if p.name != places()[0].name)
    assert not_as_listed({}, [], []) == []
    assert not_as_listed({first.name: "a disk that lies"}, [first], []) == []
    (missed,) = not_as_listed({first.name: "a disk that lies"}, [first, second], [])
    assert missed.startswith(f"not reached, and not in refusals.toml: {second.path}:")
    assert not_as_listed({first.name: "a disk that lies"}, [], []) == [
        f"in refusals.toml, and reached: {first.name}"
    ]
    assert not_as_listed({"gone.py:f": {"skipped": "go"}}, [], ["Skipped: go"]) == [
        "in refusals.toml, and gone: gone.py:f"
    ]


def test_what_a_machine_lacks_excuses_a_place_where_its_test_was_skipped_for_it() -> None:
    place = places()[0]
    listed = {place.name: {"skipped": "git-lfs is not installed"}}
    said = ["Skipped: git-lfs is not installed"]
    assert not_as_listed(listed, [place], said) == []
    assert not_as_listed(listed, [], said) == []
    assert not_as_listed(listed, [], []) == []
    (missed,) = not_as_listed(listed, [place], ["Skipped: no browser"])
    assert "though no test was skipped for 'git-lfs is not installed'" in missed


def test_a_place_is_reached_by_any_of_its_lines() -> None:
    place = next(p for p in places() if p.last > p.first)
    assert place in unreached([(place.path, place.first - 1), ("other.py", place.first)])
    assert place not in unreached([(place.path, place.last)])


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["one-process", "xdist"]
)
def test_a_whole_run_fails_for_what_it_did_not_reach_and_a_part_says_nothing_of_it(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makepyfile(
        "import pytest\n"
        "from state.errors import Refused\n"
        "from shared.git.repository import repository_at\n"
        "def test_it(tmp_path):\n"
        "    with pytest.raises(Refused):\n"
        "        repository_at(str(tmp_path))\n"
    )
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {ROOT!r})\n"
        "pytest_plugins = ['tests.refusals']\n"
        "def pytest_addoption(parser): parser.addoption('--requirements', action='store_true')\n"
    )
    whole = pytester.runpytest_subprocess("--requirements", "--refusals", *workers)
    reached = next(line for line in whole.outlines if "places that refuse were reached" in line)
    assert 0 < int(reached.split()[0]) < 10
    whole.stdout.fnmatch_lines(["not reached, and not in refusals.toml: *"])
    whole.stdout.fnmatch_lines([f"fewer than {LEAST_PERCENT} %*"])
    assert whole.ret == 1
    some = pytester.runpytest_subprocess("--requirements", "--refusals", "-k", "it", *workers)
    assert reached in some.outlines
    assert "not reached" not in some.stdout.str()
    assert some.ret == 0


@pytest.mark.parametrize("part", [["-m", "slow"], ["--deselect", "x"], ["test_x.py"], []])
def test_a_run_is_whole_where_no_test_is_named_or_left_out(
    pytester: pytest.Pytester, part: list[str]
) -> None:
    pytester.makepyfile(test_x="")
    assert is_whole(pytester.parseconfig(*part)) == (not part)
