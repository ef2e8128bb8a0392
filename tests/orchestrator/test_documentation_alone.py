"""A plan of documentation alone, whose code is approved with it, is the technical writer's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Answer, Journey

    Repositories = Callable[..., Repository]

FILES = ("README.md", "docs/use.md")


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """A run at depth full that changes two texts and is reviewed by agents."""
    made = larger(make_repo, "prose", (1,), dict.fromkeys(FILES, "# Use\n\nf adds one.\n"))
    edits = made.answers["design.json"]
    (milestone,) = (e["fields"] for e in edits if e.get("kind") == "milestone")
    milestone |= {"files": [*FILES], "acceptance_criteria": ["README.md says that f adds two"]}
    milestone |= {"is_documentation_only": True, "name": "Say what f adds"}
    made.answers["design.json"] = [e for e in edits if e.get("kind") != "intent"]
    made.edits = dict.fromkeys(FILES, "# Use\n\nf adds two.\n")
    made.review = "full"
    made.start("--depth", "full")
    return made


def started(answer: Answer) -> list[str]:
    return [d.get("agent") or "" for d in answer.block.iter("dispatch")]


@pytest.mark.requirement("PL-4")
def test_a_plan_of_documentation_alone_sends_the_writer_and_no_developer(
    journey: Journey,
) -> None:
    found: list[tuple[str, str]] = []
    while not journey.point.startswith("executor"):
        found += [(journey.point, agent) for agent in started(journey.last)]
        journey.advance()
    agents = [agent for _, agent in found]
    assert "developer" not in agents
    assert ("planner 6", "technical-writer") in found
    assert set(agents) == {"architect", "technical-writer", "quality-reviewer"}


@pytest.mark.requirement("PL-4")
def test_the_writer_gets_the_task_and_hands_it_in_by_the_printed_command(
    journey: Journey,
) -> None:
    journey.to("code")
    (command,) = journey.last.runs()
    assert words_of(command)[:2] == ["step", "plan-code"]
    task = journey.follow(command)
    assert task.code == 0
    assert "README.md says that f adds two" in task.data("plan")
    journey.do_the_work()
    assert journey.follow(journey.last.next("done")).code == 0, journey.last.text
