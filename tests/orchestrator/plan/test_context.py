"""An agent asks the user through the host and reads the answer when it is started anew (PL-9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.steps.brief import MODES_OF_MILESTONES
from state.modes import MODES
from tests.journey import FILES, VERIFIED, Answer, Journey, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

ASK = ("context", "ask", "--file", "answers/questions.json")


def question(text: str = "Which name?", options: int = 2, **fields: object) -> dict[str, Any]:
    """Return a question with options a, b, …."""
    keys = "abcdef"[:options]
    return {"question": text, "options": [{"key": k, "label": f"Way {k}"} for k in keys], **fields}


def ask(journey: Journey, questions: object, role: str = "architect") -> Answer:
    """Ask as an agent does."""
    journey.write_answer("questions.json", questions)
    return journey.planner(*ASK, "--role", role)


def as_host(journey: Journey) -> Answer:
    """Return the block that the host has next."""
    journey.last = journey.planner("step", "planner")
    return journey.last


@pytest.fixture
def designing(make_repo: Repositories) -> Journey:
    """Return a run in which an architect is due."""
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    return journey.to("design")


@pytest.mark.requirement("PL-9")
def test_a_question_goes_to_the_user_and_its_answer_to_the_agent_started_anew(
    designing: Journey,
) -> None:
    agent = designing.follow(designing.last.runs()[0])
    designing.follow(agent.next("done"))
    designing.write_answer("questions.json", [question(), question("Which file?", 4)])
    designing.write_answer("notes-architect.md", "f has two callers & one <test>.")
    asked = designing.follow(designing.last.next("question"))
    assert asked.data("questions") == "CP-001, CP-002"
    assert asked.block.find("next") is None
    block = as_host(designing)
    texts = [q.findtext("question") for q in block.block.iter("ask")]
    assert texts == ["Which name?", "Which file?"]
    assert block.runs() == []
    left = designing.follow(block.next("CP-001 b"))
    assert [q.get("id") for q in left.block.iter("ask")] == ["CP-002"]
    designing.write_answer("CP-002.md", "Neither: put it into a new one.\n")
    again = designing.follow(left.next("CP-002 other"))
    [run] = again.runs()
    for block in (designing.follow(run), designing.follow(designing.last.next("done"))):
        assert block.data("answers").splitlines() == [
            "CP-001 Which name? → Way b",
            "CP-002 Which file? → Neither: put it into a new one.",
        ]
        assert block.data("notes of an agent before you") == "f has two callers & one <test>."


@pytest.mark.requirement("PP-9")
def test_notes_that_are_a_link_are_not_shown(designing: Journey, tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("a key", encoding="utf-8")
    Path(designing.state_dir, "answers", "notes-architect.md").symlink_to(secret)
    answer = designing.follow(designing.last.runs()[0])
    answer = designing.planner(*words_of(answer.next("done"))) if answer.code == 0 else answer
    assert (answer.code, "is a symbolic link" in answer.text) == (1, True), answer.text
    assert "a key" not in answer.text


@pytest.mark.requirement("PL-9")
@pytest.mark.parametrize(
    "questions",
    [
        [],
        [question(str(n)) for n in range(4)],
        question(),
        "Which name?",
        [question(options=1)],
        [question(options=5)],
        [question(), question("Second?", options=0)],
        [question(why="to know")],
        [question(text="\ud800")],
        [{"question": "Which name?"}],
        [{"question": ["a"], "options": question()["options"]}],
        ["Which name?"],
        [question(multi="yes")],
        *(
            [{"question": "q", "options": [{"key": "a", "label": "A"}, {"key": key, "label": "B"}]}]
            for key in ("-b", "--help", "b,c", "", " ", "b\nc")
        ),
    ],
)
def test_at_most_three_questions_with_two_to_four_options(
    designing: Journey, questions: object
) -> None:
    path = f"{designing.state_dir}/plan.json"
    with open(path, "rb") as file:
        before = file.read()
    answer = ask(designing, questions)
    assert (answer.code, answer.block.tag) == (1, "error"), answer.text
    with open(path, "rb") as file:
        assert file.read() == before


@pytest.mark.requirement("PL-9")
def test_who_is_no_working_agent_asks_nothing(designing: Journey) -> None:
    assert ask(designing, [question()], "quality-reviewer").code == 1
    for role in ("developer", "technical-writer"):
        assert ask(designing, [question(role)], role).code == 0


@pytest.mark.requirement("PL-9")
def test_what_is_asked_again_is_asked_once(designing: Journey) -> None:
    first = ask(designing, [question()])
    assert ask(designing, [question()]) == first
    assert designing.planner("plan", "add", "risk", "--risk", "r").code == 0
    assert ask(designing, [question(), question("Second?")]).data("questions") == "CP-001, CP-002"
    assert len(list(as_host(designing).block.iter("ask"))) == 2
    for command in (designing.last.next("CP-001 a"), designing.last.next("CP-002 a")):
        designing.run(*words_of(command))
    assert ask(designing, [question()]).code == 0
    assert as_host(designing).runs()


@pytest.mark.requirement("PL-9")
def test_several_answers_come_by_choice_or_by_file(designing: Journey) -> None:
    ask(designing, [question(multi=True), question("One?", 3), question("Words?")])
    words = ("decide",)
    assert designing.planner(*words, "CP-001", "a,c").code == 1
    assert designing.planner(*words, "CP-002", "a,b").code == 1
    assert designing.planner(*words, "CP-009", "a").code == 1
    assert designing.planner(*words, "CP-001").code == 2
    designing.write_answer("CP-001.md", " \n")
    assert designing.planner(*words, "CP-001", "--file", "answers/CP-001.md").code == 1
    designing.write_answer("CP-001.md", "a, b\n")
    assert designing.planner(*words, "CP-001", "--file", "answers/CP-001.md").code == 0
    assert designing.planner(*words, "CP-002", "c").code == 0
    designing.write_answer("CP-003.md", "a, but only on Sundays")
    last = designing.planner(*words, "CP-003", "--file", "answers/CP-003.md")
    assert designing.follow(last.runs()[0]).data("answers").splitlines() == [
        "CP-001 Which name? → Way a, Way b",
        "CP-002 One? → Way c",
        "CP-003 Words? → a, but only on Sundays",
    ]


@pytest.mark.requirement("PL-9")
def test_a_single_choice_by_file_is_one(designing: Journey) -> None:
    """Two keys are no choice where one is asked for: they are kept as the user's words."""
    ask(designing, [question()])
    designing.write_answer("CP-001.md", "a, b")
    words = ("decide", "CP-001", "--file", "answers/CP-001.md")
    answered = designing.planner(*words)
    assert designing.follow(answered.runs()[0]).data("answers") == "CP-001 Which name? → a, b"


