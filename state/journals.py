"""Name our folder in a repository, and those of a run in which files are written whole.

A module of its own, because the guard's imports must stay as few as these lines.
"""

from __future__ import annotations

PLANNER = ".planner"
APPLY_JOURNAL = "apply"
REVERT_JOURNAL = "revert"
# The worktrees in which agents write milestones, and notes beside them.
MILESTONES = "milestones"
