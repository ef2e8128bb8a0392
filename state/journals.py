"""Name the folders of a run in which files are written whole: two journals, and the milestones.

A module of its own, because the guard's imports must stay as few as these two lines.
"""

from __future__ import annotations

APPLY_JOURNAL = "apply"
REVERT_JOURNAL = "revert"
# The worktrees in which agents write milestones, and notes beside them.
MILESTONES = "milestones"
