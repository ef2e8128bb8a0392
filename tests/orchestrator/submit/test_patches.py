"""The patches of a plan, of all or of what is named (PL-19)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.submit.patches import patches, whole_patch
from tests.shared.execution.scene import milestone
from tests.state.plans import CHANGE, empty_plan, refusal

if TYPE_CHECKING:
    from state.models import Plan

pytestmark = pytest.mark.requirement("PL-19")

BINARY = {"encoding": "base64", "patch": base64.b64encode(b"\xff\n").decode()}


def change(number: int, file: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    return {**CHANGE, "id": f"CC-{number:03}", "file": file, "patch": f"{file}\n", **values}


def plan(*last: dict[str, Any]) -> Plan:
    return empty_plan(milestones=[
        milestone(1, "a.py b.py", code_changes=[change(1, "a.py"), change(2, "b.py")]),
        milestone(2, "c.bin d", code_changes=[change(3, "c.bin", **BINARY), *last]),
    ])  # fmt: skip


def test_all_patches_are_one_in_the_order_of_the_plan() -> None:
    assert whole_patch(plan(), ()) == b"a.py\nb.py\n\xff\n"
    assert [*patches(plan(), ())] == [("a.py", "a.py\n"), ("b.py", "b.py\n"), ("c.bin", "binary")]


@pytest.mark.parametrize(
    ("names", "files"),
    [(["M-001"], ["a.py", "b.py"]), (["b.py"], ["b.py"]), (["M-002", "a.py"], ["a.py", "c.bin"]),
     (["M-001", "a.py"], ["a.py", "b.py"])],
)  # fmt: skip
def test_milestones_and_files_choose(names: list[str], files: list[str]) -> None:
    assert [file for file, _ in patches(plan(), names)] == files


def test_what_the_plan_has_not_is_refused_with_its_milestones() -> None:
    [problem] = refusal(lambda: [*patches(plan(), ["x.py", "M-009", "a.py"])])
    assert (problem.at, problem.allowed) == ("x.py, M-009", "M-001, M-002")
    [problem] = refusal(lambda: [*patches(empty_plan(), ["x.py"])])
    assert problem.allowed == "none yet"


def test_a_change_without_a_patch_is_refused_and_the_others_named() -> None:
    large = change(4, "d", encoding="blob", patch=None)
    [problem] = refusal(whole_patch, plan(large), ())
    assert problem.at == "d"
    assert problem.allowed == "`planner exec run` applies it; as a patch: a.py, b.py, c.bin"
    assert refusal(whole_patch, plan(large), ["d"])[0].allowed.endswith("nothing else")
    assert whole_patch(plan(large), ["M-001"]) == b"a.py\nb.py\n"
