"""Reviewers answer, the gate sends back, the user decides at last (PL-18, PL-20 to PL-25)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.qr.schema import read_review, write_review
from shared.qr.types import FAIL, PASS, REVIEWER, SEVERITIES, TODO
from shared.resources import review_path
from shared.run import open_state
from tests.forms import LONG
from tests.journey import (
    FILES,
    POINTS,
    Answer,
    Journey,
    all_pass,
    call,
    shell,
    way_out,
    words_of,
)
from tests.kills import all_at_once
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.qr.types import Item
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]
    Rows = list[dict[str, Any]]

FINDING = "src/a.py:2 has no reason; say why"


def items_of(journey: Journey, phase: str) -> dict[str, Item]:
    """Return the reviewers' items of an open review by id."""
    review = read_review(review_path(journey.state_dir, phase))
    return {i.id: i for i in review.items if i.by == REVIEWER}


def fails(*ids: str) -> Callable[[Answer], Rows]:
    """Return a reviewer that finds something wrong with these, of what it is asked."""

    def answer(block: Answer) -> Rows:
        return [
            {**row, "status": FAIL, "finding": FINDING} if row["id"] in ids else row
            for row in all_pass(block)
        ]

    return answer


def passed(name: str, evidence: str = "T-1") -> dict[str, Any]:
    """Return the answer PASS to a question."""
    return {"id": name, "status": PASS, "evidence": evidence}


def snapshot(journey: Journey) -> dict[str, bytes]:
    """Return every file of the run but what the host writes for us, and the database."""
    folder = journey.repository.path / ".planner"
    files = [p for p in folder.rglob("*") if p.is_file() and p.parent.name != "answers"]
    return {str(p): p.read_bytes() for p in files if p.name != "lock"}


def decide(journey: Journey, verdict: str) -> Answer:
    """Follow the gate's command for a verdict."""
    assert "qr gate" in journey.last.next(verdict), journey.last.text
    journey.write_answers()
    return journey.follow(journey.last.next(verdict))


@pytest.fixture
def full(make_repo: Repositories) -> Journey:
    """Return a run with four milestones, of which two reviewers read the design."""
    journey = larger(make_repo, "repo", (1, 1, 1, 1), {})
    journey.review = "full"
    return journey.to("design review")


# who is asked what


@pytest.mark.requirement("PL-23")
def test_reviewers_share_the_milestones_and_the_last_answer_opens_the_gate(full: Journey) -> None:
    first, second = full.last.runs()
    asked = items_of(full, "plan-design")
    assert {i.scope for i in asked.values() if i.group == "2"} == {"M-002", "M-003", "M-004"}
    assert {i.scope for i in asked.values() if i.group == "1"} == {"*", "T-1", "M-001"}
    assert "1 FAIL" not in full.be_agent(second).text
    left = full.planner("step", "planner")
    assert (left.block.get("number"), left.runs()) == ("4", [first])
    refused = full.planner("qr", "gate", "--phase", "plan-design", "--verdict", "pass")
    assert f"have not answered the questions {next(iter(asked))}" in refused.text
    full.be_agent(first)
    assert full.planner("step", "planner").block.get("number") == "5"


@pytest.mark.requirement("PL-23")
def test_who_is_asked_about_the_whole_plan_sees_all_of_it_and_others_their_part(
    full: Journey,
) -> None:
    first, second = (full.follow(run).data("plan") for run in full.last.runs())
    for number in range(1, 5):
        assert f"CI-00{number}" in first
        assert (f"CI-00{number}" in second) == (number > 1)
    full.last = full.planner("step", "planner")
    docs = full.to("docs review").last.runs()
    assert len(docs) == 1
    block = full.follow(docs[0])
    assert "CI-004" in block.data("plan")
    printed = [full.run(*words_of(c)).text for c in block.commands() if "plan diff" in c]
    shown = "".join([block.text, *printed])
    assert all(f"+++ b/src/m{number}_1.py" in shown for number in range(1, 5))


