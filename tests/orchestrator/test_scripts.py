"""Each workflow's script starts by `-m` and by its path, from any folder (PL-4, PL-5)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shared.resources import ROOT
from shared.steps.entry_points import MODULES, find_workflow
from shared.steps.program import help_of

# What each script begins with: before it is done, nothing of ours can be imported.
BEGINNING = """\
import sys
from os.path import dirname, realpath

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))
"""


def script_of(module: str) -> Path:
    return Path(ROOT, f"{module.replace('.', '/')}.py")


def shown(folder: Path | str, *words: str) -> str:
    """Return what a script prints; fails for any other end than that of a command."""
    # What runs the tests names our folder in it, where a user's shell does not.
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.requirement("PL-4", "PL-5")
@pytest.mark.parametrize("name", MODULES)
def test_a_script_starts_by_its_name_and_by_its_path(tmp_path: Path, name: str) -> None:
    module, wanted = MODULES[name], help_of(find_workflow(name))
    assert shown(ROOT, "-m", module, "--help") == wanted
    assert shown(tmp_path, str(script_of(module)), "--help") == wanted


def test_a_script_that_is_started_by_a_link_or_a_relative_path_finds_its_program(
    tmp_path: Path,
) -> None:
    wanted = help_of(find_workflow("plan-code"))
    link = tmp_path / "code.py"
    link.symlink_to(script_of("developer.plan_code"))
    assert shown(tmp_path, "code.py", "--help") == wanted
    assert shown(f"{ROOT}/developer", "plan_code.py", "--help") == wanted


def test_folders_of_the_user_with_our_names_are_not_taken_for_ours(tmp_path: Path) -> None:
    for package in ("shared", "state", "developer"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit('hostile')")
    said = shown(tmp_path, str(script_of("developer.plan_code")), "--step", "1")
    assert "no run of the planner was started" in said


def test_all_scripts_begin_alike() -> None:
    for module in MODULES.values():
        source = script_of(module).read_text(encoding="utf-8")
        assert source.count("sys.path") == 1, module
        source = re.sub("^from typing import .*\n", "", source, flags=re.MULTILINE)
        start = source.index("import sys\n")
        assert source[start:].startswith(BEGINNING), module
        assert "\nfrom " not in source[:start].replace("\nfrom __future__ import", ""), module
