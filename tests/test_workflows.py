""".github: workflows that GitHub takes; each starts a form of bin/test on a machine like our CI."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ci_programs

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
MACHINE = ROOT / ".github" / "machine" / "action.yml"
# What runners of GitHub have already; in chromium's place it is Chrome, which tests take as well.
THERE = {"chromium"}


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    [job] = yaml.safe_load(workflow.read_text())["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def accept(schema: str, file: Path, folder: Path) -> None:
    words = ("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file))
    done = ci_programs.run(*words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_they_have_the_form_that_github_takes(tmp_path: Path) -> None:
    for file in WORKFLOWS:
        accept("github-workflows", file, tmp_path)
    accept("github-actions", MACHINE, tmp_path)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_each_ends_with_a_form_of_the_tests_on_the_same_machine(workflow: Path) -> None:
    checkout, machine, test = steps_of(workflow)
    assert checkout["uses"].startswith("actions/checkout@v")
    assert (ROOT / machine["uses"] / "action.yml") == MACHINE
    program, *forms = test["run"].split()
    assert program == "bin/test"
    known = (ROOT / "tests" / "run.py").read_text()
    assert not [form for form in forms if f'"{form}"' not in known]


def test_the_machine_has_what_the_projects_own_ci_installs() -> None:
    extras = re.search(r"^extras=\((.*)\)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    [script] = [s["run"] for s in yaml.safe_load(MACHINE.read_text())["runs"]["steps"]
                if "apt-get" in s.get("run", "")]  # fmt: skip
    installed = re.search(r"--no-install-recommends \\\n *(.*)\n", script)
    assert extras
    assert installed
    assert {*installed[1].split()} == {"strace", *extras[1].split()} - THERE
