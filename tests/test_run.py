"""`bin/test` itself, in a small checkout of its own: its forms, its lock and its budget."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import suite
from benchmarks.suite import Budget
from shared.dependencies import folder
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["pytester"]
PLUGINS = ("apart", "costs", "forms", "requirement_report")
FILES = {
    "pyproject.toml": """\
[tool.ruff]
include = ["tests/test_*.py"]
[tool.mypy]
files = ["one.py"]
[tool.pytest.ini_options]
testpaths = ["tests"]
markers = ["requirement(*ids): ids", "long: of the long form"]
""",
    "one.py": "ONE = 1\n",
    "tests/conftest.py": """\
pytest_plugins = ["tests.costs", "tests.forms", "tests.requirement_report"]
def pytest_addoption(parser):
    parser.addoption("--refusals", action="store_true")
""",
    "tests/requirements.toml": """\
["PL-1"]
title = "One"
status = "built"
["PL-2"]
title = "Two"
status = "built"
""",
    "tests/test_one.py": '''\
"""The tests of the small checkout."""

import fcntl

import pytest


@pytest.mark.requirement("PL-1")
def test_short() -> None:
    """Wait until nobody else holds the file."""
    with open("held") as file:
        fcntl.flock(file, fcntl.LOCK_SH)


@pytest.mark.long
@pytest.mark.requirement("PL-2")
def test_long() -> None:
    """Pass."""


def test_new() -> None:
    """Pass."""
''',
    "benchmarks/suite.toml": "processor_seconds = 0.01\nunit_seconds = 0.05\n",
}
LONGEST_S = 120  # of a run that is refused, or that has one small test
BUSY = "this checkout is being tested by another bin/test: wait for it"
COSTLY = {"tests/test_one.py": {"test_short": 0.1}}


class Checkout:
    """A folder with our bin/test and our plugins, and three tests of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in ("bin/test", "tests/run.py", *(f"tests/{plugin}.py" for plugin in PLUGINS)):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(ROOT, name), path / name)
        shutil.copytree(Path(ROOT, "benchmarks"), path / "benchmarks")
        for name in ("shared", "state", "requirements"):
            (path / name).symlink_to(Path(ROOT, name))
        (path / ".deps").mkdir()
        for packages in map(folder, ("core", "dev", "ci")):
            (path / ".deps" / Path(packages).name).symlink_to(packages)
        for name, text in FILES.items():
            (path / name).write_text(text, encoding="utf-8")
        self.durations = path / "tests" / "durations.json"

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST")}
        return subprocess.Popen(
            [self.path / "bin/test", *arguments], cwd=self.path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def test(self, *arguments: str) -> tuple[int, str]:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, out + err

    @contextlib.contextmanager
    def waiting_run(self) -> Iterator[subprocess.Popen[str]]:
        """Start a whole run, which waits in test_short until this context ends."""
        with open(self.path / "held", "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            run = self.start()
            try:
                yield run
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)
                run.wait()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


def test_two_runs_at_once_are_refused_and_a_run_over_its_budget_fails(checkout: Checkout) -> None:
    with checkout.waiting_run() as first:
        assert first.stdout
        assert first.stderr
        begun = next((line for line in first.stdout if line == "All checks passed!\n"), "")
        assert begun, first.stderr.read()
        for form in ((), ("--long",)):
            assert checkout.test(*form) == (2, f"bin/test: {BUSY}\n")
        code, text = checkout.test("tests/test_one.py::test_new", "-q")
        assert (code, "1 passed" in text) == (0, True)
        assert first.poll() is None
    with first.stdout, first.stderr:
        out, err = first.stdout.read(), first.stderr.read()
    assert "2 passed" in out
    assert re.search(r"processor seconds =+\n +0\.\d  tests/test_one.py::test_", out)
    assert "\nlong form alone: PL-2\n" in out
    spent = re.fullmatch(r"\d+ s, (\d+) processor seconds", out.splitlines()[-1])
    assert spent
    # Before that it may say that it installs packages.
    assert f"bin/test: {spent[1]} processor seconds, 0 are the budget here: " in err
    assert err.endswith("\nbin/test: failed: the budget\n")
    assert first.returncode == 1


def test_quick_runs_what_is_cheap_or_new_and_needs_its_file(checkout: Checkout) -> None:
    for arguments in ((), ("tests/test_one.py",)):
        code, text = checkout.test("--quick", *arguments)
        assert code != 0
        assert f"{checkout.durations} is missing: bin/test --long writes it" in text
        assert "Traceback" not in text
    checkout.durations.write_text(json.dumps(COSTLY), encoding="utf-8")
    code, text = checkout.test("--quick", "tests", "-v")
    assert code == 0, text
    assert "::test_new PASSED" in text
    assert "1 passed, 2 deselected" in text


def test_paths_run_in_the_form_that_stands_before_them(checkout: Checkout) -> None:
    long = "tests/test_one.py::test_long"
    code, text = checkout.test(long, "-q")
    assert code != 0
    assert f"1 left out, of the long form alone: bin/test --long {long} runs them" in text
    code, text = checkout.test("--long", long, "-q")
    assert (code, "1 passed" in text, "left out" in text) == (0, True, False)


def test_the_budget_follows_the_speed_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "BUDGET", str(tmp_path / "suite.toml"))
    monkeypatch.setattr(suite, "_ROUNDS", 1)
    text = "processor_seconds = 100\nunit_seconds = {}\n"
    now_s = suite.measure_unit()
    assert now_s > 0
    budgets = []
    for unit_s in (now_s / 10, now_s * 10):
        (tmp_path / "suite.toml").write_text(text.format(unit_s), encoding="utf-8")
        budgets.append(Budget())
    here_is_slow, here_is_fast = budgets
    assert here_is_slow.exceeded(100) == ("", False)
    text, fails = here_is_fast.exceeded(100)
    assert text.startswith("100 processor seconds, ")
    assert fails
    assert here_is_fast.exceeded(0) == ("", False)
    assert 20 < here_is_slow.limit() / here_is_fast.limit() < 500


