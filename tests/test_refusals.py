"""The places of the product that refuse: none leaves its reader without a way on."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.resources import ROOT
from state.errors import Refused
from tests import refusals
from tests.refusal_notes import wrapper
from tests.refusals import calls, is_whole, not_as_listed, places, unreached

if TYPE_CHECKING:
    from tests.conftest import Repository

ALLOWED, RETRY = 3, 4
REACHED = "state/files.py:parse_json"
UNLISTED = "not reached, and not in refusals.toml: "
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


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a suite that reaches one place, with what the long form has reached elsewhere."""
    pytester.makepyfile(
        "import pytest\n"
        "from state.errors import Refused\n"
        "from state.files import parse_json\n"
        "def test_it():\n"
        "    with pytest.raises(Refused):\n"
        "        parse_json(b'{', 'x')\n"
    )
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {ROOT!r})\n"
        "import tests.refusals as refusals\n"
        "refusals.REACHED = 'reached.json'\n"
        "pytest_plugins = ['tests.refusals']\n"
        "def pytest_addoption(parser): parser.addoption('--requirements', action='store_true')\n"
    )
    # What a run of it in this process leaves behind.
    for owner, name in ((refusals, "REACHED"), (sys, "executable"), (Refused, "__init__")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(refusals, "LONG", False)
    names = [p.name for p in places() if not isinstance(read_list().get(p.name), str)]
    write_reached(pytester, sorted(set(names)))
    return pytester


def read_list() -> dict[str, Any]:
    return tomllib.loads(Path(refusals.LIST).read_text(encoding="utf-8"))


def write_reached(suite: pytest.Pytester, names: list[str]) -> None:
    (suite.path / "reached.json").write_text(json.dumps(names), encoding="utf-8")


def read_reached(suite: pytest.Pytester) -> list[str]:
    names: list[str] = json.loads((suite.path / "reached.json").read_text(encoding="utf-8"))
    return names


def whole_run(suite: pytest.Pytester, *more: str) -> pytest.RunResult:
    """Run the suite in this process, which has read the product's files once."""
    return suite.runpytest_inprocess("--requirements", "--refusals", *more)


def hand_places(suite: pytest.Pytester) -> None:
    """Give the suite the product's places, which else a process of its own would look for."""
    (suite.path / "places.json").write_text(json.dumps(places()), encoding="utf-8")
    with (suite.path / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(
            "\nimport json, pathlib\n"
            "rows = json.loads(pathlib.Path('places.json').read_text(encoding='utf-8'))\n"
            "refusals.calls = lambda: [(refusals.Place(*row), None) for row in rows]\n"
        )


def names_of(lines: list[str], beginning: str) -> set[str]:
    """Return the names of the places in lines like `beginning: path:line function`."""
    found = [line.removeprefix(beginning).split() for line in lines if line.startswith(beginning)]
    return {f"{at.partition(':')[0]}:{function}" for at, function in found}


def test_workers_hand_over_what_they_reached_and_the_long_form_alone_reaches_is_no_failure(
    suite: pytest.Pytester,
) -> None:
    names = read_reached(suite)
    hand_places(suite)
    run = suite.runpytest_subprocess("--requirements", "--refusals", "-n", "1")
    reached = next(line for line in run.outlines if "places that refuse were reached" in line)
    assert reached.startswith("1 of ")
    beginning = "the long form alone reaches "
    alone = {line.removeprefix(beginning) for line in run.outlines if line.startswith(beginning)}
    assert set(names) - alone == {REACHED}
    assert alone < set(names)
    assert "not reached" not in run.stdout.str()
    assert run.ret == 0


def test_what_no_form_reaches_fails_a_whole_run_and_a_part_says_nothing_of_it(
    suite: pytest.Pytester,
) -> None:
    missing, *names = read_reached(suite)
    write_reached(suite, names)
    whole = whole_run(suite)
    assert names_of(whole.outlines, UNLISTED) == {missing}
    assert f"the long form alone reaches {names[0]}" in whole.outlines
    assert "fewer than" not in whole.stdout.str()
    assert whole.ret == 1
    some = whole_run(suite, "-k", "it")
    assert "places that refuse were reached" in some.stdout.str()
    assert missing.partition(":")[0] not in some.stdout.str()
    assert "the long form alone" not in some.stdout.str()
    assert some.ret == 0


def test_the_long_form_keeps_what_it_has_reached_where_all_is_as_listed(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = read_reached(suite)
    monkeypatch.setattr(refusals, "LONG", True)
    failed = whole_run(suite)
    assert len(names_of(failed.outlines, UNLISTED)) > 100
    failed.stdout.fnmatch_lines([f"fewer than {refusals.LEAST_PERCENT} %*"])
    assert failed.ret == 1
    assert read_reached(suite) == names

    listed = sorted(read_list().keys() | names_of(failed.outlines, UNLISTED))
    text = "".join(f"{json.dumps(name)} = 'out of reach'\n" for name in listed)
    (suite.path / "listed.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(refusals, "LIST", "listed.toml")
    monkeypatch.setattr(refusals, "LEAST_PERCENT", 0)
    assert whole_run(suite).ret == 0
    assert read_reached(suite) == [REACHED]


@pytest.mark.parametrize("part", [["-m", "slow"], ["--deselect", "x"], ["test_x.py"], []])
def test_a_run_is_whole_where_no_test_is_named_or_left_out(
    pytester: pytest.Pytester, part: list[str]
) -> None:
    pytester.makepyfile(test_x="")
    assert is_whole(pytester.parseconfig(*part)) == (not part)
