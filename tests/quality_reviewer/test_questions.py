"""Which questions a plan is asked, by its size and by what was answered before (PL-23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quality_reviewer.questions import QUESTIONS, due_questions, group_of, make_items, milestones_of
from shared.qr.schema import read_review
from shared.qr.types import PASS, REVIEWER, TODO
from shared.resources import review_path
from shared.run import open_state
from tests.journey import FILES, Journey
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.phases import Phase
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

DESIGN, CODE, DOCS = (
    {q.id for q in QUESTIONS if q.phase == phase}
    for phase in ("plan-design", "plan-code", "plan-docs")
)
LONG = "def f(x):\n    return x + 2\n" + "".join(f"\n\nA{n} = {n}\n" for n in range(120))


def asked(journey: Journey, phase: Phase) -> set[str]:
    """Return the names of the questions in an open review."""
    review = read_review(review_path(journey.state_dir, phase))
    return {i.check for i in review.items if i.by == REVIEWER}


# which


@pytest.mark.requirement("PL-23")
def test_the_table_of_what_is_asked_when() -> None:
    def due(phase: Phase, mode: str, judged: set[str], *, documented: bool) -> set[str]:
        return {q.id for q in due_questions(phase, mode, judged, documented=documented)}

    assert due("plan-design", "full", set(), documented=False) == DESIGN
    assert due("plan-code", "full", DESIGN, documented=True) == CODE
    assert due("plan-docs", "full", DESIGN | CODE, documented=True) == DOCS
    assert due("plan-code", "full", set(), documented=True) == DESIGN | CODE
    assert due("plan-design", "small", set(), documented=True) == set()
    assert due("plan-code", "small", set(), documented=True) == DESIGN | CODE | DOCS
    assert due("plan-code", "small", set(), documented=False) == DESIGN | CODE
    assert due("plan-docs", "small", DESIGN | CODE, documented=True) == DOCS
    assert due("plan-docs", "small", DESIGN | CODE | DOCS, documented=True) == set()
    for phase in ("plan-design", "plan-code", "plan-docs"):
        assert due(phase, "none", set(), documented=True) == set()


@pytest.mark.requirement("PL-23")
@pytest.mark.parametrize("count", range(1, 14))
def test_a_reviewer_takes_about_three_milestones_in_order(count: int) -> None:
    ids = [f"M-{n:03}" for n in range(1, count + 1)]
    shares: dict[str, list[str]] = {}
    for name in ids:
        shares.setdefault(group_of(name, ids), []).append(name)
    assert list(shares) == [str(n) for n in range(1, -(-count // 3) + 1)]
    assert [name for share in shares.values() for name in share] == ids
    assert max(map(len, shares.values())) <= 3
    assert max(map(len, shares.values())) - min(map(len, shares.values())) <= 1
    assert group_of("*", ids) == group_of("src/a.py", ids) == "1"
    items = make_items(QUESTIONS, ids, [], "full")
    assert len({i.id for i in items}) == len(items)
    assert milestones_of(items, ids) == ids
    each = [i for i in items if i.scope == ids[-1]]
    assert milestones_of(each, ids) == ids[-1:]
    assert {i.group for i in make_items(QUESTIONS, ids, [], "small")} == {"1"}


# in runs


@pytest.mark.requirement("PL-23")
def test_a_small_plan_is_asked_everything_once_when_there_is_code(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "auto"
    journey.to("code review")
    assert asked(journey, "plan-code") == DESIGN | CODE | DOCS
    assert "small: 1 milestone" in journey.last.data("review")
    journey.to("freeze")
    assert len(journey.agents) == 1
    plan = open_state(journey.state_dir, "/").plan
    judged = {o["phase"]: set(o["judged"]) for o in plan["reviews"]}
    assert judged == {
        "plan-design": set(),
        "plan-code": DESIGN | CODE | DOCS,
        "plan-docs": set(),
    }


@pytest.mark.requirement("PL-23")
def test_documents_that_come_later_are_asked_about_later(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.promises_document = True
    journey.to("code review")
    assert asked(journey, "plan-code") == DESIGN | CODE
    journey.to("docs review")
    assert asked(journey, "plan-docs") == DOCS


@pytest.mark.requirement("PL-23")
def test_a_plan_that_turns_out_big_at_code_is_asked_about_its_design_then(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "auto"
    journey.edits["src/a.py"] = LONG
    journey.to("code review")
    assert "full: " in journey.last.data("review")
    assert "changed lines" in journey.last.data("review")
    assert asked(journey, "plan-code") == DESIGN | CODE
    journey.to("docs review")
    assert asked(journey, "plan-docs") == DOCS
    assert "11" in str(journey.to("freeze").last.block.get("number"))


@pytest.mark.requirement("PL-23")
def test_in_full_each_phase_is_asked_its_own_questions_alone(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "auto"
    journey.to("design review")
    assert "full: 2 milestones" in journey.last.data("review")
    assert asked(journey, "plan-design") == DESIGN
    journey.to("code review")
    assert asked(journey, "plan-code") == CODE
    journey.to("docs review")
    assert asked(journey, "plan-docs") == DOCS


@pytest.mark.requirement("PL-23")
def test_a_sensitive_file_of_the_project_brings_a_full_review(make_repo: Repositories) -> None:
    sensitive = '[review]\nsensitive = ["src"]\n'
    journey = Journey(make_repo(files={**FILES, "planner.toml": sensitive}))
    journey.review = "auto"
    journey.to("design review")
    assert "src/a.py is on the project's sensitive list" in journey.last.data("review")


@pytest.mark.requirement("PL-23")
def test_thresholds_are_configuration(make_repo: Repositories) -> None:
    config = "[review]\nmilestones = 2\nlines = 3\n"
    journey = larger(make_repo, "repo", (1, 1), {"planner.toml": config})
    journey.review = "auto"
    journey.to("code review")
    assert "full: 4 changed lines" in journey.last.data("review")
    assert asked(journey, "plan-code") == DESIGN | CODE


@pytest.mark.requirement("PL-23")
def test_no_review_is_shown_to_who_approves_and_in_the_plan(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "none"
    journey.to("submitted")
    assert journey.agents == []
    nobody = "nobody: a program alone has checked this plan"
    assert f"reviewed by {nobody}" in journey.last.data("summary")
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        assert f"read by {nobody}" in file.read()
    assert {o["review"] for o in open_state(journey.state_dir, "/").plan["reviews"]} == {"none"}


@pytest.mark.requirement("PL-23")
def test_a_review_is_shown_to_who_approves_and_in_the_plan(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("submitted")
    count = len(DESIGN | CODE | DOCS)
    who = f"agents ({count} questions)"
    assert f"reviewed by {who}" in journey.last.data("summary")
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        assert f"read by {who} (small review)" in file.read()


@pytest.mark.requirement("PL-18", "PL-23")
def test_a_question_that_is_asked_again_keeps_id_and_answer_and_new_ones_get_new_ids() -> None:
    before = [i.changed(status=PASS) for i in make_items(QUESTIONS, ["M-001"], [], "full")]
    after = make_items(QUESTIONS, ["M-001", "M-002"], before, "full")
    assert [i for i in after if i.scope != "M-002"] == before
    new = [i for i in after if i.scope == "M-002"]
    assert new
    assert all(i.status == TODO for i in new)
    assert not {i.id for i in new} & {i.id for i in before}
