"""Read from a printed block of the demo where to write, and in which order to try what is next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared import resources

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MILESTONE = re.compile(r"/(M-\d{3,})\b")


def worktree_in(block: Element) -> tuple[str, str] | None:
    """Return the worktree that a block's task names, and its milestone or ''; None without one."""
    task, state_dir = block.findtext("task", ""), block.get("state_dir", "")
    if resources.worktree_path(state_dir) in task:
        return resources.worktree_path(state_dir), ""
    found = _MILESTONE.search(task)
    if found is None or resources.milestones_path(state_dir) not in task:
        return None
    return resources.milestone_worktree_path(state_dir, found[1]), found[1]


def ways_on(block: Element) -> list[Element]:
    """Return the next commands of a block, the one to try first in front.

    Who gets a result goes on only where it is theirs. Where no agent is started, what is blocked is
    tried again before anything else.
    """
    found = [n for n in block.findall("next") if block.tag == "step" or n.get("on") == "done"]
    if block.find("dispatch") is None:
        found.sort(key=lambda n: not n.get("on", "").startswith("retry "))
    return found
