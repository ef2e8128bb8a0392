"""A fix round is a full task: its agents have seen nothing of the run (SD-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.demo.driver import Answer
from tests.journey import passing
from tests.larger_tasks import larger
from tests.orchestrator.test_budgets import fix_rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]

VERIFIED = "[verify]\ncommands = [\"PYTHONPATH=src python3 -c 'import m1_1, m2_1'\"]\n"
TESTS = {
    "type": "unit",
    "files": ["tests/test_a.py"],
    "scenarios": {"normal": ["one gives three"], "edge": ["zero"], "error": ["a text"]},
}


@pytest.fixture(name="journey")
def _journey(make_repo: Repositories) -> Journey:
    journey = larger(make_repo, "repo", (2, 1), {"planner.toml": VERIFIED})
    journey.review, journey.verdicts = "full", passing
    journey.edits["tests/test_a.py"] = "from m1_1 import f\n\nassert f(1) == 3\n"
    journey.answers["context.json"] |= {
        "constraints": ["no new dependency"], "user_quotes": ["ask me first"],
        "rejected_alternatives": ["a parameter"], "invisible_knowledge": ["the order matters"],
    }  # fmt: skip
    design = journey.answers["design.json"]
    first = next(e for e in design if e.get("kind") == "milestone")
    first["fields"] |= {"tests": TESTS, "files": [*first["fields"]["files"], "tests/test_a.py"]}
    alternative = {"alternative": "a flag", "rejection_reason": "nobody wants two behaviours"}
    design.append({"op": "add", "kind": "alternative", "fields": alternative})
    return journey


@pytest.mark.requirement("SD-5")
def test_who_fixes_and_who_judges_the_fix_see_what_they_need(journey: Journey) -> None:
    for phase, texts in fix_rounds(journey).items():
        author, reviewer = Answer(0, texts[1]), Answer(0, texts[4])
        found, plan = author.data("findings"), author.data("plan")
        assert "FAIL" in found
        assert "asked was: " in found
        assert author.block.find("rules") is not None
        assert "context ask --file answers/questions.json" in author.next("question")
        assert "answers/questions.json" in author.text
        assert "What else the user has said is in " in author.text
        assert ("tree run" in author.text) == (phase == "code")
        for said in (
            "accepted when: f(1) is 3 in every module of layer 1", "T-1: f adds two",
            "T-2: out of scope: g", "constraint: no new dependency", "Add two in layer 2: src/m2_1",
            "Change the constant in place – no caller needs one",
        ):  # fmt: skip
            assert said in plan, (phase, said)
        scenario = "test, edge: zero"
        assert (scenario in plan) == (phase != "docs")
        assert (scenario in reviewer.data("plan")) == (phase != "docs")
        assert ("DL-001 v1" in plan) == (phase != "code"), "only who may edit needs versions"
        assert reviewer.data("questions").count("found before") == 2


@pytest.mark.requirement("SD-5")
def test_who_is_asked_again_about_all_that_was_asked_sees_all_that_was_asked(
    journey: Journey,
) -> None:
    texts = fix_rounds(journey, (("design review", "design"),))["design"]
    reviewer = Answer(0, texts[4])
    assert "All that was asked is planned" in reviewer.data("questions")
    assert reviewer.data("request") == journey.request
    for said in (
        "constraint: no new dependency", "the user said: ask me first", "not wanted: a parameter",
    ):  # fmt: skip
        assert said in reviewer.data("plan")
    assert "a flag" not in reviewer.data("plan"), "no question is about alternatives"
