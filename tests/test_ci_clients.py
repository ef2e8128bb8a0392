"""`.ci/clients`: the versions that docs and tests speak of, and what happens without a registry."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from shared.resources import ROOT
from tests.clients.real_clients import PROGRAMS

pytestmark = pytest.mark.requirement("HO-4")

SCRIPT = Path(ROOT, ".ci", "clients")
AWAY = "the registry is away"
NPM = f'#!/bin/sh\necho "$*" >> "$CALLS"\necho "{AWAY}"\nexit "$CODE"\n'
PYTHON = f'#!/bin/sh\n[ "$1" = -c ] || {{ echo "{AWAY}"; exit 1; }}\n'


def run(folder: Path, code: int) -> tuple[list[str], int]:
    """Run the script with an npm that only ends with `code`, and a Python that can fetch nothing.

    Returns the lines on stderr and how often npm has been started.
    """
    calls = folder / "calls"
    calls.touch()
    for name, text in (("npm", NPM), ("python", PYTHON)):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [SCRIPT], capture_output=True, text=True, check=True,
        env={"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder), "CODE": str(code),
             "CLIENT_ROOT": str(folder / "a root"), "PLANNER_PYTHON": str(folder / "python"),
             "CALLS": str(calls)},
    )  # fmt: skip
    assert not done.stdout
    return done.stderr.splitlines(), calls.read_text(encoding="utf-8").count("\n")


def test_docs_and_tests_speak_of_the_versions_that_are_installed() -> None:
    installed = set(re.findall(r"[@=](\d+\.\d+\.\d+)", SCRIPT.read_text(encoding="utf-8")))
    driven = {match[0] for name in PROGRAMS if (match := re.search(r"[\d.]+$", name))}
    assert installed == driven
    said = Path(ROOT, "docs", "hosts.md").read_text(encoding="utf-8")
    assert {version for version in installed if version not in said} <= {"0.1.1"}  # no assistant


def test_what_cannot_be_had_is_a_line_each_and_no_failure(tmp_path: Path) -> None:
    lines, _ = run(tmp_path, 1)
    assert len(lines) == 7
    assert all(line.startswith("not installed, its tests are skipped: ") for line in lines), lines
    assert all(line.endswith(f"({AWAY})") for line in lines), lines


def test_what_is_there_is_not_fetched_again_and_what_failed_is(tmp_path: Path) -> None:
    assert run(tmp_path, 1)[1] == 5
    assert run(tmp_path, 0)[1] == 10
    lines, calls = run(tmp_path, 0)
    assert calls == 10
    assert len(lines) == 2, "those of pip"
