from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from developer.verify.job import Job
from developer.worktree_files import tree_chmod, tree_mv, tree_restore, tree_rm, tree_run
from shared.config import Config
from shared.git.repository import find_repository
from shared.git.worktree import Worktree, make_worktree, open_worktree
from state.errors import Refused
from tests.flips import flipping

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

FILES: dict[str, str | bytes] = {"src/app.py": "x = 1\n", "src/deep/one.py": "", "run.sh": "true\n"}


@pytest.fixture
def worktree(repo: Repository, tmp_path: Path) -> Path:
    """Return a scratch worktree with a link `away` that leads out of it."""
    commit = repo.commit(FILES)
    path = tmp_path / "state" / "worktree"
    make_worktree(find_repository(str(repo.path)), str(path), commit)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    (path / "away").symlink_to(tmp_path / "outside")
    return path


def opened(worktree: Path) -> Worktree:
    return open_worktree(find_repository(str(worktree.parents[1] / "repo")), str(worktree))


def job_for(worktree: Path, repo: Repository, **config: object) -> Job:
    return Job(
        str(worktree.parent),
        str(repo.path),
        str(worktree),
        repo.git("rev-parse", "HEAD"),
        repo.git("rev-parse", "HEAD^{tree}"),
        Config.from_json(config),
    )


def test_a_file_is_removed_and_with_it_the_folders_that_it_leaves_empty(worktree: Path) -> None:
    assert tree_rm(opened(worktree), "src/deep/one.py") == "removed src/deep/one.py"
    assert not (worktree / "src" / "deep").exists()
    assert (worktree / "src" / "app.py").exists()


def test_a_folder_is_removed_and_no_link_in_it_followed(worktree: Path) -> None:
    (worktree / "src" / "link").symlink_to(worktree.parent.parent / "outside")
    tree_rm(opened(worktree), "src")
    assert not (worktree / "src").exists()
    tree_rm(opened(worktree), "away")
    assert (worktree.parent.parent / "outside" / "kept").read_text() == "kept"


def test_a_file_moves_and_folders_for_it_are_made(worktree: Path) -> None:
    tree_mv(opened(worktree), "src/app.py", "lib/new/app.py")
    assert (worktree / "lib/new/app.py").read_text() == "x = 1\n"
    assert not (worktree / "src/app.py").exists()


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("deed", ["changed", "removed", "a folder", "executable"])
def test_a_file_is_changed_back_to_the_base_also_once_its_change_is_staged(
    worktree: Path, deed: str
) -> None:
    tree, path = opened(worktree), worktree / "src" / "app.py"
    path.unlink()
    if deed == "a folder":
        path.mkdir()
        (path / "inner").write_text("x")
    elif deed != "removed":
        path.write_text("x = 2\n")
        path.chmod(0o755 if deed == "executable" else 0o644)
    tree.git.run("add", "--all")
    if deed == "a folder":
        with pytest.raises(Refused):
            tree_restore(tree, "src/app.py")
        return
    assert tree_restore(tree, "src/app.py") == "src/app.py is as at the base"
    assert (path.read_text(), os.access(path, os.X_OK)) == ("x = 1\n", False)
    assert tree.git.text("status", "--porcelain", "src") == ""
    for other in ("away", "src", "new.py", "../src/app.py"):
        with pytest.raises(Refused):
            tree_restore(tree, other)


def test_a_move_replaces_nothing(worktree: Path) -> None:
    with pytest.raises(Refused) as refusal:
        tree_mv(opened(worktree), "src/app.py", "run.sh")
    assert refusal.value.problems[0].kind == "conflict"
    assert (worktree / "run.sh").read_text() == "true\n"
    with pytest.raises(Refused, match="lies inside src"):
        tree_mv(opened(worktree), "src", "src/deep/src")
    with pytest.raises(Refused, match="nothing was changed"):
        tree_mv(opened(worktree), "src/app.py", "run.sh/app.py")


