"""Depth intent: the design is approved before code is written, and the code after that."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import plan_path, superseded_plan_path
from shared.run import open_state
from tests.e2e.conftest import set_hook
from tests.journey import FILES, POINTS, VERIFIED, Journey, call, way_out, words_of
from tests.ways_out import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def submitted(make_repo: Repositories) -> Journey:
    """Return a run whose intents wait for approval."""
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.start("--depth", "intent")
    return journey.to("submitted")


def frozen(path: str) -> dict[str, object]:
    """Return a stored plan."""
    with open(path, encoding="utf-8") as file:
        plan: dict[str, object] = json.load(file)
    return plan


@pytest.mark.requirement("PL-20")
def test_intents_are_approved_then_the_code_and_only_that_is_committed(submitted: Journey) -> None:
    path = submitted.repository.path / "src" / "a.py"
    assert "their code is written then" in submitted.last.data("summary")
    assert "src/a.py" in submitted.last.data("summary")
    submitted.to("writing")
    state = open_state(submitted.state_dir, "/")
    assert (state.run.depth, state.run.stage, state.run.revision) == ("full", "gathering", 2)
    intents = frozen(superseded_plan_path(submitted.state_dir, 1))
    assert submitted.last.block.findtext("rules"), "nothing was written yet that could be revised"
    before = path.read_text()
    submitted.to("submitted")
    assert path.read_text() == before
    assert "changed since revision 1: " in submitted.last.data("summary")
    assert submitted.to("committed").last.block.get("digest") != intents["digest"]
    assert path.read_text() != before
    assert submitted.repository.git("log", "--format=%s", "-1")
    done = [r["action"] for r in state.database.audit_rows(state.run)]
    assert [a for a in done if a in ("approve", "write", "apply", "finish")] == [
        "approve", "write", "approve", "apply", "finish"
    ]  # fmt: skip


def test_code_is_not_started_before_its_intents_are_approved(submitted: Journey) -> None:
    refused = submitted.planner("exec", "apply")
    assert refused.code == 1
    assert "no person has approved this revision" in refused.text
    assert frozen(plan_path(submitted.state_dir))["revision"] == 1


def test_a_host_killed_while_opening_the_code_step_goes_on(submitted: Journey) -> None:
    """The next revision is already in the file but not in the database."""
    database = submitted.repository.path / ".planner" / "planner.db"
    submitted.to("approved")
    known = database.read_bytes()
    submitted.to("writing")
    opened = frozen(plan_path(submitted.state_dir))
    database.write_bytes(known)
    answer = submitted.planner("exec", "apply")
    assert answer.block.get("name") == "impl-execute", answer.text
    assert frozen(plan_path(submitted.state_dir)) == opened
    assert submitted.planner("exec", "apply").text == answer.text, "repeated, it changes nothing"


@pytest.mark.requirement("VR-5")
@pytest.mark.parametrize(
    ("hook", "body"),
    [
        ("prepare-commit-msg", "exit 1\n"),
        ("commit-msg", "exit 1\n"),
    ],
)
def test_the_commit_of_written_code_is_rehearsed_before_its_own_freeze(
    submitted: Journey, hook: str, body: str
) -> None:
    repository = submitted.repository
    submitted.to("writing")
    set_hook(repository, hook, body)
    submitted.planner("mode", "rebase")
    head, before = repository.git("rev-parse", "HEAD"), repository.git("status", "--porcelain")
    while submitted.last.code == 0:
        block = submitted.last
        assert submitted.point not in (POINTS["submitted"], POINTS["applied"]), "it was frozen"
        submitted.advance()
    kind, text = submitted.last.problems[0]
    assert kind == "refused"
    assert "the plan cannot be frozen: the hook " + hook in text
    state = open_state(submitted.state_dir, "/")
    assert (state.run.revision, state.run.digest) == (2, None)
    assert frozen(plan_path(submitted.state_dir))["frozen_at"] is None
    assert repository.git("rev-parse", "HEAD") == head
    assert repository.git("status", "--porcelain") == before
    set_hook(repository, hook, "exit 0\n")
    submitted.last = block
    submitted.planner("mode", "rebase")
    submitted.last = submitted.planner("step", "executor")
    assert submitted.to("committed").last.data("proof")


@pytest.mark.requirement("VR-5")
def test_a_pre_commit_hook_that_refuses_written_code_is_found_when_it_is_handed_in(
    submitted: Journey,
) -> None:
    submitted.to("writing")
    set_hook(submitted.repository, "pre-commit", "echo not so; exit 1\n")
    submitted.planner("mode", "rebase")
    while submitted.last.code == 0:
        assert submitted.point not in (POINTS["submitted"], POINTS["applied"]), "it was frozen"
        submitted.advance()
    assert "not so" in submitted.last.text
    assert open_state(submitted.state_dir, "/").run.digest is None


def test_remarks_on_intents_change_the_design_before_anything_is_written(
    submitted: Journey,
) -> None:
    submitted.write_answer("remarks.md", "Keep the name f.")
    submitted.follow(submitted.last.next("remarks"))
    assert submitted.point == "planner 3"
    submitted.answers["design.json"] = []
    submitted.to("submitted")
    state = open_state(submitted.state_dir, "/")
    assert (state.run.depth, state.run.revision) == ("intent", 2)
    assert submitted.to("writing").last.block.findtext("rules")


@pytest.mark.parametrize("committed", [False, True])
def test_a_planned_file_that_changes_after_the_approval_leads_to_a_revision(
    submitted: Journey, *, committed: bool
) -> None:
    journey = submitted.to("approved")
    journey.repository.write("src/a.py", "# mine\n\n\n\ndef f(x):\n    return x + 1\n")
    if committed:
        journey.repository.commit(message="My own work")
    words = words_of(journey.last.next())
    refused = journey.run(*words)
    assert refused.code == 1, refused.text
    walk = Walk(journey)
    walk.lead_out(words, refused)
    assert ["plan", "revise"] in [taken[:2] for taken in walk.taken]


@pytest.mark.requirement("PL-26", "PL-28")
def test_a_design_that_a_commit_has_overtaken_is_not_approved_and_its_revision_is_on_the_new_base(
    submitted: Journey,
) -> None:
    mine = "# mine\n\n\n\ndef f(x):\n    return x + 1\n"
    submitted.repository.commit({"src/a.py": mine}, "My own work")
    for _ in range(2):
        rebased = submitted.planner("mode", "rebase")
        assert words_of(rebased.next())[:2] == ["plan", "revise"], rebased.text
    refused = submitted.run(*words_of(submitted.last.person()))
    assert (refused.code, refused.problems[0][0]) == (1, "conflict")
    assert "src/a.py: was changed since the design was made" in refused.text.replace('">', ": ")
    submitted.follow(way_out(refused.problems[0][1]))
    submitted.answers["design.json"] = []
    submitted.to("submitted").to("writing")
    assert (Path(submitted.state_dir) / "milestones/M-001/src/a.py").read_text() == mine


@pytest.mark.requirement("PL-26", "SD-7")
def test_the_revision_of_an_overtaken_design_has_a_file_in_a_folder_that_git_does_not_know(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    mine = journey.repository.write("docs/deep/new.md", "mine\n")
    journey.start("--depth", "intent", "--base", "head")
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["files"] = ["docs/deep/new.md"]
        if edit.get("kind") == "intent":
            edit["fields"]["file"] = "docs/deep/new.md"
    journey.to("submitted")
    refused = journey.run(*words_of(journey.last.person()))
    assert "was changed since the design was made" in refused.text
    journey.follow(way_out(refused.problems[0][1]))
    journey.answers["design.json"] = []
    journey.to("submitted").to("writing")
    there = Path(journey.state_dir) / "milestones/M-001/docs/deep/new.md"
    assert there.read_bytes() == mine.read_bytes()


def test_the_depth_is_chosen_before_the_design_is_decided(submitted: Journey) -> None:
    refused = submitted.planner("start", "--depth", "full")
    assert refused.code == 1
    assert "the depth is intent, which cannot change after the design is decided" in refused.text
    assert open_state(submitted.state_dir, "/").run.depth == "intent"


@pytest.mark.requirement("PL-19")
def test_frozen_intents_are_sound_and_go_on_beside_a_clone(
    submitted: Journey, tmp_path: Path
) -> None:
    plan = plan_path(submitted.state_dir)
    assert submitted.run("validate", "--require-frozen", plan).code == 0
    submitted.repository.git("clone", "--quiet", str(submitted.repository.path), f"{tmp_path}/c")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(plan, alone)
    digest = words_of(submitted.last.person())[1]
    answer = call(tmp_path / "c", "approve", digest, "--state-dir", str(alone))
    assert answer.code == 0, answer.text
    written = call("/", *words_of(answer.next()))
    assert written.block.get("name") == "impl-execute", written.text
    assert (alone / "worktree" / "src").is_dir()
