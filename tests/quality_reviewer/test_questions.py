"""Which questions a run is asked: by its size, its change and what was answered (PL-23, RV-2)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_reviewer.questions import QUESTIONS, may_ask
from quality_reviewer.scopes import owner_of
from quality_reviewer.selection import grouped
from shared.qr.schema import read_review
from shared.qr.types import REVIEWER, Item
from shared.resources import review_path
from shared.run import open_state
from tests.journey import FILES, Journey
from tests.larger_tasks import larger
from tests.quality_reviewer.checks.conftest import make_milestone, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.phases import Phase
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

DESIGN, CODE, DOCS = (
    {q.id for q in QUESTIONS if q.phase == phase and q.who != "author"}
    for phase in ("plan-design", "plan-code", "plan-docs")
)
# Of one changed line in one milestone, with its test.
LINE = {
    "intent-holds", "scope-kept", "invariants-stated", "criteria-met", "intent-done",
    "nothing-else",
}  # fmt: skip
LONG = "def f(x):\n    return x + 2\n" + "".join(f"\n\nA{n} = {n}\n" for n in range(120))


def asked(journey: Journey, phase: Phase) -> set[str]:
    """Return the names of the questions in an open review."""
    review = read_review(review_path(journey.state_dir, phase))
    return {i.check for i in review.items if i.by == REVIEWER}


def two_milestones(make_repo: Repositories) -> Journey:
    """Return a run of two milestones whose intents say nothing but what they do."""
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "auto"
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "intent":
            edit["fields"]["behavior"] = "adds two"
    return journey


# which


@pytest.mark.requirement("PL-23")
def test_the_table_of_what_may_be_asked_when() -> None:
    def due(phase: Phase, mode: str, *, documented: bool) -> set[str]:
        asked = may_ask(phase, mode, documented=documented)
        assert {q.phase for q in asked if q.who == "author"} <= {"plan-code"}
        return {q.id for q in asked if q.who != "author"}

    code = (DESIGN | CODE) - {"task-holds"}
    assert due("plan-design", "full", documented=False) == DESIGN
    assert due("plan-code", "full", documented=True) == code
    assert due("plan-docs", "full", documented=True) == code | DOCS
    assert due("plan-design", "small", documented=True) == set()
    assert due("plan-code", "small", documented=True) == code | DOCS
    assert due("plan-code", "small", documented=False) == code
    assert due("impl-code", "full", documented=False) == code | {"milestones-agree"}
    assert due("impl-docs", "full", documented=False) >= {"docs-agree", "milestones-agree"}
    for phase in ("plan-design", "plan-code", "plan-docs"):
        assert due(phase, "none", documented=True) == set()


def items_of(milestones: int, of_plan: int, each: int) -> list[Item]:
    """Return so many questions about a whole plan, and so many about each milestone."""
    scopes = ["*"] * of_plan + [f"M-{n:03}" for n in range(1, milestones + 1) for _ in range(each)]
    return [Item(id=f"qa-{n:03}", scope=s, check="style") for n, s in enumerate(scopes, 1)]


@pytest.mark.requirement("PL-23", "RV-2")
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 10, 13, 24, 25, 60])
def test_at_most_eight_reviewers_share_the_questions_evenly(count: int) -> None:
    milestones = [
        make_milestone(id=f"M-{n:03}", number=n, files=[f"src/m{n}.py"], code_intents=[],
                       tests={"skip_reason": "x"})
        for n in range(1, count + 1)
    ]  # fmt: skip
    plan = make_plan(milestones=milestones)
    items = grouped(items_of(count, 6, 3), plan, small=False)
    groups = [item.group or "" for item in items]
    names = list(dict.fromkeys(groups))
    assert names == [str(n) for n in range(1, len(names) + 1)], "in the plan's order"
    assert len(names) <= min(8, -(-count // 3))
    for n in range(1, count + 1):
        assert len({i.group for i in items if i.scope == f"M-{n:03}"}) == 1
    shares = [groups.count(name) for name in names]
    assert max(shares) - min(shares) <= 3, "a milestone's questions, which stay together"
    assert {i.group for i in items if i.scope == "*"} == {"1"}
    assert {i.group for i in grouped(items, plan, small=True)} == {"1"}


@pytest.mark.requirement("PL-23", "SD-6")
@pytest.mark.parametrize(("open_ones", "reviewers"), [((), 1), ((9,), 1), ((1, 5, 9), 1),
                                                     ((1, 4, 7, 9), 2)])  # fmt: skip
def test_only_milestones_with_an_open_question_need_a_reviewer(
    open_ones: tuple[int, ...], reviewers: int
) -> None:
    milestones = [
        make_milestone(id=f"M-{n:03}", number=n, files=[f"src/m{n}.py"], code_intents=[],
                       tests={"skip_reason": "x"})
        for n in range(1, 10)
    ]  # fmt: skip
    names = {f"M-{n:03}" for n in open_ones}
    items = [i._replace(status="TODO" if i.scope in names else "PASS") for i in items_of(9, 1, 2)]
    found = grouped(items, make_plan(milestones=milestones), small=False)
    asked = {i.group for i in found if i.status == "TODO"}
    assert len({i.group for i in found}) == reviewers
    assert len(asked) == (reviewers if open_ones else 0)


@pytest.mark.requirement("RV-2")
@pytest.mark.parametrize("of_plan", [0, 1, 2, 3])
@pytest.mark.parametrize("count", [4, 5, 7, 10, 13, 24, 25, 60])
def test_where_each_milestone_has_one_question_no_reviewer_has_two_more_than_another(
    count: int, of_plan: int
) -> None:
    shares = shared_out([1] * count, of_plan)
    assert max(shares) - min(shares) <= 1, shares


@pytest.mark.requirement("RV-2")
@given(st.lists(st.integers(1, 7), min_size=1, max_size=30), st.integers(0, 12))
def test_neighbouring_reviewers_differ_by_no_more_than_the_questions_of_one_milestone(
    loads: list[int], of_plan: int
) -> None:
    """Else it would move from one to the other; milestones keep their order."""
    shares = shared_out(loads, of_plan)
    # Whoever has more than a share with the questions about the whole plan alone has no milestone.
    others = shares[1:] if shares[0] == of_plan else shares
    assert all(abs(one - other) <= max(loads) for one, other in pairwise(others)), shares
    assert not of_plan or shares[0] >= of_plan


def shared_out(loads: list[int], of_plan: int) -> list[int]:
    """Return how many questions each reviewer has of a plan whose milestones have so many."""
    milestones = [
        make_milestone(id=f"M-{n:03}", number=n, files=[f"src/m{n}.py"], code_intents=[],
                       tests={"skip_reason": "x"})
        for n in range(1, len(loads) + 1)
    ]  # fmt: skip
    scopes = ["*"] * of_plan
    scopes += [f"M-{n:03}" for n, load in enumerate(loads, 1) for _ in range(load)]
    items = [Item(id=f"qa-{n:03}", scope=s, check="style") for n, s in enumerate(scopes, 1)]
    groups = [i.group or "" for i in grouped(items, make_plan(milestones=milestones), small=False)]
    return [groups.count(name) for name in dict.fromkeys(groups)]


def test_an_intent_and_a_file_belong_to_their_milestone() -> None:
    plan = make_plan()
    for scope in ("M-001", "CI-001", "src/dates.py", "tests/test_dates.py"):
        assert owner_of(scope, plan) == "M-001"
    assert owner_of("*", plan) is owner_of("T-1", plan) is owner_of("src/b.py", plan) is None


# in runs


@pytest.mark.requirement("PL-23", "RV-2")
def test_a_small_plan_is_asked_at_most_seven_once_when_there_is_code(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "auto"
    journey.to("code review")
    assert asked(journey, "plan-code") == LINE | {"rules-kept"}
    assert "small: 1 milestone" in journey.last.data("review")
    block = journey.follow(journey.last.runs()[0])
    assert "CI-001: Which input makes this false?" in block.data("questions").splitlines()[0]
    journey.last = journey.planner("step", "planner")
    journey.to("submitted")
    assert len(journey.agents) == 1
    plan = open_state(journey.state_dir, "/").plan
    judged = {o.phase: set(o.judged) for o in plan.reviews}
    assert judged == {"plan-design": set(), "plan-code": LINE | {"rules-kept"}, "plan-docs": set()}
    [code] = [o for o in plan.reviews if o.phase == "plan-code"]
    reasons = {row.check: row.reason for row in code.unasked}
    assert set(reasons) == ((DESIGN | CODE | DOCS) - {"task-holds"}) - (LINE | {"rules-kept"})
    assert reasons["style"] == "a small plan is asked 7 questions"
    assert reasons["errors-alike"] == "no error path is touched"
    assert [row.check for row in code.unasked if row.triggered] == ["style"]
    beyond = "1 question of less weight not asked"
    summary = journey.last.data("summary").splitlines()
    assert f"reviewed by agents (7 questions); {beyond}" in summary
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        text = file.read()
    assert "read by agents (7 questions) (small review)" in text
    assert (
        "- not asked, no error path is touched: “Errors are handled as in the code around" in text
    )
    assert "errors-alike" not in text
    assert f"- {beyond}\n" in text
    style = "“It reads like the code around it”"
    assert f"- not asked, a small plan is asked 7 questions: {style}\n" in text
    with open(f"{journey.state_dir}/review.html", encoding="utf-8") as file:
        page = file.read()
    assert "no error path is touched: “Errors are handled as in the code around it”" in page
    assert f"a small plan is asked 7 questions: {style}" in page
    assert beyond in page[: page.index("</header>")]


@pytest.mark.requirement("PL-23")
def test_documents_that_come_later_are_asked_about_later(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.promises_document = True
    journey.to("code review")
    assert asked(journey, "plan-code") == LINE | {"style"}
    journey.to("submitted")
    [docs] = [o for o in open_state(journey.state_dir, "/").plan.reviews
              if o.phase == "plan-docs"]  # fmt: skip
    reasons = {row.check: row.reason for row in docs.unasked}
    assert reasons["docs-clear"] == "a small plan is asked 7 questions"


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
    assert asked(journey, "plan-code") == LINE | {"choices-trace", "simple", "style"}
    journey.to("docs review")
    assert asked(journey, "plan-docs") == {"rules-kept"}
    assert journey.to("submitted").last.code == 0


@pytest.mark.requirement("PL-23", "RV-2")
def test_in_full_each_phase_is_asked_its_own_questions_alone(make_repo: Repositories) -> None:
    journey = two_milestones(make_repo).to("design review")
    assert "full: 2 milestones" in journey.last.data("review")
    design = {"task-holds", "scope-kept", "invariants-stated", "slices-vertical", "design-clear"}
    assert asked(journey, "plan-design") == design
    journey.to("code review")
    code = {"intent-holds", "criteria-met", "intent-done", "nothing-else", "style"}
    assert asked(journey, "plan-code") == code
    journey.to("docs review")
    assert asked(journey, "plan-docs") == {"rules-kept"}


@pytest.mark.requirement("RV-2")
def test_what_only_the_code_shows_is_asked_about_the_design_as_well(
    make_repo: Repositories,
) -> None:
    """The intents say nothing of callers; the patch of one milestone does."""
    journey = two_milestones(make_repo)
    journey.edits["src/m2_1.py"] = "def f(x, y):\n    return x + y\n"
    journey.to("code review")
    review = read_review(review_path(journey.state_dir, "plan-code"))
    callers = [i.scope for i in review.items if i.check == "callers-covered"]
    assert callers == ["M-002"]


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
    assert {"scope-kept", "intent-done"} < asked(journey, "plan-code")


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
    assert {o.review for o in open_state(journey.state_dir, "/").plan.reviews} == {"none"}
