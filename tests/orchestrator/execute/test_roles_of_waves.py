"""Who is started for a milestone: a technical writer where it is documentation alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.orchestrator.execute.waves import at_once, intents

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PL-27")
def test_a_milestone_of_documentation_alone_goes_to_a_technical_writer(
    make_repo: Repositories,
) -> None:
    journey = intents(make_repo, files=["README.md"], is_documentation_only=True)
    edits = journey.answers["design.json"]
    journey.answers["design.json"] = [
        e for e in edits if e.get("kind") != "intent" or e["fields"]["milestone"] != "$m1"
    ]
    at_once(journey, 2)
    dispatches = journey.to("writing").last.block.findall("dispatch")
    started = [(d.get("agent"), d.get("parallel"), len(d.findall("run"))) for d in dispatches]
    assert started == [("developer", "true", 1), ("technical-writer", "true", 1)]
