"""What a reviewer is asked: its group alone, and nothing once that is answered (PL-18)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from shared.qr.schema import Review, write_review
from shared.qr.types import Item
from shared.resources import plan_path, review_path
from shared.steps.entry_points import find_workflow
from shared.steps.printing import print_step
from state.errors import Refused
from state.files import write_json
from tests.journey import Answer
from tests.shared.execution.scene import Scene, milestone

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

pytestmark = pytest.mark.requirement("PL-18")

ITEMS = [
    Item(id="qa-001", scope="M-001", check="scope-kept", group="1", by="reviewer"),
    Item(id="qa-002", scope="M-001", check="criteria-met", group="2", by="reviewer",
         status="PASS"),
    Item(id="qs-003", scope="*", check="c", status="FAIL", finding="x", by="script"),
]  # fmt: skip


def asked(folder: Path, group: str) -> ET.Element:
    scene = Scene(folder, [milestone(1, "a.py")])
    write_review(review_path(scene.state_dir, "plan-design"), Review("plan-design", 1, ITEMS))
    state = scene.place(workflow="planner", step=4, stage="gathering")
    text = print_step(find_workflow("plan-design-qr"), 1, state, {"group": group})
    return Answer(0, text, "").block


def test_a_reviewer_gets_the_open_questions_of_its_group(tmp_path: Path) -> None:
    block = asked(tmp_path, "1")
    [questions] = [d.text or "" for d in block.iter("data") if d.get("name") == "questions"]
    assert "qa-001" in questions
    assert "qa-002" not in questions
    assert "qs-003" not in questions
    assert "verdicts-plan-design-1.json" in (block.findtext("task") or "")


def test_a_group_that_is_answered_has_nothing_left_to_do(tmp_path: Path) -> None:
    block = asked(tmp_path, "2")
    assert block.findtext("task") == "Every question of this group is answered: end here."
    assert [child.tag for child in block] == ["task"]


def test_a_group_that_there_is_not_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        asked(tmp_path, "3")
    [problem] = refused.value.problems
    assert (problem.at, problem.problem) == ("--group", "the questions have no group 3")
    assert problem.allowed == "1, 2"


@pytest.mark.requirement("SD-5", "SD-6")
def test_a_reviewer_of_a_revision_reads_the_reasons_of_its_questions_one_of_new_code_all(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path, [milestone(1, "a.py")])
    with open(plan_path(scene.state_dir), encoding="utf-8") as file:
        plan = json.load(file)
    plan["context"]["rejected_alternatives"] = ["a cache"]
    write_json(plan_path(scene.state_dir), plan)
    for phase in ("plan-code", "impl-code"):
        write_review(
            review_path(scene.state_dir, phase),
            Review(phase, 1, [ITEMS[1]._replace(group="1", status="TODO")]),
        )
    for revision, (workflow, step, phase), shows in (
        (1, ("planner", 7, "plan-code"), True),
        (2, ("planner", 7, "plan-code"), False),
        (2, ("executor", 4, "impl-code"), True),
    ):
        stage = "gathering" if workflow == "planner" else "executing"
        state = scene.place(workflow=workflow, step=step, stage=stage, revision=revision)
        text = print_step(find_workflow(f"{phase}-qr"), 1, state, {"group": "1"})
        assert ("not wanted: a cache" in text) == shows, (revision, phase)
