"""Our hooks for pre-commit, run by the real pre-commit in a repository that uses them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from shared.dependencies import BESIDE
from shared.dependencies import folder as packages
from tests import ci_programs

if TYPE_CHECKING:
    from tests.conftest import Repository

ROOT = Path(__file__).resolve().parent.parent
HOOKS = ROOT / ".pre-commit-hooks.yaml"
UNWANTED = shutil.ignore_patterns(".git", ".deps", ".planner", "__pycache__", ".*_cache")
PLAN = "planning/plans/a-run.json"

pytestmark = pytest.mark.requirement("HO-7")


def test_the_hooks_have_the_form_that_pre_commit_takes(tmp_path: Path) -> None:
    done = ci_programs.run("-m", "pre_commit", "validate-manifest", str(HOOKS), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_pre_commit_refuses_a_plan_that_was_edited(repo: Repository, tmp_path: Path) -> None:
    """It clones our checkout itself, and runs the hook from there."""
    ours = tmp_path / "ours"
    shutil.copytree(ROOT, ours, symlinks=True, ignore=UNWANTED)
    for words in (("init", "-q"), ("add", "--all"), ("commit", "-q", "-m", "A version")):
        subprocess.run(["git", *words], cwd=ours, check=True)
    core = Path(packages("core", BESIDE))
    cached = Path(os.environ["XDG_CACHE_HOME"]) / "planner" / "packages"
    cached.mkdir(parents=True)
    (cached / core.name).symlink_to(core)
    [hook] = yaml.safe_load(HOOKS.read_text())
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ours, check=True, capture_output=True, text=True
    ).stdout.strip()
    used = {"repos": [{"repo": str(ours), "rev": head, "hooks": [{"id": hook["id"]}]}]}
    repo.write(".pre-commit-config.yaml", yaml.safe_dump(used))
    plan = (ROOT / "examples" / "small.json").read_bytes()
    repo.write(PLAN, plan)
    repo.write("elsewhere.json", "{}")
    repo.git("add", "--all")

    def run() -> subprocess.CompletedProcess[str]:
        return ci_programs.run(
            "-m", "pre_commit", "run", "--all-files", "--color=never", cwd=repo.path,
            PRE_COMMIT_HOME=str(tmp_path / "store"), PLANNER_PYTHON=sys.executable,
        )  # fmt: skip

    sound = run()
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "Passed" in sound.stdout
    edited = json.loads(plan)
    edited["overview"]["title"] = "Something else"
    repo.write(PLAN, json.dumps(edited))
    repo.git("add", "--all")
    refused = run()
    assert refused.returncode == 1
    assert f'file="{PLAN}"' in refused.stdout
    assert "overview differs" in refused.stdout
