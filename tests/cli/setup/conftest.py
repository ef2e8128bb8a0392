"""A home that setup finds empty."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.setup.homes import Home

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Home:
    """Return a home without assistants, and none of them on PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "python3"):
        (programs / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(programs))
    return Home()
