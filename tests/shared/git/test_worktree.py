"""The scratch worktree is made, found, repaired and removed without a trace in the user's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.git import command
from shared.git.links import link
from shared.git.repository import find_repository, head
from shared.git.snapshot import snapshot
from shared.git.worktree import make_worktree, open_worktree, remove_worktree
from state.errors import Refused
from tests.kills import killed_after
from tests.shared.git.conftest import Project, add_hook, look


def _make(project: Project, commit: str = "HEAD") -> None:
    make_worktree(find_repository(str(project.root)), str(project.worktree), commit)


def _users(project: Project) -> tuple[bytes, str, str]:
    index = (project.root / ".git/index").read_bytes()
    return index, project.git("for-each-ref"), project.git("reflog")


@pytest.mark.requirement("PL-32")
def test_it_holds_the_commit_detached_and_no_hook_runs(project: Project) -> None:
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        add_hook(project, name, f"touch {project.root}/ran\n")
    before = _users(project)
    project.begin()
    assert look(project.worktree) == look(project.root)
    assert project.git("status", "--porcelain", cwd=project.worktree) == ""
    assert find_repository(str(project.worktree)).root == str(project.worktree)
    assert head(find_repository(str(project.worktree))).branch is None
    assert _users(project) == before
    assert not (project.root / "ran").exists()


@pytest.mark.requirement("PL-32")
def test_making_it_again_keeps_the_work_in_it(project: Project) -> None:
    project.begin()
    project.write({"work.txt": b"w\n"}, project.worktree)
    project.begin()
    assert (project.worktree / "work.txt").exists()


@pytest.mark.requirement("PL-32")
def test_a_git_file_larger_than_memory_is_repaired(project: Project) -> None:
    project.begin()
    git_file = project.worktree / ".git"
    before = git_file.read_bytes()
    os.truncate(git_file, 1 << 43)
    project.begin()
    assert git_file.read_bytes() == before


def test_one_made_for_another_commit_is_a_conflict(project: Project) -> None:
    project.begin()
    project.commit({"x": b"x"})
    with pytest.raises(Refused, match="was made for commit"):
        _make(project)


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("damage", ["no files", "no index", "cut short", "locked", "no .git"])
def test_a_half_made_one_is_made_again(project: Project, damage: str) -> None:
    project.begin()
    admin = project.root / ".git/worktrees/worktree"
    (admin / "planner-made-at").unlink()
    Path(f"{project.worktree}.made-at").unlink()
    if damage == "no files":
        shutil.rmtree(project.worktree)
    elif damage == "no index":
        (admin / "index").unlink()
    elif damage == "cut short":
        (project.worktree / "README.md").unlink()
        (admin / "index.lock").touch()
    elif damage == "locked":
        (admin / "locked").write_text("initializing")
    else:
        (project.worktree / ".git").unlink()
    project.begin()
    assert look(project.worktree) == look(project.root)
    assert project.git("status", "--porcelain", cwd=project.worktree) == ""
    assert len(os.listdir(project.root / ".git/worktrees")) == 1


@pytest.mark.requirement("PL-32")
def test_a_folder_that_went_away_is_made_again(project: Project) -> None:
    project.begin()
    shutil.rmtree(project.worktree)
    project.begin()
    assert look(project.worktree) == look(project.root)


@pytest.mark.requirement("PL-32")
def test_a_pruned_record_is_given_back_and_the_work_stays(project: Project) -> None:
    project.begin()
    project.write({"work.txt": b"w\n", "README.md": b"edited\n"}, project.worktree)
    shutil.rmtree(project.root / ".git/worktrees")
    project.begin()
    assert project.git("status", "--porcelain", cwd=project.worktree) == " M README.md\n?? work.txt"
    assert [change.file for change in project.capture().changes] == ["README.md", "work.txt"]


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("others", [True, False])
def test_a_repository_that_was_moved_takes_its_worktree_along(
    project: Project, tmp_path: Path, others: bool
) -> None:
    project.begin()
    project.write({"work.txt": b"w\n"}, project.worktree)
    if others:
        project.git("worktree", "add", "-q", "--detach", str(tmp_path / "other" / "worktree"))
    project.root.rename(tmp_path / "elsewhere")
    moved = Project(tmp_path / "elsewhere")
    moved.begin()
    assert moved.git("status", "--porcelain", cwd=moved.worktree) == "?? work.txt"
    assert len(os.listdir(moved.root / ".git/worktrees")) == 1 + others


@pytest.mark.requirement("PL-32")
def test_a_copy_of_the_repository_does_not_take_the_originals_worktree(
    project: Project, tmp_path: Path
) -> None:
    project.begin()
    project.write({"work.txt": b"w\n"}, project.worktree)
    shutil.copytree(project.root, tmp_path / "copy", symlinks=True)
    copy = Project(tmp_path / "copy")
    copy.begin()
    copy.write({"work.txt": b"other\n"}, copy.worktree)
    assert [change.file for change in copy.capture().changes] == ["work.txt"]
    assert project.git("status", "--porcelain", cwd=project.worktree) == "?? work.txt"


@pytest.mark.requirement("PL-32")
def test_a_stale_lock_is_removed(project: Project) -> None:
    project.begin()
    lock = project.root / ".git/worktrees/worktree/index.lock"
    lock.touch()
    project.begin()
    assert not lock.exists()


def test_removing_leaves_the_records_of_other_worktrees(project: Project, tmp_path: Path) -> None:
    gone = tmp_path / "unplugged"
    project.git("worktree", "add", "-q", "--detach", str(gone))
    shutil.rmtree(gone)
    project.begin()
    (project.worktree / "sealed").mkdir()
    (project.worktree / "sealed/x").touch()
    (project.worktree / "sealed").chmod(0o500)
    (project.worktree / "outside").symlink_to(project.root)
    before = look(project.root)
    for _ in range(2):
        remove_worktree(project.repo, str(project.worktree))
    assert not project.worktree.exists()
    assert os.listdir(project.root / ".git/worktrees") == ["unplugged"]
    assert look(project.root) == before


def test_a_folder_that_is_not_a_worktree_is_never_removed(project: Project) -> None:
    project.write({"mine/x": b"x"})
    for path in (project.root / "mine", project.root):
        with pytest.raises(Refused, match="not a worktree of this repository"):
            remove_worktree(project.repo, str(path))
        with pytest.raises(Refused, match="not a worktree of this repository"):
            make_worktree(project.repo, str(path), "HEAD")
    assert (project.root / "mine/x").exists()


@pytest.mark.requirement("PL-32")
def test_a_killed_making_is_repeated(project: Project) -> None:
    project.state.mkdir(parents=True)

    def anew() -> None:
        make_worktree(find_repository(str(project.root)), str(project.worktree), "HEAD")

    for number in range(1, 9):
        is_killed = killed_after(number, command, "_start", anew)
        _make(project)
        assert project.git("status", "--porcelain", cwd=project.worktree) == ""
        remove_worktree(project.repo, str(project.worktree))
        if not is_killed:
            break
    else:
        pytest.fail("never came to its end")


KILLED_AT_THE_GIT_FILE = """
import os, sys
sys.path.insert(0, {here!r})
from shared.git.repository import find_repository
from shared.git.worktree import open_worktree
real = os.replace
def replace(source, target, **folders):
    if os.path.basename(target) == ".git":
        os.kill(os.getpid(), 9)
    real(source, target, **folders)