def test_the_executable_bit_is_set_and_cleared(worktree: Path) -> None:
    for change, wanted in (("+x", True), ("-x", False)):
        tree_chmod(opened(worktree), change, "run.sh")
        assert bool((worktree / "run.sh").stat().st_mode & 0o111) is wanted
    with pytest.raises(Refused) as refusal:
        tree_chmod(opened(worktree), "777", "run.sh")
    assert refusal.value.problems[0].allowed == "+x, -x"
    with pytest.raises(Refused, match="not a plain file"):
        tree_chmod(opened(worktree), "+x", "src")
    (worktree.parent / "theirs").write_text("theirs")
    os.link(worktree.parent / "theirs", worktree / "same")
    with pytest.raises(Refused, match="is a hard link"):
        tree_chmod(opened(worktree), "+x", "same")
    assert (worktree.parent / "theirs").stat().st_mode & 0o111 == 0


@pytest.mark.parametrize(
    "path",
    ["/etc/x", "../x", "a/../b", ".git", "src/.git/x", ".planner/x", "", "src/", "away/kept"],
)
@pytest.mark.parametrize("act", [tree_rm, lambda w, p: tree_mv(w, "run.sh", p)])
def test_nothing_outside_the_worktree_is_touched(
    path: str, act: Callable[[Worktree, str], str], worktree: Path
) -> None:
    before = sorted(os.listdir(worktree))
    with pytest.raises(Refused):
        act(opened(worktree), path)
    assert sorted(os.listdir(worktree)) == before
    assert (worktree.parent.parent / "outside" / "kept").read_text() == "kept"


@pytest.mark.requirement("PP-9")
def test_a_folder_that_becomes_a_link_at_any_moment_leads_nowhere(worktree: Path) -> None:
    victim, tree = worktree.parent.parent / "outside" / "kept", opened(worktree)
    other = victim.with_name("moved")
    acts: list[Callable[[], str]] = [
        lambda: tree_rm(tree, "src/kept"),
        lambda: tree_mv(tree, "run.sh", "src/moved"),
        lambda: tree_mv(tree, "src/kept", "moved"),
        lambda: tree_chmod(tree, "+x", "src/kept"),
    ]
    real = os.open(worktree / "src", os.O_RDONLY)
    done = [0] * len(acts)
    with flipping(worktree / "src", victim.parent, lambda: all(done)) as numbers:
        for number in numbers:
            os.close(os.open("kept", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=real))
            for folder, name in ((None, worktree / "moved"), (real, "moved")):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
            (worktree / "run.sh").touch()
            with contextlib.suppress(Refused):
                acts[number % len(acts)]()
                done[number % len(acts)] += 1
            assert victim.read_text() == "kept"
            assert not victim.stat().st_mode & 0o111
            assert not other.exists()
    os.close(real)
    assert all(done)


def test_a_name_that_is_not_there_is_answered_with_names_like_it(worktree: Path) -> None:
    with pytest.raises(Refused) as refusal:
        tree_rm(opened(worktree), "src/ap.py")
    (problem,) = refusal.value.problems
    assert problem.kind == "not_found"
    assert "src/app.py" in problem.allowed


@pytest.mark.requirement("PL-34")
def test_a_named_command_runs_in_the_worktree_after_its_setup(
    worktree: Path, repo: Repository
) -> None:
    job = job_for(worktree, repo, setup=["echo x > ready"], run={"show": "cat ready; pwd; exit 4"})
    ran = tree_run(job, "show", lambda _digest: True)
    assert (ran.code, ran.command) == (4, "cat ready; pwd; exit 4")
    assert ran.tail == f"x\n{worktree}"
    assert Path(ran.log).read_text().strip() == ran.tail


def test_a_list_of_commands_stops_at_the_first_that_fails(worktree: Path, repo: Repository) -> None:
    job = job_for(worktree, repo, verify=["true", "echo no; false", "touch third"])
    ran = tree_run(job, "verify", lambda _digest: True)
    assert (ran.command, ran.code, ran.tail) == ("echo no; false", 1, "no")
    assert not (worktree / "third").exists()


@pytest.mark.requirement("PL-34")
def test_only_confirmed_commands_with_a_name_are_run(worktree: Path, repo: Repository) -> None:
    job = job_for(worktree, repo, run={"go": "touch ran"}, format=["touch ran"])
    with pytest.raises(Refused) as refusal:
        tree_run(job, "touch ran", lambda _digest: True)
    assert refusal.value.problems[0].allowed == "go, format"
    with pytest.raises(Refused, match="no person has confirmed"):
        tree_run(job, "go", lambda _digest: False)
    assert not (worktree / "ran").exists()
