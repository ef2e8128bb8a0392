"""The project's own checks that did not run are named to who approves (RV-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from developer.candidates.detect import candidates
from shared.candidates import read_found
from tests.journey import FILES, VERIFIED, Journey, passing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("RV-9")

CI = """\
jobs:
  test:
    steps:
      - run: pip install ruff mypy
      - run: |
          python -m mypy --strict src
          sphinx-build docs out
      - run: pytest --cov && coverage report
"""
PROJECT: dict[str, str | bytes] = {
    ".github/workflows/ci.yml": CI,
    "pyproject.toml": "[tool.ruff]\nline-length = 99\n\n[tool.mypy]\n",
    "package.json": '{"scripts": {\n  "test": "jest",\n  "lint:js": "eslint ."\n}}\n',
}


def test_programs_of_ci_and_configuration_are_found_each_once_with_its_place(
    make_repo: Callable[..., Repository],
) -> None:
    folder = str(make_repo(files=PROJECT).path)
    workflow = ".github/workflows/ci.yml"
    assert candidates(folder, folder).checks == [
        ("mypy", f"{workflow}:6"),
        ("sphinx-build", f"{workflow}:7"),
        ("coverage", f"{workflow}:8"),
        ("ruff", "pyproject.toml:1"),
        ("eslint", "package.json:3"),
    ]


def test_the_summary_names_those_that_no_command_here_has_run(
    make_repo: Callable[..., Repository],
) -> None:
    verify = VERIFIED.replace('"]', '", "true || ruff check"]')
    journey = Journey(make_repo(files={**FILES, **PROJECT, "planner.toml": verify}))
    journey.review, journey.verdicts = "auto", passing
    journey.start("--alone")
    assert read_found(journey.state_dir).checks
    summary = journey.to("submitted").last.data("summary")
    assert (
        "the project's checks that did not run here: mypy (.github/workflows/ci.yml:6), " in summary
    )
    assert "eslint (package.json:3)" in summary
    assert "ruff" not in summary.partition("did not run here")[2].partition("\n")[0]