@pytest.mark.requirement("PL-9")
def test_the_host_that_does_the_work_reads_the_answers_too(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    ask(journey, [question()], "developer")
    journey.follow(as_host(journey).next("CP-001 a"))
    assert journey.last.data("answers") == "CP-001 Which name? → Way a"
    journey.to("submitted")
    refused = ask(journey, [question("Too late?")])
    assert (refused.code, refused.problems[0][0]) == (1, "frozen")


def test_commands_to_confirm_are_shown_and_explained_once(make_repo: Repositories) -> None:
    formatted = f'{VERIFIED}[worktree]\nformat = ["true"]\n'
    journey = Journey(make_repo(files={**FILES, "planner.toml": formatted}))
    journey.confirms = False
    assert "format: true" in journey.start().data("commands to confirm")
    later = journey.to("code").last
    assert later.data("commands to confirm") == ""
    assert words_of(later.person())[:2] == ["config", "confirm"]


@pytest.mark.requirement("SD-3", "PL-17")
def test_an_assumption_that_later_words_overrule_is_shown_as_such(
    make_repo: Repositories,
) -> None:
    """The approver would else read it beside the decision that says the opposite."""
    journey = Journey(make_repo(files=FILES))
    journey.answers["context.json"]["assumptions"] = [
        "0 is no limit (high)",
        "Below 0 is not checked",
    ]
    journey.to("submitted")
    assert "assumed: Below 0 is not checked" in journey.last.text
    journey.call("mode", "edit", "Refuse a value below 0.")
    other = {"op": "context", "overruled": ["Below 1 is not checked"]}
    fields = {"decision": "Refuse below 0", "reasoning_chain": "the user -> says so"}
    late = {"op": "add", "kind": "decision", "fields": fields}
    journey.write_answer("design.json", [other, late])
    words = ("plan", "done", "--phase", "plan-design", "--batch", "answers/design.json")
    refused = journey.planner(*words)
    assert places_of(refused)[0][0] == "overruled[0]"
    assert "Below 0 is not checked" in refused.text
    assumed = {"overruled": ["Below 0 is not checked"], "assumptions": ["Text is refused"]}
    journey.write_answer("design.json", [{"op": "context", **assumed}, late])
    assert journey.planner(*words).code == 0
    plan = json.loads((Path(journey.state_dir) / "plan.json").read_text())
    assert plan["context"]["assumptions"] == [
        "0 is no limit (high)",
        "Below 0 is not checked → holds no more, by what was said later",
        "Text is refused",
    ]


@pytest.mark.requirement("SD-7")
def test_a_wrong_question_is_named_by_its_place_in_the_file(designing: Journey) -> None:
    assert ask(designing, [question()]).code == 0
    refused = ask(designing, [question(), {"question": "Which way?"}])
    assert [(at, text.partition(" · ")[0]) for at, text in places_of(refused)] == [
        ("[1].options", "it is missing")
    ]


@pytest.mark.requirement("SD-7")
def test_a_wrong_edit_is_named_by_its_place_in_a_list_that_begins_with_the_context(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("context")
    context = {"op": "context", **journey.answers["context.json"]}
    design = [*journey.answers["design.json"], {"op": "add", "kind": "risk", "fields": {"risk": 3}}]
    journey.write_answer("design.json", [context, *design])
    words = ("plan", "done", "--phase", "plan-design", "--batch", "answers/design.json")
    refused = journey.planner(*words)
    assert [at for at, _ in places_of(refused)] == [f"[{len(design)}].fields.risk"]


def places_of(answer: Answer) -> list[tuple[str, str]]:
    """Return the place and the text of each problem that an answer names."""
    return [(p.get("at", ""), p.text or "") for p in answer.block.iter("problem")]


@pytest.mark.requirement("PC-5")
def test_who_designs_alone_reads_how_milestones_wait_and_which_modes_they_have(
    make_repo: Repositories,
) -> None:
    """Modes matter where agents carry milestones out, at depth intent alone."""
    for depth in ("intent", "full"):
        journey = Journey(make_repo(depth, files=FILES))
        block = journey.start("--depth", depth, "--alone")
        assert '"depends_on": ["$m1"]' in (block.block.findtext("task") or "")
        modes = [line.partition(":")[0] for line in block.data(MODES_OF_MILESTONES).splitlines()]
        assert modes == ([*MODES] if depth == "intent" else [])
