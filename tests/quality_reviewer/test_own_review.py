"""An assistant that reviews its own change is asked to try to break it, not a list (RV-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.run.choices import Choices, take_choices
from quality_reviewer.questions import QUESTIONS
from shared.place.level import Level
from shared.qr.schema import read_review, write_review
from shared.qr.types import PASS, REVIEWER, TODO, Item
from shared.resources import review_path
from shared.run import open_state
from tests.journey import FILES, VERIFIED, Answer, Journey, all_pass, passing
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-9")

OTHERS = {q.id for q in QUESTIONS if q.who == "others"}
CALL = "PYTHONPATH=src python3 -c 'import a; {}'"
TOUCHING = CALL.format('print(max(a.f(n) - n for n in range(20000)), "of 20000 cases")')
ASIDE = "python3 -c 'import json; print(20000, json.dumps(1))'"
# What the evidence of a try names, and a part of the refusal; '' where it is valid. Of line 2 the
# sum is returned, line 1 is as it was.
TRIED = {
    "src/a.py:2": "its evidence names no run and no test",
    "verify 1: passes": "its evidence names no run and no test",
    "none: it is only a sum": "`none` is not an answer to it",
    "I have tried": "its evidence names no run and no test",
    "src/a.py:2 without: true": "starts nothing of the project",
    "src/a.py:2 without: grep -q 'x + 2' src/a.py": "only shows text, so it tries nothing",
    "src/a.py:2 without: python3 -c 'import json'": "passes without src/a.py:2 too",
    f"src/a.py:2 without: {CALL.format('assert a.f(1) == 7')}": "fails with src/a.py:2 in place",
    "src/a.py:2 without: python3 -m unittest discover -s src": "has run no test",
    "src/a.py:2 without: README.md": "fails with src/a.py:2 in place as well",
    "src/a.py:1 without: tests/test_a.py": "no line src/a.py:1 is touched by the change",
    "src/a.py:2 without: tests/test_a.py": "",
    "`src/a.py:2` without: `tests/test_a.py`": "",
    f"src/a.py:2 without: {CALL.format('assert a.f(1)')}": "",
    "run 7: 20000 cases": "run 7 is none of the commands that ran on these files",
    "run 1: 20000 cases": "passes with the changed code made unparsable too",
    "run 2: none fails": "does not say how many cases run 2 tried",
    "run 2: 60000 cases, none fails": "run 2 prints none of the figures that the evidence names",
    "run 2: 20,000 cases, always 2": "",
}


def own_questions(journey: Journey) -> dict[str, Item]:
    """Return the reviewers' items of the code's review by the name of the question."""
    items = read_review(review_path(journey.state_dir, "plan-code")).items
    return {i.check: i for i in items if i.by == REVIEWER}


def set_answer(journey: Journey, name: str, evidence: str) -> Answer:
    """Store one PASS, as a file."""
    row = {"id": name, "status": PASS, "evidence": evidence}
    journey.write_answer("verdicts-1.json", [row])
    return journey.planner("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-1.json")


def unreviewed(make_repo: Repositories, **fields: Any) -> Journey:  # noqa: ANN401 – a plan's
    """Return a run of an assistant without agents that is not started; `fields` of the overview."""
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.review, journey.verdicts = "auto", passing
    journey.answers["design.json"][0]["fields"] |= fields
    return journey


@pytest.fixture
def alone(make_repo: Repositories) -> Journey:
    """Return a run whose change is written, and two commands have run on it."""
    need_place()
    journey = unreviewed(make_repo)
    journey.start("--alone")
    journey.to("code").do_the_work()
    for command in (ASIDE, TOUCHING):
        assert journey.planner("tree", "run", command).code == 0
    return journey.to("code review")


def test_who_has_made_the_change_is_asked_to_break_it_and_the_plan_says_what_is_not_asked(
    alone: Journey,
) -> None:
    asked = own_questions(alone)
    assert [*asked] == ["tried-to-break", "criteria-met", "words-true"]
    assert asked["tried-to-break"].scope == "T-1"
    assert "try to break it" in (alone.last.block.findtext("task") or "")
    summary = alone.to("submitted").last.data("summary").splitlines()
    said = "fails, exit 1"
    tried = f"tried to break T-1: src/a.py:2 without: tests/test_a.py (executed: {said})"
    [left] = [row for row in summary if row.startswith("reviewed by")]
    line = "7 questions for somebody else not asked"
    assert left == f"reviewed by the assistant that wrote it (3 questions); {line}"
    assert tried in summary
    for file in ("plan.md", "review.html"):
        with open(f"{alone.state_dir}/{file}", encoding="utf-8") as text:
            shown = text.read()
        assert line in shown, file
        assert f"(executed: {said})" in shown, file
    reviews = open_state(alone.state_dir, "/").plan.reviews
    unasked = {row.check for outcome in reviews for row in outcome.unasked if row.triggered}
    assert unasked < OTHERS
    assert not OTHERS & {check for outcome in reviews for check in outcome.judged}


def test_a_run_that_tried_nothing_and_lines_that_no_test_needs_are_refused_by_name(
    alone: Journey,
) -> None:
    asked = own_questions(alone)["tried-to-break"]
    for evidence, refusal in TRIED.items():
        said = set_answer(alone, asked.id, evidence)
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, (evidence, said.text)
        assert not refusal or "FILE:LINE without: TEST, of lines that the change adds" in said.text


def test_several_tries_are_judged_one_by_one_and_any_question_takes_an_executed_line(
    alone: Journey,
) -> None:
    questions = own_questions(alone)
    good, bad = "src/a.py:2 without: tests/test_a.py", "src/a.py:2 without: true"
    refused = set_answer(alone, questions["tried-to-break"].id, f"{good}; {bad}")
    assert "starts nothing of the project" in refused.text
    assert set_answer(alone, questions["tried-to-break"].id, f"{good}; run 2: 20000").code == 0
    assert "starts nothing" in set_answer(alone, questions["criteria-met"].id, bad).text
    assert set_answer(alone, questions["criteria-met"].id, good).code == 0


def test_lines_without_which_nothing_can_run_and_tests_that_nothing_runs_are_refused(
    make_repo: Repositories,
) -> None:
    """A project without a command that verifies it."""
    need_place()
    journey = Journey(make_repo(files=FILES))
    journey.review = "auto"
    journey.edits["src/a.py"] = "def f(x, y=2):\n    return x + y\n"
    journey.start("--alone")
    asked = own_questions(journey.to("code review"))["tried-to-break"]
    for evidence, refusal in (
        (f"src/a.py:1 without: {CALL.format('assert a.f(1)')}", "the file cannot be read"),
        ("src/a.py:2 without: tests/test_a.py", "no verify command runs tests/test_a.py"),
        (f"src/a.py:1-2 without: {CALL.format('assert a.f(1)')}", ""),
    ):
        said = set_answer(journey, asked.id, evidence)
        assert (said.code == 1) == bool(refusal), said.text
        assert refusal in said.text


@pytest.mark.requirement("SD-4")
def test_what_was_executed_counts_for_the_bytes_that_it_ran_on(alone: Journey) -> None:
    revised = alone.to("submitted").last
    alone.write_answers()
    alone.follow(revised.next("remarks"))
    alone.answers["design.json"] = []
    alone.edits = {"src/a.py": "def f(x):\n    return 2 + x\n"}
    alone.to("code review")
    asked = own_questions(alone)["tried-to-break"]
    assert asked.status == TODO
    assert "run 2 is none of the commands" in set_answer(alone, asked.id, "run 2: 20000").text


def test_a_figure_that_no_run_has_printed_is_asked_about_and_one_that_was_is_not(
    make_repo: Repositories,
) -> None:
    need_place()
    claim = "Measured: it takes 250 ms for a million numbers."
    journey = unreviewed(make_repo, approach=claim)
    journey.start("--alone")
    journey.to("code review")
    asked = own_questions(journey)["figures-shown"]
    assert "no recorded run prints 250 ms" in (asked.asked or "")
    refused = set_answer(journey, asked.id, "src/a.py:2")
    assert f"{asked.id} asks for the run that prints the figure" in refused.text
    assert "verify 1" in set_answer(journey, asked.id, "none: it is known").text
    assert set_answer(journey, asked.id, "verify 1: takes about as long").code == 0
    other = unreviewed(lambda **files: make_repo("other", **files), approach=claim)
    other.start("--alone")
    other.to("code").do_the_work()
    printed = CALL.format('print(a.f(1), "250 ms")')
    assert other.planner("tree", "run", printed).code == 0
    assert "figures-shown" not in own_questions(other.to("code review"))


def test_a_script_that_tried_to_break_the_change_stands_in_the_summary_by_its_first_line(
    make_repo: Repositories,
) -> None:
    need_place()
    journey = unreviewed(make_repo)
    journey.start("--alone")
    journey.to("code").do_the_work()
    script = "export PYTHONPATH=src\npython3 - <<E\nimport a\nprint(a.f(1), 'of 500 cases')\nE"
    assert journey.planner("tree", "run", script).code == 0
    journey.to("code review")
    asked = own_questions(journey)["tried-to-break"].id
    said = {"evidence": "run 1: 500 cases, always two more"}
    journey.verdicts = lambda block: [
        row | (said if row.get("id") == asked else {}) for row in all_pass(block)
    ]
    [tried] = [
        row for row in journey.to("submitted").last.data("summary").splitlines()
        if row.startswith("tried to break")
    ]  # fmt: skip
    assert "run 1 (`export PYTHONPATH=src … (4 more lines)`): 500 cases" in tried


def test_a_linter_that_names_the_test_is_not_taken_for_what_runs_it(
    make_repo: Repositories,
) -> None:
    need_place()
    journey = unreviewed(make_repo)
    linted = VERIFIED.replace('["', '["true ruff check tests/test_a.py", "')
    journey.repository.commit({"planner.toml": linted})
    journey.start("--alone")
    journey.to("code review")
    asked = own_questions(journey)["tried-to-break"].id
    assert set_answer(journey, asked, "src/a.py:2 without: tests/test_a.py").code == 0


def test_names_of_the_plan_that_exist_nowhere_stand_in_the_question(
    make_repo: Repositories,
) -> None:
    journey = unreviewed(make_repo, approach="Let `_overlaps` decide.")
    journey.start("--alone")
    journey.to("code review")
    asked = own_questions(journey)["words-true"].asked or ""
    assert "the overview promises _overlaps, which no touched file holds" in asked


def test_who_cannot_start_agents_reviews_by_the_same_few_questions(make_repo: Repositories) -> None:
    journey = unreviewed(make_repo)
    journey.to("code review")
    assert own_questions(journey).keys() > {"intent-done", "nothing-else"}
    block = journey.follow(journey.last.next("alone"))
    assert [*own_questions(journey)] == ["tried-to-break", "criteria-met", "words-true"]
    assert journey.planner("qr", "own", "--phase", "plan-code").text == block.text
    assert journey.planner("step", "planner").text == block.text
    assert "the assistant that wrote it (3 questions)" in journey.to("submitted").last.text
    late = journey.planner("qr", "own", "--phase", "plan-code")
    assert late.problems[0][0] == "frozen"


def test_a_review_that_has_begun_by_the_list_for_others_goes_on_by_it(
    make_repo: Repositories,
) -> None:
    """As runs do that an older version has begun."""
    journey = unreviewed(make_repo)
    journey.to("code review")
    before = own_questions(journey)
    take_choices(open_state(journey.state_dir, "/"), Choices(alone=True))
    journey.last = journey.planner("step", "planner")
    assert journey.last.asked() == [item.id for item in before.values()]
    failing = {"status": "FAIL", "finding": "src/a.py:2 says no why"}
    first, *others, verdict = passing(journey.last)
    journey.verdicts = lambda _: [{**first, **failing}, *others, {**verdict, "verdict": "fail"}]
    journey.advance()
    journey.verdicts = passing
    assert "(7 questions)" in journey.to("submitted").last.data("summary")


def test_where_no_command_can_run_what_verifies_is_the_try(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = unreviewed(make_repo)
    journey.start("--alone")
    journey.to("code review")
    for module in ("ask", "evidence"):
        monkeypatch.setattr(f"quality_reviewer.{module}.level", lambda _: Level("none"))
    asked = own_questions(journey)["tried-to-break"]
    assert "without: TEST" not in journey.planner("step", "planner").text
    assert set_answer(journey, asked.id, "none: nothing can run here").code == 0
    assert set_answer(journey, asked.id, "verify 1: passes").code == 0


def test_a_review_of_five_thousand_changed_lines_asks_no_more_and_shows_them_by_a_command(
    make_repo: Repositories,
) -> None:
    journey = unreviewed(make_repo)
    journey.review = "small"
    more = "".join(f"A{n} = {n}\n" for n in range(5000))
    journey.edits["src/a.py"] = f"def f(x):\n    return x + 2\n\n\n{more}"
    journey.start("--alone")
    journey.to("code review")
    assert len(own_questions(journey)) <= 5
    assert len(journey.last.text) < 8_000
    assert "plan diff" in journey.last.text


def test_a_change_of_documentation_alone_is_not_to_be_broken(make_repo: Repositories) -> None:
    journey = unreviewed(make_repo)
    [milestone] = [e for e in journey.answers["design.json"] if e.get("kind") == "milestone"]
    [intent] = [e for e in journey.answers["design.json"] if e.get("kind") == "intent"]
    milestone["fields"] |= {"files": ["README.md"], "tests": {"skip_reason": "prose"}}
    intent["fields"]["file"] = "README.md"
    journey.edits = journey.documents
    journey.start("--alone")
    journey.to("code review")
    assert [*own_questions(journey)] == ["criteria-met", "words-true"]


def test_no_answer_of_an_agent_has_to_try_anything(make_repo: Repositories) -> None:
    journey = unreviewed(make_repo)
    journey.to("code review")
    write_review(path := review_path(journey.state_dir, "plan-code"), read_review(path))
    block = journey.follow(journey.last.runs()[0])
    assert "without: TEST" not in block.text
    assert all("without:" not in row["evidence"] for row in all_pass(block))