os.replace = replace
open_worktree(find_repository({root!r}), {path!r})
"""


@pytest.mark.requirement("PL-32")
def test_a_killed_repair_of_the_git_file_leaves_nothing_to_capture(project: Project) -> None:
    (project.begin() / ".git").unlink()
    before = look(project.worktree)
    code = KILLED_AT_THE_GIT_FILE.format(
        here=str(Path(__file__).parents[3]), root=str(project.root), path=str(project.worktree)
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()
    assert look(project.worktree) == before
    open_worktree(project.repo, str(project.worktree))
    assert (project.worktree / ".git").is_file()
    assert sorted(os.listdir(project.state)) == ["worktree", "worktree.made-at"]


# links


@pytest.mark.requirement("PL-33")
def test_links_show_the_users_folders_and_missing_ones_are_reported(project: Project) -> None:
    project.commit({".gitignore": b"node_modules\n.venv\n"})
    project.write({"node_modules/m/index.js": b"m"})
    project.begin()
    for _ in range(2):
        done = link(project.repo, str(project.worktree), ["node_modules/", ".venv", "a/b"])
        assert (done.linked, done.missing) == (["node_modules"], [".venv", "a/b"])
    assert (project.worktree / "node_modules/m/index.js").read_bytes() == b"m"


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize(
    "name", ["../x", "/etc", "a/../../x", ".git", ".git/hooks", ".planner", "", "a//b"]
)
def test_links_that_leave_the_repository_are_refused(project: Project, name: str) -> None:
    project.begin()
    with pytest.raises(Refused):
        link(project.repo, str(project.worktree), [name])


def test_a_path_that_git_has_itself_is_not_linked(project: Project) -> None:
    project.begin()
    with pytest.raises(Refused, match="tracks files at this path"):
        link(project.repo, str(project.worktree), ["src"])


# snapshots


@pytest.mark.quick
@pytest.mark.requirement("PL-32")
def test_a_snapshot_holds_the_uncommitted_work_and_touches_nothing(project: Project) -> None:
    project.commit({".gitignore": b"*.log\n", "gone": b"g\n", "dir/x": b"x\n"})
    project.write({"README.md": b"staged\n"})
    project.git("add", "README.md")
    project.write(
        {"README.md": b"edited\n", "new/n": b"n\n", "x.log": b"i", "gone": None, "dir/x": None}
    )
    (project.root / "dir").rmdir()
    (project.root / "dir").symlink_to("src")
    project.write({"forced.log": b"f\n"})
    project.git("add", "-f", "forced.log")
    project.write({".planner/x": b"x"})
    Project(project.root / "nested")
    before, tree = _users(project), look(project.root)
    made = snapshot(project.repo)
    assert made == snapshot(project.repo)
    assert _users(project) == before
    assert look(project.root) == tree
    assert project.git("rev-parse", f"{made}^") == project.git("rev-parse", "HEAD")
    changed = project.git("diff", "--name-status", "--no-renames", "HEAD", made).split("\n")
    assert changed == [
        "M\tREADME.md", "A\tdir", "D\tdir/x", "A\tforced.log", "D\tgone", "A\tnew/n",
    ]  # fmt: skip
    assert project.git("show", f"{made}:README.md") == "edited"
    project.begin(made)
    assert project.git("rev-parse", "HEAD", cwd=project.worktree) == made


@pytest.mark.requirement("PL-32")
def test_a_snapshot_of_nothing_is_head(project: Project) -> None:
    assert snapshot(project.repo) == project.git("rev-parse", "HEAD")


@pytest.mark.requirement("PL-32")
def test_a_plan_on_a_snapshot_applies_to_the_uncommitted_work(
    project: Project, tmp_path: Path
) -> None:
    other = project.clone(tmp_path / "clone")
    work: dict[str, bytes | None] = {"src/app.py": b"a = 1\nb = 2\nmine = 1\n", "mine.py": b"1\n"}
    project.write(work)
    other.write(work)
    made = snapshot(project.repo)
    project.begin(made)
    project.write({"src/app.py": b"a = 5\nb = 2\nmine = 1\n", "mine.py": b"2\n"}, project.worktree)
    changes = project.capture(project.git("rev-parse", f"{made}^{{tree}}")).changes
    for place in (project, other):
        place.apply(changes)
        assert (place.root / "mine.py").read_bytes() == b"2\n"


def test_a_split_index_leaves_no_part_of_ours_behind(project: Project) -> None:
    project.git("config", "core.splitIndex", "true")
    project.git("update-index", "--split-index")
    parts = sorted(p.name for p in (project.root / ".git").glob("sharedindex.*"))
    project.write({"new": b"n\n"})
    snapshot(project.repo)
    assert sorted(p.name for p in (project.root / ".git").glob("sharedindex.*")) == parts


@pytest.mark.requirement("PL-32")
def test_a_snapshot_has_an_edit_that_size_and_time_do_not_show(project: Project) -> None:
    at = (1_000_000_000, 1_000_000_000)
    place = project.root / "README.md"
    project.git("config", "core.trustctime", "false")
    os.utime(place, at)
    project.git("update-index", "--refresh", "-q")
    os.utime(project.root / ".git" / "index", at)
    place.write_bytes(b"Hallo\n")
    os.utime(place, at)
    made = snapshot(project.repo)
    assert project.git("show", f"{made}:README.md") == "Hallo"
