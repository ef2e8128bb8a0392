"""The forms of the suite: every test is in one, and parts of the short one add up to the long."""

from __future__ import annotations

import os
import subprocess
from itertools import chain, product
from typing import TYPE_CHECKING

from shared.resources import ROOT
from tests import forms
from tests.formless import Rules, formless
from tests.forms import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

TESTS = os.path.join(ROOT, "tests")
pytest_plugins = ["pytester"]

# What pytest collects, and what it does not, by file.
SAMPLE = {
    "test_good.py": """
        import unittest
        TEXT = "def test_text(): pass"
        def helper(): return "@pytest.mark.skip"
        async def attested(): pass
        if TEXT:
            def test_either(): pass
        else:
            def test_either(): pass
        class TestIt:
            def test_of_class(self): pass
            class TestInner:
                def test_of_inner(self): pass
        class Cases(unittest.TestCase):
            def test_of_case(self): pass
    """,
    "good_test.py": "def test_at_the_end(): pass",
    "sub/test_below.py": "def test_below(): pass",
    "scenes.py": "def test_elsewhere(): pass",
    "build/test_out.py": "class TestIt:\n    def test_out(self): pass",
    "test_bad.py": """
        def test_twice(): assert 0
        def test_twice(): pass
        def test_gone(): pass
        test_gone = None
        def outer():
            def test_nested(): pass
            return test_nested
        class Scenes:
            def test_of_scenes(self): pass
        class TestMade:
            def __init__(self): pass
            def test_of_made(self): pass
        class TestAgain:
            def test_first(self): pass
        class TestAgain:
            def test_second(self): pass
            def test_second(self): pass
    """,
}
UNCOLLECTED = [
    "build/test_out.py::TestIt::test_out: pytest passes over the folder build",
    "scenes.py::test_elsewhere: pytest does not look into a file of this name",
    "test_bad.py::test_twice: another test_twice below it takes its place",
    "test_bad.py::test_gone: another test_gone below it takes its place",
    "test_bad.py::outer.test_nested: a function in a function is not collected",
    "test_bad.py::Scenes::test_of_scenes: pytest does not look into a class named Scenes",
    "test_bad.py::TestMade::test_of_made: pytest does not look into a class with __init__",
    "test_bad.py::TestAgain::test_first: another TestAgain below it takes its place",
    "test_bad.py::TestAgain::test_second: another test_second below it takes its place",
]
COLLECTED = {
    "good_test.py::test_at_the_end",
    "sub/test_below.py::test_below",
    "test_bad.py::TestAgain::test_second",
    "test_bad.py::test_twice",
    "test_good.py::Cases::test_of_case",
    "test_good.py::TestIt::TestInner::test_of_inner",
    "test_good.py::TestIt::test_of_class",
    "test_good.py::test_either",
}

SKIPPED = """
    import sys
    import pytest
    from pytest import mark

    @pytest.mark.skip
    def test_marked(): pass

    @mark.skip(reason="later")
    class TestMarked:
        def test_it(self): pass

    class TestMethod:
        @pytest.mark.skipif(True, reason="later")
        def test_method(self): pass

    def test_by_itself():
        pytest.skip("later")

    @pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.skip)])
    def test_a_case(n): pass

    @pytest.mark.skipif(sys.platform == "plan9", reason="no git")
    def test_in_some_places():
        if sys.platform == "plan9":
            pytest.skip("no git")
"""


def rules_of(config: pytest.Config) -> Rules:
    return Rules(config.getini("python_files"), config.getini("norecursedirs"))


def test_every_test_is_in_a_form(pytestconfig: pytest.Config) -> None:
    assert formless(TESTS, rules_of(pytestconfig)) == []


def test_what_pytest_does_not_collect_is_named_and_nothing_else(
    pytester: pytest.Pytester,
) -> None:
    for name, text in SAMPLE.items():
        (pytester.path / name).parent.mkdir(exist_ok=True)
        (pytester.path / name).write_text(_dedented(text), encoding="utf-8")
    rules = rules_of(pytester.parseconfig())
    found = formless(str(pytester.path), rules)
    assert sorted(found) == sorted(UNCOLLECTED)
    done = pytester.runpytest_inprocess("--collect-only", "-q", "-p", "no:cacheprovider")
    assert {line for line in done.outlines if "::" in line and "Warning" not in line} == COLLECTED
    pytester.makeconftest("collect_ignore = ['sub']")
    found = formless(str(pytester.path), rules)
    assert sorted(set(found) - set(UNCOLLECTED)) == [
        "conftest.py: collect_ignore keeps files out of every form"
    ]


def test_what_is_always_skipped_is_named_and_what_is_skipped_somewhere_is_not(
    pytester: pytest.Pytester,
) -> None:
    path = pytester.makepyfile(test_skipped=SKIPPED)
    found = formless(str(pytester.path), rules_of(pytester.parseconfig()))
    assert sorted(found) == [
        f"test_skipped.py::{name}: it is always skipped"
        for name in (
            "TestMarked",
            "TestMethod::test_method",
            "test_a_case",
            "test_by_itself",
            "test_marked",
        )
    ]
    path.write_text("import pytest\npytestmark = [pytest.mark.skip]\ndef test_it(): pass\n")
    assert formless(str(pytester.path), rules_of(pytester.parseconfig())) == [
        "test_skipped.py::line 2: it is always skipped"
    ]
    path.write_text("import pytest\npytest.skip('no', allow_module_level=True)\n")
    assert formless(str(pytester.path), rules_of(pytester.parseconfig())) == [
        "test_skipped.py::line 2: it is always skipped"
    ]


def test_parts_of_all_seeds_are_all_cases_once_and_none_is_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forms, "LONG", False)
    for count, every in ((0, 3), (1, 3), (2, 3), (3, 3), (10, 3), (7, 1), (4, 100)):
        cases, parts = list(range(count)), list(_parts(count, every, monkeypatch))
        assert sorted(chain.from_iterable(parts)) == cases
        assert all(parts) or not cases
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    monkeypatch.setattr(forms, "LONG", True)
    assert part("abc", 3) == "abc"


def test_each_outer_case_meets_every_part_of_what_it_takes_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forms, "LONG", False)
    met = set()
    for number in range(0, 9 * forms.OUTER, 7):
        monkeypatch.setattr(forms, "SEED", number)
        met |= {*product(part("abc", 3, outer=True), part("xyz", 3))}
    assert met == {*product("abc", "xyz")}


def test_the_seed_is_what_is_given_or_else_the_commits_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLANNER_SEED", "41")
    assert forms._seed() == 41
    monkeypatch.delenv("PLANNER_SEED")
    command = ["git", "-C", ROOT, "rev-parse", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert commit.startswith(f"{forms._seed():07x}")


def _parts(count: int, every: int, patch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    for seed in range(max(1, min(count, every))):
        patch.setattr(forms, "SEED", 1000 * every * max(count, 1) + seed)
        yield list(part(range(count), every))


def _dedented(text: str) -> str:
    return "\n".join(line.removeprefix("        ") for line in text.splitlines())
