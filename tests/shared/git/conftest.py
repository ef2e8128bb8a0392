"""A small world of real git: a project, its scratch worktree, its vault."""

from __future__ import annotations

import functools
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import pytest

from developer.verify.at_home import AtHome
from developer.verify.confined import Confined
from developer.verify.job import Job
from shared.config import Config
from shared.git.apply import Applied, apply
from shared.git.capture import Capture, capture
from shared.git.repository import Repository, exclude_planner, find_repository, head
from shared.git.vault import Vault, open_vault
from shared.git.worktree import make_worktree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from shared.git.change import FileChange
    from shared.git.settle import Home, Runner

DIGEST = "d" * 64
# The files of a folder that another program swaps with a link to a folder of the user's.
NAMES = [f"f{number}" for number in range(20)]
SECRET = b"a secret of the user\n"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    (home / "gitconfig").write_text(
        "[user]\nname = Tester\nemail = tester@example.org\n[init]\ndefaultBranch = main\n"
        '[protocol "file"]\nallow = always\n[gc]\nauto = 0\n'
    )


class Options(TypedDict, total=False):
    """What a test may say to a capture."""

    leave_out: Iterable[str]
    formatters: Sequence[str]
    hook: bool
    owned: Callable[[str], bool]
    runner: Runner
    home: Home | None


class Project:
    """A repository on disk, with short ways to do what a user does."""

    at_home = False  # whether formatters and hooks run at the repository's own path

    def __init__(self, root: Path, object_format: str = "sha1") -> None:
        self.root = root
        if not (root / ".git").exists():
            root.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", f"--object-format={object_format}")

    def git(self, *args: str, stdin: bytes = b"", cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.root, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, files: dict[str, bytes | None], where: Path | None = None) -> None:
        for path, data in files.items():
            place = (where or self.root) / path
            if data is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

    def commit(self, files: dict[str, bytes | None] | None = None, message: str = "work") -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    @functools.cached_property
    def repo(self) -> Repository:
        return find_repository(str(self.root))

    @property
    def state(self) -> Path:
        return self.root / ".planner" / "runs" / "r1"

    @property
    def worktree(self) -> Path:
        return self.state / "worktree"

    @property
    def journal(self) -> str:
        return str(self.state / "apply")

    @functools.cached_property
    def vault(self) -> Vault:
        return open_vault(self.repo, str(self.state / "vault.git"))

    def begin(self, commit: str = "HEAD") -> Path:
        """Start a run: the scratch worktree at `commit`."""
        self.state.mkdir(parents=True, exist_ok=True)
        exclude_planner(self.repo)
        make_worktree(self.repo, str(self.worktree), commit)
        return self.worktree

    def capture(self, base: str | None = None, **options: Unpack[Options]) -> Capture:
        base = base or head(self.repo).tree
        options.setdefault("runner", Confined())
        options.setdefault("home", self.home(base) if self.at_home else None)
        return capture(self.repo, str(self.worktree), self.vault, base, **options)

    def home(self, base: str) -> AtHome:
        """Return what runs the tools of a capture at the repository's own path."""
        commit = head(self.repo).commit
        root, state = str(self.root), str(self.state)
        job = Job(state, root, str(self.worktree), commit, base, Config(), in_place=True)
        return AtHome(job)

    def plan(self, files: dict[str, bytes | None]) -> list[FileChange]:
        """Write files in a new scratch worktree and return the captured changes."""
        self.write(files, self.begin())
        return self.capture(hook=False).changes

    def apply(self, changes: list[FileChange]) -> Applied:
        return apply(self.repo, self.vault, changes, self.journal, DIGEST)

    def clone(self, to: Path) -> Project:
        self.git("clone", "-q", str(self.root), str(to))
        other = Project(to)
        other.state.mkdir(parents=True)
        exclude_planner(other.repo)
        return other


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "a project")
    made.commit(
        {"README.md": b"Hello\n", "src/app.py": b"a = 1\nb = 2\n", "run.sh": b"#!/bin/sh\n"}
    )
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's with the same names as the folder `src` of a test."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_bytes(SECRET)
    return folder


def look(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return every file below `root` but git's and ours: kind, permission bits, bytes."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for at, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in {".git", ".planner"}]
        for name in [*files, *(f for f in folders if os.path.islink(os.path.join(at, f)))]:
            place = os.path.join(at, name)
            path = os.path.relpath(place, root)
            if path == ".git":
                continue
            if os.path.islink(place):
                found[path] = ("link", 0, os.fsencode(os.readlink(place)))
            else:
                bits = stat.S_IMODE(os.stat(place).st_mode)
                found[path] = ("file", bits, Path(place).read_bytes())
    return found


def add_hook(project: Project, name: str, body: str) -> None:
    place = project.root / ".git" / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("#!/bin/sh\n" + body)
    place.chmod(0o755)


def wipe(root: Path) -> None:
    """Remove everything below `root` but git's folder."""
    for place in root.iterdir():
        if place.name == ".git":
            continue
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