@pytest.mark.requirement("PL-23")
def test_one_reviewer_of_a_small_review_sees_every_milestone(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1, 1, 1), {})
    journey.review = "small"
    [run] = journey.to("code review").last.runs()
    block = journey.follow(run)
    assert "MUST M-004: as " in block.data("questions")
    assert "CI-004" in block.data("plan")


# rounds


@pytest.mark.requirement("PL-20")
def test_printing_any_step_of_a_review_ten_times_moves_no_counter(full: Journey) -> None:
    for _ in range(2):
        before = snapshot(full)
        for command in [*full.last.runs(), full.last.next()]:
            printed = {full.run(*words_of(command)).text for _ in range(10)}
            assert len(printed) == 1
        assert {full.planner("step", "planner").text for _ in range(10)} == {full.last.text}
        assert snapshot(full) == before
        full.verdicts = fails(next(iter(items_of(full, "plan-design"))))
        full.advance()
        full.last = full.planner("step", "planner")
        if full.point == "planner 5":
            break
    gate = snapshot(full)
    assert {full.planner("step", "planner").text for _ in range(10)} == {full.last.text}
    assert snapshot(full) == gate


@pytest.mark.requirement("PL-7", "PL-18", "PL-20")
def test_a_failed_gate_asks_again_what_failed_and_keeps_every_other_answer(full: Journey) -> None:
    asked = items_of(full, "plan-design")
    first = [i for i in asked if asked[i].group == "1"][-1]
    second = next(i for i in asked if asked[i].group == "2")
    full.verdicts = fails(first, second)
    full.advance()
    answered = items_of(full, "plan-design")
    assert decide(full, "fail").block.get("iteration") == "2"
    full.answers["design.json"] = []
    architect = full.follow(full.last.runs()[0])
    lines = architect.data("findings").splitlines()
    assert {line.split()[0] for line in lines if not line.startswith(" ")} == {first, second}
    assert "the same mistake" in (architect.block.findtext("task") or "")
    full.last = full.planner("step", "planner")
    full.advance()
    assert full.point == "planner 4"
    blocks = [full.follow(run) for run in full.last.runs()]
    assert [sorted(block.asked()) for block in blocks] == [sorted((first, second))]
    assert all(f"found before: {FINDING}" in block.data("questions") for block in blocks)
    for name, item in items_of(full, "plan-design").items():
        if name in (first, second):
            assert (item.status, item.rounds) == (TODO, 1)
        else:
            # Few open questions go to one reviewer.
            assert item._replace(group="") == answered[name]._replace(group="")


@pytest.mark.requirement("PL-21", "PL-25")
def test_what_blocks_over_seven_rounds_and_who_is_asked_at_last(small: Journey) -> None:
    """One question of each severity fails for ever."""
    *musts, should = items_of(small, "plan-code")
    worst = dict(zip(SEVERITIES, (musts[0], should, musts[1]), strict=True))
    small.verdicts = lambda block: [
        {**row, "severity": "COULD"} if row["id"] == worst["COULD"] else row
        for row in fails(*worst.values())(block)
    ]
    for iteration in range(1, 8):
        small.to("gate")
        assert small.last.block.get("iteration") == str(iteration)
        rows = [line.split() for line in small.last.data("items").splitlines()]
        blocking = {row[2] for row in rows if row[0] == "blocks:"}
        most = [3, 3, 2, 2, 1, 1, 1][iteration - 1]
        assert blocking == set(SEVERITIES[:most])
        question = small.last.block.findtext("ask/question") or ""
        stuck = {s for s in SEVERITIES if worst[s] in question}
        assert stuck == (blocking if iteration > 3 else set())
        decide(small, "fail")


