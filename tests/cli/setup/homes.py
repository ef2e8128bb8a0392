"""A home as `planner setup` finds it, and all that is in it, to compare byte by byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shared.resources import ROOT
from tests.journey import call

if TYPE_CHECKING:
    from tests.journey import Answer

# Where programs keep what is theirs; the settings of assistants lie elsewhere.
_OF_PROGRAMS = (".cache", ".local", ".state")


class Home:
    """The test's home folder."""

    def __init__(self) -> None:
        self.path = Path(os.environ["HOME"])

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file, folders included, and return its path."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def settings(self) -> dict[str, tuple[str, int]]:
        """Return every file, folder and link: what it is, and its permission bits."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            name = str(path.relative_to(self.path))
            if not name.startswith(_OF_PROGRAMS):
                found[name] = (_what(path), path.lstat().st_mode)
        return found

    def setup(self, *words: str) -> Answer:
        """Run `planner setup` in this process."""
        return call(self.path, "setup", *words)

    def left_by_programs(self) -> list[str]:
        """Return the files that are in the folders of programs, test's own settings aside."""
        folders = [self.path / name for name in _OF_PROGRAMS]
        return [str(p) for f in folders for p in f.rglob("*") if not p.is_dir()]


def _what(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    return "folder" if path.is_dir() else repr(path.read_bytes())


def rule_of(home: Home) -> str:
    """Return the rule for our launcher, as setup writes it for Claude Code."""
    return json.dumps(f"Bash({home.path}/.claude/skills/planner/bin/planner *)")


class Checkout:
    """Another folder with the planner, such as a later version: all of it is linked but `bin/`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        folder.mkdir(parents=True)
        for name in os.listdir(ROOT):
            if name != "bin" and not name.startswith((".git", ".planner")):
                (folder / name).symlink_to(os.path.join(ROOT, name))
        (folder / "bin").mkdir()
        for name in os.listdir(os.path.join(ROOT, "bin")):
            source = Path(ROOT, "bin", name)
            (folder / "bin" / name).write_bytes(source.read_bytes())
            (folder / "bin" / name).chmod(0o755)

    def planner(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run this version's program."""
        return subprocess.run(
            [self.path / "bin" / "planner", *words],
            env={**os.environ, "PLANNER_PYTHON": sys.executable},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )
