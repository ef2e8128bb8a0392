"""A round whose plan is made at depth intent: the design is approved, then the code (RL-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.requirements_record import CURRENT
from shared.run import open_state
from tests.conftest import Repository
from tests.journey import call, words_of
from tests.requirement_rounds import FILES, SUMMARY, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.requirement("RL-2", "RL-8", "RL-9", "PL-27")
def test_a_round_at_depth_intent_goes_from_its_start_to_its_commit(
    make_repo: Callable[..., Repository],
) -> None:
    rounds = Rounds(make_repo(files=FILES), "--depth", "intent")
    plan = rounds.to_plan().to("submitted")
    assert open_state(plan.state_dir, "/").run.depth == "intent"
    assert rounds.text("todo.md").endswith("- [ ] M-001 Add two\n")
    plan.to("writing")
    assert rounds.run("complete").data("not done") == "M-001 Add two"
    rounds.last = plan.to("submitted").to("applied").last
    assert rounds.text("todo.md").endswith("- [x] M-001 Add two\n")
    ready = rounds.follow("done")
    index = rounds.repository.git("write-tree")
    assert {"src/a.py", "tests/test_a.py"} <= {*ready.data("staged").splitlines()}
    note = rounds.follow("continue").data("note")
    assert "2 files exactly as the plan" in note
    assert rounds.repository.git("rev-parse", "HEAD^{tree}") == index
    assert rounds.repository.git("status", "--porcelain") == ""
    copy = f"{plan.state_dir}/plan.json"
    words = ("validate", "--require-frozen", copy, "--commit", "HEAD")
    answer = call(rounds.repository.path, *words)
    assert answer.code == 0, answer.text


@pytest.mark.requirement("RL-2")
def test_depth_and_review_are_kept_while_the_folder_is_asked_for(repo: Repository) -> None:
    asked = call(repo.path, "start", "--planning", "--depth", "intent", "--review", "none")
    words = words_of(asked.next("here"))
    assert tuple(words[2:6]) == ("--depth", "intent", "--review", "none")
    assert call(repo.path, *words).code == 0


@pytest.mark.requirement("RL-2", "RL-8")
def test_the_chosen_review_is_that_of_each_plan(make_repo: Callable[..., Repository]) -> None:
    rounds = Rounds(make_repo(files=FILES), "--review", "full")
    rounds.to_accepted()
    rounds.write_answer("summary.md", SUMMARY)
    begun = rounds.follow("yes")
    assert open_state(begun.block.get("state_dir", ""), "/").run.review == "full"


@pytest.mark.requirement("RL-2")
def test_a_base_is_ignored_with_a_note(rounds: Rounds) -> None:
    rounds.options = ("--base", "head")
    assert "--base is ignored with --planning" in rounds.start().data("note")


@pytest.mark.requirement("RL-2", "PL-35")
def test_a_round_outside_of_git_is_implemented_as_a_plain_start_is(tmp_path: Path) -> None:
    folder = Repository(tmp_path / "folder")
    for name, text in FILES.items():
        folder.write(name, text)
    rounds = Rounds(folder, "--no-git")
    plan = rounds.to_plan()
    assert open_state(plan.state_dir, "/").run.depth == "intent"
    refused = call(folder.path, "start", "--planning", "--no-git", "--depth", "full",
                   "--codepath", str(folder.path))  # fmt: skip
    assert refused.code == 1
    assert "without git only intents are approved first" in refused.problems[0][1]


@pytest.mark.requirement("RL-2", "PL-20")
def test_who_works_alone_does_so_in_the_lane_too(make_repo: Callable[..., Repository]) -> None:
    rounds = Rounds(make_repo(files=FILES), "--alone")
    shown = rounds.to_review()
    assert shown.runs() == []
    assert "put them in front of the file" in (shown.block.findtext("task") or "")
    text = rounds.text("new_requirements.md")
    rounds.write("new_requirements.md", f"{CURRENT}\n\n- f adds two\n\n{text}")
    rounds.follow("done")
    rounds.write_answer("summary.md", SUMMARY)
    assert open_state(rounds.follow("yes").state_dir, "/").run.alone
