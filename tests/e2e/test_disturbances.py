"""What the user does meanwhile, at each stage of a run: printed ways lead to the end (PL-29, 31).

A cell of the table is followed by what is printed alone, and what was the user's is still there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Repository
from tests.forms import part
from tests.journey import FILES, Journey
from tests.ways_out import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Repositories = Callable[..., Repository]

STAGES = (
    "context", "design", "captured", "freeze", "submitted", "approved", "applied", "committed",
)  # fmt: skip
MARK = "# mine, 7c1f\n"


def mine(journey: Journey, name: str = "src/a.py") -> str:
    """Return a file of the user with a line of their own."""
    return MARK + (journey.repository.path / name).read_text()


def edit(journey: Journey) -> None:
    journey.repository.write("src/a.py", mine(journey))


def edit_another(journey: Journey) -> None:
    journey.repository.write("README.md", mine(journey, "README.md"))


def stage(journey: Journey) -> None:
    edit(journey)
    journey.repository.git("add", "src/a.py")


def commit(journey: Journey) -> None:
    edit(journey)
    journey.repository.commit(message="Mine")


def commit_another(journey: Journey) -> None:
    edit_another(journey)
    journey.repository.git("commit", "--quiet", "--message", "Mine", "--", "README.md")


def amend(journey: Journey) -> None:
    edit_another(journey)
    journey.repository.git("commit", "--quiet", "--amend", "--message", "Mine", "--", "README.md")


def switch(journey: Journey) -> None:
    journey.repository.git("switch", "--quiet", "--create", "other")
    commit_another(journey)


def detach(journey: Journey) -> None:
    journey.repository.git("switch", "--quiet", "--detach")


def rebase(journey: Journey) -> None:
    git = journey.repository.git
    git("stash", "--include-untracked", "--quiet")
    git("switch", "--quiet", "--create", "side", "HEAD")
    commit_another(journey)
    git("switch", "--quiet", "main")
    journey.repository.commit({"notes.txt": "n\n"}, "Another")
    git("rebase", "--quiet", "side")
    if git("stash", "list"):
        git("stash", "pop", "--quiet")


def stash(journey: Journey) -> None:
    edit(journey)
    journey.repository.git("stash", "--include-untracked", "--quiet")


def gc(journey: Journey) -> None:
    journey.repository.git("reflog", "expire", "--expire=now", "--all")
    journey.repository.git("gc", "--quiet", "--prune=now")


def prune(journey: Journey) -> None:
    journey.repository.git("worktree", "prune")
    journey.repository.git("prune", "--expire=now")


def clean(journey: Journey) -> None:
    journey.repository.git("clean", "-ffdxq")


def delete_worktree(journey: Journey) -> None:
    shutil.rmtree(tree_of(journey), ignore_errors=True)


def move_worktree(journey: Journey) -> None:
    if tree_of(journey).exists():
        tree_of(journey).rename(journey.repository.path.with_name("moved"))


def second_run(journey: Journey) -> None:
    Journey(journey.repository, "Another").start("--base", "head")


DISTURBANCES: dict[str, Callable[[Journey], None]] = {
    "edit": edit, "edit another file": edit_another, "stage": stage, "commit": commit,
    "commit another file": commit_another, "amend": amend, "switch": switch, "detach": detach,
    "rebase": rebase, "stash": stash, "gc": gc, "prune": prune, "clean": clean,
    "delete the worktree": delete_worktree, "move the worktree": move_worktree,
    "second run": second_run,
}  # fmt: skip
MARKED = (
    "edit", "edit another file", "stage", "commit", "commit another file", "amend", "switch",
    "stash", "rebase",
)  # fmt: skip
CELLS = [(how, stage) for how in DISTURBANCES for stage in STAGES]


def tree_of(journey: Journey) -> Path:
    return Path(journey.state_dir, "worktree")


def at(journey: Journey, stage: str) -> Journey:
    """Bring a run to a stage of the table."""
    if stage != "captured":
        return journey.to(stage)
    journey.to("code").do_the_work()
    assert journey.planner("plan", "capture").code == 0
    return journey


def assert_kept(journey: Journey, text: str) -> None:
    """Check that a line of the user is in their tree, a commit or the stash."""
    files = (p for p in journey.repository.path.glob("**/*") if ".planner" not in p.parts)
    if any(text in p.read_text(errors="replace") for p in files if p.is_file()):
        return
    assert text in journey.repository.git("log", "--all", "--reflog", "-m", "--patch"), "lost"


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.requirement("PL-29", "PL-31", "PL-32")
@pytest.mark.parametrize(("how", "stage"), CELLS)
def test_whatever_the_user_does_meanwhile_the_printed_ways_lead_to_an_end(
    make_repo: Repositories, how: str, stage: str
) -> None:
    journey = at(Journey(make_repo("project", FILES)), stage)
    DISTURBANCES[how](journey)
    walk = Walk(journey)
    if stage == "committed":
        journey.last = walk.lead_out(["undo"], journey.planner("undo"))
    elif os.path.isdir(journey.state_dir):
        walk.go_on()
        walk.to_the_end()
    else:
        refused = journey.planner("step", "planner")
        walk.lead_out(["step", "planner"], refused)
    if how in MARKED:
        assert_kept(journey, MARK)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of its own with little room; skipped where none can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run(mount, capture_output=True, check=False).returncode == 0:
            yield place
            subprocess.run(["umount", "--lazy", str(place)], check=True)
            return
    pytest.skip("no file system can be mounted here")


@pytest.mark.slow
@pytest.mark.requirement("PL-29", "PL-31", "PL-32")
@pytest.mark.parametrize("stage", part(STAGES, 5))
def test_a_full_disk_is_named_and_with_room_on_it_the_run_ends(
    small_disk: Path, stage: str
) -> None:
    (small_disk / "project").mkdir()
    repository = Repository(small_disk / "project")
    repository.git("init", "--quiet")
    repository.commit(FILES)
    journey = at(Journey(repository), stage)
    filler = small_disk / "filler"
    fill(filler)
    block = journey.last
    with contextlib.suppress(OSError):  # the host finds no room for its own files either
        refused = journey.planner("undo") if stage == "committed" else journey.advance()
        assert refused.code == 0 or "make room on the disk" in refused.text, refused.text
    filler.unlink()
    if stage == "committed":
        assert journey.planner("undo").code == 0
        return
    journey.last = block
    walk = Walk(journey)
    walk.go_on()
    walk.to_the_end()
    assert walk.status()["status"] == "COMPLETED"


def fill(path: Path) -> None:
    """Write a file until its disk has no room."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"\0" * size) == size:
                    pass
