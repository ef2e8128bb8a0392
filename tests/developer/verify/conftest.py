from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from developer.verify.background import cancel_verify, verify
from developer.verify.job import Done, Job, Running
from shared.config import Config
from shared.git.repository import find_repository
from shared.git.worktree import make_worktree
from shared.resources import ROOT, quote
from state.files import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Repository

DEADLINE_S = 60.0
WORKER = os.path.join(ROOT, "tests", "worker.py")
PYTHON = quote(sys.executable)
FILES: dict[str, str | bytes] = {
    "app.py": "ANSWER = 1\n",
    "test_app.py": "from app import ANSWER\nassert ANSWER\n",
    ".gitignore": "__pycache__/\n*.seen\n*.fifo\n",
}


def yes(_digest: str) -> bool:
    return True


class Site:
    """A repository, a scratch worktree at its commit and a state directory."""

    def __init__(
        self, repo: Repository, state: Path, files: dict[str, str | bytes] | None = None
    ) -> None:
        self.repo = repo
        self.base = repo.commit({**FILES, **(files or {})})
        self.state = str(state)
        self.worktree = state / "worktree"
        state.mkdir()
        make_worktree(find_repository(str(repo.path)), str(self.worktree), self.base)

    def job(self, *commands: str, tests: tuple[str, ...] = (), **config: object) -> Job:
        """Return a job for these verify commands."""
        tree = self.repo.git("rev-parse", f"{self.base}^{{tree}}")
        settings = Config.from_json({"verify": list(commands), **config})
        root = str(self.repo.path)
        return Job(self.state, root, str(self.worktree), self.base, tree, settings, tests)

    def verify(
        self, job: Job, wait_s: float = DEADLINE_S, *, again: bool = False
    ) -> Done | Running:
        """Verify with a worker that needs no command line of ours."""
        return verify(job, yes, wait_s=wait_s, again=again, worker=self.worker)

    @property
    def worker(self) -> list[str]:
        """The command line of the background process that verifies."""
        return [sys.executable, WORKER, self.state]

    def done(self, job: Job, *, again: bool = False) -> Done:
        """Verify to the end."""
        answer = self.verify(job, again=again)
        assert isinstance(answer, Done), answer
        return answer

    def write(self, name: str, text: str) -> Path:
        """Write a file of the worktree."""
        path = self.worktree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def worker_pid(self) -> int:
        """Return the process id of the worker, once it has one."""
        path = Path(self.state, "verify", "worker.json")
        until(lambda: path.exists() and read_json(str(path))["pid"])
        return int(read_json(str(path))["pid"])


@pytest.fixture
def site(repo: Repository, tmp_path: Path) -> Iterator[Site]:
    """Return a site whose worker, if one is left, is ended."""
    made = Site(repo, tmp_path / "state")
    yield made
    cancel_verify(made.state)


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; fails after a minute."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        threading.Event().wait(0.01)


def running(mark: object) -> list[str]:
    """Return the processes whose command line holds `mark`; their ids differ in namespaces."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            line = Path("/proc", name, "cmdline").read_bytes().decode(errors="replace")
            if str(mark) in line and int(name) != os.getpid():
                found.append(line)
    return found


def gone(pid: int) -> bool:
    """Say whether a process has ended; a zombie has."""
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()[:1] in {"", "Z"}
