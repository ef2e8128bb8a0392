"""A step that is done is printed once more where that is wanted, and nobody acts on it (PL-1)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from orchestrator import executor, planner
from shared.resources import ROOT
from shared.steps.entry_points import discover_workflows
from tests.forms import part
from tests.journey import FILES, VERIFIED, Journey, call, words_of
from tests.larger_tasks import larger
from tests.orchestrator.test_tours import snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Answer

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PL-1")
GONE = "the questions of"
LEFT_OUT = "this run has left"


def is_only_shown(answer: Answer, journey: Journey) -> None:
    """Check that a block is marked, and asks for nothing but the run's current step."""
    block = answer.block
    assert block.get("again") == "true"
    assert (block.findtext("task") or "").startswith("This step is done. It is only shown again")
    assert not [e.tag for e in block.iter() if e.tag in ("dispatch", "run", "ask", "person")]
    ended = "Nothing is left" in journey.planner("step", "executor").text
    follow = [e.text or "" for e in block.iter("next")]
    assert len(follow) == (0 if ended else 1)
    assert all(words_of(one)[:2] == ["step", where(journey)] for one in follow)


def where(journey: Journey) -> str:
    return str(journey.last.block.get("workflow"))


def test_the_step_prints_what_it_has_printed(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED})).to("context")
    before = journey.last
    journey.to("code")
    answer = journey.planner("step", "planner", "2", "--again")
    is_only_shown(answer, journey)
    task, *rest = (e.text or "" for e in answer.block.iter("task"))
    assert rest == [before.block.findtext("task")]
    assert answer.data("request") == before.data("request")
    for element in before.block.iter("next"):
        assert (element.text or "") in answer.data("what it asked for")
    assert "\n\n" not in task
    told = journey.planner("step", "planner", "2")
    assert told.block.findtext("task") == "This step is done; go on."


@pytest.mark.parametrize(
    "point", part(["code", "submitted", "approved", "applied", "committed"], 2)
)
def test_every_earlier_step_is_printed_or_refused_in_words_and_nothing_changes(
    make_repo: Repositories, point: str
) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.promises_document = True
    journey.to(point)
    check_all(journey)


@pytest.mark.parametrize("depth", ["full", "intent"])
def test_the_steps_of_agents_are_printed_again_as_well(make_repo: Repositories, depth: str) -> None:
    journey = larger(make_repo, "agents", (1, 1, 1, 1), {})
    journey.review = "full"
    journey.start("--depth", depth)
    journey.to("submitted")
    check_all(journey)
    design = journey.planner("step", "plan-design", "2", "--again")
    assert "milestone" in design.text
    is_only_shown(design, journey)
    if depth == "intent":
        ((_, text),) = journey.planner("step", "planner", "6", "--again").problems
        assert "cannot be printed again: this run has left plan-code out" in text


def check_all(journey: Journey) -> None:
    before, printed = snapshot(journey), 0
    at = journey.planner("step", "executor").block
    for name, workflow in discover_workflows().items():
        for number in workflow.steps:
            answer = journey.planner("step", name, str(number), "--again")
            assert answer == journey.planner("step", name, str(number), "--again")
            if answer.code:
                ((kind, text),) = answer.problems
                assert (answer.code, kind) == (1, "conflict"), answer.text
                assert re.search(rf"{GONE}|{LEFT_OUT}|not due|is due once|has nothing to do", text)
            elif answer.block.get("again"):
                is_only_shown(answer, journey)
                printed += 1
    assert printed > 1
    assert snapshot(journey) == before
    assert journey.planner("step", "executor").block.attrib == at.attrib


def test_a_review_that_has_ended_is_refused_in_words(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    for number in (7, 8):
        ((kind, text),) = journey.planner("step", "planner", str(number), "--again").problems
        assert kind == "conflict"
        assert "cannot be printed again: the questions of plan-code are gone" in text
        assert " audit" in text


def test_the_current_step_is_printed_as_ever(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    assert journey.planner("step", "planner", "6", "--again").text == journey.last.text
    assert journey.planner("step", "planner", "--again").text == journey.last.text


def test_a_paused_run_shows_its_steps_too(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    journey.planner("pause")
    is_only_shown(journey.planner("step", "planner", "2", "--again"), journey)


def test_the_module_takes_the_option_too_and_help_names_it(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    words = ["--step", "2", "--again", "--state-dir", journey.state_dir]
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator.planner", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == journey.planner("step", "planner", "2", "--again").text
    for workflow in (planner, executor):
        assert "--again" in call(ROOT, "step", workflow.WORKFLOW.name, "--help").text


def test_step_one_in_a_repository_with_a_run_is_about_that_run(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    folder = journey.repository.path
    assert call(folder, "step", "planner", "1") == journey.planner("step", "planner", "1")
    shown = call(folder, "step", "planner", "1", "--again")
    assert shown == journey.planner("step", "planner", "1", "--again")
    is_only_shown(shown, journey)
    journey.to("committed")
    assert "goal" in call(folder, "step", "planner", "1").text, "no run is under way"
    started = call(folder, "step", "planner", "1", "--request", "Another one")
    assert started.block.get("state_dir") not in (None, journey.state_dir)
    second = call(folder, "step", "planner", "1")
    assert os.path.basename(started.block.get("state_dir") or "?") in second.text
