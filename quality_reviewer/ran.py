"""Says which commands that ran on a change may be named as evidence for it (RV-1, VR-3)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from quality_reviewer.citations import lines_named
from quality_reviewer.named.bearing import numbers_of
from shared.tree_runs import captured_tree, first_line, runs_on, trials_on, tries_nothing
from shared.verified import VERIFY
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from quality_reviewer.citations import Citation
    from shared.tree_runs import TreeRun, Trial
    from state.models import Plan
    from state.results import VerifyResult

_FAILED = re.compile(r"\b\d+ passed, ([1-9]\d*) failed\b")
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
        return [
            *good,
            *(
                f"run {n}"
                for n, run in self.runs.items()
                if not tries_nothing(run.command, run.said)
            ),
        ]

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
            command = first_line(known.get(found[0], ""))
            return f"{found[0]} (`{command}`)" if command else found[0]

        text = named.sub(beside, text)
        for (lines, test), trial in self._trials.items():
            asked = re.compile(rf"({re.escape(f'{lines} without: {test}')})(?=\s*(?:;|\n|$))")
            if lines and not trial.problem:
                text = asked.sub(rf"\1 (executed: {trial.said})", text)
        return text

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

    def without(self, named: Citation) -> str:
        """Return why a test shows nothing of the lines that the program took out for it."""
        lines = lines_named(named)
        trial = self._trials.get((lines, named.test))
        if trial is None:
            return f"{named.test} has not run without {lines}: answer by a file, in the place"
        return trial.problem

    def untried(self, named: Citation) -> str:
        """Return why a command that is said to have tried to break the change has tried nothing."""
        run = self.runs[named.first]
        cases = numbers_of(named.rest) - {"0"}
        if not cases:
            return f"the evidence does not say how many cases {named.name} tried"
        if cases.isdisjoint(numbers_of(f"{run.said} {run.command}")):
            return f"{named.name} prints none of the figures that the evidence names ({run.said})"
        trial = self._trials.get(("", run.command))
        return trial.problem if trial else ""

    @cached_property
    def runs(self) -> dict[int, TreeRun]:
        """The commands that an assistant has run on this change, by number."""
        return {run.number: run for tree in self._trees for run in runs_on(self._state_dir, tree)}

    @cached_property
    def _trials(self) -> dict[tuple[str, str], Trial]:
        return trials_on(self._state_dir, self._trees)

    @cached_property
    def _trees(self) -> dict[str, None]:
        trees = {captured_tree(self._state_dir): None}
        if self._documented:
            # A check holds that documentation has changed no code since.
            trees |= {o.tree or "": None for o in self._plan.reviews if o.phase in CODE_PHASES}
        return trees

    @cached_property
    def _verified(self) -> dict[int, VerifyResult]:
        """The results of the verify commands on this change, by number."""
        tree = captured_tree(self._state_dir)
        return dict(enumerate((r for r in self._plan.verify if r.tree == tree), start=1))


def _doubt(run: TreeRun, came_out: str) -> str:
    """Return why a command does not show that all is well, or ''.

    One that has failed may be what shows it: where the evidence says that it is right so.
    """
    if why := tries_nothing(run.command, run.said):
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
