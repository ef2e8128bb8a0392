"""Says which commands that ran on a change may be named as evidence for it (RV-1, VR-3)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from shared.tree_runs import captured_tree, only_says, runs_on
from shared.verified import VERIFY
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from quality_reviewer.citations import Citation
    from shared.tree_runs import TreeRun
    from state.models import Plan
    from state.results import VerifyResult

# A runner that was started and has run no test, by its options or by what it says.
_LISTS = re.compile(r"\b(?:pytest|py\.test)\b.*\s--(?:co|collect-only|version|help)\b")
_NONE_RAN = re.compile(
    r"no tests (?:ran|found|were found|to run)|\bRan 0 tests\b|\bcollected 0 items\b|"
    r"\b0 tests? (?:ran|run|collected)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(r"\b\d+ passed, ([1-9]\d*) failed\b")
_SKIPPED = re.compile(r"(?<!\d)0 passed, 0 failed\b")
_MEANT = re.compile(
    r"\b(?:right|expected|expects|meant|intended|correct|should|must|wanted|on purpose)\b",
    re.IGNORECASE,
)


class Ran:
    """What has run on the files of a plan."""

    def __init__(self, state_dir: str, plan: Plan, *, documented: bool) -> None:
        """`documented` says that documentation alone has been written since the code was judged."""
        self._state_dir, self._plan = state_dir, plan
        self._documented = documented

    def names(self) -> list[str]:
        """Return what evidence may name: verifications that show something, then commands."""
        good = [f"{VERIFY} {n}" for n, one in self._verified.items() if not _shows_nothing(one)]
        return [*good, *(f"run {n}" for n, run in self.runs.items() if not _tries_nothing(run))]

    def came_out(self) -> dict[str, str]:
        """Return by its name which command each one is, and of commands with what result."""
        runs = {
            f"run {number}": f"exit {run.code}, {run.passed} passed: {run.command}"
            for number, run in self.runs.items()
        }
        return runs | {f"{VERIFY} {n}": f"{VERIFY}: {r.command}" for n, r in self._verified.items()}

    def with_commands(self, text: str) -> str:
        """Return evidence with the command beside each run that it names (RV-9)."""
        runs = {f"run {number}": run.command for number, run in self.runs.items()}
        known = runs | {f"{VERIFY} {n}": r.command for n, r in self._verified.items()}
        named = re.compile(rf"(?m)(?:^|(?<=; ))(run|{VERIFY}) (\d+)(?!\d| \(`)")

        def beside(found: re.Match[str]) -> str:
            command = " ".join(known.get(found[0], "").split())
            return f"{found[0]} (`{command}`)" if command else found[0]

        return named.sub(beside, text)

    def problem(self, named: Citation) -> str:
        """Return why a command, or what the program ran to verify the change, shows nothing."""
        number, came_out = named.first, named.rest
        if named.kind == "verify" and number not in self._verified:
            return f"{named.name} is none of the commands that verified these files"
        if named.kind == "verify" and (why := _shows_nothing(self._verified[number])):
            return f"{named.name} {why}, so it shows nothing"
        if named.kind == "run" and number not in self.runs:
            return f"{named.name} is none of the commands that ran on these files"
        if named.kind == "run" and (why := _doubt(self.runs[number], came_out)):
            return f"{named.name} {why}"
        return "" if came_out.strip() else f"it does not say what came out of {named.name}"

    @cached_property
    def runs(self) -> dict[int, TreeRun]:
        """The commands that an assistant has run on this change, by number."""
        trees = {captured_tree(self._state_dir): None}
        if self._documented:
            # A check holds that documentation has changed no code since.
            trees |= {o.tree or "": None for o in self._plan.reviews if o.phase in CODE_PHASES}
        return {run.number: run for tree in trees for run in runs_on(self._state_dir, tree)}

    @cached_property
    def _verified(self) -> dict[int, VerifyResult]:
        """The results of the verify commands on this change, by number."""
        tree = captured_tree(self._state_dir)
        return dict(enumerate((r for r in self._plan.verify if r.tree == tree), start=1))


def _tries_nothing(run: TreeRun) -> str:
    """Return why a command shows nothing of the project, whatever came out; '' if it may."""
    if only_says(run.command):
        return f"starts nothing of the project ({run.command}), so it shows nothing"
    if _LISTS.search(run.command) or _NONE_RAN.search(run.said) or _SKIPPED.search(run.said):
        return f"has run no test ({run.command}), so it shows nothing"
    return ""


def _doubt(run: TreeRun, came_out: str) -> str:
    """Return why a command does not show that all is well, or ''.

    One that has failed may be what shows it: where the evidence says that it is right so.
    """
    if why := _tries_nothing(run):
        return why
    is_meant = _MEANT.search(came_out) is not None
    if run.code and not (is_meant and re.search(rf"(?<!\d){run.code}(?!\d)", came_out)):
        ways = f"`exit {run.code} is right: why`"
        return f"ended with exit {run.code}, and the evidence does not say {ways}"
    failed = _FAILED.search(run.said)
    if failed and not run.code and not is_meant:
        return f"has failing tests ({failed[1]}), and the evidence does not say that it is right"
    return ""


def _shows_nothing(result: VerifyResult) -> str:
    """Return why the result of a verify command shows nothing, or ''."""
    blind = result.exercised is False
    unnoticed = "passes with the changed code broken too" if blind else ""
    return unnoticed if result.outcome == "pass" else "does not pass"
