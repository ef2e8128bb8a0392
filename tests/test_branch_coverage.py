"""The report of `bin/test --measure` counts what every process of the run executed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """\
import pytest
from state.waves import find_cycle

@pytest.mark.parametrize("n", range(20))
def test_no_cycle(n):
    assert find_cycle([]) == []
"""


@pytest.mark.long  # as all that measures coverage
def test_every_worker_counts_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "test_waves.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-S", "-P", "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += ["--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "base")]
    command += ["-p", "tests.branch_coverage", "-p", "no:cacheprovider", "-n", "2", "--measure"]
    done = subprocess.run(
        [*command, str(tmp_path / "test_waves.py")], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "COVERAGE_FILE": str(tmp_path / "coverage")}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    row = re.search(r"^state/waves\.py +(\d+) +(\d+) ", done.stdout, re.MULTILINE)
    assert row is not None, done.stdout
    assert int(row[2]) < int(row[1])
    assert [p.name for p in tmp_path.glob("coverage*")] == ["coverage"]
