"""Files that a program has left behind: never staged with completed requirements (RL-9)."""

from __future__ import annotations

from fnmatch import fnmatchcase

# Folders anywhere on the way to a file, and names of files.
FOLDERS = (
    "target", "node_modules", "__pycache__", ".venv", "tmp", "temp", ".pytest_cache",
    ".mypy_cache", ".ruff_cache", ".tox", ".hypothesis",
)  # fmt: skip
NAMES = (
    "*.log", "*.tmp", "*.bak", "*.pyc", "*.swp", "*~", ".DS_Store", "Thumbs.db", "*.planner-tmp",
)  # fmt: skip


def is_temporary(path: str) -> bool:
    """Return whether a path of the repository looks like what a program has left behind."""
    *folders, name = path.rstrip("/").split("/")
    inside = folders + [name] * path.endswith("/")
    return any(folder in FOLDERS for folder in inside) or any(
        fnmatchcase(name, pattern) for pattern in NAMES
    )
