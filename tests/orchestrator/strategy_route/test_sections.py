"""What each step of a strategy is shown, and what it takes for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES
from tests.orchestrator.strategy_route.test_blocks import BUNDLE, NEW_BUNDLE
from tests.strategies import GATHERED, RETRY_TEMPLATE, SELF_EXTEND, Choice, goal, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

MISSING = "the callers of f"


def gathering(make_repo: Repositories, *options: str) -> Choice:
    """Return a strategy that gathers what is missing."""
    choice = Choice(make_repo(files=FILES), *options)
    choice.choose(plan("refresh_context", refresh_context_request=[MISSING]))
    assert choice.name == "gather"
    return choice


@pytest.mark.requirement("ST-11")
def test_that_nothing_was_found_is_an_answer_that_says_where_one_has_looked(
    make_repo: Repositories,
) -> None:
    choice = gathering(make_repo)
    assert choice.gather(nothing_found=["src/", "the history of main"]).code == 0
    assert choice.name == "strategy"
    shown = choice.last.data("§2 gathered context")
    assert "### Nothing found\n" in shown
    assert f"Looked for: {MISSING}" in shown
    assert "the history of main" in shown


@pytest.mark.requirement("ST-11")
@pytest.mark.parametrize("value", [{"gathered": []}, {}])
def test_gathering_that_says_nothing_is_refused_with_what_says_it(
    make_repo: Repositories, value: dict[str, object]
) -> None:
    choice = gathering(make_repo)
    refused = choice.gather(**value)
    assert refused.code == 1
    assert '"nothing_found"' in refused.text
    assert choice.name == "gather"


@pytest.mark.requirement("ST-11")
def test_what_is_known_already_leads_on_instead_of_the_same_step_again(
    make_repo: Repositories,
) -> None:
    choice = gathering(make_repo)
    choice.gather(gathered=[GATHERED])
    choice.choose(plan("refresh_context", refresh_context_request=[MISSING]))
    choice.gather(gathered=[GATHERED])
    assert choice.name == "strategy"
    assert len(choice.facts.gathered) == 1


@pytest.mark.requirement("ST-7")
def test_a_goal_is_not_done_before_those_that_it_uses(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.choose(plan("executor", goal(1, "a"), goal(2, "b", "high", 1)))
    early = choice.ends("GOAL_2")
    assert "GOAL_2 uses what is not done: GOAL_1 is pending" in early.text
    choice.ends("GOAL_1", status="failed")
    late = choice.ends("GOAL_2")
    assert "GOAL_1 is failed" in late.text
    assert "failed where it has failed" in late.text
    choice.ends("GOAL_2", status="failed")
    assert choice.name == "synthesis"


@pytest.mark.requirement("ST-7")
def test_goals_that_are_handed_in_together_may_use_one_another(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.choose(plan("executor", goal(1, "a"), goal(2, "b", "high", 1)))
    choice.ends("GOAL_1", "GOAL_2")
    assert choice.name == "synthesis"


@pytest.mark.requirement("ST-5", "ST-10")
def test_a_retry_is_shown_the_answer_that_was_not_accepted(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.choose(plan("synthesis"))
    choice.answers("f is fine. " + "x" * 3_000)
    shown = choice.judge("RETRY")
    failed = shown.data("§6 synthesis")
    assert failed.startswith("f is fine.")
    assert "strategy show --section 6" in failed
    assert len(failed) < 1_600


@pytest.mark.requirement("ST-1", "ST-3")
def test_the_answer_is_written_from_plan_findings_and_context(make_repo: Repositories) -> None:
    choice = gathering(make_repo, "--chat")
    choice.gather(gathered=[GATHERED])
    choice.choose(plan("executor", goal(1, "Find candidates")))
    choice.ends("GOAL_1")
    for shown in (choice.last, choice.planner("step", "strategy")):
        assert "Find candidates" in shown.data("§3 strategic plan")
        assert "f(1) is 3" in shown.data("§3 strategic plan")
        assert "Found N candidate listings" in shown.data("§4 execution progress")
        assert GATHERED["content"] in shown.data("§2 gathered context")


@pytest.mark.requirement("ST-10")
def test_what_is_left_out_of_the_context_is_named_with_the_command_that_shows_it(
    make_repo: Repositories,
) -> None:
    choice = gathering(make_repo)
    blocks = [{**GATHERED, "title": f"Note {n}", "content": "y" * 3_000} for n in range(4)]
    shown = choice.gather(gathered=blocks).data("§2 gathered context")
    assert "Left out to stay short: Note" in shown
    assert f"strategy show --section 2 --state-dir {choice.state_dir}` prints all" in shown


@pytest.mark.requirement("ST-8")
def test_a_self_extension_ends_well_only_once_its_workflow_is_made(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES))
    choice.choose(SELF_EXTEND)
    refused = choice.follow("done")
    assert "the workflow sheet-report is not made" in refused.text
    assert choice.planner("status").data("status").startswith("Making a workflow")
    choice.write_answer("bundle.json", BUNDLE)
    choice.planner(*NEW_BUNDLE)
    assert choice.follow("done").code == 0
    assert set(choice.facts.goals.values()) == {"done"}


@pytest.mark.requirement("ST-8")
def test_a_self_extension_that_cannot_be_made_is_given_up_with_its_reason(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES))
    choice.choose(SELF_EXTEND)
    choice.write_answer("verdict.json", {"reason": "no tool reads such sheets"})
    ended = choice.follow("fail")
    assert "no tool reads such sheets" in ended.data("tried")
    assert set(choice.facts.goals.values()) == {"failed"}


@pytest.mark.requirement("ST-2", "ST-11")
@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("make read_file() return bytes", True),
        ("git.commit keeps its message", True),
        ("use write_file for the report", False),
        ("call web.search for it", False),
        ('{"tool": "read_file"}', False),
    ],
)
def test_a_goal_may_name_functions_of_the_users_own(
    make_repo: Repositories, text: str, passes: bool
) -> None:
    files = {**FILES, "src/store.py": "def read_file():\n    return git.commit\n"}
    choice = Choice(make_repo(files=files))
    answer = choice.choose(plan("executor", goal(1, text), depth="none"))
    assert ("the goal names a tool" in answer.text) is not passes


@pytest.mark.requirement("ST-9")
@pytest.mark.parametrize("options", [(), ("--chat",)], ids=["code", "chat"])
def test_what_is_known_for_sure_need_not_be_found_again_in_either_mode(
    make_repo: Repositories, options: tuple[str, ...]
) -> None:
    choice = gathering(make_repo, *options)
    assert "0.70" in choice.gather(gathered=[GATHERED]).text


@pytest.mark.requirement("ST-5")
def test_a_second_attempt_reads_why_what_and_the_answer_before_the_request(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    shown = choice.to_retry()
    names = [d.get("name", "")[:2] for d in shown.block.iter("data")]
    assert names == ["§7", "§4", "§6", "§0"]
    choice.choose(RETRY_TEMPLATE)
    assert choice.name == "execute"
