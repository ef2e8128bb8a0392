"""A line that no runner runs, or where nothing can fail, shows nothing of a criterion."""

from __future__ import annotations

import pytest

from quality_reviewer.idle_lines import why_idle

pytestmark = [pytest.mark.requirement("RV-7"), pytest.mark.requirement("SD-4")]

PYTHON = """\
import pytest
from page import fetch, fold

class Fake:
    def __init__(self, code):
        self.code = code

def test_plain():
    assert fetch(Fake(200)) == "a"

def check_it(value):
    assert fetch(value)

def helper(value):
    return fetch(value)

def test_helped():
    assert helper(1)

@pytest.mark.skip
def test_skipped():
    assert fetch(1)

@pytest.mark.xfail(reason="not yet")
def test_expected_to_fail():
    assert fetch(2)

def test_outer():
    def test_inner():
        assert fetch(3)
    assert fetch(4)

def test_true():
    done = True
    assert done

def test_itself():
    assert fetch(1) == fetch(1)

def test_asserts_nothing():
    fetch(5)

def test_caught():
    try:
        assert fetch(6)
    except Exception:
        pass

def test_apart():
    assert sorted([2, 1]) == [1, 2]

def test_over():
    return
    assert fetch(7)

if False:
    def test_never():
        assert fetch(8)

class TestMade:
    def __init__(self):
        self.a = 1

    def test_made(self):
        assert fetch(9)

@pytest.mark.xfail(1 > 2, reason="some systems")
def test_on_some():
    assert fetch(10)

@pytest.mark.parametrize("value", [1, 2])
def test_each(value):
    with pytest.raises(ValueError):
        fold(value)
"""
IN_PYTHON = {
    "from page import": "is an import",
    "self.code = code": "stands in __init__, which checks nothing",
    '== "a"': "",
    "assert fetch(value)": "stands in check_it, which no runner collects and no test calls",
    "return fetch(value)": "stands in helper, which checks nothing",
    "assert helper(1)": "",
    "    assert fetch(1)\n\n@pytest.mark.xfail(r": "is of a test that is marked skip",
    "assert fetch(2)": "is of a test that is marked xfail",
    "assert fetch(3)": "stands in test_inner within test_outer, which no runner collects",
    "assert fetch(4)": "",
    "assert done": "is an assertion that cannot fail",
    "assert fetch(1) == fetch(1)": "is an assertion that cannot fail",
    "    fetch(5)": "is of test_asserts_nothing, which asserts nothing",
    "assert fetch(6)": "is of test_caught, where a failing assertion is caught",
    "assert sorted": "is of test_apart, which uses nothing of the project",
    "assert fetch(7)": "stands after the end of its test",
    "assert fetch(8)": "stands under a condition that is never true",
    "assert fetch(9)": "stands in test_made of TestMade, which has a constructor, "
    "which no runner collects",
    "assert fetch(10)": "",
    "fold(value)": "",
}
SCRIPT = """\
import { total } from "./cart";
describe("total", () => {
  it("sums", () => {
    expect(total([1])).toBe(1);
  });
  it.skip("rounds", () => {
    expect(total([0.5])).toBe(1);
  });
  it("runs", () => {
    total([2]);
  });
  it("is true", () => {
    expect(true).toBe(true);
  });
  it("has no matcher", () => {
    expect(total([3]));
  });
});
"""
IN_SCRIPT = {
    "import {": "is an import",
    "total([1])": "",
    "total([0.5])": "is of a test that is skipped",
    "total([2])": "is of a test that asserts nothing",
    "expect(true)": "is an assertion that cannot fail",
    "total([3])": "is of a test whose assertions cannot fail",
}
GO = """\
package cart

import "testing"

func TestTotal(t *testing.T) {
	if Total(1) != 1 {
		t.Error("no")
	}
}

func testRound(t *testing.T) {
	if Total(2) != 2 {
		t.Error("no")
	}
}

func TestLater(t *testing.T) {
	t.Skip("later")
	Total(3)
}

func TestRuns(t *testing.T) {
	Total(4)
}
"""
IN_GO = {
    '"testing"': "is an import",
    "Total(1)": "",
    "Total(2)": "stands in testRound, which `go test` does not run",
    "Total(3)": "is of TestLater, which is skipped",
    "Total(4)": "is of TestRuns, which asserts nothing",
}


@pytest.mark.parametrize(
    ("file", "text", "cases"),
    [("test_a.py", PYTHON, IN_PYTHON), ("a.test.ts", SCRIPT, IN_SCRIPT), ("a_test.go", GO, IN_GO)],
)
def test_what_runs_nothing_is_told_from_what_does(
    file: str, text: str, cases: dict[str, str]
) -> None:
    lines = text.splitlines()
    found = {part: why_idle(file, lines, text[: text.index(part)].count("\n") + 1, ())
             for part in cases}  # fmt: skip
    assert found == cases


def test_a_file_is_run_by_its_name_or_by_a_command_that_names_it() -> None:
    lines = ["from page import fetch", "", "def test_a():", "    assert fetch(1)"]
    assert why_idle("tests/test_a.py", lines, 4, ()) == ""
    uncollected = "stands in a file that no test runner collects by its name"
    assert why_idle("tests/check_a.py", lines, 4, ()) == uncollected
    assert why_idle("tests/check_a.py", lines, 4, ["python3 tests/check_a.py"]) == ""
    left_out = ["pytest --ignore=tests/test_a.py"]
    assert "leaves out" in why_idle("tests/test_a.py", lines, 4, left_out)
    assert why_idle("tests/test_a.py", lines, 4, [*left_out, "pytest"]) == ""
    only = ["it.only('a', () => {", "  expect(f()).toBe(1);", "});",
            "it('b', () => {", "  expect(f()).toBe(2);", "});"]  # fmt: skip
    assert why_idle("a.test.js", only, 2, ()) == ""
    assert "marked `only`" in why_idle("a.test.js", only, 5, ())
    assert why_idle("a.go", ["func TestA(t *testing.T) {", "\tt.Error()", "}"], 2, ()) != ""
