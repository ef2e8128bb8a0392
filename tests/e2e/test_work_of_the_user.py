"""The user goes on working while a plan is made: nothing of theirs is lost or taken along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import (
    NEW_APP,
    answer_two,
    assert_proved,
    committed,
    set_hook,
)
from tests.e2e.drive import Host

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository
    from tests.journey import Answer


@pytest.fixture
def wip(make_repo: Callable[..., Repository]) -> Repository:
    """Return a repository with staged, unstaged, half-staged and untracked work."""
    project = make_repo(
        "project",
        {"src/app.py": "1\n", "half.txt": "1\n2\n3\n", "staged.txt": "1\n", "loose.txt": "1\n"},
    )
    project.write("half.txt", "1\n2 staged\n3\n")
    project.write("staged.txt", "2\n")
    project.write("added.txt", "new\n")
    project.git("add", "half.txt", "staged.txt", "added.txt")
    project.write("half.txt", "1\n2 staged\n3 loose\n")
    project.write("loose.txt", "2\r\n")
    project.write("untracked.txt", "u\n")
    project.git("stash", "create")
    return project


@pytest.mark.requirement("PL-32")
def test_the_snapshot_is_in_the_worktree_and_in_no_ref(wip: Repository) -> None:
    own = ("for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash")
    refs = wip.git(*own)
    seen: list[str] = []

    def edit(tree: Path) -> None:
        seen.extend((tree / name).read_text() for name in ("half.txt", "untracked.txt"))
        answer_two(tree)

    host = Host(wip.path, edit, ["src/app.py"])
    host.follow(host.start().next("snapshot"))
    host.to("submitted")
    assert seen == ["1\n2 staged\n3 loose\n", "u\n"]
    assert wip.git(*own) == refs
    assert wip.git("stash", "list") == ""


@pytest.mark.requirement("PL-26", "PL-32")
def test_a_plan_on_uncommitted_work_is_refused_until_that_work_is_committed(
    project: Repository,
) -> None:
    mine = "def answer():\n    return 1  # mine\n"
    project.write("src/app.py", mine)

    def edit(tree: Path) -> None:
        assert (tree / "src/app.py").read_text() == mine
        (tree / "src/app.py").write_text(mine.replace("1", "2"))

    host = Host(project.path, edit, ["src/app.py"])
    host.follow(host.start().next("snapshot"))
    assert host.to("code review").advance().name == "freeze"
    refused = host.advance()
    assert refused.code == 1
    assert "src/app.py" in refused.text
    assert "commit your own work on this file first" in refused.text
    assert (project.path / "src/app.py").read_text() == mine
    project.commit(message="My own work")
    assert host.planner("mode", "rebase").code == 0
    host.last = host.planner("step", "planner")
    assert_proved(project, host.to("committed").last, "src/app.py")
    assert committed(project, "src/app.py") == mine.replace("1", "2").encode()


@pytest.mark.requirement("PL-29")
def test_a_hook_that_edits_at_commit_is_refused_and_the_branch_stays(project: Repository) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    block = host.to("applied").last
    before = project.git("rev-parse", "HEAD")
    set_hook(project, "pre-commit", "echo '# sneaked in' >> src/app.py\ngit add src/app.py\n")
    refused = host.advance()
    assert refused.code == 1
    assert "src/app.py" in refused.text
    assert "the branch was not moved" in refused.text
    assert project.git("rev-parse", "HEAD") == before
    assert (project.path / "src/app.py").read_text() == NEW_APP
    set_hook(project, "pre-commit", "exit 0\n")
    assert_proved(project, host.follow(block.next("done")), "src/app.py")
    assert committed(project, "src/app.py") == NEW_APP.encode()


def run_after(host: Host, approval: Answer) -> Answer:
    """Approve and carry the plan out as printed; return what that says."""
    return host.follow(host.follow(approval.person()).next("done"))


def accept_own_edit(host: Host, refused: Answer, name: str) -> Answer:
    """Be refused because of `name`, which the user changed, and accept that as the refusal says."""
    assert refused.code == 1, refused.text
    assert name in refused.text
    rebase = refused.problems[-1][1].rpartition(" · person: ")[2]
    accepted = host.follow(rebase)
    assert accepted.code == 0, accepted.text
    assert name in accepted.data("accepted")
    return accepted


def accept_before_approval(host: Host, approval: Answer, name: str) -> None:
    """Try to approve, and accept the edit that keeps the approval from going through."""
    accept_own_edit(host, host.follow(approval.person()), name)


@pytest.mark.requirement("PL-26")
def test_head_that_moved_elsewhere_goes_through(project: Repository) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    approval = host.to("submitted").last
    moved = project.commit({"notes.txt": "somebody else's\n"})
    accept_before_approval(host, approval, "notes.txt")
    assert_proved(project, run_after(host, approval), "src/app.py")
    assert project.git("rev-parse", "HEAD^") == moved


@pytest.mark.requirement("PL-26")
def test_verify_runs_again_where_head_has_moved(make_repo: Callable[..., Repository]) -> None:
    project = make_repo(
        "project",
        {"src/app.sh": "answer=1\n", "limit.sh": "limit=3\n",
         "test.sh": '. ./src/app.sh\n. ./limit.sh\ntest "$answer" -le "$limit"\n',
         "planner.toml": '[verify]\ncommands = ["sh test.sh"]\n'},
    )  # fmt: skip
    host = Host(
        project.path, lambda tree: (tree / "src/app.sh").write_text("answer=2\n"), ["src/app.sh"]
    )
    approval = host.to("submitted").last
    assert "sh test.sh: pass" in approval.data("summary")
    moved = project.commit({"limit.sh": "limit=1\n"}, "The plan does not fit this any more")
    accept_before_approval(host, approval, "limit.sh")
    refused = run_after(host, approval)
    assert refused.code == 1, refused.text
    assert "sh test.sh" in refused.text
    assert project.git("rev-parse", "HEAD") == moved


@pytest.mark.requirement("PL-26", "PL-28")
def test_a_planned_file_that_moved_is_refused_and_a_revision_is_the_way_out(
    project: Repository,
) -> None:
    theirs = "def answer():\n    # theirs\n    return 1\n"
    met: list[str] = []

    def edit(tree: Path) -> None:
        text = (tree / "src/app.py").read_text()
        if "<<<<<<<" in text:
            met.append(text)
            (tree / "src/app.py").write_text(theirs.replace("1", "2"))
        else:
            answer_two(tree)

    host = Host(project.path, edit, ["src/app.py"])
    approval = host.to("submitted").last
    project.commit({"src/app.py": theirs})
    accept_before_approval(host, approval, "src/app.py")
    refused = run_after(host, approval)
    assert refused.code == 1
    assert "src/app.py" in refused.text
    assert (project.path / "src/app.py").read_text() == theirs
    assert project.git("status", "--porcelain") == ""
    revised = host.follow(refused.retry())
    assert revised.code == 0, revised.text
    host.answers["design.json"] = []
    assert_proved(project, host.to("committed").last, "src/app.py")
    assert "# theirs" in met[0]
    assert committed(project, "src/app.py") == theirs.replace("1", "2").encode()
