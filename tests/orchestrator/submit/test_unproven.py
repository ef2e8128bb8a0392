"""What is said and not borne out is shown wherever a frozen plan is read (SD-1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.run import open_state
from state.store import load_plan
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("SD-1")
SENTENCE = "T-1 names the guide (docs/guide.md), which this change does not touch"


def test_what_is_not_borne_out_stands_in_summary_page_plan_and_list_until_it_is_revised(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo(files={**FILES, "docs/guide.md": "# Guide\n"}))
    journey.answers["context.json"] = {"task_spec": ["f adds two, and the guide says so"]}
    journey.to("submitted")
    state = open_state(journey.state_dir, "/")
    assert [(one.id, one.text) for one in load_plan(state.plan_path).unproven] == [
        ("T-1", SENTENCE)
    ]
    line = f"not borne out: {SENTENCE}"
    assert line in journey.last.text
    assert line in journey.planner("plan", "show", "said").data("said")
    rows = json.loads(journey.planner("plan", "show", "said", "--json").text)
    assert rows[-1] == {"id": "T-1", "unproven": SENTENCE}
    assert f"- {line}" in Path(journey.state_dir, "plan.md").read_text()
    [page] = Path(journey.state_dir).rglob("*.html")
    first = page.read_text().partition("</header>")[0]
    assert SENTENCE in first
    journey.write_answer("remarks.md", "Say why in a comment.")
    journey.follow(journey.last.next("remarks"))
    assert load_plan(state.plan_path).unproven == ()
