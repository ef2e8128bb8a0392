"""What tests cost: how it is measured, printed and kept for `--quick`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shared.resources import ROOT
from tests.costs import CHEAP_S, durations_of, lines, processor_s, renewed

pytest_plugins = ["pytester"]
BUSY = "import time\nwhile time.process_time() < 0.15: pass"
SUITE = f"""
    import subprocess, sys
    import pytest
    def busy(): subprocess.run([sys.executable, "-S", "-c", {BUSY!r}], check=True)
    @pytest.fixture
    def made(): busy()
    def test_child(): busy()
    def test_fixture(made): pass
    @pytest.mark.parametrize("n", range(12))
    def test_cheap(n): pass
    def test_removed(): pass
"""
SECOND = "    def test_second(made): pass"
SHARING = f"""
    import subprocess, sys
    import pytest
    def busy(): subprocess.run([sys.executable, "-S", "-c", {BUSY!r}], check=True)
    @pytest.fixture(scope="module")
    def inner(): busy()
    @pytest.fixture(scope="module")
    def made(inner): pass
    def test_first(made): pass
{SECOND}
    def test_alone(): pass
"""


def test_the_seconds_of_children_count() -> None:
    before_s = processor_s()
    subprocess.run([sys.executable, "-S", "-c", BUSY], check=True)
    assert 0.1 < processor_s() - before_s < 2


def test_the_ten_most_costly_tests_are_shown_and_the_sums_of_all_by_room() -> None:
    spent = {f"tests/cli/run/test_a.py::test_it[{n}]": n / 10 for n in range(20)}
    spent |= {"tests/test_b.py::test_it": 100.0, "tests/state/test_c.py::TestIt::test_it": 3.0}
    *costly, sums = lines(spent)
    assert costly[0] == "  100.0  tests/test_b.py::test_it"
    assert costly[1] == "    3.0  tests/state/test_c.py::TestIt::test_it"
    assert costly[-1] == "    1.2  tests/cli/run/test_a.py::test_it[12]"
    assert len(costly) == 10
    assert sums == "tests 100 · cli 19 · state 3"
    assert lines({"tests/test_b.py::test_it": 0.0})


def test_kept_are_the_functions_whose_cases_cost_too_much_on_the_average() -> None:
    spent = {
        "tests/a.py::test_mean[x]": 0.0,
        "tests/a.py::test_mean[y::[z]]": 0.5,
        "tests/a.py::test_cheap[x]": CHEAP_S - 0.001,
        "tests/a.py::TestIt::test_exact": CHEAP_S,
        "tests/b.py::test_cheap": 0.0,
    }
    assert durations_of(spent) == {"tests/a.py": {"test_mean": 0.2, "TestIt::test_exact": 0.1}}


def test_a_run_of_some_tests_renews_what_is_kept_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "b.py").touch()
    known = {"a.py": {"test_x": 1.0, "test_y": 2.0}, "b.py": {"test_z": 3.0}, "gone.py": {"t": 4.0}}
    spent = {"a.py::test_x[1]": 0.0, "a.py::test_new": 5.0}
    assert renewed(known, spent, str(tmp_path)) == {
        "a.py": {"test_y": 2.0, "test_new": 5.0},
        "b.py": {"test_z": 3.0},
    }


def measuring(pytester: pytest.Pytester) -> None:
    """Have the tests of a suite measured by our plugin, which keeps their costs beside them."""
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {ROOT!r})\n"
        "import tests.costs\n"
        "tests.costs.DURATIONS = 'durations.json'\n"
        "pytest_plugins = ['tests.costs']\n"
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one-process", "xdist"])
def test_a_run_measures_children_and_fixtures_and_keeps_what_is_not_cheap(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    measuring(pytester)
    pytester.makepyfile(test_a=SUITE)
    run = pytester.runpytest_subprocess("--costs", "--write-durations", *workers)
    shown = run.stdout.str().partition(" processor seconds ")[2].splitlines()[1:12]
    costly = {line.split()[1] for line in shown[:2]}
    assert costly == {"test_a.py::test_child", "test_a.py::test_fixture"}
    assert sum("::" in line for line in shown) == 10
    assert shown[10].split()[0] == "test_a.py"
    kept = json.loads(Path("durations.json").read_text(encoding="utf-8"))
    assert kept["test_a.py"].keys() == {"test_child", "test_fixture"}
    assert run.ret == 0


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "xdist"])
def test_what_tests_share_is_a_cost_of_each_whichever_runs_first(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    measuring(pytester)
    pytester.makepyfile(test_a=SHARING)
    pytester.runpytest_subprocess("--write-durations", *workers).assert_outcomes(passed=3)
    kept = json.loads(Path("durations.json").read_text(encoding="utf-8"))
    assert kept["test_a.py"].keys() == {"test_first", "test_second"}


def test_the_others_bear_the_part_of_a_dear_test_in_what_is_shared(
    pytester: pytest.Pytester,
) -> None:
    """With the seven dear ones the cheap one would bear an eighth of 0.15 s."""
    dear = "\n".join(f"    def test_dear{n}(made): busy()" for n in range(7))
    measuring(pytester)
    pytester.makepyfile(test_a=f"{SHARING}\n{dear}".replace(SECOND, ""))
    pytester.runpytest_subprocess("--write-durations").assert_outcomes(passed=9)
    kept = json.loads(Path("durations.json").read_text(encoding="utf-8"))
    assert "test_first" in kept["test_a.py"]
    assert "test_alone" not in kept["test_a.py"]


def test_the_quick_form_takes_what_is_cheap_or_marked(pytester: pytest.Pytester) -> None:
    measuring(pytester)
    pytester.makeini("[pytest]\nmarkers = quick: runs whatever it costs")
    pytester.makepyfile(
        test_a="import pytest\ndef test_dear(): pass\ndef test_new(): pass\n"
        "@pytest.mark.quick\ndef test_marked(): pass\n"
    )
    known = {"test_a.py": {"test_dear": 1.0, "test_marked": 1.0}}
    Path("durations.json").write_text(json.dumps(known), encoding="utf-8")
    run = pytester.runpytest_subprocess("--quick", "-v")
    run.assert_outcomes(passed=2, deselected=1)
    run.stdout.no_fnmatch_line("*test_dear*")


def test_a_test_that_waits_is_not_cheap(pytester: pytest.Pytester) -> None:
    measuring(pytester)
    pytester.makepyfile(test_a="import time\ndef test_it(): time.sleep(0.8)\ndef test_b(): pass\n")
    pytester.runpytest_subprocess("--write-durations").assert_outcomes(passed=2)
    kept = json.loads(Path("durations.json").read_text(encoding="utf-8"))
    assert [*kept["test_a.py"]] == ["test_it"]
