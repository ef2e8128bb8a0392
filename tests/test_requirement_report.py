"""The report by requirement: what it counts and when it fails a run."""

from __future__ import annotations

import os

import pytest

from tests.requirement_report import compact, load_requirements

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
pytest_plugins = ["pytester"]

LIST = """\
["PL-1"]
title = "One"
status = "built"
["PL-2"]
title = "Two"
status = "planned"
"""
MARKED = """\
import pytest
@pytest.mark.requirement("{name}")
def test_it(): assert {holds}
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    pytester.makefile(".toml", requirements=LIST)
    pytester.makeini("[pytest]\nmarkers =\n  requirement(*ids): ids\n  long: of the long form")
    pytester.makeconftest(
        f"import sys; sys.path.insert(0, {ROOT!r})\n"
        "import tests.requirement_report as report\n"
        "report.load_requirements.__defaults__ = ('requirements.toml',)\n"
        "pytest_plugins = ['tests.forms', 'tests.requirement_report']\n"
    )
    monkeypatch.setattr(load_requirements, "__defaults__", load_requirements.__defaults__)
    return pytester


def test_every_id_of_each_family_is_listed() -> None:
    families = {
        "PL": 35,
        "PM": 15,
        "PC": 16,
        "VR": 5,
        "PP": 10,
        "CM": 4,
        "RL": 13,
        "ST": 11,
        "RV": 9,
        "SD": 9,
    }
    every = {f"{family}-{n}" for family, last in families.items() for n in range(1, last + 1)}
    # of families whose other ids are still to come
    begun = {
        "PP-9",
        "FC-1",
        "FC-2",
        "FC-3",
        "FC-4",
        "LP-1",
        "LP-2",
        "LP-3",
        "LP-4",
    } | {f"HO-{n}" for n in range(1, 9)}
    assert set(load_requirements()) == every | begun


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["one-process", "xdist"]
)
def test_a_built_requirement_with_a_passing_test_is_counted(
    suite: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite.makepyfile(MARKED.format(name="PL-1", holds=True))
    result = suite.runpytest_subprocess("--requirements", *workers)
    result.stdout.fnmatch_lines(["PL-1 *1  One", "planned: PL-2"])
    assert result.ret == 0


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["one-process", "xdist"]
)
def test_a_built_requirement_without_a_test_fails_the_whole_suite(
    suite: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite.makepyfile("def test_it(): pass")
    result = suite.runpytest_subprocess("--requirements", *workers)
    result.stdout.fnmatch_lines(["PL-1 *NO TEST  One"])
    assert result.ret == 1


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one-process", "xdist"])
def test_a_requirement_that_only_the_long_form_shows_is_named_and_one_of_no_form_fails(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    long = MARKED.replace("@", "@pytest.mark.long\n@", 1).format(name="PL-1", holds="{holds}")
    suite.makepyfile(test_a=long.format(holds=True), test_b="def test_it(): pass")
    short = suite.runpytest_subprocess("--requirements", *workers)
    short.stdout.fnmatch_lines(["PL-1 *long  One", "long form alone: PL-1", "planned: PL-2"])
    assert short.ret == 0
    if workers:
        return
    monkeypatch.setenv("PLANNER_LONG", "1")
    suite.makepyfile(test_a=long.format(holds=False) + "    # a test that fails shows nothing")
    failed = suite.runpytest_subprocess("--requirements", *workers)
    failed.stdout.fnmatch_lines(["PL-1 *NO TEST  One", "long form alone: none"])
    assert failed.ret == 1


def test_a_run_of_some_tests_does_not_fail_for_requirements_without_one(
    suite: pytest.Pytester,
) -> None:
    suite.makepyfile("def test_it(): pass")
    assert suite.runpytest_subprocess().ret == 0


def test_a_test_with_an_unknown_id_fails(suite: pytest.Pytester) -> None:
    suite.makepyfile(MARKED.format(name="PL-99", holds=True))
    result = suite.runpytest_subprocess()
    result.stdout.fnmatch_lines(["not in tests/requirements.toml: PL-99"])
    assert result.ret == 1


def test_consecutive_ids_are_shown_as_a_range() -> None:
    assert compact(["PL-1", "PL-3", "PL-4", "PL-5", "PM-6"]) == "PL-1, PL-3…PL-5, PM-6"
