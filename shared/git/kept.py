"""Where the files of a folder that is in no git repository are kept (PL-35).

A module of its own, since a printed step asks, and must not load what works with git.
"""

from __future__ import annotations

import os

KEPT_FILES = os.path.join(".planner", "files.git")


def is_kept(root: str) -> bool:
    """Return whether the planner keeps the files of a folder, in a repository of its own."""
    return os.path.isfile(os.path.join(root, KEPT_FILES, "HEAD"))
