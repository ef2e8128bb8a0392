"""Decide how much review a plan gets: full, small or none (PL-23)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.builders import counted
from shared.defaults import DEFAULT_LINES, DEFAULT_MILESTONES
from state.milestones import changes_of, files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.run import State
    from state.database import Run
    from state.milestones import AnyPlan

MODES = ("full", "small", "none")
AUTO = "auto"
HIGH_RISK = "high-risk"


def review_of(state: State, plan: AnyPlan) -> tuple[str, str]:
    """Return how much review (full, small or none) a plan gets by its run's settings, and why."""
    return review_mode(state.run.review, plan, state.config["config"])


def review_mode(chosen: str, plan: AnyPlan, config: Mapping[str, Any]) -> tuple[str, str]:
    """Return how much review (full, small or none) a plan gets, by its size and risk, and why.

    `chosen` is the value of `start --review`, or `auto`; `config` holds the settings of
    the run. A plan is small if no rule below makes it big.
    """
    if chosen != AUTO:
        return chosen, f"chosen by --review {chosen}"
    milestones = plan.milestones
    lines = changed_lines(plan)
    if len(milestones) > config.get("review_milestones", DEFAULT_MILESTONES):
        return "full", f"{len(milestones)} milestones"
    if lines > config.get("review_lines", DEFAULT_LINES):
        return "full", f"{lines} changed lines"
    for milestone in milestones:
        if HIGH_RISK in milestone.flags:
            return "full", f"{milestone.id} is flagged {HIGH_RISK}"
        for file in sorted(files_of(milestone)):
            if is_sensitive(file, config.get("sensitive", ())):
                return "full", f"{file} is on the project's sensitive list"
    size = f"{counted(len(milestones), 'milestone')}, {counted(lines, 'changed line')}"
    return "small", size


def designs_itself(run: Run) -> bool:
    """Return whether the host writes the context and the design of a run at once (FC-2).

    At that point there is no plan yet that could be more than small.
    """
    return bool(run.alone) or run.review != "full"


def changed_lines(plan: AnyPlan) -> int:
    """Return how many lines a plan's patches add and remove in total."""
    count = 0
    for milestone in plan.milestones:
        for change in changes_of(milestone):
            hunks = (change.patch or "").split("\n@@ ")[1:]
            count += sum(hunk.count("\n+") + hunk.count("\n-") for hunk in hunks)
    return count


def is_sensitive(file: str, patterns: tuple[str, ...] | list[str]) -> bool:
    """Return whether a path matches one of the project's patterns or folders of sensitive files."""
    # Imported only where a project has such a list: fnmatch imports `re`.
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    return any(fnmatchcase(file, p) or file.startswith(p.rstrip("/") + "/") for p in patterns)