@pytest.mark.requirement("PL-25")
def test_after_three_rounds_the_user_goes_on_accepts_or_cancels(small: Journey) -> None:
    [must, *_] = items_of(small, "plan-code")
    small.verdicts = fails(must)
    for _ in range(3):
        small.to("gate")
        assert small.last.block.find("ask") is None
        decide(small, "fail")
    small.to("gate")
    ask = small.last.block.find("ask")
    assert ask is not None
    assert [o.get("value") for o in ask.iter("option")] == ["fail", "accept", "cancel"]
    accept, cancel = (p.text or "" for p in small.last.block.iter("person"))
    assert words_of(cancel)[0] == "cancel"
    small.write_answer("reason.md", "Known, and harmless here.")
    accepted = small.follow(accept)
    assert accepted.block.find("ask") is None
    assert "verdict is pass" in accepted.text
    decide(small, "pass")
    with open(f"{small.state_dir}/plan.json", encoding="utf-8") as file:
        assert FINDING in file.read()
    small.to("submitted")
    state = open_state(small.state_dir, "/")
    [item] = [i for i in state.database.outcomes(state.run, "plan-code")[-1]["items"]
              if i["id"] == must]  # fmt: skip
    assert item["accepted"] == "Known, and harmless here."


# what a reviewer may answer

WRONG: dict[str, tuple[Callable[[list[str], list[str]], object], list[str]]] = {
    "an unknown id": (
        lambda _own, _other: [{"id": "qa-999", "status": PASS}],
        ["qa-999 is not a question of group 1"],
    ),
    "another group's id": (
        lambda own, other: [passed(own[0]), passed(other[0])],
        ["is not a question of group 1"],
    ),
    "a script's item": (
        lambda _own, _other: [{"id": "qs-001", "status": PASS}],
        ["qs-001 is not a question of group 1"],
    ),
    "a FAIL without a finding": (
        lambda own, _other: [{"id": own[0], "status": FAIL, "finding": "  "}],
        ["this is empty · allowed: say what is wrong, where, what to do"],
    ),
    "another status": (
        lambda own, _other: [{"id": own[0], "status": "TODO"}, {"id": own[1]}],
        ["this is none of the possible values", "it is missing · allowed: PASS, FAIL"],
    ),
    "no list": (
        lambda own, _other: {"id": own[0], "status": PASS},
        ["this is an object, not a list"],
    ),
    "rows, no objects": (
        lambda own, _other: [own[0], 7, None, []],
        [
            "text, not an object",
            "number, not an object",
            "null, not an object",
            "list, not an object",
        ],
    ),
    "an unknown field": (
        lambda own, _other: [{**passed(own[0]), "verdict": "fine"}],
        ["there is no such field"],
    ),
    "two things wrong in one row": (
        lambda own, _other: [{"id": own[0], "status": FAIL, "verdict": "fine"}],
        ["there is no such field", "it is missing"],
    ),
    "another severity": (
        lambda own, _other: [
            {"id": own[0], "status": FAIL, "finding": "f", "severity": "HIGH"},
            {"check": "c", "scope": "*", "severity": ["MUST"], "finding": "f"},
        ],
        ["this is none of the possible values · allowed: MUST, SHOULD, COULD"] * 2,
    ),
    "a lone surrogate": (
        lambda own, _other: [
            {"id": own[0], "status": FAIL, "finding": "\ud800"},
            {"check": "\udfff", "finding": "f"},
        ],
        ["", ""],
    ),
    "the same question answered in two ways": (
        lambda own, _other: [
            passed(own[0]),
            {"id": own[0], "status": FAIL, "finding": "f"},
        ],
        ["is answered twice"],
    ),
    "more than three added": (
        lambda _own, _other: [{"check": f"c{n}", "finding": "f"} for n in range(4)],
        ["3 findings that no question covers are added already"],
    ),
    "an addition that passes or says nothing": (
        lambda _own, _other: [
            {"check": "c", "status": PASS, "finding": "f"},
            {"check": "d"},
            {"check": "e", "finding": " "},
        ],
        ["possible values · allowed: FAIL", "it is missing", "this is empty"],
    ),
    "an addition without a name": (
        lambda _own, _other: [{"finding": "f"}, {"check": " ", "finding": "f"}],
        ["check", "check"],
    ),
    "an addition under a question's name": (
        lambda _own, _other: [{"check": "scope-kept", "finding": "f"}],
        ["scope-kept"],
    ),
    "an addition with an unknown field": (
        lambda _own, _other: [{"check": "c", "finding": "f", "rounds": 3}],
        ["there is no such field"],
    ),
    "a breaker that is no item": (
        lambda _own, _other: [
            {"check": "c", "finding": "f", "broken_by": ["qa-009"]},
            {"check": "d", "finding": "f", "broken_by": "qa-999"},
        ],
        ["", ""],
    ),
}


