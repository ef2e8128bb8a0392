"""`planner plan diff`: patches by milestone or file, and a way on where they do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journey import Answer, Journey, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """Return a run of two milestones, the first with two files whose patches are long."""
    journey = larger(make_repo, "long", (2, 1), {})
    new = "def f(x):\n    return x + 2\n"
    for name in ("src/m1_1.py", "src/m1_2.py"):
        journey.edits[name] = new + "".join(f"A{n:05} = {n}\n" for n in range(900))
    return journey.to("submitted")


def shown(answer: Answer) -> dict[str, bool]:
    """Return the files of an answer, each with whether its patch is whole."""
    rows = {d.get("name") or "": d.text or "" for d in answer.block.iter("data")}
    return {name: "characters left out" not in text for name, text in rows.items()}


def test_what_does_not_fit_says_how_to_see_it_in_parts_until_all_is_seen(journey: Journey) -> None:
    answer = journey.planner("plan", "diff", "--format", "xml")
    assert False in shown(answer).values()
    assert "Name fewer milestones or files" in answer.block.findtext("task", "")
    milestone = journey.run(*words_of(answer.next("M-001 alone")))
    assert shown(milestone) == {"src/m1_1.py": True, "src/m1_2.py": False}
    file = journey.run(*words_of(milestone.next("src/m1_1.py alone")))
    assert shown(file) == {"src/m1_1.py": True}
    assert file.block.find("next") is None
    both = journey.planner("plan", "diff", "--format", "xml", "M-002", "src/m1_2.py")
    assert shown(both) == {"src/m1_2.py": True, "src/m2_1.py": True}


def test_of_one_file_that_does_not_fit_the_place_is_named(make_repo: Repositories) -> None:
    journey = larger(make_repo, "long", (1,), {})
    journey.edits["src/m1_1.py"] = "".join(f"A{n:05} = {n}\n" for n in range(4000))
    journey.to("submitted")
    answer = journey.planner("plan", "diff", "--format", "xml", "src/m1_1.py")
    place = answer.block.findtext("task", "").rpartition(": ")[2]
    assert "A03999 = 3999" in Path(place).read_text(encoding="utf-8")
    assert answer.block.find("next") is None


def test_an_unknown_name_lists_the_milestones(journey: Journey) -> None:
    problem = journey.planner("plan", "diff", "--format", "xml", "src/none.py").problems[0]
    assert problem[0] == "not_found"
    assert "M-001, M-002" in problem[1]
