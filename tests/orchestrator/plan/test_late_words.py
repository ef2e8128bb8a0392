"""What is said after its phase has ended makes that phase due again, and has an outcome (SD-3)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.resources import rendered_plan_path
from shared.run import State
from state.files import read_json
from tests.journey import FILES, Answer, Journey, words_of
from tests.orchestrator.execute.waves import intents, milestone_agent, opened
from tests.orchestrator.plan.test_context import as_host, ask, question

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("SD-3")


@pytest.fixture
def coding(make_repo: Repositories) -> Journey:
    """Return a run that writes code by a design with one question, which is answered."""
    journey = Journey(make_repo(files=FILES)).to("design")
    assert ask(journey, [question()]).code == 0
    journey.follow(as_host(journey).next("CP-001 a"))
    return journey.to("code")


def name_of(block: Answer) -> str | None:
    return block.block.get("name")


def done(journey: Journey, edits: list[dict[str, Any]]) -> Answer:
    """End the work step that is due with some edits of the plan."""
    journey.last = as_host(journey)
    words = journey.last.next("done")
    file = words.partition("--batch answers/")[2].split()[0]
    journey.write_answer(file, edits)
    journey.last = journey.follow(words)
    return journey.last


def stated(journey: Journey, name: str, outcome: str) -> dict[str, Any]:
    """Return the edit that says what became of a statement."""
    plan = read_json(f"{journey.state_dir}/plan.json")
    entities = [*plan["checkpoints"], *plan["user_remarks"]]
    version = next(one["version"] for one in entities if one["id"] == name)
    return {"op": "set", "id": name, "version": version, "fields": {"outcome": outcome}}


def test_another_answer_makes_the_phase_due_that_has_asked(coding: Journey) -> None:
    coding.edit_worktree(coding.edits)
    late = coding.planner("decide", "CP-001", "b")
    assert (late.code, name_of(late)) == (0, "plan-design-execute")
    assert late.data("due again because") == "CP-001 Which name? → Way b (before: Way a)"
    assert "The user wants a change: CP-001." in late.text
    refused = done(coding, [])
    assert "plan-design is due again because of CP-001" in refused.problems[0][1]
    cited = {
        "op": "set",
        "id": "M-001",
        "version": 1,
        "fields": {"requirements": ["T-1", "CP-001"]},
    }
    assert name_of(done(coding, [cited])) == "plan-code-execute"
    submitted = coding.to("submitted").last.data("summary")
    assert "answered: CP-001 Which name? → Way b (before: Way a)" in submitted


def test_the_same_answer_again_changes_nothing(coding: Journey) -> None:
    assert name_of(coding.planner("decide", "CP-001", "a")) == "plan-code-execute"
    assert opened(coding).database.answers(opened(coding).run)["CP-001"].earlier == []


@pytest.mark.parametrize("role", [(), ("--role", "architect")])
def test_a_question_that_is_answered_keeps_its_words(
    coding: Journey, role: tuple[str, ...]
) -> None:
    """An answer rests on them: whoever designs says what became of it, in edits of either form."""
    late = coding.planner("decide", "CP-001", "b")
    other = [{"key": "a", "label": "Way b"}, {"key": "b", "label": "Way a"}]
    edit = stated(coding, "CP-001", "") | {"fields": {"question": "Whose?", "options": other}}
    coding.write_answer("other.json", [edit])
    by_file = coding.planner("plan", "batch", "--file", "answers/other.json", *role)
    words = ("--version", str(edit["version"]), "--question", "Whose?")
    by_word = coding.planner("plan", "set", "CP-001", *words, *role)
    for refused in (by_file, by_word, done(coding, [edit])):
        assert refused.code == 1
        assert "CP-001 is answered already, so its `question` stays as it is" in refused.text
        assert "outcome; or ask another" in refused.text
    assert done(coding, [stated(coding, "CP-001", "declined: too late")]).code == 0
    assert late.code == 0


def test_what_became_of_it_is_read_by_who_approves(coding: Journey) -> None:
    coding.planner("decide", "CP-001", "b")
    wrong = done(coding, [stated(coding, "CP-001", "no time")])
    assert "says neither why it is declined nor where it holds" in wrong.problems[0][1]
    done(coding, [stated(coding, "CP-001", "declined: the name is public")])
    summary = coding.to("submitted").last.data("summary")
    assert "Way b (before: Way a) → declined: the name is public" in summary
    with open(rendered_plan_path(coding.state_dir), encoding="utf-8") as file:
        assert "Way b (before: Way a) → declined: the name is public" in file.read()


def test_an_answer_that_comes_in_the_review_sends_back_to_the_work(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("code review")
    assert ask(journey, [question()], "developer").code == 0
    back = journey.follow(as_host(journey).next("CP-001 b"))
    assert name_of(back) == "plan-code-execute"
    assert back.data("due again because") == "CP-001 Which name? → Way b"
    assert "is due again because of CP-001" in done(journey, []).problems[0][1]
    assert done(journey, [stated(journey, "CP-001", "src/a.py:2")]).code == 0
    assert "Way b → src/a.py:2" in journey.to("submitted").last.data("summary")


def test_a_remark_while_the_plan_is_made_makes_its_design_due(coding: Journey) -> None:
    coding.write_answer("remarks.md", "Keep f, add g.")
    for _ in range(2):
        late = coding.planner("plan", "revise", "--file", "answers/remarks.md")
        assert (late.code, name_of(late)) == (0, "plan-design-execute"), late.text
        assert late.data("due again because") == "RM-001: Keep f, add g."
    assert "RM-001" in done(coding, []).problems[0][1]
    done(coding, [stated(coding, "RM-001", "declined: the caller is not ours")])
    summary = coding.to("submitted").last.data("summary")
    assert "RM-001: Keep f, add g. → declined: the caller is not ours" in summary


def test_an_answer_to_what_is_submitted_opens_its_next_revision(coding: Journey) -> None:
    coding.to("submitted")
    late = coding.last = coding.planner("decide", "CP-001", "b")
    assert name_of(late) == "plan-design-execute", late.text
    plan = read_json(f"{coding.state_dir}/plan.json")
    [remark] = plan["user_remarks"]
    assert remark["text"] == "CP-001 is answered otherwise now: Which name? → Way b"
    assert (plan["revision"], plan["milestones"][0]["requirements"]) == (2, ["T-1", "RM-001"])
    coding.answers["design.json"] = []
    assert "Way b (before: Way a)" in coding.to("submitted").last.data("summary")


@pytest.mark.parametrize("asked", ["design", "code"])
def test_another_answer_in_the_next_revision_is_late_for_what_the_first_one_had_made(
    make_repo: Repositories, asked: str
) -> None:
    """Also while the step that has asked is not done yet in the new revision."""
    journey = Journey(make_repo(files=FILES)).to(asked)
    role = "architect" if asked == "design" else "developer"
    assert ask(journey, [question()], role).code == 0
    journey.follow(as_host(journey).next("CP-001 a"))
    journey.to("submitted")
    journey.write_answer("remarks.md", "Say why.")
    journey.planner("plan", "revise", "--file", "answers/remarks.md")
    due = journey.last = journey.planner("decide", "CP-001", "b")
    assert name_of(due) == "plan-design-execute"
    if asked == "code":
        due = done(journey, [])
        assert name_of(due) == "plan-code-execute"
    assert due.data("due again because") == "CP-001 Which name? → Way b (before: Way a)"
    assert f"plan-{asked} is due again because of CP-001" in done(journey, []).problems[0][1]
    assert done(journey, [stated(journey, "CP-001", "src/a.py:2")]).code == 0
    journey.answers["design.json"] = []
    summary = journey.to("submitted").last.data("summary")
    assert "Way b (before: Way a) → src/a.py:2" in summary


def test_who_confirms_what_the_assistant_has_chosen_is_heard_too(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    ask(journey, [question()])
    journey.last = journey.planner("decide", "CP-001", "b", "--you-decide")
    journey.to("submitted")
    again = journey.planner("decide", "CP-001", "b", "--you-decide")
    assert (again.code, again.block.get("workflow")) == (0, "executor"), again.text
    late = journey.planner("decide", "CP-001", "b")
    assert name_of(late) == "plan-design-execute", late.text
    [remark] = read_json(f"{journey.state_dir}/plan.json")["user_remarks"]
    assert remark["text"] == "CP-001 is answered otherwise now: Which name? → Way b"


@pytest.mark.parametrize("asked", ["CP-001", "CP-002"])
def test_an_answer_to_written_code_opens_its_next_revision(
    make_repo: Repositories, asked: str
) -> None:
    """Whether it was asked while the intents were planned, or by who wrote them."""
    journey = intents(make_repo).to("design")
    assert ask(journey, [question()]).code == 0
    journey.follow(as_host(journey).next("CP-001 a"))
    task = milestone_agent(journey.to("writing"), "M-001")
    journey.write_answer("questions-M-001.json", [question("Which file?")])
    assert journey.call(*words_of(task.next("question"))).code == 0
    journey.write_answer("remarks.md", "Keep f, add g.")
    refused = journey.planner("plan", "revise", "--file", "answers/remarks.md")
    assert "once the code is submitted, the same command" in refused.problems[0][1]
    assert journey.planner("decide", "CP-002", "a").code == 0
    journey.last = journey.planner("step", "executor")
    journey.to("submitted")
    assert journey.planner("decide", asked, "a").code == 0
    assert opened(journey).run.stage == "submitted"
    late = journey.planner("decide", asked, "b")
    assert name_of(late) == "plan-design-execute", late.text
    [remark] = read_json(f"{journey.state_dir}/plan.json")["user_remarks"]
    assert remark["text"].startswith(f"{asked} is answered otherwise now")


def test_an_answer_in_the_review_of_written_code_is_told_to_who_writes_again(
    make_repo: Repositories,
) -> None:
    journey = intents(make_repo).to("written code review")
    assert ask(journey, [question()], "technical-writer").code == 0
    late = journey.last = journey.planner("decide", "CP-001", "b")
    assert name_of(late) == "impl-execute", late.text
    told = journey.call(*words_of(late.runs()[0])) if late.runs() else late
    assert told.data("due again because") == "CP-001 Which name? → Way b", told.text
    journey.write_answer("edits.json", [stated(journey, "CP-001", "src/m1_1.py:2")])
    assert journey.planner("plan", "batch", "--file", "answers/edits.json").code == 0
    assert "Way b → src/m1_1.py:2" in journey.to("submitted").last.data("summary")


@pytest.mark.parametrize("answer", ["a", "b"])
def test_no_answer_is_taken_to_a_submitted_plan_that_was_edited_by_hand(
    coding: Journey, answer: str
) -> None:
    coding.to("submitted")
    path = Path(f"{coding.state_dir}/plan.json")
    path.write_bytes(path.read_bytes().replace(b"Which name?", b"Whose name?"))
    said = coding.planner("decide", "CP-001", answer)
    assert said.code == 1
    assert "CP-001 differs: the plan was edited after it was frozen" in said.text


def test_an_answer_that_was_killed_as_it_opened_the_next_revision_is_given_again(
    coding: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    coding.to("submitted")
    with monkeypatch.context() as patch:
        patch.setattr(State, "move", _killed)
        assert coding.planner("decide", "CP-001", "b").code == 3
    again = coding.planner("decide", "CP-001", "b")
    assert (again.code, name_of(again)) == (0, "plan-design-execute"), again.text


def _killed(*_args: object, **_values: object) -> None:
    raise RuntimeError


def test_a_pointless_question_is_withdrawn_and_who_approves_reads_why(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    ask(journey, [question(), question("Which file?")])
    removed = [{"op": "remove", "id": "CP-001", "version": 1}]
    journey.write_answer("edits.json", removed)
    refused = journey.planner("plan", "batch", "--file", "answers/edits.json")
    assert "a question stays in the plan" in refused.problems[0][1]
    journey.write_answer("CP-001.md", "f is gone")
    words = ("decide", "CP-001", "--withdraw")
    assert journey.planner(*words).code == 2
    assert journey.planner(*words, "--file", "answers/CP-001.md").code == 0
    assert journey.planner("decide", "CP-002", "b", "--you-decide").code == 0
    summary = journey.to("submitted").last.data("summary")
    assert "answered: CP-001 Which name? → withdrawn: f is gone" in summary
    assert "answered: CP-002 Which file? → Way b (left to the assistant)" in summary


def test_words_that_are_added_once_the_design_has_ended_are_a_remark(
    make_repo: Repositories,
) -> None:
    """Before, they are read with the task; both are in the list of what was said."""
    journey = Journey(make_repo(files=FILES)).to("design")
    early = journey.planner("context", "add-quote", "Keep f.")
    assert (early.code, early.data("quote")) == (0, "Keep f.")
    journey.to("code")
    late = journey.last = journey.planner("context", "add-quote", "Add g.")
    assert name_of(late) == "plan-design-execute", late.text
    assert late.data("due again because") == "RM-001: Add g."
    done(journey, [stated(journey, "RM-001", "declined: another plan")])
    journey.to("submitted")
    listed = journey.planner("plan", "show", "said").data("said").splitlines()
    assert listed[-3:-1] == [
        "quote 1, quote, revision 1: Keep f. → read with the task, by whoever designs and judges",
        "RM-001, remark, revision 1: Add g. → declined: another plan",
    ]