@pytest.mark.requirement("PL-18", "PL-23")
def test_answers_that_are_wrong_in_any_way_are_refused_and_change_nothing(full: Journey) -> None:
    asked = items_of(full, "plan-design")
    own = [i for i in asked if asked[i].group == "1"]
    other = [i for i in asked if asked[i].group == "2"]
    before = snapshot(full)
    for name, (rows, texts) in WRONG.items():
        full.write_answer("verdicts-1.json", rows(own, other))
        words = ("qr", "set", "--phase", "plan-design", "--group", "1", "--file")
        answer = full.planner(*words, "answers/verdicts-1.json")
        assert answer.code == 1, (name, answer.text, answer.stderr)
        said = answer.problems
        assert len(said) == len(texts), (name, answer.text)
        assert all(text in answer.text for text in texts), (name, answer.text)
        assert snapshot(full) == before, name


@pytest.mark.requirement("PL-18")
def test_all_that_is_wrong_is_said_at_once(full: Journey) -> None:
    rows = [{"id": "qa-999", "status": PASS}, {"id": "qa-009", "status": FAIL}, "no", {"check": 1}]
    full.write_answer("verdicts-1.json", rows)
    words = ("qr", "set", "--phase", "plan-design", "--file", "answers/verdicts-1.json")
    assert len(full.planner(*words).problems) >= 4


def test_a_file_that_is_no_json_is_refused(full: Journey) -> None:
    full.write_answer("verdicts-1.json", "Every question holds.")
    before = snapshot(full)
    words = ("qr", "set", "--phase", "plan-design", "--file", "answers/verdicts-1.json")
    assert full.planner(*words).code == 1
    assert snapshot(full) == before


@pytest.mark.quick
@pytest.mark.requirement("PL-18")
def test_the_same_file_twice_changes_nothing_more(full: Journey) -> None:
    block = full.follow(full.last.runs()[0])
    rows = [*all_pass(block), {"check": "locks", "scope": "M-002", "finding": "no lock is held"}]
    full.write_answer("verdicts-plan-design-1.json", rows)
    first = full.follow(block.next("done"))
    before = snapshot(full)
    assert full.follow(block.next("done")) == first
    assert snapshot(full) == before
    [added] = [i for i in items_of(full, "plan-design").values() if i.check == "locks"]
    assert (added.status, added.severity, added.group) == (FAIL, "SHOULD", "1")


@pytest.mark.requirement("PL-23")
def test_what_a_reviewer_adds_blocks_is_fixed_and_asked_again(small: Journey) -> None:
    added = {"check": "no lock", "scope": "M-001", "severity": "MUST", "finding": "two writers"}
    small.verdicts = lambda block: [*all_pass(block), added]
    small.advance()
    assert "two writers" in small.last.data("items")
    fixing = decide(small, "fail")
    assert "two writers" in fixing.data("findings")
    small.to("code review")
    again = small.follow(small.last.runs()[0])
    assert len(again.asked()) == 1
    assert "M-001: no lock – found before: two writers" in again.data("questions")


