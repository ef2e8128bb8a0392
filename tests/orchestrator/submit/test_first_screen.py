"""What decides stands first, then the change in the order in which it is read (LP-1)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.submit.figures import Figure, cost
from orchestrator.submit.kinds import CODE, DOCUMENTS, GENERATED, TESTS, kind_of, marked_at_base
from orchestrator.submit.page.render import render_page
from orchestrator.submit.spent import Spent, spent_on
from shared.execution.costs import USAGE, Cost
from shared.run import open_state
from state.store import load_plan
from tests.journey import FILES, Journey, words_of
from tests.orchestrator.submit.page.reviews import plan_data, sample_review
from tests.orchestrator.submit.page.test_html import Parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State
    from state.models import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("LP-1")
KNOWN = {"stats": {"prompt_tokens": 900, "completion_tokens": 100}}


def text_of(journey: Journey, name: str = "plan.md") -> str:
    return Path(journey.state_dir, name).read_text(encoding="utf-8")


def opened(journey: Journey) -> tuple[State, Plan]:
    state = open_state(journey.state_dir, "/")
    return state, load_plan(state.plan_path)


# what it has cost


@pytest.mark.parametrize(
    ("spent", "text", "more"),
    [
        (None, "unknown", ()),
        (Spent(None, Cost([])), "time unknown", ("agents, tokens and money unknown",)),
        (Spent(59, Cost([])), "less than a minute", ("agents, tokens and money unknown",)),
        (Spent(754, Cost([KNOWN])), "12 minutes", ("1 agent, 1,000 tokens", "money unknown")),
        (Spent(60, Cost([{}, {}])), "1 minute", ("2 agents, tokens unknown", "money unknown")),
        (
            Spent(60, Cost([KNOWN, {}])),
            "1 minute",
            ("2 agents, 1,000 tokens of 1, the others unknown", "money unknown"),
        ),
    ],
)
def test_what_nobody_has_reported_is_unknown_and_never_nothing(
    spent: Spent | None, text: str, more: tuple[str, ...]
) -> None:
    assert cost(spent) == Figure("Cost", "", text, more)


def test_a_run_costs_from_its_request_to_its_freeze(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    state, plan = opened(journey)
    found = spent_on(state, plan)
    assert found.seconds is not None
    assert found.agents.agents == 0
    with state.database as database:
        told = {"subagent_step_id": "M-001", "subagent_id": "a", **KNOWN}
        database.event(state.run, USAGE, told)
    assert spent_on(state, plan).agents.tokens == 1_000
    assert journey.planner("review").code == 0
    page = " ".join(Parsed(text_of(journey, "review.html").replace("<", " <")).text.split())
    assert "1 agent, 1,000 tokens" in page
    assert "; 1 agent, 1,000 tokens; money unknown" in text_of(journey)


# the first screen


def test_plan_md_begins_with_what_waits_and_how_to_answer(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    first = text_of(journey).partition("\n## Code")[0]
    parts = ["# Add two", "**Waits for your decision**", "- How big: 2 files, +2 −2; tests: ",
             "- Verified: NOT", "- Reviewed: ", "- Cost: ", "## Why", "## What"]  # fmt: skip
    assert [*map(first.index, parts)] == sorted(map(first.index, parts))
    typed = re.search(r"\*\*: `(.*?)` approves it", first)
    assert typed is not None
    assert journey.run(*words_of(typed[1])).code == 0
    assert "Waits for your decision" not in text_of(journey)
    assert "It is approved." in text_of(journey)


def test_a_question_that_is_open_is_what_waits(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.write_answer("questions.json", journey.answers["questions.json"])
    assert journey.planner("context", "ask", "--file", "answers/questions.json").code == 0
    assert journey.planner("plan", "render").code == 0
    assert journey.planner("review").code == 0
    named = re.search(r"\*\*CP-001 waits for your answer\*\*: `(.*) CHOICE`", text_of(journey))
    assert named is not None
    assert f"{named[1]} CHOICE" in Parsed(text_of(journey, "review.html")).text
    assert "One of: a, b" in Parsed(text_of(journey, "review.html")).text
    assert journey.run(*words_of(f"{named[1]} a")).code == 0


def test_on_a_terminal_nothing_is_folded(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    shown = journey.planner("plan", "show", "--format", "text").text
    assert "<details" not in shown
    assert "\n## Details\n" in shown
    assert "<details><summary>Details</summary>" in text_of(journey)


def test_what_is_kept_with_the_plan_tells_of_no_state(make_repo: Repositories) -> None:
    """Its bytes are those of the commit to come, whatever the run has cost or waits for."""
    journey = Journey(make_repo(files=FILES)).to("submitted")
    state, plan = opened(journey)
    ref = f"refs/planner-drafts/{plan.digest}"
    kept = journey.repository.git("show", f"{ref}:plan.md")
    assert "- How big: 2 files" in kept
    assert not [said for said in ("Cost", "Waits", state.state_dir) if said in kept]


# the order of the change


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("src/a.py", CODE), ("docs/conf.py", CODE), ("Makefile", CODE),
        ("tests/test_a.py", TESTS), ("src/a.test.ts", TESTS), ("odd.txt", TESTS),
        ("README", DOCUMENTS), ("docs/a.rst", DOCUMENTS), ("CHANGELOG.md", DOCUMENTS),
        ("package-lock.json", GENERATED), ("web/a.min.js", GENERATED), ("go.sum", GENERATED),
        ("src/api.py", GENERATED), ("Cargo.lock", CODE), ("lock.py", CODE),
    ],
)  # fmt: skip
def test_a_file_is_of_one_kind(file: str, kind: str) -> None:
    marked = {"src/api.py": True, "Cargo.lock": False}
    assert kind_of(file, ["odd.txt"], marked) == kind


def test_generated_is_what_the_base_says_and_not_what_the_plan_says(
    make_repo: Repositories,
) -> None:
    rules = "src/*.py linguist-generated\n"
    journey = Journey(make_repo(files={**FILES, ".gitattributes": rules})).to("submitted")
    assert marked_at_base(*opened(journey)) == {"src/a.py": True}
    assert "<details><summary>Written by a program</summary>" in text_of(journey)
    assert "generated, folded" in text_of(journey, "review.html")

    hiding = Journey(make_repo("hiding", FILES))
    intent = {"milestone": "$m", "file": ".gitattributes", "behavior": "calls code generated"}
    hiding.answers["design.json"].append({"op": "add", "kind": "intent", "fields": intent})
    hiding.answers["design.json"][2]["fields"]["files"].append(".gitattributes")
    hiding.edits[".gitattributes"] = rules
    hiding.to("submitted")
    state, plan = opened(hiding)
    assert marked_at_base(state, plan) == {}


def shuffled() -> dict[str, Any]:
    """Return the realistic plan with files of each kind in another order than they are read."""
    data = plan_data()
    names = ["yarn.lock", "README.md", "tests/test_x.py", "src/x.py"]
    [first, *_] = (m for m in data["milestones"] if m.get("code_changes"))
    change = first["code_changes"][0]
    data["milestones"] = [first]
    first["depends_on"], first["code_changes"] = (
        [],
        [
            {**change, "id": f"CC-{n:03}", "file": name, "old_file": None}
            for n, name in enumerate(names, 1)
        ],
    )
    return data


def test_code_is_read_first_and_generated_files_last_and_folded() -> None:
    page = Parsed(render_page(sample_review(shuffled(), since=None)))
    changes = page.text.partition("Changes: ")[2]
    order = ["Code", "src/x.py", "Tests", "tests/test_x.py", "Documentation", "README.md",
             "Generated", "yarn.lock"]  # fmt: skip
    assert [*map(changes.index, order)] == sorted(map(changes.index, order))
    folds = ["open" in attrs for name, attrs in page.tags if name == "details"]
    assert folds[:4] == [True, True, True, False]


def test_ids_blobs_and_reviews_are_folded_at_the_end() -> None:
    page = render_page(sample_review())
    before, _, details = page.partition('id="details"')
    assert "Review history" in details
    assert '<details class="details">' in details
    blob = plan_data()["milestones"][0]["code_changes"][0]["after"][:12]
    assert blob in details
    assert blob not in before
