"""Remembers what an assistant has run on the files of a plan, as evidence for its review (VR-3)."""

from __future__ import annotations

import os

from shared.resources import tree_runs_path
from state.files import read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MOST_KEPT = 100


class TreeRun:
    """A command that ran on the git tree `tree`, by a number that evidence names it by.

    `said` has how many tests passed and failed, where that is known, and the output's last lines.
    """

    __slots__ = ("code", "command", "number", "said", "seconds", "tree")

    def __init__(
        self, *, command: str, tree: str, code: int, seconds: int, said: str, number: int = 0
    ) -> None:
        self.command = command
        self.tree = tree
        self.code = code
        self.seconds = seconds
        self.said = said
        self.number = number

    def line(self) -> str:
        """Return the run as reviewers see it."""
        return (
            f"run {self.number}: exit {self.code} ({self.seconds} s): {self.command}: {self.said}"
        )


def record(state_dir: str, run: TreeRun) -> None:
    """Remember a run under the next number, under the run's lock; of many the last are kept."""
    rows = _rows(state_dir)
    run.number = 1 + max((row.get("number", 0) for row in rows), default=0)
    kept = [*rows, {name: getattr(run, name) for name in TreeRun.__slots__}]
    write_json(tree_runs_path(state_dir), kept[-MOST_KEPT:])


def runs_on(state_dir: str, tree: str) -> list[TreeRun]:
    """Return what ran on a git tree, each command once, as it ended last."""
    found = (TreeRun(**row) for row in _rows(state_dir))
    return [*{run.command: run for run in found if run.tree == tree}.values()]


def runs_on_plan(state_dir: str, plan: Mapping[str, Any]) -> list[TreeRun]:
    """Return what ran on the files that the plan's verify commands ran on."""
    trees = {result.get("tree") for result in plan["verify"]}
    return [run for tree in sorted(filter(None, trees)) for run in runs_on(state_dir, tree)]


def _rows(state_dir: str) -> list[dict[str, Any]]:
    path = tree_runs_path(state_dir)
    rows = read_json(path) if os.path.exists(path) else []
    return rows if isinstance(rows, list) else []
