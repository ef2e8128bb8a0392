"""A cited line is judged by the function or test that it stands in."""

from __future__ import annotations

import pytest

from quality_reviewer.enclosing import around, names_by_line

pytestmark = pytest.mark.requirement("SD-4")

PYTHON = """\
import pytest
from a import f

CASES = [(1, 3), (2, 4)]

@pytest.mark.skip(reason="later")
def test_later():
    assert f(9) == 11

@pytest.mark.parametrize(
    ("x", "y"),
    CASES,
)
def test_cases(x, y):
    check(x, y)

def check(x, y):
    # assert f(0) == 0
    assert f(x) == y

class TestMore:
    def test_inner(self):
        assert f(5) == 7

    def test_given_up(self):
        pytest.skip("slow")
        assert f(6) == 8

@pytest.mark.skipif(True, reason="never")
class TestNever:
    def test_it(self):
        assert f(7) == 9

@pytest.mark.skipif(sys.platform == "win32", reason="paths")
def test_here():
    assert f(8) == 10
""".splitlines()

SCRIPT = """\
describe("f", () => {
  it.skip("adds two", () => {
    expect(f(1)).toBe(3);
  });
  it("adds more", () => {
    expect(f(2)).toBe(4);
  });
});
""".splitlines()


@pytest.mark.parametrize(
    ("lines", "number", "name", "is_skipped"),
    [
        (PYTHON, 8, "test_later", True),
        (PYTHON, 7, "test_later", True),
        (PYTHON, 6, "test_later", True),
        (PYTHON, 15, "test_cases", False),
        (PYTHON, 23, "test_inner", False),
        (PYTHON, 27, "test_given_up", True),
        (PYTHON, 32, "test_it", True),
        (PYTHON, 36, "test_here", False),
        (PYTHON, 4, "", False),
        (SCRIPT, 3, "adds two", True),
        (SCRIPT, 6, "adds more", False),
    ],
)
def test_a_line_is_skipped_with_its_test(
    lines: list[str], number: int, name: str, *, is_skipped: bool
) -> None:
    place = around(lines, number)
    assert (place.name, place.is_skipped) == (name, is_skipped)


def test_a_test_reaches_what_it_calls_and_the_top_of_its_file() -> None:
    reached = around(PYTHON, 15).reached
    assert "    assert f(x) == y" in reached
    assert "CASES = [(1, 3), (2, 4)]" in reached
    assert '    ("x", "y"),' in reached
    assert "        assert f(5) == 7" not in reached
    assert "from a import f" not in reached


def test_a_comment_is_told() -> None:
    assert around(PYTHON, 18).is_comment
    assert not around(PYTHON, 19).is_comment


@pytest.mark.parametrize("lines", [PYTHON, SCRIPT])
def test_a_whole_file_is_read_in_one_pass_as_line_by_line(lines: list[str]) -> None:
    found = names_by_line(lines)
    assert len(found) == len(lines)
    said = {n: around(lines, n).name for n in range(1, len(lines) + 1) if lines[n - 1].strip()}
    assert {n: found[n - 1] for n in said} == said
