"""A repository whose modules have the names of ours, for tests that drive the program from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# Modules of ours and of the standard library, as a user's repository may have them.
THEIRS = (
    "cli/__init__.py", "click.py", "enum.py", "json.py", "orchestrator/__init__.py", "os.py",
    "pydantic.py", "shared/__init__.py", "sqlite3.py", "state.py", "state/__init__.py",
)  # fmt: skip


@pytest.fixture
def foreign(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of which every module raises, first on the import path by PYTHONPATH."""
    raising = "raise SystemExit('a module of the user was imported')\n"
    path = make_repo("foreign", files=dict.fromkeys(THEIRS, raising)).path
    monkeypatch.setenv("PYTHONPATH", str(path))
    monkeypatch.setenv("PYTHONSTARTUP", str(path / "state.py"))
    return path
