"""The command that stores the last answers takes the gate, as the reviewers say (FC-1)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from shared.run import open_state
from tests.journey import ELSEWHERE, FILES, Answer, Journey, all_pass, passing, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]
    Rows = list[dict[str, Any]]

pytestmark = pytest.mark.requirement("FC-1")

FAILED = {"status": "FAIL", "finding": "f(0) is 1"}


def opened(journey: Journey) -> State:
    return open_state(journey.state_dir, "/")


def failing(block: Answer) -> Rows:
    """Answer a reviewer's block: the first question finds something, and so the plan fails."""
    first, *others = all_pass(block)
    return [{**first, **FAILED}, *others, {"verdict": "fail"}]


def last_outcome(journey: Journey, phase: str) -> dict[str, Any]:
    state = opened(journey)
    return state.database.outcomes(state.run, phase)[-1]


@pytest.fixture
def small(make_repo: Repositories) -> Journey:
    """Return a run whose one reviewer is due."""
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    return journey.to("code review")


def answer(journey: Journey, rows: Callable[[Answer], Rows]) -> Answer:
    """Be the host that reviews alone, and store these answers."""
    block = journey.follow(journey.last.next("alone"))
    journey.write_answer("verdicts-plan-code-1.json", rows(block))
    return journey.follow(block.next("done"))


@pytest.mark.requirement("RV-3")
def test_whoever_planned_alone_may_mend_the_plans_text_where_an_intent_does_not_hold(
    small: Journey,
) -> None:
    back = answer(small, failing)
    assert "T-1" in back.data("findings")
    [batch] = re.findall("`(--batch answers/[^`]+)`", back.text)
    fields = {"behavior": "adds two to every integer"}
    edits = [{"op": "set", "id": "CI-001", "version": 1, "fields": fields}]
    small.write_answer(batch.removeprefix("--batch answers/"), edits)
    asked = small.follow(f"{back.next('done')} {batch}")
    assert "CI-001 src/a.py: adds two to every integer" in asked.data("plan")
    small.write_answer("verdicts-plan-code-1.json", passing(asked))
    assert small.follow(asked.next("done")).block.get("workflow") == "executor"


def test_who_planned_alone_is_reminded_of_what_was_decided_and_not_why(small: Journey) -> None:
    shown = small.follow(small.last.next("alone")).data("plan").splitlines()
    [decision] = [row for row in small.answers["design.json"] if row.get("kind") == "decision"]
    assert f"DL-001: {decision['fields']['decision']}" in shown


def test_a_pass_of_all_passes_the_gate_and_the_last_gate_freezes(small: Journey) -> None:
    submitted = answer(small, passing)
    assert (submitted.block.get("workflow"), submitted.block.get("number")) == ("executor", "1")
    assert "approve" in submitted.person()
    outcome = last_outcome(small, "plan-code")
    assert (outcome["verdict"], outcome["decided_by"]) == ("pass", "host")


def test_a_fail_sends_the_findings_back_at_once(small: Journey) -> None:
    block = answer(small, failing)
    assert (block.block.get("number"), block.block.get("iteration")) == ("6", "2")
    assert "f(0) is 1" in block.data("findings")


def test_of_several_reviewers_the_last_one_takes_the_gate(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1, 1, 1), {})
    journey.review = "full"
    first, second = journey.to("design review").last.runs()
    journey.verdicts = passing
    journey.be_agent(first)
    assert opened(journey).run.step == 4
    journey.be_agent(second)
    assert opened(journey).run.step == 6
    assert last_outcome(journey, "plan-design")["decided_by"] == "reviewer"
    plan = opened(journey).plan
    assert [(o.by, o.reason) for o in plan.reviews] == [("reviewer", "")], "no reason, none shown"


def test_one_fail_among_passes_fails_the_phase(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1, 1, 1), {})
    journey.review = "full"
    first, second = journey.to("design review").last.runs()
    journey.verdicts = failing
    journey.be_agent(first)
    journey.verdicts = passing
    journey.be_agent(second)
    state = opened(journey)
    assert (state.run.step, state.database.phase(state.run, "plan-design")[1]) == (3, 2)


def test_a_verdict_against_its_own_figures_leaves_the_gate_open_though_another_fails(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "repo", (1, 1, 1, 1), {})
    journey.review = "full"
    first, second = journey.to("design review").last.runs()
    journey.verdicts = lambda block: [*failing(block)[:-1], {"verdict": "pass"}]
    journey.be_agent(first)
    journey.verdicts = failing
    journey.be_agent(second)
    state = opened(journey)
    assert (state.run.step, state.database.phase(state.run, "plan-design")[1]) == (5, 1)


@pytest.mark.parametrize(
    ("found", "verdict", "reason"),
    [(True, "pass", "Known, and harmless."), (False, "fail", "A test for 0 is missing.")],
)
def test_a_verdict_against_the_figures_needs_a_reason(
    small: Journey,
    found: bool,
    verdict: str,
    reason: str,
) -> None:
    def rows(block: Answer) -> Rows:
        return [*(failing if found else passing)(block)[:-1], {"verdict": verdict}]

    gate = answer(small, rows)
    assert gate.block.get("name") == "plan-code-qr-gate", "the host decides"
    with open(f"{small.state_dir}/answers/verdicts-plan-code-1.json", encoding="utf-8") as file:
        answers = json.load(file)[:-1]
    small.write_answer(
        "verdicts-plan-code-1.json", [*answers, {"verdict": verdict, "reason": reason}]
    )
    words = ("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-plan-code-1.json")
    assert small.planner(*words).code == 0
    outcome = last_outcome(small, "plan-code")
    assert (outcome["verdict"], outcome["reason"]) == (verdict, reason)
    assert outcome["computed"] != verdict


def test_without_a_verdict_the_host_decides(small: Journey) -> None:
    assert answer(small, all_pass).block.get("name") == "plan-code-qr-gate"


def test_a_finding_of_a_script_that_no_reviewer_saw_is_for_the_host(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files=FILES)
    repository.commit({"planner.toml": ELSEWHERE.format(repository.path / "src")})
    journey = Journey(repository)
    journey.review = "small"
    journey.to("code review")
    gate = answer(journey, passing)
    assert gate.block.get("name") == "plan-code-qr-gate"
    assert "does not exercise" in gate.data("items")


@pytest.mark.parametrize("rows", [passing, failing])
def test_the_command_repeated_after_it_took_the_gate_says_where_the_run_is(
    small: Journey, rows: Callable[[Answer], Rows]
) -> None:
    first = answer(small, rows)
    words = ("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-plan-code-1.json")
    again = small.planner(*words)
    assert (again.code, again.text) == (0, first.text)
    small.write_answer(
        "verdicts-plan-code-1.json", [{"id": "qa-001", **FAILED, "finding": "other"}]
    )
    other = small.planner(*words)
    kind = "frozen" if rows is passing else "conflict"
    assert (other.code, other.problems[0][0]) == (1, kind), other.text


def test_the_host_overrules_a_pass_until_the_next_work_step_ends(small: Journey) -> None:
    small.holds_freeze = True
    answer(small, passing)
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", "fail")
    assert small.planner(*words).code == 1, "no reason"
    block = small.planner(*words, "--reason", "The user wants a test for 0.")
    assert (block.block.get("number"), block.block.get("iteration")) == ("6", "2")
    assert block.data("reason of who decided") == "The user wants a test for 0."
    assert last_outcome(small, "plan-code")["decided_by"] == "host"
    assert [o.phase for o in opened(small).plan.reviews] == ["plan-design", "plan-docs"]


def test_a_frozen_plan_is_overruled_by_a_new_revision(small: Journey) -> None:
    answer(small, passing)
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", "fail", "--reason", "late")
    refused = small.planner(*words)
    assert (refused.code, refused.problems[0][0]) == (1, "frozen")
    assert "plan revise" in refused.text


