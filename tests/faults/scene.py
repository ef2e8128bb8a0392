"""A run just before the command under test, kept so that each fault starts from the same state."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

from shared.git.journal import journal_state
from state.store import load_plan
from tests.conftest import Repository
from tests.e2e.drive import Host
from tests.faults.strace import Ended, run
from tests.journey import LAUNCHER

EDITS = [
    {"op": "add", "kind": "decision", "as": "$d",
     "fields": {"decision": "A", "reasoning_chain": "a fact -> a consequence -> A"}},
    {"op": "add", "kind": "risk", "fields": {"risk": "R", "decision_ref": "$d"}},
]  # fmt: skip
FILES = ["changed.txt", "gone.txt", "link", "new/file.txt", "run.sh"]


def without_times(plan: bytes) -> bytes:
    return re.sub(rb'"timestamp": "[^"]*"', b'"timestamp": ""', plan)


class Scene:
    """One repository and its run in `live`; `restore` makes both as they were when kept."""

    def __init__(self, folder: Path, planner: str = LAUNCHER) -> None:
        self.planner = planner
        self.live, self.kept = folder / "live", folder / "kept"
        self.live.mkdir(parents=True)
        self.repo = Repository(self.live)
        self.repo.git("init", "--quiet")
        self.repo.write("run.sh", "#!/bin/sh\n")
        self.repo.write("mine.txt", "1\n")
        self.repo.commit({"changed.txt": "one\ntwo\n", "gone.txt": "gone\n"})
        self.host = Host(self.live, _edit, FILES)
        self.before: dict[str, tuple[int, bytes]] = {}

    def user_works(self) -> None:
        """Leave staged, loose and untracked work of the user beside the plan's files."""
        self.repo.write("mine.txt", "2\n")
        self.repo.git("add", "mine.txt")
        self.repo.write("mine.txt", "3\n")
        self.repo.write("untracked.txt", "u\n")

    def keep(self) -> None:
        """Remember everything as it is now."""
        shutil.copytree(self.live, self.kept, symlinks=True)
        self.before = self.tree()

    def restore(self) -> None:
        """Bring back what was kept, at the same place."""
        shutil.rmtree(self.live)
        shutil.copytree(self.kept, self.live, symlinks=True)

    def command(self, *words: str) -> list[str]:
        """Return a planner command for the run."""
        # Not by way of sh: what the shell does before Python runs is not a step of the planner.
        python = [sys.executable, "-I", "-S", "-X", "utf8"]
        return [*python, self.planner, *words, "--state-dir", str(self.state_dir)]

    def run(self, *words: str) -> Ended:
        """Run a planner command for the run, without a fault."""
        return run(self.command(*words))

    @property
    def state_dir(self) -> Path:
        return Path(self.host.state_dir)

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Return kind, bits and bytes of every file of the user, empty folders included."""
        found: dict[str, tuple[int, bytes]] = {}
        for at, folders, files in os.walk(self.live):
            folders[:] = [name for name in folders if name not in {".git", ".planner"}]
            for name in (*files, *folders):
                place = Path(at, name)
                mode = place.lstat().st_mode
                data = b"" if stat.S_ISDIR(mode) else _bytes(place, mode)
                found[str(place.relative_to(self.live))] = (mode, data)
        return found

    def plan_bytes(self) -> bytes:
        """Return the plan; a decision that is made again has another time."""
        return without_times((self.state_dir / "plan.json").read_bytes())

    def history(self) -> str:
        """Return what HEAD and the index hold."""
        return self.repo.git("log", "--format=%s %T") + self.repo.git("status", "--porcelain=v2")

    def journal(self) -> str | None:
        return journal_state(str(self.state_dir / "apply"))

    def leftovers(self) -> list[str]:
        """Return temporary files of ours, wherever they may lie."""
        return [
            os.path.join(at, name)
            for at, folders, files in os.walk(self.live)
            for name in (*files, *folders)
            if name.endswith((".planner-tmp", ".tmp")) or name.startswith("vault.git-")
        ]

    def check_state(self) -> None:
        """Check that plan.json and the database can be read whole."""
        load_plan(str(self.state_dir / "plan.json"))
        with sqlite3.connect(self.live / ".planner" / "planner.db") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def _bytes(place: Path, mode: int) -> bytes:
    return os.fsencode(place.readlink()) if stat.S_ISLNK(mode) else place.read_bytes()


def _edit(tree: Path) -> None:
    (tree / "changed.txt").write_text("one\nzwei\n")
    (tree / "gone.txt").unlink()
    (tree / "link").symlink_to("changed.txt")
    (tree / "new").mkdir()
    (tree / "new" / "file.txt").write_text("new\n")
    (tree / "run.sh").chmod(0o755)


def batch_scene(folder: Path, planner: str = LAUNCHER) -> Scene:
    """Return a scene at the moment before `plan batch`."""
    scene = Scene(folder, planner)
    scene.host.start()
    scene.host.write_answer("edits.json", EDITS)
    scene.user_works()
    scene.keep()
    return scene


def apply_scene(folder: Path, until: str = "approved") -> Scene:
    """Return a scene at the moment before `exec apply`, or with it done before `exec commit`."""
    scene = Scene(folder)
    scene.host.to("approved")
    scene.user_works()
    scene.host.to(until)
    scene.keep()
    return scene
