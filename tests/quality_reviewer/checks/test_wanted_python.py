"""Which Python a project is written for: a newer one knows syntax that ours refuses (PL-24)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.wanted_python import bounds_of
from tests.quality_reviewer.checks.conftest import findings

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk

NEWER = f"3.{sys.version_info.minor + 1}"
UNKNOWN_SYNTAX = "new syntax here\n"
SAY_NEWER = {
    "setup.cfg": f"[options]\npython_requires = >={NEWER}\n",
    "setup.py": f'from setuptools import setup\nsetup(name="a", python_requires=">={NEWER}, <4")\n',
    ".python-version": f"{NEWER}.1\n",
    ".tool-versions": f"nodejs 20.1\npython {NEWER}.1\n",
    "mise.toml": f'[tools]\npython = "{NEWER}"\n',
    "Pipfile": f'[requires]\npython_version = "{NEWER}"\n',
    "runtime.txt": f"python-{NEWER}.1\n",
    "environment.yml": f"dependencies:\n  - python={NEWER}\n  - numpy>=1.2\n",
}


@pytest.mark.parametrize("name", SAY_NEWER)
@pytest.mark.parametrize("folder", ["", "packages/a/"])
@pytest.mark.requirement("PL-24")
def test_a_newer_python_is_read_wherever_a_project_says_so(
    desk: Desk, name: str, folder: str
) -> None:
    subject = desk.subject({f"{folder}src/a.py": UNKNOWN_SYNTAX}, {folder + name: SAY_NEWER[name]})
    [(status, _, text)] = findings("code-parses", subject)
    assert status == "NOT_CHECKED"
    assert f"{folder}{name} asks for Python {NEWER}" in text


@pytest.mark.parametrize(
    "setup",
    [
        f'REQUIRES_PYTHON = ">={NEWER}"\nsetup(python_requires=REQUIRES_PYTHON)\n',
        f'setup(**{{"python_requires": ">={NEWER}"}})\n',
        f'about = {{}}\nabout["python_requires"] = ">={NEWER}"\nsetup(**about)\n',
        f'setup(**dict(python_requires="~={NEWER}"))\n',
    ],
)
def test_a_setup_py_is_read_without_running_it(desk: Desk, setup: str) -> None:
    subject = desk.subject({"a.py": UNKNOWN_SYNTAX}, {"setup.py": setup})
    assert [status for status, _, _ in findings("code-parses", subject)] == ["NOT_CHECKED"]


@pytest.mark.parametrize(
    "table",
    [
        f'project.requires-python = ">={NEWER}"\n',
        f'[project]\n"requires-python" = ">=3.9, >={NEWER}"\n',
        f'[tool.poetry.dependencies]\npython = "^{NEWER}"\n',
        f'[tool.poetry.dependencies]\npython = {{ version = "^{NEWER}" }}\n',
        f'[tool.flit.metadata]\nrequires-python = "~={NEWER}"\n',
        f'[tool.pixi.dependencies]\npython = "{NEWER}.*"\n',
    ],
)
def test_each_builder_has_its_own_key(desk: Desk, table: str) -> None:
    subject = desk.subject({"a.py": UNKNOWN_SYNTAX}, {"pyproject.toml": table})
    assert [status for status, _, _ in findings("code-parses", subject)] == ["NOT_CHECKED"]


@pytest.mark.parametrize(
    "head",
    [f'# /// script\n# requires-python = ">={NEWER}"\n# ///\n', f"#!/usr/bin/env python{NEWER}\n"],
)
def test_a_script_may_say_so_itself(desk: Desk, head: str) -> None:
    older = '[project]\nrequires-python = ">=3.9"\n'
    subject = desk.subject({"a.py": head + UNKNOWN_SYNTAX}, {"pyproject.toml": older})
    [(status, _, text)] = findings("code-parses", subject)
    assert (status, f"a.py asks for Python {NEWER}" in text) == ("NOT_CHECKED", True)


def test_the_nearest_folder_that_names_a_python_counts(desk: Desk) -> None:
    files = {
        "pyproject.toml": f'[project]\nrequires-python = ">={NEWER}"\n',
        "old/setup.cfg": "[options]\npython_requires = >=3.9\n",
        "old/deep/pyproject.toml": "[tool.ruff]\nline-length = 99\n",
    }
    after: dict[str, str | bytes | None] = {
        "old/deep/a.py": UNKNOWN_SYNTAX, "new/a.py": UNKNOWN_SYNTAX,
    }  # fmt: skip
    subject = desk.subject(after, {**files})
    assert [(s, p) for s, p, _ in findings("code-parses", subject)] == [
        ("NOT_CHECKED", "new/a.py"),
        ("FAIL", "old/deep/a.py"),
    ]


def test_a_project_for_python_2_is_not_judged_by_ours(desk: Desk) -> None:
    python_2 = "[options]\npython_requires = >=2.7, !=3.0.*, <3\n"
    subject = desk.subject({"a.py": "print 1\n"}, {"setup.cfg": python_2})
    [(status, _, text)] = findings("code-parses", subject)
    assert (status, "setup.cfg asks for Python 2" in text) == ("NOT_CHECKED", True)


@pytest.mark.parametrize(
    "files",
    [
        {"setup.cfg": "[options]\npython_requires = >=3.8, <3.10\n"},
        {"setup.cfg": f"[options\npython_requires = >={NEWER}\n"},
        {"setup.py": f"setup(python_requires='>=' + '{NEWER}'\n"},
        {"pyproject.toml": f"# requires-python = '>={NEWER}'\n[project]\nname = 'a'\n"},
        {"pyproject.toml": f"[project]\ndependencies = ['python-dateutil>={NEWER}']\n"},
        {".python-version": "system\n"},
        {"environment.yml": "dependencies:\n  - python-lsp=4.0\n"},
        {f"below/{name}": text for name, text in SAY_NEWER.items()},
    ],
)
def test_what_names_no_other_python_changes_nothing(desk: Desk, files: dict[str, str]) -> None:
    subject = desk.subject({"a.py": UNKNOWN_SYNTAX}, {**files})
    assert [status for status, _, _ in findings("code-parses", subject)] == ["FAIL"]


@pytest.mark.parametrize(
    ("text", "least", "end"),
    [
        (">=3.9", (3, 9), None),
        (">=3.9,<3.13", (3, 9), (3, 13)),
        (">=3.9,!=3.12.1,>=3.13", (3, 13), None),
        ("^3.9 || ^3.13", (3, 9), (4, 0)),
        ("~=3.13", (3, 13), (4, 0)),
        ("==3.13.*", (3, 13), (4, 0)),
        ("3.13", (3, 13), (4, 0)),
        ("<3", (0, 0), (3, 0)),
        (">=3", (3, 0), None),
    ],
)
def test_specifiers_are_read(
    text: str, least: tuple[int, int], end: tuple[int, int] | None
) -> None:
    assert bounds_of(text) == (least, end)


@pytest.mark.parametrize("text", ["", "*", "any", "system"])
def test_no_version_is_none(text: str) -> None:
    assert bounds_of(text) is None
