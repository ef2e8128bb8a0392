"""What a person at a terminal is told where the next step is their assistant's."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from shared.resources import PROGRAM, quote
from shared.run import open_state
from tests.journey import FILES, REQUEST, Journey, call, way_out, words_of
from tests.orchestrator.every_step import normalised
from tests.terminal import started, typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Golden, Repository
    from tests.journey import Answer

    Repositories = Callable[..., Repository]

# What only an assistant reads: internal names of steps, JSON to be written, tags, our own stages.
JARGON = re.compile(
    r"\banswers/|\"op\":|<[a-z]+|tell the user|[a-z]+-(?:design|code|docs)-[a-z]+|load-verify|"
    r"reconcile|context-verify|plan-init|^ *(?:gathering|inactive|executing):|\bwave\b|Agent:",
    re.MULTILINE,
)
GOES_ON = "    /planner:plan resume\n"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    return Journey(make_repo(files=FILES))


def said(journey: Journey, *words: str) -> str:
    """Return what a person sees who types a command of which nothing is refused."""
    answer = typed(journey.repository.path, *words)
    assert answer.code == 0, answer.text
    assert not JARGON.search(answer.text), answer.text
    return answer.text


def shown(text: str) -> list[list[str]]:
    """Return the words of each command of ours that a text shows on a line of its own."""
    lines = [line.strip() for line in text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith(f"{quote(PROGRAM)} ")]


@pytest.mark.requirement("HO-5")
@pytest.mark.parametrize("options", [(), ("--depth", "full"), ("--depth", "intent"), ("--chat",)])
def test_a_person_who_starts_a_run_is_told_who_goes_on_and_how_to_end_it(
    journey: Journey, options: tuple[str, ...]
) -> None:
    text = said(journey, "start", REQUEST, *options)
    assert f"Request: {REQUEST}" in text
    assert "waits for the assistant" in text
    assert f"{journey.repository.path}/.planner/runs/" in text
    assert GOES_ON in text
    by_hand, ends = shown(text)
    assert call(journey.repository.path, *by_hand).block.tag == "step"
    # What the assistant is told to run goes on with this very run.
    assert call(journey.repository.path, "resume").text == (
        call(journey.repository.path, *by_hand).text
    )
    assert ends == ["cancel"]
    assert "Cancelled" in said(journey, *ends)


@pytest.mark.requirement("HO-5")
def test_the_start_says_against_which_commit_the_plan_is_made(journey: Journey) -> None:
    commit = journey.repository.git("rev-parse", "HEAD")
    assert f"made against: {commit[:12]} on main" in said(journey, "start", REQUEST, "--depth=full")


@pytest.mark.requirement("HO-5")
def test_a_start_without_a_text_says_what_to_type(journey: Journey) -> None:
    (words,) = shown(said(journey, "start"))
    assert words[0] == "start"
    assert len(words) == 2


@pytest.mark.requirement("HO-5")
def test_a_person_with_uncommitted_work_is_asked_and_the_answer_starts_the_run(
    journey: Journey,
) -> None:
    journey.repository.write("src/a.py", "def f(x):\n    return x\n")
    for text in (said(journey, "start", REQUEST, "--depth", "full"), said(journey, "status")):
        assert "What is the plan made against?" in text
        assert "waits for you" in text
        assert GOES_ON not in text
        head, snapshot = (words for words in shown(text) if words[0] == "start")
        assert (head[2], snapshot[2]) == ("head", "snapshot")
    assert GOES_ON in said(journey, *snapshot)


@pytest.mark.requirement("HO-5")
def test_after_an_approval_the_assistant_or_the_person_carries_the_plan_out(
    journey: Journey,
) -> None:
    journey.to("submitted")
    waiting = said(journey, "status")
    assert GOES_ON not in waiting
    assert ["review", "--open"] in shown(waiting)
    assert any(words[:2] == ["mode", "edit"] for words in shown(waiting))
    assert any(words[:2] == ["mode", "reject"] for words in shown(waiting))
    resumed = said(journey, "resume")
    assert resumed.index("Summary:") < resumed.index("To read the plan")
    approved = said(journey, *next(w for w in shown(waiting) if w[0] == "approve"))
    assert "Approved" in approved
    assert GOES_ON in approved
    assert ["exec", "run"] in shown(approved)
    done = said(journey, "exec", "run")
    assert "and proved" in done
    assert ["undo"] in shown(done)


@pytest.mark.quick
@pytest.mark.requirement("HO-5")
def test_whatever_a_person_tells_a_run_the_answer_says_who_goes_on(journey: Journey) -> None:
    journey.to("submitted")
    assert GOES_ON in said(journey, "mode", "edit", "Say why")
    assert GOES_ON in said(journey, "auto", "on")
    paused = said(journey, "pause")
    assert ["resume"] in shown(paused)
    assert GOES_ON not in paused
    assert GOES_ON in said(journey, "resume")
    assert GOES_ON in said(journey, "mode", "status")


@pytest.mark.requirement("HO-5")
def test_a_question_of_the_plan_is_answered_at_a_terminal(journey: Journey) -> None:
    journey.review = "full"
    journey.to("design")
    journey.follow(journey.last.runs()[0])
    journey.follow(journey.last.next("done"))
    journey.write_answers()
    journey.follow(journey.last.next("question"))
    for words in (("status",), ("resume",)):
        text = said(journey, *words)
        assert text.count("Keep the old name?") == 1
        assert "waits for you" in text
        assert GOES_ON not in text
        assert ["decide", "CP-001", "b"] in shown(text)
    assert GOES_ON in said(journey, "decide", "CP-001", "b")


ENDS: dict[str, Callable[[Journey], object]] = {
    "committed": lambda journey: journey.to("committed"),
    "reverted": lambda journey: journey.to("committed").planner("undo"),
    "cancelled": lambda journey: journey.to("code").planner("cancel"),
    "cancelled-applied": lambda journey: journey.to("applied").planner("cancel"),
    "rejected": lambda journey: journey.to("submitted").planner("mode", "reject"),
    "undone": lambda journey: journey.to("applied").planner("undo"),
}


@pytest.mark.requirement("HO-5")
@pytest.mark.parametrize("end", ENDS)
def test_the_status_of_a_run_that_is_over_says_what_became_of_it_and_what_can_be_done(
    journey: Journey, golden: Golden, end: str
) -> None:
    ENDS[end](journey)
    text = said(journey, "status")
    dated = re.sub(r"\d{4}-\d\d-\d\d", "DAY", normalised(text, journey))
    golden(f"people/status-{end}.txt", dated)
    for words in shown(text)[:1]:
        assert typed(journey.repository.path, *words).code == 0, words


@pytest.mark.requirement("HO-5")
def test_the_commit_of_a_finished_run_can_be_taken_back_as_its_status_says(
    journey: Journey,
) -> None:
    journey.to("committed")
    undone = said(journey, *next(w for w in shown(said(journey, "status")) if w == ["undo"]))
    assert "taken back" in undone
    assert "x + 1" in (journey.repository.path / "src/a.py").read_text()


@pytest.mark.requirement("HO-5")
@pytest.mark.parametrize("command", ["status", "undo", "review", "pause", "events", "audit"])
def test_where_no_run_was_started_every_command_says_how_to_start_one(
    journey: Journey, command: str
) -> None:
    answer = typed(journey.repository.path, command)
    assert answer.code == 1
    (words,) = shown(answer.text)
    assert words[0] == "start"
    assert call(journey.repository.path, *words).code == 0


@pytest.mark.requirement("HO-5")
def test_a_refusal_sends_a_person_to_the_status_and_not_to_the_prompt_of_an_assistant(
    journey: Journey,
) -> None:
    journey.to("context")
    retry = way_out(call(journey.repository.path, "undo").problems[0][1])
    assert words_of(retry)[:2] == ["step", "planner"]
    assert shown(typed(journey.repository.path, "undo").text) == [["status"]]


@pytest.mark.requirement("HO-5")
def test_what_is_empty_is_said_in_words(journey: Journey) -> None:
    said(journey, "start", REQUEST)
    assert "Nothing is recorded yet" in said(journey, "audit")
    said(journey, "start", REQUEST, "--depth", "full")
    assert "changes no file yet" in said(journey, "plan", "diff")
    assert call(journey.repository.path, "plan", "diff").text == ""


@pytest.mark.requirement("HO-5")
def test_who_has_edited_the_worktree_is_told_where_it_is_and_who_goes_on(
    journey: Journey,
) -> None:
    journey.to("code")
    text = typed(journey.repository.path, "edit").text
    assert f"Worktree: {journey.state_dir}/worktree" in text
    assert GOES_ON in text


@pytest.mark.requirement("HO-5")
def test_the_page_of_a_submitted_plan_comes_with_the_answers_to_it(journey: Journey) -> None:
    journey.to("submitted")
    assert [w[0] for w in shown(said(journey, "review"))] == ["review", "approve", "mode", "mode"]


@pytest.mark.requirement("HO-5")
def test_pipes_and_assistants_get_the_prompt_itself(journey: Journey) -> None:
    folder = journey.repository.path
    block = call(folder, "start", REQUEST, "--depth", "full")
    assert block.block.get("name") == "context-verify"
    read = started(folder, PROGRAM, "start", REQUEST, CLAUDECODE="1")
    assert "not guarded" in read.data("guard")  # no client has called a hook
    assert re.sub('<data name="guard">.*</data>\n', "", read.text) == block.text
    assert json.loads(call(folder, "start", REQUEST, "--format", "json").text)["step"]["task"]


def test_a_run_in_another_folder_is_named_in_the_commands(
    journey: Journey, tmp_path: object
) -> None:
    state_dir = f"{tmp_path}/elsewhere"
    answer: Answer = typed(
        journey.repository.path, "start", REQUEST, "--depth=full", "--state-dir", state_dir
    )
    assert all(words[-2:] == ["--state-dir", state_dir] for words in shown(answer.text))


@pytest.mark.requirement("HO-5", "PL-31")
def test_an_undo_says_that_it_is_done_and_a_second_one_that_nothing_is(journey: Journey) -> None:
    journey.to("committed")
    done = said(journey, "undo")
    assert "Taken back." in done
    revert = journey.repository.git("rev-parse", "HEAD")
    again = said(journey, "undo")
    assert "This was taken back before; nothing is changed." in again
    assert revert in again
    assert journey.repository.git("rev-parse", "HEAD") == revert
    state = open_state(journey.state_dir, "/")
    rows = [row for row in state.database.audit_rows(state.run) if row["action"] == "revert"]
    assert [row["who"] for row in rows] == ["person (unproven)"]


@pytest.mark.requirement("HO-5")
@pytest.mark.parametrize(
    ("opens", "text"),
    [(True, "The page is handed to your browser."), (False, "No browser was found")],
)
def test_who_opens_the_page_is_told_whether_a_browser_does(
    journey: Journey, monkeypatch: pytest.MonkeyPatch, text: str, *, opens: bool
) -> None:
    journey.to("submitted")
    monkeypatch.setattr("webbrowser.open", lambda _: opens)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    seen = said(journey, "review", "--open")
    assert text in seen
    assert ["review", "--open"] not in shown(seen)
    assert "To approve exactly this plan:" in seen
