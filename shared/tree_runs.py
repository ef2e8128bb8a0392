"""Remembers what an assistant has run on the files of a plan, as evidence for its review (VR-3)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.builders import counted
from shared.resources import tree_runs_path
from state.files import write_json
from state.kept_files import read_kept

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_KEPT = 100
# A text of these commands alone only shows something, and so proves nothing.
_SHOWING = """
cat cd diff du echo file find git grep head ls printf pwd rg sed stat tail tree true type wc which
"""
_SHOWS = frozenset(_SHOWING.split())
# These read nothing of the project either: what they print is what their caller has written.
_SAYING = frozenset([":", "cat", "cd", "echo", "exit", "false", "ls", "printf", "pwd", "sleep",
                     "true"])  # fmt: skip
_CODE = re.compile(r"(?:python|node|ruby|perl|php)[\d.]*")
_PRINTS = re.compile(r"\s*(?:(?:print|puts|echo|console\.log|pass|exit)\b[\s(]*"
                     r"(?:\"[^\"]*\"|'[^']*'|\d*)[\s)]*;?\s*)+")  # fmt: skip
_MOST_ADOPTED, _LONGEST = 3, 500


class TreeRun(NamedTuple):
    """A command that ran on a git tree, by a number that evidence names it by."""

    command: str
    tree: str
    code: int
    seconds: int
    # How many tests passed and failed, where that is known, and the output's last lines.
    said: str
    number: int = 0
    # How many tests passed if none failed.
    passed: int = 0

    def line(self) -> str:
        """Return the run as reviewers see it."""
        return (
            f"run {self.number}: exit {self.code} ({self.seconds} s): {first_line(self.command)}: "
            f"{self.said}"
        )


def first_line(command: str) -> str:
    """Return a command as it is shown: of one with several lines the first, and how many follow."""
    first, *more = command.strip().splitlines() or [""]
    return f"{first} … ({counted(len(more), 'more line')})" if more else first


def record(state_dir: str, run: TreeRun) -> int:
    """Remember a run under the run's lock and return its number; of many the last are kept."""
    kept = _read(state_dir)
    rows = kept.get("runs", [])
    number = 1 + max((row["number"] for row in rows), default=0)
    rows = [*rows, run._replace(number=number)._asdict()]
    write_json(tree_runs_path(state_dir), {**kept, "runs": rows[-MOST_KEPT:]})
    return number


def mark_captured(state_dir: str, tree: str) -> None:
    """Remember the git tree of the change that is reviewed next, under the run's lock."""
    kept = _read(state_dir)
    if kept.get("captured") != tree:
        write_json(tree_runs_path(state_dir), {**kept, "captured": tree})


def captured_tree(state_dir: str) -> str:
    """Return the git tree of the change that was captured last; '' before the first."""
    tree: str = _read(state_dir).get("captured", "")
    return tree


def runs_on(state_dir: str, tree: str) -> list[TreeRun]:
    """Return what ran on a git tree, each command once, as it ended last."""
    return [*{run.command: run for run in recorded(state_dir) if run.tree == tree}.values()]


def recorded(state_dir: str) -> list[TreeRun]:
    """Return all runs that are remembered, on whichever git tree."""
    return [TreeRun(**row) for row in _read(state_dir).get("runs", [])]


def runs_on_change(state_dir: str) -> list[TreeRun]:
    """Return what ran on the change that was captured last, whether or not it was verified."""
    return runs_on(state_dir, captured_tree(state_dir))


def proving(state_dir: str, tree: str) -> list[str]:
    """Return the commands that succeeded and would verify the change if nothing else does.

    That is the one in which most tests passed, whatever it ran on; where no count is known, the
    last ones on the git tree `tree` that do more than show something.
    """
    good = [run for run in recorded(state_dir) if not run.code and _is_one_line(run.command)]
    if tested := [run for run in good if run.passed]:
        return [max(tested, key=lambda run: (run.passed, run.number)).command]
    done = [run.command for run in good if run.tree == tree and not _only_shows(run.command)]
    return [*dict.fromkeys(done)][-_MOST_ADOPTED:]


def only_says(command: str) -> bool:
    """Return whether a command starts nothing of a project, and only prints or reads a text."""
    return all(words[0] in _SAYING or _only_prints(words) for words in _called(command))


def _only_prints(words: Sequence[str]) -> bool:
    """Return whether a command hands a shell or interpreter code that only prints a text."""
    program, option, code = [*words, "", ""][:3]
    if option not in ("-c", "-e") or not code:
        return False
    if program in ("sh", "bash"):
        return only_says(code)
    is_known = _CODE.fullmatch(os.path.basename(program)) is not None
    return is_known and _PRINTS.fullmatch(code) is not None


def _only_shows(command: str) -> bool:
    return all(words[0] in _SHOWS for words in _called(command))


def _called(command: str) -> list[list[str]]:
    # Not at the top: a printed step does without it.
    from shared.guard.lexer import read_roughly

    return [[*one.called] for one in read_roughly(command, {}) if one.called]


def _is_one_line(command: str) -> bool:
    return bool(command.strip()) and command.isprintable() and len(command) <= _LONGEST


def _read(state_dir: str) -> dict[str, Any]:
    path = tree_runs_path(state_dir)
    return read_kept(path, _kept) if os.path.exists(path) else {}


def _kept(found: Any) -> dict[str, Any]:  # noqa: ANN401 – any JSON value
    if isinstance(found, list):  # from an earlier version
        return {}
    for row in found.get("runs", []):
        TreeRun(**row)
    return {"captured": "", "runs": [], **found}
