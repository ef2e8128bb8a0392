"""Remembers what an assistant has run on the files of a plan, as evidence for its review (VR-3)."""

from __future__ import annotations

import os

from shared.resources import tree_runs_path
from state.files import read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_KEPT = 100


class TreeRun:
    """A command that ran on the git tree `tree`; `said` is its last line that is not empty."""

    __slots__ = ("code", "command", "said", "seconds", "tree")

    def __init__(self, *, command: str, tree: str, code: int, seconds: int, said: str) -> None:
        self.command = command
        self.tree = tree
        self.code = code
        self.seconds = seconds
        self.said = said


def record(state_dir: str, run: TreeRun) -> None:
    """Remember a run, under the run's lock; of many the last are kept."""
    kept = [*_rows(state_dir), {name: getattr(run, name) for name in TreeRun.__slots__}]
    write_json(tree_runs_path(state_dir), kept[-MOST_KEPT:])


def runs_on(state_dir: str, tree: str) -> list[TreeRun]:
    """Return what ran on a git tree, each command once, as it ended last."""
    found = (TreeRun(**row) for row in _rows(state_dir))
    return [*{run.command: run for run in found if run.tree == tree}.values()]


def _rows(state_dir: str) -> list[dict[str, Any]]:
    path = tree_runs_path(state_dir)
    rows = read_json(path) if os.path.exists(path) else []
    return rows if isinstance(rows, list) else []
