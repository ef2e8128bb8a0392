"""Gates: what passes and fails, who says so, what is kept of it (PL-20 to PL-24)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.plan.gate import decide_gate
from orchestrator.planner import WORKFLOW
from shared.qr.schema import Review, read_review, write_review
from shared.qr.types import Item, blocking_severities, computed_verdict
from shared.resources import review_path
from shared.run import open_state
from state.errors import Refused
from tests.forms import LONG
from tests.journey import ELSEWHERE, FILES, Journey, all_pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.qr.types import Severity, Status
    from shared.run import State
    from state.phases import Phase
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def opened(journey: Journey) -> State:
    return open_state(journey.state_dir, "/")


def open_gate(state: State, items: list[Item], phase: Phase = "plan-design") -> int:
    """Open a gate as a finished review does; returns the iteration."""
    state.reload()
    iteration = state.database.phase(state.run, phase)[1]
    write_review(review_path(state.state_dir, phase), Review(phase, iteration, items))
    with state.database:
        state.go_to("planner", WORKFLOW.number(phase, "gate"))
    return iteration


def item(number: int, severity: Severity, status: Status) -> Item:
    finding = "what is wrong" if status == "FAIL" else None
    return Item(
        id=f"qa-{number:03}", scope="*", check="c", severity=severity, status=status,
        finding=finding,
    )  # fmt: skip


ITEMS = st.lists(
    st.tuples(
        st.sampled_from(["MUST", "SHOULD", "COULD"]), st.sampled_from(["PASS", "FAIL", "TODO"])
    ),
    min_size=1,
    max_size=4,
)
ROUNDS = st.lists(st.tuples(ITEMS, st.sampled_from(["pass", "fail"]), st.booleans()), max_size=8)


@pytest.mark.requirement("PL-20", "PL-21", "PL-22")
@settings(
    max_examples=100 if LONG else 12,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rounds=ROUNDS)
def test_every_walk_of_verdicts_keeps_the_loop_consistent(
    make_repo: Repositories, rounds: list[tuple[list[tuple[Severity, Status]], str, bool]]
) -> None:
    state = _walker(make_repo)
    start = len(state.database.outcomes(state.run, "plan-design"))
    with state.database as database:
        database.set_phase(state.run, "plan-design", "INITIAL", 1)
    decided = 0
    for rows, verdict, reasoned in rounds:
        items = [item(n, *row) for n, row in enumerate(rows, 1)]
        before = open_gate(state, items)
        todo = any(i.status == "TODO" for i in items)
        contradicts = verdict != computed_verdict(items, before)
        refused = (todo and verdict == "pass") or (contradicts and not reasoned)
        with pytest.raises(Refused) if refused else contextlib.nullcontext():
            decide_gate(state, "plan-design", verdict, "because" if reasoned else " ")
        loop, after = state.database.phase(state.run, "plan-design")
        state.reload()
        if refused:
            assert (after, state.run.step) == (before, 5)
            continue
        decided += 1
        last = state.database.outcomes(state.run, "plan-design")[-1]
        assert (last["verdict"], last["iteration"]) == (verdict, before)
        assert last["reason"] == ("because" if reasoned else " ") or not reasoned
        assert (after, loop) == (
            (before, "COMPLETE") if verdict == "pass" else (before + 1, "RETRY")
        )
        assert state.run.step == (6 if verdict == "pass" else 3)
        if verdict == "pass":
            break
    outcomes = state.database.outcomes(state.run, "plan-design")[start:]
    assert len(outcomes) == decided


_WALKERS: dict[int, State] = {}


def _walker(make_repo: Repositories) -> State:
    """Return one run for all examples of a walk: making each its own costs seconds."""
    key = id(make_repo)
    if key not in _WALKERS:
        _WALKERS[key] = opened(Journey(make_repo(files=FILES)).to("design"))
    return _WALKERS[key]


@pytest.fixture
def at_gate(make_repo: Repositories) -> Journey:
    """Return a run at the gate that the canary of verify opens."""
    repository = make_repo(files=FILES)
    repository.commit({"planner.toml": ELSEWHERE})
    return Journey(repository).to("gate")


@pytest.mark.requirement("PL-22", "PL-24", "PL-34")
def test_deciding_against_the_figures_needs_a_reason_that_is_kept_and_shown(
    at_gate: Journey,
) -> None:
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    refused = at_gate.planner(*words)
    assert refused.code == 1
    assert "give a reason to pass anyway" in refused.text
    assert at_gate.planner("step", "planner").text == at_gate.last.text
    assert at_gate.planner(*words, "--reason", "The tests run elsewhere, by design.").code == 0
    state = opened(at_gate)
    [outcome] = state.database.outcomes(state.run, "plan-code")
    assert (outcome["verdict"], outcome["computed"], outcome["decided_by"]) == (
        "pass",
        "fail",
        "host",
    )
    assert outcome["reason"] == "The tests run elsewhere, by design."
    reviews = {r.phase: r for r in state.plan.reviews}
    assert reviews["plan-code"].reason == "The tests run elsewhere, by design."
    assert reviews["plan-code"].open[0].severity == "SHOULD"
    at_gate.last = at_gate.planner("step", "planner")
    assert "open: " in at_gate.to("submitted").last.data("summary")
    with open(f"{at_gate.state_dir}/plan.md", encoding="utf-8") as file:
        text = file.read()
    assert "does not exercise the changed files" in text
    assert "The tests run elsewhere, by design." in text


@pytest.mark.requirement("PM-9")
@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_the_audit_has_a_decision_against_the_figures_and_no_other(
    at_gate: Journey, verdict: str
) -> None:
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", verdict, "--reason", "It is known.")
    assert at_gate.planner(*words).code == 0
    state = opened(at_gate)
    rows = state.database.audit_rows(state.run)
    overrides = [(r["who"], r["detail"]) for r in rows if r["action"] == "override"]
    against = [("host", "plan-code pass, by the figures fail: It is known.")]
    assert overrides == (against if verdict == "pass" else [])


@pytest.mark.requirement("PL-20")
def test_printing_a_gate_ten_times_moves_no_counter(at_gate: Journey) -> None:
    state = opened(at_gate)
    before = state.database.phase(state.run, "plan-code")
    for _ in range(10):
        assert at_gate.planner("step", "planner").text == at_gate.last.text
        assert at_gate.planner("qr", "list", "--phase", "plan-code").code == 0
    assert state.database.phase(state.run, "plan-code") == before
    assert state.database.outcomes(state.run, "plan-code") == []


@pytest.mark.requirement("PL-6", "PL-7", "PL-20")
def test_a_failed_gate_goes_back_with_the_failing_items_alone(at_gate: Journey) -> None:
    path = review_path(at_gate.state_dir, "plan-code")
    items = read_review(path).items
    passed = [i for i in items if i.status == "PASS"]
    assert passed
    fixing = at_gate.follow(at_gate.last.next("fail"))
    assert (fixing.block.get("number"), fixing.block.get("iteration")) == ("6", "2")
    shown = fixing.data("findings")
    assert [line.split()[0] for line in shown.splitlines() if line.startswith(("qa-", "qs-"))] == [
        i.id for i in items if i.status == "FAIL"
    ]
    assert not any(f"{i.id} " in shown for i in passed)
    assert "siblings" in (fixing.block.findtext("task") or "")


@pytest.mark.requirement("PL-18", "PL-22")
def test_a_passed_gate_removes_the_review_after_its_outcome_is_recorded(at_gate: Journey) -> None:
    path = review_path(at_gate.state_dir, "plan-code")
    assert read_review(path).iteration == 1
    at_gate.planner("qr", "gate", "--phase", "plan-code", "--verdict", "pass", "--reason", "known")
    with pytest.raises(Refused, match="no such file"):
        read_review(path)


@pytest.mark.requirement("PL-25", "PM-9")
def test_a_finding_that_a_person_accepts_blocks_no_more_and_the_audit_says_who(
    at_gate: Journey,
) -> None:
    [failing] = [i for i in read_review(review_path(at_gate.state_dir, "plan-code")).items
                 if i.status == "FAIL"]  # fmt: skip
    words = ("qr", "accept", failing.id, "--phase", "plan-code")
    for none in ((), ("--reason", " ")):
        assert at_gate.planner(*words, *none).code == 2
        assert at_gate.planner("step", "planner").text == at_gate.last.text
    accepted = at_gate.planner(*words, "--reason", "known")
    assert accepted.code == 0, accepted.text
    state = opened(at_gate)
    row = state.database.audit_rows(state.run)[-1]
    check = f"{failing.check} {failing.scope}"
    assert (row["who"], row["action"]) == ("person (unproven)", "qr accept")
    assert row["detail"] == f"{check}: known"
    decided = at_gate.planner("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    assert decided.code == 0, decided.text


def test_a_worktree_that_changed_at_an_open_gate_is_checked_again(at_gate: Journey) -> None:
    at_gate.edit_worktree({"src/a.py": "def f(x):\n    return x + 3\n"})
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", "pass", "--reason", "known")
    refused = at_gate.planner(*words)
    assert refused.code == 1
    assert "changed after they were checked" in refused.text
    assert at_gate.planner("plan", "done", "--phase", "plan-code").block.get("number") == "8"
    assert at_gate.planner(*words).code == 0


def test_work_after_a_passed_gate_opens_it_again(at_gate: Journey) -> None:
    words = ("qr", "gate", "--phase", "plan-code", "--verdict")
    decide_gate(open_state(at_gate.state_dir, "/"), "plan-code", "pass", "known")
    at_gate.edit_worktree({"src/a.py": "def f(x):\n    return x + 3\n"})
    again = at_gate.planner("plan", "done", "--phase", "plan-code")
    assert again.block.get("number") == "8", again.text
    assert at_gate.planner("plan", "freeze").code == 1
    failed = at_gate.planner(*words, "fail")
    assert failed.code == 0, failed.text
    assert failed.block.get("number") == "6"


@pytest.mark.requirement("PL-21")
def test_later_rounds_ask_for_less() -> None:
    assert [len(blocking_severities(n)) for n in range(1, 8)] == [3, 3, 2, 2, 1, 1, 1]


@pytest.mark.requirement("PL-7", "PL-22")
def test_a_gate_failed_against_the_figures_tells_the_role_why(make_repo: Repositories) -> None:
    for name, review in (("small", "small"), ("full", "full")):
        journey = Journey(make_repo(name, files=FILES))
        journey.review = review
        journey.to("gate")
        assert "verdict is pass" in journey.last.text
        journey.write_answer("reason.md", "The user wants a test for zero.")
        fixing = journey.follow(journey.last.next("fail"))
        if review == "full":
            fixing = journey.follow(fixing.runs()[0])
        assert fixing.data("reason of who decided") == "The user wants a test for zero."
        assert fixing.data("findings") == ""


def test_what_is_due_after_the_last_gate_is_called_what_it_is(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("freeze")
    block = journey.last.block
    assert (block.get("name"), block.get("iteration")) == ("freeze", None)


def test_a_host_that_reviews_alone_gets_the_questions_without_a_call_in_between(
    make_repo: Repositories,
) -> None:
    """Its own fix is reviewed again in the block that the end of its work prints."""
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("code review")
    journey.follow(journey.last.next("alone"))
    first, *others = all_pass(journey.last)
    found = [{**first, "status": "FAIL", "finding": "not for 0"}, *others]
    journey.write_answer("verdicts-plan-code-1.json", found)
    journey.follow(journey.last.next("done"))
    journey.follow(journey.last.next("fail"))
    journey.edit_worktree({"src/a.py": "def f(x):\n    return 2 + x\n"})
    again = journey.follow(journey.last.next("done"))
    assert (again.block.get("name"), again.block.get("iteration")) == ("plan-code-qr", "2")
    assert again.asked()
    journey.write_answer("verdicts-plan-code-1.json", all_pass(again))
    assert journey.follow(again.next("done")).block.get("name") == "plan-code-qr-gate"
