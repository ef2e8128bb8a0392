"""Undoing an apply: the old bytes before the commit, a revert commit after it (PL-31)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.undo import undo_plan
from shared.run import open_state
from state.errors import Refused
from tests.e2e.conftest import set_hook
from tests.e2e.drawn import alter
from tests.journey import FILES, Journey, way_out, words_of
from tests.ways_out import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_before_the_commit_the_files_that_hold_their_old_bytes_are_returned(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    state = open_state(journey.state_dir, "/")
    undone = undo_plan(state)
    assert (sorted(undone.files), undone.revert) == (sorted(journey.edits), "")
    for name in journey.edits:
        assert (journey.repository.path / name).read_text() == FILES[name]
    assert (state.run.status, state.run.workflow, state.run.step) == ("ACTIVE", "executor", 2)


def test_after_the_commit_a_revert_commit_is_returned_and_the_run_is_cancelled(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    state = open_state(journey.state_dir, "/")
    undone = undo_plan(state)
    assert undone.revert == journey.repository.git("rev-parse", "HEAD")
    assert sorted(undone.files) == sorted(journey.edits)
    assert journey.repository.git("diff", "HEAD~2", "HEAD") == ""
    assert state.run.status == "CANCELLED"


def test_where_nothing_was_applied_there_is_nothing_to_undo(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    with pytest.raises(Refused, match="nothing to undo"):
        undo_plan(open_state(journey.state_dir, "/"))


def test_undone_again_while_the_next_revision_is_planned_the_run_stays_where_it_is(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    undo_plan(open_state(journey.state_dir, "/"))
    assert journey.planner("mode", "edit", "Say why").code == 0
    state = open_state(journey.state_dir, "/")
    before = (state.run.stage, state.run.workflow, state.run.step)
    assert before == ("gathering", "planner", 3)
    undo_plan(state)
    assert (state.run.stage, state.run.workflow, state.run.step) == before


def test_taken_back_before_it_is_told_whatever_became_of_the_files_since(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    undone = undo_plan(open_state(journey.state_dir, "/"))
    (journey.repository.path / "src/a.py").write_text("# mine\n")
    again = undo_plan(open_state(journey.state_dir, "/"))
    assert again == undone._replace(before=True)
    assert (journey.repository.path / "src/a.py").read_text() == "# mine\n"


@pytest.mark.parametrize("command", ["exec apply", "undo"])
@pytest.mark.parametrize("kind", ["change", "delete"])
def test_a_file_changed_since_it_was_written_leads_out(
    make_repo: Repositories, command: str, kind: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied" if command != "undo" else "committed")
    path = journey.repository.path / "src/a.py"
    words = [*command.split(), "--state-dir", journey.state_dir]
    if command == "undo":  # killed after its commit, before it is noted
        state = open_state(journey.state_dir, "/")
        undo_plan(state)
        with state.database:
            state.database.move_run(state.run.run_id, state.run.stage, "COMPLETED")
    alter(journey.repository.path, "src/a.py", kind, "mine")
    refused = journey.run(*words)
    assert refused.code == 1
    assert path.exists() == (kind == "change")
    Walk(journey).lead_out(words, refused)
    assert journey.run(*words).code == 0


def test_where_the_revert_cannot_be_committed_no_file_is_written(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    journey.repository.git("switch", "--quiet", "--detach")
    with pytest.raises(Refused, match="HEAD is detached"):
        undo_plan(open_state(journey.state_dir, "/"))
    assert journey.repository.git("status", "--porcelain") == ""


@pytest.mark.requirement("PL-31")
def test_a_revert_that_hooks_refuse_leaves_all_as_it_was_and_ends_without_hooks_by_hand(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    git, before = journey.repository.git, journey.repository.git("rev-parse", "HEAD")
    body = 'grep -q "^Revert" "$1" && { echo "no type in the title"; exit 1; }\nexit 0\n'
    set_hook(journey.repository, "commit-msg", body)
    refused = journey.planner("undo")
    assert refused.code == 1
    assert "no type in the title" in refused.text
    assert words_of(way_out(refused.problems[0][1]))[0] == "start"
    assert (git("rev-parse", "HEAD"), git("status", "--porcelain")) == (before, "")
    for command in ("revert --no-commit ", "commit --no-verify --file "):
        words = shlex.split(refused.text.partition(f"git {command}")[2].partition("`")[0])
        git(*command.split(), *words)
    done = journey.planner("undo")
    assert done.code == 0, done.text
    assert git("diff", "HEAD~2", "HEAD") == ""
    assert open_state(journey.state_dir, "/").run.status == "CANCELLED"


@pytest.mark.requirement("PL-31")
def test_signing_that_breaks_after_the_approval_offers_the_undo(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    journey.repository.git("config", "commit.gpgSign", "true")
    journey.repository.git("config", "gpg.program", "false")
    refused = journey.planner("exec", "commit")
    assert refused.code == 1
    assert "or take the apply back: " in refused.text
    assert journey.planner("undo").code == 0
