"""What a plan promises is in its change, or the plan drops it, before anything is frozen (RV-6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, POINTS, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-6")


def test_a_promised_docstring_keeps_the_run_at_the_documentation_step_until_it_is_there(
    make_repo: Repositories,
) -> None:
    """The file is changed by the code already; only its content tells that the promise is open."""
    journey = Journey(make_repo(files=FILES)).to("code")
    words = ("--milestone", "M-001", "--kind", "docstring", "--file", "src/a.py")
    promised = journey.planner("plan", "add", "doc", *words, "--function", "f", "--text", "adds")
    assert promised.code == 0, promised.text
    journey.advance()
    assert journey.point == POINTS["docs"], journey.last.text
    journey.advance()
    refused = journey.last
    assert refused.code == 1
    assert "docstring of f in src/a.py, and there is none" in refused.text
    journey.edits["src/a.py"] = 'def f(x):\n    """Add two."""\n    return x + 2\n'
    journey.edit_worktree(journey.edits)
    journey.last = journey.planner("step", "planner")
    assert "Proved" in journey.to("committed").last.text
    assert "Add two." in (journey.repository.path / "src/a.py").read_text()


@pytest.mark.parametrize("way", ["write", "drop"])
def test_a_planned_file_that_nobody_wrote_is_refused_until_it_is_written_or_dropped(
    make_repo: Repositories, way: str
) -> None:
    journey = Journey(make_repo(files=FILES))
    milestone = next(e for e in journey.answers["design.json"] if e.get("as") == "$m")["fields"]
    milestone["tests"]["files"] = [*milestone["tests"]["files"], "tests/test_b.py"]
    milestone["files"] = [*milestone["files"], "tests/test_b.py"]
    journey.to("code").advance()
    refused = journey.last
    assert refused.code == 1
    (problem,) = refused.problems
    assert "M-001 lists tests/test_b.py, and nothing changes it" in problem[1]
    if way == "write":
        journey.edits["tests/test_b.py"] = "from a import f\n\nassert f(0) == 2\n"
    else:
        edit = problem[1].partition("take it off the plan: ")[2].partition(" · ")[0]
        journey.write_answer("drop.json", [json.loads(edit)])
        dropped = journey.planner("plan", "batch", "--file", "answers/drop.json")
        assert dropped.code == 0, dropped.text
    journey.last = journey.planner("step", "planner")
    assert "Proved" in journey.to("committed").last.text
