"""Tests that import another checkout instead of the plan's files are noticed (PL-34)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.drive import Host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

TEST = "import app\n\nassert app.answer() > 0\n"


@pytest.mark.requirement("PL-34", "PL-16", "PL-22")
def test_verify_commands_that_test_another_tree_open_the_gate_and_a_pass_shows_its_reason(
    make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_repo(
        "project",
        {"src/app.py": "def answer():\n    return 1\n", "tests/check.py": TEST,
         "planner.toml": '[verify]\ncommands = ["python3 tests/check.py"]\n'},
    )  # fmt: skip

    def edit(tree: Path) -> None:
        (tree / "src/app.py").write_text("def answer():\n    return 2\n")
        (tree / "tests/check.py").write_text(TEST.replace("> 0", "in (1, 2)"))

    # As `pip install --editable` in another checkout does it: the package is found there.
    other = shutil.copytree(project.path / "src", Path.home() / "other")
    monkeypatch.setenv("PYTHONPATH", str(other))
    host = Host(project.path, edit, ["src/app.py"], ["tests/check.py"], processes=True)
    gate = host.to("gate").last
    assert "verify does not exercise the changed files" in gate.data("items")
    assert "python3 tests/check.py" not in (project.path / "tests/check.py").read_text()
    bare = host.planner("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    assert bare.code == 1
    assert "give a reason" in bare.text
    host.to("submitted")
    rendered = Path(host.state_dir, "plan.md").read_text()
    assert "verify does not exercise the changed files" in rendered
    assert "The user has read it and wants it so." in rendered
    assert "return 2\\n" in Path(host.state_dir, "plan.json").read_text()
