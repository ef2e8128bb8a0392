"""Kills a verification at random moments, again and again, and looks at what is left behind.

    python3 kills.py ROOT COUNT [SEED]

A program of its own, so that it can run as another user and without namespaces. Prints what it did
as JSON. It takes over orphans, so that whatever a verification leaves running is its child.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = sys.argv[1] if __name__ == "__main__" else ""
sys.path.insert(0, ROOT)

from developer.verify.background import cancel_verify, verify, wait_until_idle  # noqa: E402
from developer.verify.job import Done, Job  # noqa: E402
from shared.config import Config  # noqa: E402
from shared.git.repository import find_repository  # noqa: E402
from shared.git.worktree import make_worktree  # noqa: E402
from shared.place.level import level  # noqa: E402

_SUBREAPER = 36
_DEADLINE_S = 60.0
_LONGEST_S = 1.5  # about what one verification takes
_WORKER = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from developer.verify.worker import worker_main\n"
    "sys.exit(worker_main(sys.argv[2]))\n"
)
_FILES = {
    "app.py": "ANSWER = 1\n",
    "test_app.py": "from app import ANSWER\nassert ANSWER\n",
    ".gitignore": "__pycache__/\n*.seen\n",
}
_COMMAND = "echo x >made.seen; sleep 0.3 & (sleep 0.2; sleep 0.1) & {} test_app.py && sleep 0.1"
Seen = dict[str, tuple[int, str]]


class Ground:
    """A repository with uncommitted work, a run's worktree with a change, and its verification."""

    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "project", folder / "state"
        for path in (self.root, self.state, folder / "tmp"):
            path.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
        for name, text in _FILES.items():
            (self.root / name).write_text(text, encoding="utf-8")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git(
            "-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "Begin"
        )
        base, tree = self.git("rev-parse", "HEAD"), self.git("rev-parse", "HEAD^{tree}")
        worktree = self.state / "worktree"
        make_worktree(find_repository(str(self.root)), str(worktree), base)
        (worktree / "app.py").write_text("ANSWER = 2\n", encoding="utf-8")
        (self.root / "app.py").write_text("ANSWER = 'mine'\n", encoding="utf-8")
        (self.root / "loose.txt").write_text("mine\n", encoding="utf-8")
        self.level = level(str(self.root))
        config = Config(verify=(_COMMAND.format(sys.executable),))
        place = self.level.holds
        root = str(self.root)
        self.job = Job(str(self.state), root, str(worktree), base, tree, config, in_place=place)
        self.job_of_worker = [sys.executable, "-S", "-c", _WORKER, ROOT, str(self.state)]

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def verify(self) -> Done:
        found = verify(self.job, lambda _: True, wait_s=_DEADLINE_S, worker=self.job_of_worker)
        assert isinstance(found, Done), found
        return found

    def seen(self) -> Seen:
        """Return mode and content of all that must stay: the user's tree, git's files, the work."""
        found: Seen = {}
        for top in (self.root, self.state / "worktree"):
            for path in sorted(top.rglob("*")):
                # The worktree's index and new objects are git's own, made for each look.
                ours = {"objects", "worktrees"} & {*path.relative_to(top).parts[1:2]}
                if ours or "__pycache__" in path.parts or path.suffix == ".seen":
                    continue
                mode = path.lstat().st_mode
                text = path.read_bytes() if stat.S_ISREG(mode) else b""
                found[str(path)] = (mode, hashlib.sha256(text).hexdigest())
        return found

    def left(self) -> list[str]:
        """Return what of a verification's files is there that no later one uses."""
        names = ("scratch-*", "canary*", "base", "tmp")
        found = [path for name in names for path in (self.state / "verify").glob(name)]
        return [str(path) for path in (*found, *Path(os.environ["TMPDIR"]).iterdir())]


def descendants() -> list[int]:
    """Return all processes below this one that have not ended, after burying those that have."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            text = Path("/proc", name, "stat").read_bytes()
            state, parent = text.rpartition(b")")[2].split()[:2]
            if state != b"Z":
                parents[int(name)] = int(parent)
    found, new = set[int](), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found)


def until_none_is_left() -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while found := descendants():
        if time.monotonic() > deadline:
            lines = [Path("/proc", str(pid), "cmdline").read_bytes() for pid in found]
            raise AssertionError(f"still running: {lines}")
        time.sleep(0.01)


def kill_once(ground: Ground, chance: random.Random) -> int:
    """Start a verification, kill some of its processes at a random moment; return how many."""
    before = descendants()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            ground.verify()
        os._exit(0)
    time.sleep(chance.uniform(0, _LONGEST_S))
    running = [pid for pid in descendants() if pid not in before]
    chosen = chance.sample(running, min(len(running), chance.choice([1, 1, 2, 3, 100])))
    for pid in chosen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if chance.random() < 0.5:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        cancel_verify(str(ground.state))
    return len(chosen)


def main(count: int, seed: int) -> dict[str, object]:
    """Kill `count` times; return what was done. Raises AssertionError for whatever is left."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    os.environ.setdefault("GIT_CONFIG_GLOBAL", os.devnull)
    chance, killed, finished = random.Random(seed), 0, 0  # noqa: S311 – not for secrets
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        assert [r.outcome for r in ground.verify().results] == ["pass"]
        until_none_is_left()
        before, mounts = ground.seen(), Path("/proc/self/mountinfo").read_bytes()
        for number in range(count):
            killed += kill_once(ground, chance)
            until_none_is_left()
            assert wait_until_idle(str(ground.state), _DEADLINE_S) is None
            assert ground.seen() == before, number
            assert ground.left() == [], (number, ground.left())
            assert Path("/proc/self/mountinfo").read_bytes() == mounts, number
            finished += (ground.state / "verify" / "result.json").exists()
            with contextlib.suppress(FileNotFoundError):
                (ground.state / "verify" / "result.json").unlink()
        assert [r.outcome for r in ground.verify().results] == ["pass"], "it still works"
        until_none_is_left()
        where, user = ground.level.name, os.geteuid()
    return {"times": count, "killed": killed, "ended": finished, "level": where, "user": user}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[2]), int(sys.argv[3] if sys.argv[3:] else "1"))))
