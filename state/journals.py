"""Name the folders that hold the journals of applying and reverting a plan's changes.

A module of its own, because the guard's imports must stay as few as these two lines.
"""

from __future__ import annotations

APPLY_JOURNAL = "apply"
REVERT_JOURNAL = "revert"
