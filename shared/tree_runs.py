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
    from collections.abc import Container, Sequence

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
# A runner that was started and has run no test, by its options or by what it says.
_LISTS = re.compile(r"\b(?:pytest|py\.test)\b.*\s--(?:co|collect-only|version|help)\b")
_NONE_RAN = re.compile(
    r"no tests (?:ran|found|were found|to run)|\bRan 0 tests\b|\bcollected 0 items\b|"
    r"\b0 tests? (?:ran|run|collected)\b",
    re.IGNORECASE,
)
_SKIPPED = re.compile(r"(?<!\d)0 passed, 0 failed\b")


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


class Wanted(NamedTuple):
    """Lines to take out of a change, and the test or command that has to fail without them."""

    # '' where all changed code is to be made unparsable.
    file: str
    first: int
    last: int
    # As trials call the lines and the test.
    lines: str
    test: str


class Trial(NamedTuple):
    """A test that the program ran with lines of the change taken out, to see it fail (RV-9).

    Of a command that an assistant has run itself, all changed code was made unparsable instead.
    """

    # `FILE:LINE`, or `FILE:FIRST-LAST`; '' where it was all changed code.
    lines: str
    # As evidence names it.
    test: str
    tree: str
    # What ran.
    command: str
    # Why it shows nothing; '' where it does.
    problem: str
    # What came out where it shows something.
    said: str = ""


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


def record_trials(state_dir: str, trials: Sequence[Trial]) -> None:
    """Remember trials under the run's lock, in place of the same ones before; the last are kept."""
    kept = _read(state_dir)
    rows = {trial[:3]: trial for trial in (*map(_trial, kept.get("trials", ())), *trials)}
    last = [trial._asdict() for trial in rows.values()][-MOST_KEPT:]
    write_json(tree_runs_path(state_dir), {**kept, "trials": last})


def trials_on(state_dir: str, trees: Container[str]) -> dict[tuple[str, str], Trial]:
    """Return the trials on some git trees, by the lines and the test that evidence names."""
    found = map(_trial, _read(state_dir).get("trials", ()))
    return {(one.lines, one.test): one for one in found if one.tree in trees}


def _trial(row: dict[str, Any]) -> Trial:
    return Trial(**row)


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
    done = [run.command for run in good if run.tree == tree and not only_shows(run.command)]
    return [*dict.fromkeys(done)][-_MOST_ADOPTED:]


def tries_nothing(command: str, said: str) -> str:
    """Return why a command shows nothing of the project, whatever came out; '' if it may."""
    if only_says(command):
        return f"starts nothing of the project ({command}), so it shows nothing"
    if _LISTS.search(command) or _NONE_RAN.search(said) or _SKIPPED.search(said):
        return f"has run no test ({command}), so it shows nothing"
    return ""


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


def only_shows(command: str) -> bool:
    """Return whether a command only shows text or files, whatever they hold."""
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
    for row in found.get("trials", []):
        Trial(**row)
    return {"captured": "", "runs": [], **found}
