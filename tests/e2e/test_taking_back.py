"""Undo and cancel restore the tree byte for byte, and the history keeps what was done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import APP, NEW_APP, answer_two, assert_proved
from tests.e2e.drive import Host

if TYPE_CHECKING:
    from tests.conftest import Repository


@pytest.mark.requirement("PL-31")
def test_undo_before_the_commit_restores_the_bytes_and_apply_may_follow(
    project: Repository,
) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    host.to("submitted")
    nothing = host.planner("undo")
    assert nothing.code == 1
    assert "this run has applied nothing" in nothing.text
    host.to("applied")
    assert (project.path / "src/app.py").read_text() == NEW_APP
    taken_back = host.planner("undo")
    assert taken_back.code == 0, taken_back.text
    assert (project.path / "src/app.py").read_text() == APP
    assert project.git("status", "--porcelain") == ""
    host.follow(taken_back.next("again"))
    assert_proved(project, host.to("committed").last, "src/app.py")


@pytest.mark.requirement("PL-31")
def test_undo_after_the_commit_makes_a_revert_commit_and_keeps_staged_work(
    project: Repository,
) -> None:
    base = project.git("rev-parse", "HEAD")
    host = Host(project.path, answer_two, ["src/app.py"])
    done = host.to("committed").last
    assert_proved(project, done, "src/app.py")
    project.write("notes.txt", "staged\n")
    project.git("add", "notes.txt")
    project.write("notes.txt", "and more\n")
    taken_back = host.planner("undo")
    assert taken_back.code == 0, taken_back.text
    assert project.git("rev-parse", "HEAD~2") == base
    assert project.git("rev-parse", "HEAD^") == done.block.get("commit")
    assert project.git("diff", "HEAD~2", "HEAD") == ""
    assert (project.path / "src/app.py").read_text() == APP
    assert project.git("status", "--porcelain") == "MM notes.txt"
    twice = host.planner("undo")
    assert project.git("rev-list", "--count", "HEAD") == "3", twice.text


@pytest.mark.requirement("PL-31")
def test_undo_after_the_commit_is_refused_if_the_file_changed_since(project: Repository) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    host.to("committed")
    later = project.commit({"src/app.py": f"{NEW_APP}# later\n"})
    refused = host.planner("undo")
    assert refused.code == 1
    assert "src/app.py" in refused.text
    assert project.git("rev-parse", "HEAD") == later
    assert project.git("status", "--porcelain") == ""


def test_cancel_ends_the_run_and_leaves_the_repository_as_it_was(project: Repository) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    approval = host.to("submitted").last
    cancelled = host.planner("cancel")
    assert cancelled.code == 0, cancelled.text
    assert host.planner("cancel").code == 0
    assert project.git("status", "--porcelain") == ""
    assert project.git("worktree", "list").count("\n") == 0
    assert Path(host.state_dir, "plan.json").exists()
    for command in (approval.person(), approval.next("approved")):
        refused = host.follow(command)
        assert refused.code == 1, refused.text
        assert "cancelled" in refused.text
    assert (project.path / "src/app.py").read_text() == APP


@pytest.mark.requirement("PL-31")
def test_cancel_after_the_apply_names_undo_and_undo_still_works(
    project: Repository,
) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    host.to("applied")
    cancelled = host.planner("cancel")
    assert "undo" in cancelled.text
    taken_back = host.planner("undo")
    assert taken_back.code == 0, taken_back.text
    assert (project.path / "src/app.py").read_text() == APP
    assert taken_back.all("next") == []  # the run has ended: nothing leads on
