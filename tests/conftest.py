"""Fixtures for every test: a home of its own, golden files, real git repositories."""

from __future__ import annotations

import difflib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.memory import settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.prepared import Grounds

    # Makes repositories: see `make_repo`.
    Repositories = Callable[..., "Repository"]

pytest_plugins = [
    "tests.forms",
    "tests.costs",
    "tests.prepared",
    "tests.requirement_report",
    "tests.branch_coverage",
    "tests.refusals",
]

GOLDEN = Path(__file__).parent / "golden"

OWN_VARIABLES = ("GIT_", "PLANNER_", "PLAN_", "XDG_")
# What coding assistants set in the commands that they run; the tests may be one of those.
ASSISTANTS = ("CLAUDE", "CODEX", "VIBE", "AI_AGENT", "GEMINI", "OPENCODE", "CURSOR")

GIT_CONFIG = """\
[user]
    name = A Tester
    email = tester@example.invalid
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[core]
    autocrlf = false
[protocol "file"]
    allow = always
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files instead of comparing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the modules that are made from others, before a test loads them as they were."""
    if config.getoption("--update-golden") and not hasattr(config, "workerinput"):
        from tests.generated_clients import KNOWN, clients_text
        from tests.generated_table import TABLE, render_table

        TABLE.write_text(render_table(), encoding="utf-8")
        KNOWN.write_text(clients_text(), encoding="utf-8")


def pytest_collection_finish() -> None:
    """Spare the worker what its memory, which is full of tests now, would cost."""
    settle()


@pytest.fixture(autouse=True)
def _own_home(
    grounds: Grounds | None,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Give every test a home, a git identity and a fixed clock zone; nothing of the developer's."""
    home = grounds.home if grounds else tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    for name in list(os.environ):
        if name.startswith((*OWN_VARIABLES, *ASSISTANTS)):
            monkeypatch.delenv(name)
    for name, folder in (("CONFIG", ".config"), ("CACHE", ".cache"), ("STATE", ".state")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local" / "share"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    monkeypatch.setenv("TZ", "UTC")
    # The tests may run below an assistant, whose process would be taken for the one that plans.
    monkeypatch.setattr("shared.guard.ancestry.client_above", lambda _pid: None)
    if grounds:
        grounds.begin()


class Golden(Protocol):
    """The `golden` fixture."""

    def __call__(self, name: str, text: str) -> None:
        """Compare `text` with tests/golden/`name`, or write it under --update-golden."""


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare printed text with a file under tests/golden; the failure is their diff."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            return
        if not path.exists():
            pytest.fail(f"tests/golden/{name} is missing; --update-golden writes it", pytrace=False)
        wanted = path.read_bytes().decode()
        if wanted != text:
            names = (f"golden/{name}", "printed")
            lines = (wanted.splitlines(keepends=True), text.splitlines(keepends=True))
            diff = difflib.unified_diff(*lines, *names)
            pytest.fail("".join(diff), pytrace=False)

    return compare


@pytest.fixture
def users_settings() -> Callable[[str], Path]:
    """Return a function that writes the user's own settings and returns their path."""

    def write(text: str) -> Path:
        path = Path(os.environ["XDG_CONFIG_HOME"]) / "planner" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


class Repository:
    """A real git repository in a temporary folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str) -> str:
        """Run git here and return what it printed, the last newline left off; raises on failure."""
        answer = subprocess.run(
            ["git", *arguments], cwd=self.path, check=True, capture_output=True, text=True
        )
        return answer.stdout.removesuffix("\n")

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file, folders included, and return its path."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, files: dict[str, str | bytes] | None = None, message: str = "Change") -> str:
        """Write `files`, commit all that is in the tree, and return the commit's id."""
        for name, content in (files or {}).items():
            self.write(name, content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repository]:
    """Return a function that makes repositories: `make_repo(name="repo", files={...})`."""
    from tests.prepared import prepared  # a plugin, which pytest imports after this file

    def make(name: str = "repo", files: dict[str, str | bytes] | None = None) -> Repository:
        repository = Repository(tmp_path / name)
        prepared(repository, ("make", files), lambda: begin(repository, files))
        return repository

    def begin(repository: Repository, files: dict[str, str | bytes] | None) -> None:
        repository.path.mkdir(parents=True)
        repository.git("init", "--quiet")
        repository.commit(files or {"README.md": "# Sample\n"}, "Begin")

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repository]) -> Repository:
    """Return a fresh repository with one commit."""
    return make_repo()
