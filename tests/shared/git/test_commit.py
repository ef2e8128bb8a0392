"""The commit is the plan, or the branch does not move."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git import command
from shared.git.apply import apply
from shared.git.change import FileChange, revert_changes
from shared.git.commit import Committed, commit
from shared.git.proof import check_commit
from shared.git.repository import find_repository
from shared.git.users_files import check_tree
from shared.git.vault import open_vault
from shared.git.worktree import remove_worktree
from state.errors import Refused
from tests.forms import part
from tests.kills import killed_after
from tests.shared.git.conftest import DIGEST, Project, add_hook, look

if TYPE_CHECKING:
    from pathlib import Path

MESSAGE = f"Do the planned thing\n\nBecause it was approved.\n\nPlan-Digest: {DIGEST}\n"
EXTRA: dict[str, bytes | None] = {"planning/plans/r1.json": b'{"digest":"d"}\n'}
PLAN: dict[str, bytes | None] = {
    "src/app.py": b"a = 1\nb = 3\n",
    "src/new.py": b"c = 1\n",
    "README.md": None,
}


def _commit(project: Project, changes: list[FileChange], **other: object) -> Committed:
    options = {"message": MESSAGE, "extra": EXTRA, **other}
    return commit(project.repo, project.vault, changes, **options)  # type: ignore[arg-type]


def _refused(project: Project, changes: list[FileChange], **other: object) -> Refused:
    before = (
        project.git("for-each-ref"),
        (project.root / ".git/index").read_bytes(),
        look(project.root),
    )
    with pytest.raises(Refused) as caught:
        _commit(project, changes, **other)
    assert before == (
        project.git("for-each-ref"), (project.root / ".git/index").read_bytes(), look(project.root)
    )  # fmt: skip
    return caught.value


def _places(refusal: Refused) -> list[str]:
    return [problem.at for problem in refusal.problems]


@pytest.mark.requirement("PL-29")
def test_the_commit_is_the_plan_and_the_archived_plan_on_the_users_branch(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    parent = project.git("rev-parse", "HEAD")
    done = _commit(project, changes)
    assert done == Committed(project.git("rev-parse", "main"), parent, "main")
    assert check_commit(project.repo, done.commit, changes, EXTRA) == []
    assert project.git("status", "--porcelain") == ""
    assert project.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert (project.root / "planning/plans/r1.json").read_bytes() == EXTRA["planning/plans/r1.json"]
    assert project.git("log", "-1", "--format=%B") == MESSAGE.strip()
    assert project.git("log", "-1", "--format=%an %ce") == "Tester tester@example.org"
    assert project.git("reflog", "-1", "--format=%gs") == "commit: Do the planned thing"
    assert project.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.requirement("PL-29")
def test_without_hooks_a_commit_needs_no_worktree(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    remove_worktree(project.repo, str(project.worktree))
    done = _commit(project, changes, message=MESSAGE.replace("\n\nB", "   \n\n\n\nB"))
    assert check_commit(project.repo, done.commit, changes, EXTRA) == []
    assert project.git("log", "-1", "--format=%B") == MESSAGE.strip()
    assert project.git("status", "--porcelain") == ""


@pytest.mark.requirement("PL-29")
def test_staged_and_unstaged_work_of_the_user_stays(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.write({"run.sh": b"staged\n", "mine.txt": b"staged too\n"})
    project.git("add", "run.sh", "mine.txt")
    project.write({"run.sh": b"unstaged\n", "loose.txt": b"l\n"})
    done = _commit(project, changes)
    assert project.git("status", "--porcelain").split("\n") == [
        "A  mine.txt",
        "MM run.sh",
        "?? loose.txt",
    ]
    assert project.git("diff", "--name-only", f"{done.parent}", done.commit).split("\n") == [
        "README.md", "planning/plans/r1.json", "src/app.py", "src/new.py",
    ]  # fmt: skip


@pytest.mark.requirement("PL-29")
def test_a_plan_that_the_user_staged_already_is_committed(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.git("add", "-A")
    _commit(project, changes)
    assert project.git("status", "--porcelain") == ""


@pytest.mark.requirement("PL-29")
def test_a_file_that_differs_in_head_is_refused_by_name(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.git("commit", "-qm", "theirs", "src/app.py")
    assert _places(_refused(project, changes)) == ["src/app.py"]


@pytest.mark.requirement("PL-29")
def test_a_file_with_other_content_staged_is_refused_by_name(project: Project) -> None:
    changes = project.plan(PLAN)
    project.write({"src/app.py": b"staged by the user\n"})
    project.git("add", "src/app.py")
    assert _places(_refused(project, changes)) == ["src/app.py"]


@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize("where", ["HEAD", "your index"])
def test_a_file_in_the_way_of_a_planned_folder_is_refused_by_name(
    project: Project, where: str
) -> None:
    changes = project.plan({"x/y": b"new\n"})
    project.write({"x": b"file\n"})
    project.git("add", "x")
    if where == "HEAD":
        project.git("commit", "-qm", "theirs")
    refusal = _refused(project, changes)
    assert set(_places(refusal)) == {"x"}
    assert where in str(refusal)


@pytest.mark.requirement("PL-29")
def test_head_may_have_moved_elsewhere(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.write({"other.txt": b"o\n"})
    project.git("add", "other.txt")
    project.git("commit", "-qm", "meanwhile")
    done = _commit(project, changes)
    assert done.parent == project.git("rev-parse", "HEAD^")
    assert check_commit(project.repo, done.commit, changes, EXTRA) == []


@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize("state", ["detached", "merge"])
def test_a_detached_head_or_a_merge_is_refused(project: Project, state: str) -> None:
    changes = project.plan(PLAN)
    if state == "detached":
        project.git("checkout", "-q", "--detach")
    else:
        (project.root / ".git/MERGE_HEAD").write_text(project.git("rev-parse", "HEAD") + "\n")
    _refused(project, changes)


# hooks and signing


@pytest.mark.quick
@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize(
    ("edit", "named"),
    [
        ("echo x >> src/new.py; git add src/new.py", ["src/new.py"]),
        ("git rm -q --cached src/new.py", ["src/new.py"]),
        ("git update-index --chmod=+x run.sh", ["run.sh"]),
        ("echo x > planning/plans/r1.json; git add planning", ["planning/plans/r1.json"]),
        ("git rm -q --cached planning/plans/r1.json", ["planning/plans/r1.json"]),
    ],
)
def test_a_hook_that_changes_the_commit_is_refused_and_the_branch_stays(
    project: Project, edit: str, named: list[str]
) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    add_hook(project, "pre-commit", edit + "\n")
    assert _places(_refused(project, changes)) == ["commit", *named]


@pytest.mark.requirement("PL-29")
def test_a_file_that_a_hook_adds_to_the_commit_is_refused_and_stays_beside(
    project: Project,
) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    add_hook(project, "pre-commit", "echo x >more.txt; git add more.txt\n")
    with pytest.raises(Refused) as caught:
        _commit(project, changes)
    assert _places(caught.value) == ["commit", "more.txt"]
    assert project.git("status", "--porcelain").endswith("?? more.txt\n?? src/new.py")


@pytest.mark.requirement("VR-5")
def test_a_hook_that_changes_the_commit_is_named_with_the_difference_and_the_way_out(
    project: Project,
) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    format_ = (
        'for f in $(git diff --cached --name-only); do echo "# formatted" >> $f; git add $f; done'
    )
    add_hook(project, "pre-commit", f"{format_}\n")
    first = _refused(project, changes)
    problem = first.problems[0]
    assert problem.problem.startswith("a hook (pre-commit) changed the commit")
    assert problem.retry == "planner undo"
    assert "+++ b/src/new.py" in problem.output
    assert "+# formatted" in problem.output
    assert next(p.problem for p in _refused(project, changes).problems) == problem.problem


@pytest.mark.requirement("PL-29", "CM-4")
def test_a_hook_sees_the_users_folder_with_the_plan_alone_staged(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.write({"run.sh": b"staged\n", "loose.txt": b"l\n"})
    project.git("add", "run.sh")
    seen = project.root.parent / "seen"
    look_at = "git diff --cached --name-only; git diff --name-only; ls; cat src/app.py; "
    look_at += "test -d .git && git symbolic-ref HEAD; pwd"
    add_hook(project, "pre-commit", f"({look_at}) >'{seen}'\n")
    _commit(project, changes)
    assert seen.read_text().split("\n")[:-1] == [
        "README.md", "planning/plans/r1.json", "src/app.py", "src/new.py", "run.sh",
        "loose.txt", "planning", "run.sh", "src", "a = 1", "b = 3",
        "refs/heads/main", str(project.root),
    ]  # fmt: skip
    assert project.git("status", "--porcelain") == "M  run.sh\n?? loose.txt"


@pytest.mark.requirement("PL-29", "CM-4")
@pytest.mark.parametrize("edit", ["echo x >>src/new.py", "rm src/new.py; echo new >README.md"])
def test_planned_files_that_hooks_change_are_as_applied_where_the_commit_is_refused(
    project: Project, edit: str
) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    add_hook(project, "pre-commit", f"{edit}; exit 1\n")
    assert _places(_refused(project, changes)) == ["git commit"]
    assert check_tree(project.repo, project.vault, changes) == []


@pytest.mark.requirement("PL-29")
def test_a_failing_hook_refuses_with_its_output_and_can_be_repeated(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    add_hook(project, "commit-msg", "echo bad message >&2; exit 1\n")
    assert _refused(project, changes).problems[0].output == "bad message"
    (project.root / ".git/hooks/commit-msg").unlink()
    _commit(project, changes)
    assert project.git("rev-list", "--count", "HEAD") == "2"


@pytest.mark.requirement("PL-29")
def test_a_link_in_the_way_of_the_archived_plan_is_refused(project: Project) -> None:
    changes = project.plan(PLAN)
    (project.root / "planning").symlink_to(project.root.parent)
    assert _places(_refused(project, changes)) == ["planning/plans/r1.json"]


@pytest.mark.requirement("PL-29")
def test_a_link_in_place_of_the_archived_plan_is_refused(project: Project, tmp_path: Path) -> None:
    changes = project.plan(PLAN)
    (tmp_path / "theirs").write_text("theirs")
    (project.root / "planning" / "plans").mkdir(parents=True)
    (project.root / "planning" / "plans" / "r1.json").symlink_to(tmp_path / "theirs")
    assert _places(_refused(project, changes)) == ["planning/plans/r1.json"]
    assert (tmp_path / "theirs").read_text() == "theirs"


@pytest.mark.requirement("PL-29")
def test_a_hook_may_add_to_the_message_but_not_take_the_digest_out(project: Project) -> None:
    changes = project.plan(PLAN)
    add_hook(project, "commit-msg", 'echo "Change-Id: I1" >> "$1"\n')
    done = _commit(project, changes)
    assert "Change-Id: I1" in project.git("log", "-1", "--format=%B", done.commit)
    project.git("reset", "-q", "--hard", "HEAD^")
    add_hook(project, "commit-msg", 'echo short > "$1"\n')
    assert "Plan-Digest" in str(_refused(project, changes))


@pytest.mark.requirement("PL-29")
def test_a_message_keeps_its_lines_whatever_the_settings(project: Project) -> None:
    project.git("config", "commit.cleanup", "strip")
    project.git("config", "i18n.commitEncoding", "latin1")
    project.git("config", "commit.verbose", "true")
    message = MESSAGE.replace("Because", "# Because ü")
    _commit(project, project.plan(PLAN), message=message)
    project.git("config", "--unset", "i18n.commitEncoding")
    assert project.git("log", "-1", "--format=%B") == message.strip()


@pytest.mark.requirement("PL-29")
def test_commits_are_signed_where_the_user_signs(project: Project, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in {
        "gpg.format": "ssh",
        "user.signingKey": str(key),
        "commit.gpgSign": "true",
    }.items():
        project.git("config", name, value)
    changes = project.plan(PLAN)
    done = _commit(project, changes)
    assert "BEGIN SSH SIGNATURE" in project.git("cat-file", "commit", done.commit)
    project.git("config", "user.signingKey", str(tmp_path / "none"))
    project.git("reset", "-q", "--hard", "HEAD^")
    assert "signing" in str(_refused(project, changes))


# What an assistant could leave in the worktree, where git looks for nothing: a hook of the project.
_HIDDEN = ".husky/_/pre-commit"


@pytest.mark.requirement("PL-29", "PP-1")
def test_the_users_hooks_run_and_not_those_that_only_the_worktree_has(project: Project) -> None:
    project.commit({".gitignore": b".husky/_\n"})
    project.git("config", "core.hooksPath", ".husky/_")
    changes = project.plan(PLAN)
    ran = project.root.parent / "ran"
    project.write({_HIDDEN: f"#!/bin/sh\npwd >>'{ran}'\n".encode()}, project.worktree)
    (project.worktree / _HIDDEN).chmod(0o755)
    _commit(project, changes)
    assert not ran.exists()
    project.git("reset", "-q", "--hard", "HEAD^")
    project.write({_HIDDEN: f"#!/bin/sh\npwd >>'{ran}'\n".encode()})
    (project.root / _HIDDEN).chmod(0o755)
    _commit(project, changes)
    assert ran.read_text() == f"{project.root}\n"


@pytest.mark.requirement("PL-29")
def test_line_ends_in_the_users_tree_do_not_alter_the_commit(project: Project) -> None:
    project.git("config", "core.autocrlf", "true")
    changes = project.plan({"src/app.py": b"a = 9\r\n", "n.txt": b"n\r\n"})
    project.apply(changes)
    done = _commit(project, changes)
    assert check_commit(project.repo, done.commit, changes, EXTRA) == []
    assert project.git("status", "--porcelain") == ""


# races, crashes, repetition


@pytest.mark.requirement("PL-29")
def test_a_branch_that_moves_meanwhile_is_not_moved_back(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    move = f"git -C '{project.root}' -c core.hooksPath=/dev/null commit -q --allow-empty -m race"
    add_hook(project, "pre-commit", f"unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; {move}\n")
    with pytest.raises(Refused, match="the branch was not moved"):
        _commit(project, changes)
    assert project.git("log", "-1", "--format=%s") == "race"
    (project.root / ".git/hooks/pre-commit").unlink()
    _commit(project, changes)
    assert project.git("log", "--format=%s").split("\n") == ["Do the planned thing", "race", "work"]


@pytest.mark.requirement("PL-29")
def test_repeating_gives_the_same_commit_also_when_more_came_after(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    done = _commit(project, changes)
    assert _commit(project, changes) == done
    project.git("commit", "-q", "--allow-empty", "-m", "later")
    assert _commit(project, changes) == done
    assert project.git("rev-list", "--count", "HEAD") == "3"


@pytest.mark.slow
@pytest.mark.requirement("PL-29")
def test_a_commit_killed_at_any_point_ends_in_exactly_one(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.write({"run.sh": b"staged\n"})
    project.git("add", "run.sh")
    start = project.git("rev-parse", "HEAD")
    index = (project.root / ".git/index").read_bytes()

    def anew() -> None:
        repo = find_repository(str(project.root))
        vault = open_vault(repo, project.vault.path)
        commit(repo, vault, changes, MESSAGE, EXTRA)

    for number in part(range(1, 60), 3):
        is_killed = killed_after(number, command, "_start", anew)
        _commit(project, changes)
        assert project.git("rev-list", "--count", "HEAD") == "2"
        assert project.git("status", "--porcelain") == "M  run.sh"
        if not is_killed:
            break
        project.git("update-ref", "refs/heads/main", start)
        (project.root / ".git/index").write_bytes(index)
        (project.root / "planning/plans/r1.json").unlink()
    else:
        pytest.fail("never came to its end")
    assert number > 25


# proof and taking back


@pytest.mark.requirement("PL-29")
def test_the_proof_names_every_path_that_is_not_the_plan(project: Project) -> None:
    changes = project.plan(PLAN)
    made = project.commit(
        {**PLAN, "src/new.py": b"other\n", "more.txt": b"m\n", "README.md": b"Hello\n"}
    )
    found = check_commit(project.repo, made, changes, EXTRA)
    assert [problem.at for problem in found] == [
        "planning/plans/r1.json", "README.md", "more.txt", "src/new.py",
    ]  # fmt: skip
    project.git("checkout", "-qb", "side", "HEAD^")
    project.commit({"s": b"s"})
    project.git("merge", "-q", "--no-edit", "main")
    assert "2 parents" in check_commit(project.repo, "HEAD", changes, EXTRA)[0].problem


@pytest.mark.quick
@pytest.mark.requirement("PL-31")
def test_taking_a_committed_plan_back_makes_a_revert_commit(project: Project) -> None:
    changes = project.plan(PLAN)
    before = look(project.root)
    project.apply(changes)
    done = _commit(project, changes)
    back = revert_changes(project.vault, changes, project.repo.zero)
    journal = str(project.state / "undo")
    apply(project.repo, project.vault, back, journal, "e" * 64)
    for _ in range(2):
        reverted = _commit(
            project, back, message="Revert it\n\nReverts-Plan: d\n", extra=dict.fromkeys(EXTRA)
        )
    assert reverted.parent == done.commit
    assert project.git("rev-parse", f"{reverted.commit}^{{tree}}") == project.git(
        "rev-parse", f"{done.parent}^{{tree}}"
    )
    assert look(project.root) == before
    assert project.git("status", "--porcelain") == ""


@pytest.mark.requirement("PL-29")
def test_check_tree_names_what_the_user_changed_after_the_apply(project: Project) -> None:
    changes = project.plan(PLAN)
    assert [p.at for p in check_tree(project.repo, project.vault, changes)] == [
        "README.md", "src/app.py", "src/new.py",
    ]  # fmt: skip
    project.apply(changes)
    project.write({"src/new.py": b"edited\n"})
    assert [p.at for p in check_tree(project.repo, project.vault, changes)] == ["src/new.py"]
    os.unlink(project.root / "src/new.py")
    (project.root / "src/new.py").symlink_to("app.py")
    assert [p.at for p in check_tree(project.repo, project.vault, changes)] == ["src/new.py"]


def test_from_a_linked_worktree_of_the_user_its_own_branch_moves(
    project: Project, tmp_path: Path
) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Project(tmp_path / "side")
    changes = side.plan(PLAN)
    side.apply(changes)
    assert _commit(side, changes).branch == "side"
    assert side.git("status", "--porcelain") == ""
    assert project.git("rev-list", "--count", "main") == "1"
