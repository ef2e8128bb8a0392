"""A verification that is killed at a random moment leaves no mount, process or file behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from shared.resources import ROOT
from tests.forms import LONG
from tests.place import need_place
from tests.shared.place.arena import without_namespaces

PROGRAM = Path(__file__).with_name("kills.py")
NOBODY = 23456
TIMES = "60" if LONG else "3"


def killed(*before: str, user: int | None = None) -> dict[str, object]:
    """Run the program, behind the words `before`, as this user or another; return what it says."""
    python = sys.executable if user is None else shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no Python that another user may start")
    with tempfile.TemporaryDirectory() as home:
        known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        if user is not None:
            os.chown(home, user, user)
        asked = [
            python,
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {ROOT!r}); import shared.config",
        ]
        if user is not None and subprocess.run(asked, env=known, user=user, check=False).returncode:
            pytest.skip("another user may not read this checkout or its packages")
        line = [*before, python, "-S", str(PROGRAM), ROOT, TIMES]
        done = subprocess.run(
            line, cwd=home, env={**known, "HOME": home, "TMPDIR": home}, user=user, group=user,
            extra_groups=None if user is None else [], capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said: dict[str, object] = json.loads(done.stdout)
    return said


@pytest.mark.slow
@pytest.mark.requirement("VR-2", "PP-1")
def test_as_whoever_runs_the_tests() -> None:
    need_place()
    assert killed()["level"] == "namespaces"


@pytest.mark.slow
@pytest.mark.requirement("VR-2", "PP-1")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_as_a_user_without_rights() -> None:
    need_place()
    said = killed(user=NOBODY)
    assert (said["level"], said["user"]) == ("namespaces", NOBODY)


@pytest.mark.slow
@pytest.mark.requirement("PP-3")
def test_where_there_are_no_namespaces() -> None:
    need_place()
    assert killed(*without_namespaces())["level"] in {"landlock", "none"}
