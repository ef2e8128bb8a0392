"""Which questions a plan is asked, by its size and by what was answered before (PL-23)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.questions import QUESTIONS, due_questions, group_of, make_items, milestones_of
from quality_reviewer.scale import AUTO, changed_lines, is_sensitive, review_mode
from shared.qr.schema import read_review
from shared.qr.types import PASS, REVIEWER, TODO
from shared.resources import review_path
from shared.run import open_state
from tests.journey import FILES, Journey
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.qr.types import Phase
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


def milestone(**fields: object) -> dict[str, Any]:
    """Return a milestone as far as the scale of a review reads it."""
    empty: dict[str, Any] = {
        "id": "M-001", "flags": [], "files": [], "tests": {"files": []}, "code_intents": [],
        "code_changes": [], "documentation": {"changes": []},
    }  # fmt: skip
    return empty | fields


def patch_of(lines: int) -> dict[str, Any]:
    """Return a change of so many lines: half of them go, half of them come."""
    rows = "".join(f"-old {n}\n+new {n}\n" for n in range(lines // 2))
    return {
        "file": "a.py",
        "patch": f"--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n same\n{rows} end\n",
    }


# how much


@pytest.mark.requirement("PL-23")
@pytest.mark.parametrize(
    ("milestones", "config", "mode"),
    [
        ([], {}, "small"),
        ([milestone()], {}, "small"),
        ([milestone(), milestone()], {}, "full"),
        ([milestone(), milestone()], {"review_milestones": 2}, "small"),
        ([milestone(code_changes=[patch_of(300)])], {}, "small"),
        ([milestone(code_changes=[patch_of(302)])], {}, "full"),
        ([milestone(documentation={"changes": [patch_of(302)]})], {}, "full"),
        ([milestone(code_changes=[patch_of(150)])], {"review_lines": 149}, "full"),
        ([milestone(flags=["high-risk"])], {}, "full"),
        ([milestone(flags=["needs-migration"])], {}, "small"),
        ([milestone(files=["auth/a.py"])], {"sensitive": ("auth",)}, "full"),
        ([milestone(tests={"files": ["auth/t.py"]})], {"sensitive": ("auth/*",)}, "full"),
        ([milestone(code_intents=[{"file": "a.sql"}])], {"sensitive": ("*.sql",)}, "full"),
        ([milestone(code_changes=[patch_of(2)])], {"sensitive": ("a.py",)}, "full"),
        ([milestone(files=["authors.md"])], {"sensitive": ("auth",)}, "small"),
    ],
)
def test_what_makes_a_plan_big(
    milestones: list[dict[str, Any]], config: dict[str, Any], mode: str
) -> None:
    found, why = review_mode(AUTO, {"milestones": milestones}, config)
    assert found == mode
    assert why
    for chosen in ("full", "small", "none"):
        assert review_mode(chosen, {"milestones": milestones}, config)[0] == chosen


def test_lines_are_counted_in_hunks_alone() -> None:
    assert changed_lines({"milestones": [milestone(code_changes=[patch_of(40)])]}) == 40
    binary = {"file": "a.bin", "patch": None}
    assert changed_lines({"milestones": [milestone(code_changes=[binary])]}) == 0


def test_a_pattern_is_a_glob_or_a_folder() -> None:
    assert is_sensitive("db/migrations/1.sql", ["db/migrations"])
    assert is_sensitive("db/migrations/1.sql", ["db/migrations/"])
    assert is_sensitive("a/secrets.env", ["*.env"])
    assert not is_sensitive("db/migrations.md", ["db/migrations"])
    assert not is_sensitive("db/a.py", [])


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
    assert "review: no reviewer has read this plan" in journey.last.data("summary")
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        assert "- no reviewer has read this plan" in file.read()
    assert {o["review"] for o in open_state(journey.state_dir, "/").plan["reviews"]} == {"none"}


@pytest.mark.requirement("PL-23")
def test_a_review_is_shown_to_who_approves_and_in_the_plan(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("submitted")
    count = len(DESIGN | CODE | DOCS)
    assert f"review: {count} points judged by reviewers" in journey.last.data("summary")
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        assert f"reviewers answered {count} questions (small review)" in file.read()


@pytest.mark.requirement("PL-18", "PL-23")
def test_a_question_that_is_asked_again_keeps_id_and_answer_and_new_ones_get_new_ids() -> None:
    before = [i.changed(status=PASS) for i in make_items(QUESTIONS, ["M-001"], [], "full")]
    after = make_items(QUESTIONS, ["M-001", "M-002"], before, "full")
    assert [i for i in after if i.scope != "M-002"] == before
    new = [i for i in after if i.scope == "M-002"]
    assert new
    assert all(i.status == TODO for i in new)
    assert not {i.id for i in new} & {i.id for i in before}