def test_a_run_fails_only_beyond_what_a_noisy_machine_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "suite.toml").write_text("processor_seconds = 100\nunit_seconds = 1\n")
    monkeypatch.setattr(suite, "BUDGET", str(tmp_path / "suite.toml"))
    monkeypatch.setattr(suite, "measure_unit", lambda: 1.0)
    text, fails = Budget().exceeded(129)
    assert "129 processor seconds, 100 are the budget here" in text
    assert "a noisy machine may add so much" in text
    assert not fails
    text, fails = Budget().exceeded(131)
    assert "noisy" not in text
    assert fails


def test_a_worker_that_dies_is_named_and_the_next_one_goes_on(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", requirements=FILES["tests/requirements.toml"])
    pytester.makeini("[pytest]\nmarkers =\n  requirement(*ids): ids\n  long: of the long form")
    pytester.makeconftest(f"""
        import sys; sys.path.insert(0, {ROOT!r})
        import pytest
        import tests.requirement_report as report
        import tests.refusals as refusals
        report.load_requirements.__defaults__ = ("requirements.toml",)
        refusals._SHOWN = "shown"
        refusals.calls = lambda: ((refusals.Place("shared/run.py", "opened", 1, 1), None),)
        plugins = ("costs", "forms", "prepared", "requirement_report", "refusals")
        pytest_plugins = [f"tests.{{name}}" for name in plugins]
        @pytest.fixture(autouse=True)
        def begun(grounds): grounds.begin()
    """)
    pytester.makepyfile("""
        import os
        import pytest
        from tests.prepared import prepared
        class Player: pass
        def walked(folder):
            walks = []
            player = Player()
            player.path = folder
            prepared(player, (), lambda: walks.append((folder / "file").touch()))
            assert os.listdir(folder) == ["file"]
            return len(walks)
        @pytest.mark.requirement("PL-1")
        def test_before(tmp_path): assert walked(tmp_path) == 1
        @pytest.mark.long
        @pytest.mark.requirement("PL-2")
        def test_long(): pass
        def test_dies(): os._exit(1)
        WALKS = [0, 1]
        def test_after(tmp_path): assert walked(tmp_path) == WALKS.pop()
        def test_again(tmp_path): assert walked(tmp_path) == WALKS.pop()
    """)
    run = pytester.runpytest_subprocess("-n", "1", "--costs", "--requirements", "--refusals")
    named = "*worker 'gw0' crashed while running '*.py::test_dies'*"
    run.stdout.fnmatch_lines(
        [
            named,
            "* processor seconds *",
            "PL-1 * 1  One",
            "long form alone: PL-2",
            "*1 failed, 3 passed*",
        ]
    )
    assert os.listdir("shown") == []
    assert "INTERNALERROR" not in run.stdout.str() + run.stderr.str()
    assert run.ret == 1
