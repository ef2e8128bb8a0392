"""Programs of requirements/ci.lock, started as a user of them would: mkdocs, pre-commit, schemas.

They have packages of their own, which never come near ours.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shared.dependencies import BESIDE, ensure
from state.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path


@functools.cache
def packages() -> str:
    """Return the folder of these packages; where they cannot be had, the test is skipped.

    In CI that is a failure: nobody reads what was skipped there. `bin/test` without arguments has
    installed them before; a test has a home of its own, without the user's settings of pip.
    """
    before = [*sys.path]
    try:
        return ensure("ci", BESIDE)
    except Refused as refusal:
        reason = f"requirements/ci.lock: {refusal.problems[0].problem}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    finally:
        sys.path[:] = before


def run(*words: str, cwd: Path | str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS`, with nothing but these packages; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": packages(), **variables}
    return subprocess.run(
        [sys.executable, "-S", "-P", *words], cwd=cwd, env=environment, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
