"""Prune: ended runs shrink to plan, audit and proof, and nothing that an undo needs goes."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.run.age import seconds_of
from state.errors import Refused
from tests.conftest import Repository
from tests.journey import FILES, Answer, Journey, call

if TYPE_CHECKING:
    from collections.abc import Callable

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PC-10")


def at(make_repo: Repositories, point: str) -> Journey:
    return Journey(make_repo("project", FILES)).to(point)


def prune(journey: Journey, *options: str) -> Answer:
    answer = call(journey.repository.path, "prune", "--older-than", "0d", *options)
    assert answer.code == 0, answer.text
    return answer


def names(journey: Journey) -> set[str]:
    return set(os.listdir(journey.state_dir))


def everything(folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file() and path.name != "lock"
    }


def assert_undone(journey: Journey) -> None:
    undone = journey.planner("undo")
    assert undone.code == 0, undone.text
    assert (journey.repository.path / "src/a.py").read_text() == FILES["src/a.py"]


def test_a_completed_run_keeps_plan_audit_and_proof_and_can_be_undone(
    make_repo: Repositories,
) -> None:
    journey = at(make_repo, "committed")
    audit = journey.planner("audit").text
    before = everything(journey.state_dir)
    answer = prune(journey)
    assert names(journey) <= {"plan.json", "plan.md", "approval.json", "config.json", "lock"}
    left = everything(journey.state_dir)
    assert {name: before[name] for name in left} == left
    assert journey.planner("audit").text == audit
    plan = f"{journey.state_dir}/plan.json"
    proved = call(journey.repository.path, "validate", plan, "--commit", "HEAD")
    assert proved.code == 0, proved.text
    assert "review.html" in answer.data("removed")
    assert prune(journey).data("removed") == ""
    assert journey.planner("exec", "commit").text == journey.last.text
    assert_undone(journey)


def test_a_dry_run_says_the_same_and_changes_nothing(make_repo: Repositories) -> None:
    journey = at(make_repo, "committed")
    before = everything(journey.state_dir)
    said = prune(journey, "--dry-run").data("removed")
    assert everything(journey.state_dir) == before
    assert prune(journey).data("removed") == said


@pytest.mark.parametrize("point", ["code", "submitted", "applied"])
def test_a_run_under_way_is_left_as_it_is(make_repo: Repositories, point: str) -> None:
    journey = at(make_repo, point)
    before = everything(journey.state_dir)
    prune(journey)
    assert everything(journey.state_dir) == before
    journey.to("committed")


@pytest.mark.requirement("PL-31")
def test_the_only_copy_of_the_bytes_before_stays(make_repo: Repositories) -> None:
    """A run is cancelled after its apply: only the folder `apply` has what the user had."""
    journey = at(make_repo, "applied")
    assert journey.planner("cancel").code == 0
    answer = prune(journey)
    assert "undo needs it" in answer.data("left, an undo needs it")
    assert "apply" in names(journey)
    assert_undone(journey)
    prune(journey)
    assert "apply" not in names(journey)


@pytest.mark.requirement("PL-31")
def test_a_commit_that_no_branch_holds_is_no_copy(make_repo: Repositories) -> None:
    journey = at(make_repo, "committed")
    journey.repository.git("update-ref", "refs/heads/main", "HEAD^")
    assert "is in no commit of a branch" in prune(journey).data("left, an undo needs it")
    assert "apply" in names(journey)


def test_young_runs_stay(make_repo: Repositories) -> None:
    journey = at(make_repo, "committed")
    before = everything(journey.state_dir)
    answer = call(journey.repository.path, "prune")
    assert answer.code == 0, answer.text
    assert everything(journey.state_dir) == before


def test_records_of_worktrees_that_are_gone_go_and_no_others(make_repo: Repositories) -> None:
    ended = at(make_repo, "code")
    project = ended.repository
    live = Journey(project, "Another").to("design")
    project.git("worktree", "add", "--quiet", "--detach", "../elsewhere")
    shutil.rmtree(project.path.parent / "elsewhere")
    saved = {p: project.path.parent / p.name for p in project.path.glob(".git/worktrees/w*")}
    for record, copy in saved.items():
        shutil.copytree(record, copy)
    assert ended.planner("cancel").code == 0
    for record, copy in saved.items():  # as if the folder had been removed by hand
        shutil.rmtree(record, ignore_errors=True)
        copy.rename(record)
    shutil.rmtree(ended.state_dir)
    answer = prune(ended)
    rows = answer.data("records of worktrees that are gone").splitlines()
    assert rows == [f"{ended.state_dir}/worktree"]
    left = project.git("worktree", "list")
    assert "elsewhere" in left
    live.to("code")


def test_after_git_clean_the_doctor_names_what_is_left_of_a_run_and_a_prune_removes_it(
    make_repo: Repositories,
) -> None:
    project = at(make_repo, "code").repository
    project.git("clean", "-ffdxq")
    assert len(project.git("worktree", "list").splitlines()) == 2
    assert "records of 1 that are gone" in call(project.path, "doctor").data("findings")
    assert call(project.path, "prune", "--dry-run").data("records of worktrees that are gone")
    assert len(project.git("worktree", "list").splitlines()) == 2
    assert call(project.path, "prune").data("records of worktrees that are gone")
    assert len(project.git("worktree", "list").splitlines()) == 1
    assert "none yet" in call(project.path, "doctor").data("findings")
    assert "No run" in call(project.path, "prune").text


def test_runs_of_the_repository_around_are_left_alone(make_repo: Repositories) -> None:
    ended = at(make_repo, "committed")
    inner = Repository(ended.repository.path / "inner")
    inner.path.mkdir()
    inner.git("init", "--quiet")
    inner.commit({"a.txt": "a\n"})
    before = everything(ended.state_dir)
    assert "No run" in call(inner.path, "prune", "--older-than", "0d").text
    assert everything(ended.state_dir) == before


def drafts(project: Repository) -> set[str]:
    rows = project.git("for-each-ref", "--format=%(refname)", "refs/planner-drafts").split()
    return {name.rpartition("/")[2] for name in rows}


@pytest.mark.requirement("CM-1")
def test_refs_of_plans_that_were_never_committed_go_and_the_others_stay(
    make_repo: Repositories,
) -> None:
    committed = at(make_repo, "committed")
    project = committed.repository
    cancelled, live = Journey(project, "Another"), Journey(project, "A third")
    for number, journey in enumerate((cancelled, live), start=3):
        journey.edits = {
            "src/a.py": f"def f(x):\n    return x + {number}\n",
            "tests/test_a.py": f"from a import f\n\nassert f(1) == {number + 1}\n",
        }
    cancelled.to("submitted")
    frozen = drafts(project)
    assert len(frozen) == 1
    assert cancelled.planner("cancel").code == 0
    live.to("submitted")
    project.git("update-ref", f"refs/planner-drafts/{'0' * 64}", "HEAD")  # of another clone
    kept = drafts(project) - frozen
    answer = prune(committed, "--dry-run")
    assert frozen < drafts(project)
    assert answer.data("refs of plans that were never committed").endswith(frozen.copy().pop())
    prune(committed)
    assert drafts(project) == kept
    assert len(project.git("for-each-ref", "refs/planner/").splitlines()) == 1
    live.to("approved")


def test_a_folder_that_became_a_link_is_not_followed(
    make_repo: Repositories, tmp_path: Path
) -> None:
    journey = at(make_repo, "committed")
    aside = tmp_path / "aside"
    os.rename(journey.state_dir, aside)
    os.symlink(aside, journey.state_dir)
    before = everything(str(aside))
    assert prune(journey).data("removed") == ""
    assert everything(str(aside)) == before


def test_the_doctor_names_what_a_prune_would_free(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = at(make_repo, "committed")
    assert "planner prune" not in call(journey.repository.path, "doctor").text
    later = time.time() + 40 * 86_400
    monkeypatch.setattr("orchestrator.upkeep.prune.time.time", lambda: later)
    answer = call(journey.repository.path, "doctor")
    assert answer.code == 0, answer.text
    assert "1 run that ended more than 30d ago" in answer.data("findings")


@pytest.mark.parametrize("age", ["", "30", "d", "-1d", "30 d", "1e3d"])
def test_an_age_that_is_none_is_refused(age: str) -> None:
    with pytest.raises(Refused, match="is not an age"):
        seconds_of(age)