@pytest.mark.requirement("PL-23")
def test_later_rounds_add_only_what_a_fix_has_broken(small: Journey) -> None:
    [first, *_] = items_of(small, "plan-code")
    small.verdicts = fails(first)
    small.to("gate")
    decide(small, "fail")
    small.to("code review")
    words = ("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-1.json")
    new = {"check": "new", "finding": "wrong from the start"}
    for row in (new, {**new, "broken_by": "qa-999"}, {**new, "broken_by": ["qa-001"]}):
        small.write_answer("verdicts-1.json", [passed(first, "src/a.py:2"), row])
        refused = small.planner(*words)
        assert refused.code == 1
        assert items_of(small, "plan-code")[first].status == TODO
    answers = [passed(first, "src/a.py:2"), {**new, "broken_by": first}]
    small.write_answer("verdicts-1.json", answers)
    assert small.planner(*words).code == 0
    small.last = small.planner("step", "planner")
    assert f"(broken by the fix of {first})" in small.last.data("items")


@pytest.mark.requirement("PL-23")
def test_additions_that_are_fixed_leave_room_for_what_their_fix_has_broken(small: Journey) -> None:
    worst = [{"check": f"c{n}", "finding": "f", "severity": "MUST"} for n in range(3)]
    small.verdicts = lambda block: [*all_pass(block), *worst]
    small.to("gate")
    decide(small, "fail")
    small.to("code review")
    again = small.follow(small.last.runs()[0])
    fixed = [passed(name, "src/a.py:2") for name in again.asked()]
    broken = {"check": "new", "finding": "f", "broken_by": again.asked()[0]}
    small.write_answer("verdicts-1.json", [*fixed, broken])
    words = ("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-1.json")
    assert small.planner(*words).code == 0


