"""What the checks find comes back with every capture, while a fix is cheap (RV-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-4")

MUST = "MUST: `plan done` is refused until these are fixed"
SHOULD = "SHOULD: these go to the review unless fixed"
LATER = "documentation to be written in its own step"


def test_a_capture_tells_what_the_checks_find_and_succeeds(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.promise_document()
    clean = dict(journey.edits)
    journey.edits["src/a.py"] = (
        "def f(x):\n    breakpoint()\n    # previously it added one\n    return x + 2\n"
    )
    journey.edit_worktree(journey.edits)
    captured = journey.planner("plan", "capture")
    assert captured.code == 0
    assert "src/a.py" in captured.data("changes")
    (must,) = captured.data(MUST).splitlines()
    assert must.startswith("code-no-debug-leftovers src/a.py: ")
    (should,) = captured.data(SHOULD).splitlines()
    assert should.startswith("code-comments-timeless src/a.py: ")
    assert "README.md, which has no change" in captured.data(LATER)
    journey.edit_worktree(clean)
    captured = journey.planner("plan", "capture")
    assert (captured.data(MUST), captured.data(SHOULD)) == ("", "")


def test_the_end_of_a_step_that_is_refused_tells_what_is_not_required_as_well(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.edits["src/a.py"] = (
        "def f(x):\n    breakpoint()\n    # previously it added one\n    return x + 2\n"
    )
    journey.advance()
    assert journey.last.code == 1
    must, should = (text for _, text in journey.last.problems)
    assert "breakpoint" in must
    assert should.startswith("SHOULD, reviewed unless fixed with these: ")
    assert "retry" not in must
    assert "retry: " in should


def test_verify_is_not_found_missing_before_it_has_run(make_repo: Repositories) -> None:
    verify = '[verify]\ncommands = ["python3 -m py_compile src/a.py"]\n'
    journey = Journey(make_repo(files={**FILES, "planner.toml": verify})).to("code")
    journey.edit_worktree(journey.edits)
    assert journey.planner("plan", "capture").data(MUST) == ""
