"""What a run refuses when its files are damaged, its apply is interrupted, or it cannot begin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.git.journal import journal_state
from shared.mode.where import database_path
from shared.resources import journal_path
from shared.run import open_state
from tests.journey import FILES, REQUEST, Answer, Journey, call
from tests.kills import Kept, first_moment, moments_of
from tests.ways_out import Walk, ways_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def refused(answer: Answer, kind: str, *said: str) -> Answer:
    """Assert that a command was refused, first with these words; return the answer."""
    assert answer.text.startswith("<error"), answer.text
    found, text = answer.problems[0]
    assert found == kind, answer.text
    assert all(word in text for word in said), answer.text
    return answer


@pytest.mark.requirement("PL-31")
def test_while_an_apply_is_interrupted_neither_cancel_nor_an_edit_of_the_plan_runs(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    kept, words = Kept(journey.repository), ("exec", "apply", "--state-dir", journey.state_dir)
    moments = moments_of(journey.repository.path, *words)

    def begun() -> bool:
        return journal_state(journal_path(journey.state_dir)) is not None

    first_moment(kept, words, moments, begun)
    assert journal_state(journal_path(journey.state_dir)) == "applying"
    answer = refused(journey.planner("cancel"), "conflict", "was interrupted")
    assert ("undo", "--state-dir", journey.state_dir) in [tuple(w) for w in ways_of(answer)]
    edit = journey.planner("plan", "add", "decision", "--decision", "A")
    ways = ways_of(refused(edit, "conflict", "nothing else may run"))
    assert [way[0] for way in ways] == ["exec", "undo"]
    walk = Walk(journey)
    walk.lead_out(["plan", "add", "decision"], edit)
    walk.go_on()
    walk.to_the_end()


@pytest.mark.requirement("PL-14")
def test_milestones_that_share_a_file_keep_a_plan_at_its_depth(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    design = journey.answers["design.json"]
    again = {**design[2], "as": "$n", "fields": {**design[2]["fields"], "name": "Again",
             "depends_on": ["$m"]}}  # fmt: skip
    intent = {"milestone": "$n", "file": "src/a.py", "behavior": "adds three"}
    journey.answers["design.json"] = [
        *design, again, {"op": "add", "kind": "intent", "fields": intent},
    ]  # fmt: skip
    journey.start("--depth", "intent")
    journey.to("design")
    batch = journey.answers["design.json"]
    journey.write_answer("design.json", batch)
    assert journey.planner("plan", "batch", "--file", "answers/design.json").code == 0
    answer = journey.planner("start", REQUEST, "--depth", "full")
    assert answer.text.startswith("<error"), answer.text
    assert "src/a.py" in answer.text
    assert open_state(journey.state_dir, "/").run.depth == "intent"


@pytest.mark.requirement("PL-26")
def test_a_draft_that_lost_its_base_is_refused_with_how_to_begin_anew(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    path = Path(journey.state_dir, "plan.json")
    kept = path.read_bytes()
    plan: dict[str, Any] = json.loads(kept)
    path.write_text(json.dumps({**plan, "base": None}))
    answer = refused(journey.planner("plan", "capture"), "refused", "names no base")
    assert "planner start" in answer.text
    path.write_bytes(kept)
    journey.to("committed")


@pytest.mark.requirement("PL-32")
def test_a_start_that_finds_a_draft_without_a_base_is_refused(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    repository.write("src/a.py", "mine\n")
    journey = Journey(repository)
    journey.start()
    assert journey.last.block.find("ask") is not None
    other = Journey(make_repo("other", files=FILES)).to("code")
    plan = json.loads(Path(other.state_dir, "plan.json").read_text())
    path = Path(journey.state_dir, "plan.json")
    path.write_text(json.dumps({**plan, "base": None}))
    refused(journey.planner("start", REQUEST, "--base", "head"), "invalid", "no base commit")
    path.unlink(missing_ok=True)
    assert journey.planner("start", REQUEST, "--base", "head").code == 0


@pytest.mark.requirement("PL-31")
def test_runs_without_their_database_are_taken_up_by_a_person(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    folder = journey.repository.path
    Path(database_path(str(folder))).unlink()
    answer = refused(call(folder, "status"), "not_found", "the planner's database is gone")
    (way,) = ways_of(answer)
    assert call(folder, *way).code == 0
    assert call(folder, "status").code == 0