@pytest.mark.requirement("PL-18")
def test_nothing_is_answered_while_no_review_is_open(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    for words in (("set", "qa-001", "--status", "PASS"), ("set", "qa-001", "--status", "FAIL")):
        answer = journey.planner("qr", *words, "--phase", "plan-design")
        assert (answer.code, answer.problems[0][0]) == (1, "conflict")
        assert "no review of plan-design is open" in answer.text


@pytest.mark.requirement("PL-18")
def test_one_question_is_answered_by_options_as_by_a_file(small: Journey) -> None:
    ids = list(items_of(small, "plan-code"))
    words = ("qr", "set", ids[0], "--phase", "plan-code", "--role", "quality-reviewer")
    assert small.planner(*words, "--status", "FAIL").code == 1
    answer = small.planner(*words, "--status", "FAIL", "--finding", "f", "--severity", "COULD")
    assert answer.code == 0, answer.text
    item = items_of(small, "plan-code")[ids[0]]
    assert (item.status, item.finding, item.severity) == (FAIL, "f", "COULD")
    assert ", ".join(ids[1:]) in answer.text
    denied = small.planner("qr", "set", ids[1], "--phase", "plan-code", "--status", "PASS",
                           "--role", "developer")  # fmt: skip
    assert denied.code == 1


@pytest.mark.slow
@pytest.mark.requirement("PL-18")
def test_twelve_reviewers_that_write_at_once_lose_nothing(small: Journey) -> None:
    ids = list(items_of(small, "plan-code"))
    sent = []
    for n in range(12):
        rows: Rows = [passed(i, "src/a.py:2") for i in ids[n::12] or ids[:1]]
        if n < 3:
            rows.append({"check": f"added by {n}", "finding": f"found by {n}"})
        small.write_answer(f"verdicts-{n}.json", rows)
        words = ("qr", "set", "--phase", "plan-code", "--file", f"answers/verdicts-{n}.json")
        sent.append(partial(call, "/", *words, "--state-dir", small.state_dir))
    assert [answer.code for answer in all_at_once(sent)] == [0] * 12
    items = items_of(small, "plan-code")
    assert {i: items[i].status for i in ids} == dict.fromkeys(ids, PASS)
    added = [i for i in items.values() if i.id not in ids]
    assert sorted(i.check for i in added) == [f"added by {n}" for n in range(3)]
    assert small.planner("step", "planner").block.get("number") == "8"


# the agents' steps


@pytest.mark.requirement("PL-1", "PL-4")
def test_an_agents_step_that_is_not_due_is_refused_with_the_current_one(full: Journey) -> None:
    here = full.last.next()
    for words in (
        ("plan-design",), ("plan-design", "2"), ("plan-code",), ("plan-docs",),
        ("plan-code-qr", "--group", "1"), ("plan-docs-qr",),
    ):  # fmt: skip
        answer = full.planner("step", *words)
        assert (answer.code, answer.problems[0][0]) == (1, "conflict"), answer.text
        assert "the run is at planner step 4 (plan-design-qr)" in answer.text
        assert here in answer.text
    assert full.planner("step", "plan-design-qr", "2").code == 2


WALKS = st.lists(
    st.tuples(
        st.sets(st.integers(0, 11), max_size=3), st.sampled_from(["figures", "pass", "fail"])
    ),
    max_size=5,
)
_COUNT = iter(range(10_000))


@pytest.mark.slow
@pytest.mark.requirement("PL-20", "PL-21", "PL-25")
@settings(
    max_examples=20 if LONG else 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(walk=WALKS, depth=st.sampled_from(["full", "intent"]))
def test_every_walk_of_verdicts_ends_at_the_freeze(
    make_repo: Repositories, walk: list[tuple[set[int], str]], depth: str
) -> None:
    """Reviewers fail what a round's set says and the host decides as it likes; then all is well.

    At depth intent that is the freeze of the intents; the tests of waves go on from there.
    """
    journey = larger(make_repo, f"walk-{next(_COUNT)}", (1, 1), {})
    journey.review = "full"
    rounds = list(walk)
    fails_now: set[int] = set()

    def answer(block: Answer) -> Rows:
        return [
            {**row, "status": FAIL, "finding": FINDING} if n in fails_now else row
            for n, row in enumerate(all_pass(block))
        ]

    journey.verdicts = answer
    journey.start("--depth", depth)
    fails_now, decision = rounds.pop(0) if rounds else (set(), "figures")
    for _ in range(60):
        assert journey.last.code == 0, journey.last.text
        if journey.point == POINTS["submitted"]:
            return
        if "qr gate" not in journey.last.next():
            journey.advance()
            continue
        figures = "pass" if "verdict is pass" in journey.last.text else "fail"
        decide(journey, figures if decision == "figures" else decision)
        fails_now, decision = rounds.pop(0) if rounds else (set(), "figures")
        journey.answers["design.json"] = []
    raise AssertionError(journey.last.text)


@pytest.mark.requirement("PL-22")
def test_a_review_without_its_questions_does_not_pass(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("code review").advance()
    path = review_path(journey.state_dir, "plan-code")
    review = read_review(path)
    review.items = [item for item in review.items if item.check != "intent-done"]
    write_review(path, review)
    refused = journey.planner("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    assert refused.code == 1
    assert "no reviewer was asked the questions intent-done" in refused.text
    done = shell(way_out(refused.text).partition("</problem>")[0], "/")
    assert done.block.get("name") == "plan-code-qr"


@pytest.mark.requirement("PL-23")
def test_a_group_that_nobody_has_is_refused_with_those_that_are(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("code review")
    refused = journey.planner("step", "plan-code-qr", "--group", "9")
    assert refused.code == 1
    assert refused.problems == [("not_found", "the questions have no group 9 · allowed: 1")]


@pytest.mark.requirement("PL-7", "PL-20")
def test_a_fix_shows_the_milestones_of_its_findings_and_names_the_others(full: Journey) -> None:
    failing = next(i for i in items_of(full, "plan-design").values() if i.scope == "M-002")
    full.verdicts = fails(failing.id)
    full.advance()
    full.follow(full.last.next("fail"))
    shown = full.planner("step", "plan-design", "2").data("plan")
    assert "CI-002 v1 src/m2_1.py" in shown
    assert "M-001 v1" in shown
    assert "CI-001" not in shown
    full.answers["design.json"] = []
    full.to("design review")
    asked = full.planner("step", "plan-design-qr", "--group", "1").data("plan")
    assert "CI-002 src/m2_1.py" in asked
    assert "M-001 Add two in layer 1 (not asked about)" in asked
    assert "CI-001" not in asked


@pytest.mark.requirement("PL-23")
def test_a_host_that_reviewed_by_itself_is_not_sent_for_reviewers_again(small: Journey) -> None:
    block = small.follow(small.last.next("alone"))
    change = block.data("change")
    assert change.index("b/tests/test_a.py") < change.index("b/src/a.py"), "in review order"
    small.verdicts = fails(block.asked()[0])
    small.do_the_work()
    small.follow(small.last.next())
    small.follow(small.last.next("fail"))
    small.to("code review")
    assert small.last.runs() == []
    assert " qr set " in small.last.next(), "the questions are in the block"


@pytest.mark.requirement("PL-20")
def test_who_is_asked_again_sees_the_reasons_that_its_finding_names(full: Journey) -> None:
    failing = next(i for i in items_of(full, "plan-design").values() if i.scope == "M-002")
    full.verdicts = lambda block: [
        {**row, "status": FAIL, "finding": "DL-001 gives no fact"}
        if row["id"] == failing.id
        else row
        for row in all_pass(block)
    ]
    full.advance()
    full.follow(full.last.next("fail"))
    full.answers["design.json"] = []
    full.to("design review")
    asked = full.planner("step", "plan-design-qr", "--group", "1").data("plan")
    assert "DL-001: Change the constant in place" in asked


@pytest.mark.requirement("RV-5")
def test_the_figures_are_of_this_file_alone_and_findings_added_are_told_apart(
    small: Journey,
) -> None:
    """In the second round one question is open, and only its answer counts."""
    block = small.follow(small.last.runs()[0])
    added = {"check": "no lock", "scope": "M-001", "finding": "two writers"}
    assert "answers/verdicts-plan-code-1.json" in block.next("done")
    small.write_answer("verdicts-plan-code-1.json", [*all_pass(block), added])
    stored = small.follow(block.next("done"))
    assert stored.data("answers") == "7 PASS, 0 FAIL, 0 TODO, 1 added in group 1"
    small.last = small.planner("step", "planner")
    decide(small, "fail")
    small.to("code review")
    again = small.follow(small.last.runs()[0])
    task = again.block.findtext("task") or ""
    assert "add only what the fix itself broke" in task
    assert "at most 3" not in task
    small.write_answer("verdicts-plan-code-1.json", all_pass(again))
    assert small.follow(again.next("done")).data("answers") == "1 PASS, 0 FAIL, 0 TODO in group 1"


@pytest.mark.parametrize("rows", [[], [{"verdict": "pass"}]])
def test_a_file_without_an_answer_is_refused_with_what_is_to_be_answered(
    small: Journey, rows: Rows
) -> None:
    """It would end as if something had been stored, with the same block again."""
    before, due = snapshot(small), ", ".join(items_of(small, "plan-code"))
    small.write_answer("verdicts-plan-code-1.json", rows)
    words = ("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-plan-code-1.json")
    refused = small.planner(*words)
    assert (refused.code, refused.problems[0][0]) == (1, "invalid"), refused.text
    assert "the file has no answer in it" in refused.text
    assert f"still to answer: {due}" in refused.text
    assert snapshot(small) == before


def test_a_verdict_alone_counts_once_all_is_answered_and_no_verdict_does_not(
    small: Journey,
) -> None:
    file, words = "verdicts-plan-code-1.json", ("qr", "set", "--phase", "plan-code", "--file")
    answers = [passed(name, "src/a.py:2") for name in items_of(small, "plan-code")]
    for rows, code in ((answers, 0), ([], 1), ([{"verdict": "pass"}], 0)):
        small.write_answer(file, rows)
        given = small.planner(*words, f"answers/{file}")
        assert given.code == code, given.text
        assert code == 0 or "or a verdict: " in given.text
    assert given.text != small.last.text
