"""This checkout as a repository of its own, for tests that use it as another project would."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from shared.dependencies import BESIDE, folder

ROOT = Path(__file__).resolve().parent.parent
UNWANTED = shutil.ignore_patterns(".git", ".deps", ".planner", "__pycache__", ".*_cache")


def make_own_repository(place: Path) -> Path:
    """Commit a copy of the checkout in `place`, on the branch main, and return it.

    Clones of it find our packages in the cache of this test's user, as after a first use.
    """
    shutil.copytree(ROOT, place, symlinks=True, ignore=UNWANTED)
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "--all"),
        ("commit", "-q", "-m", "Planner"),
    ):
        subprocess.run(["git", *words], cwd=place, check=True)
    core = Path(folder("core", BESIDE))
    cached = Path(os.environ["XDG_CACHE_HOME"]) / "planner" / "packages"
    cached.mkdir(parents=True)
    (cached / core.name).symlink_to(core)
    return place