def test_a_word_for_a_gate_that_has_passed_is_safe_to_repeat(small: Journey) -> None:
    submitted = answer(small, passing)
    again = small.planner("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    assert (again.code, again.text) == (0, submitted.text)


def test_the_host_overrules_a_fail_until_the_next_work_step_ends(small: Journey) -> None:
    answer(small, failing)
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    assert small.planner(*words).code == 1, "no reason"
    passed = small.planner(*words, "--reason", "f(0) is 1 on purpose.")
    assert "approve" in passed.person(), passed.text
    reviews = {o.phase: o for o in opened(small).plan.reviews}
    assert reviews["plan-code"].reason == "f(0) is 1 on purpose."
    assert [i.finding for i in reviews["plan-code"].open] == ["f(0) is 1"]


def test_what_a_later_work_step_has_ended_is_not_overruled(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    journey.verdicts = passing
    journey.to("code review")
    words = ("qr", "gate", "--phase", "plan-design", "--verdict", "fail", "--reason", "late")
    refused = journey.planner(*words)
    assert (refused.code, refused.problems[0][0]) == (1, "conflict")
    assert opened(journey).run.step == 7


@pytest.mark.parametrize(
    ("last", "text"),
    [
        ([{"verdict": "good"}], "none of the possible values · allowed: pass, fail"),
        ([{"verdict": "pass", "reason": 7}], "this is a number, not a text"),
        ([{"verdict": "pass", "because": "x"}], "there is no such field"),
        ([{"verdict": "pass"}, {"verdict": "pass"}], "the verdict is not the last entry"),
    ],
)
def test_a_verdict_that_is_none_is_refused_and_nothing_is_stored(
    small: Journey, last: Rows, text: str
) -> None:
    listed = ("qr", "list", "--phase", "plan-code", "--json")
    before: list[str] = []

    def rows(block: Answer) -> Rows:
        before.append(small.planner(*listed).text)
        return [*all_pass(block), *last]

    refused = answer(small, rows)
    assert refused.code == 1
    assert text in refused.text
    assert [small.planner(*listed).text] == before


def test_a_worktree_changed_since_the_check_keeps_the_answers_and_the_gate(small: Journey) -> None:
    small.edit_worktree({"src/a.py": "def f(x):\n    return x + 3\n"})
    refused = answer(small, passing)
    assert "changed after they were checked" in refused.text
    assert opened(small).run.step == 8


# the person is asked, and nobody goes round for nothing (SD-6)

DECLINED = "answers/declined.md"
BLOCKS = "blocks already: fix it now, then `fixed`, or in a round of its own"


@pytest.mark.requirement("SD-6", "PL-25")
def test_a_must_that_failed_three_rounds_reaches_the_user_also_by_reviewers_verdicts(
    small: Journey,
) -> None:
    block = answer(small, failing)
    for _ in range(2):
        assert block.block.get("number") == "6"
        again = small.follow(block.next("done"))
        small.write_answer("verdicts-plan-code-1.json", failing(again))
        block = small.follow(again.next("done"))
    again = small.follow(block.next("done"))
    small.write_answer("verdicts-plan-code-1.json", failing(again))
    gate = small.follow(again.next("done"))
    assert gate.block.get("name") == "plan-code-qr-gate"
    assert "came back for the third time" in (gate.block.findtext("ask/question") or "")
    assert small.planner("status").data("status").splitlines()[0].endswith("waits for you")


def could(block: Answer) -> Rows:
    first, *others = all_pass(block)
    return [{**first, **FAILED, "severity": "COULD"}, *others, {"verdict": "fail"}]


@pytest.mark.requirement("SD-6")
def test_a_could_may_be_declined_and_whoever_approves_reads_why(small: Journey) -> None:
    small.write_answer("declined.md", "0 is no input.")
    early = small.planner("qr", "decline", "qa-001", "--phase", "plan-code", "--file", DECLINED)
    small.write_answer("declined.md", " ")
    back = answer(small, could)
    name = back.data("findings").split()[0]
    empty = small.call(*words_of(back.next(f"decline {name}")))
    assert [one.problems[0][0] for one in (early, empty)] == ["conflict", "invalid"]
    small.write_answer("declined.md", "0 is no input.")
    assert small.call(*words_of(back.next(f"decline {name}"))).code == 0
    other = small.planner("qr", "decline", "qa-002", "--phase", "plan-code", "--file", DECLINED)
    assert other.problems[0][0] == "not_found"
    gate = small.follow(back.next("done"))
    assert f"open: {name} COULD FAIL" in gate.data("items")
    small.follow(gate.next("pass"))
    summary = small.to("submitted").last.data("summary")
    assert f"open: {name} COULD f(0) is 1 – declined: 0 is no input." in summary


@pytest.mark.requirement("SD-6")
def test_a_reviewer_who_insists_on_what_was_declined_makes_it_a_should(small: Journey) -> None:
    first = small.follow(small.last.next("alone"))
    rows = could(first)
    rows[1] |= FAILED
    small.write_answer("verdicts-plan-code-1.json", rows)
    back = small.follow(first.next("done"))
    name = rows[0]["id"]
    small.write_answer("declined.md", "0 is no input.")
    small.call(*words_of(back.next(f"decline {name}")))
    again = small.follow(back.next("done"))
    assert name not in again.asked()
    [told] = [line for line in again.text.splitlines() if "declined: 0 is no input." in line]
    assert name in told
    insists = [*all_pass(again), {"id": name, **FAILED}, {"verdict": "fail"}]
    small.write_answer("verdicts-plan-code-1.json", insists)
    assert f"{name} SHOULD FAIL" in small.follow(again.next("done")).data("findings")


@pytest.mark.requirement("SD-6", "PL-24")
@pytest.mark.parametrize("review", ["small", "full"])
def test_what_blocks_already_is_told_when_the_work_ends(
    make_repo: Repositories, review: str
) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": ELSEWHERE}))
    journey.review = review
    journey.to("code")
    for command in journey.last.runs():
        handed_in = journey.be_agent(command)
        assert "verify does not exercise" in handed_in.data("blocks already")
        assert journey.call(*words_of(handed_in.next("fixed"))).code == 0
    if review == "small":
        journey.do_the_work()
        journey.follow(journey.last.next())
    journey.last = journey.planner("step", "planner")
    assert "verify does not exercise" in journey.last.data(BLOCKS)
    assert journey.follow(journey.last.next("fixed")).data(BLOCKS)
