"""Names of the folders in a run's state directory that hold the journal of an apply or a revert.

A module of its own, because the guard's imports must stay as few as these two lines.
"""

from __future__ import annotations

APPLY_JOURNAL = "apply"
REVERT_JOURNAL = "revert"
