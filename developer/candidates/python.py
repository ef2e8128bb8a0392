"""Finds the test commands of a Python project, run by the interpreter that the project uses."""

from __future__ import annotations

import configparser
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from developer.candidates.found import Candidate, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from developer.candidates.found import Project

_ENVIRONMENTS = (".venv/bin/python", "venv/bin/python")
_RUNNERS = (
    ("uv.lock", "uv run --offline --no-sync python"),
    ("poetry.lock", "poetry run python"),
    ("pdm.lock", "pdm run python"),
)
_NAMES_PYTEST = r"""["'\s]pytest(?![\w-])"""
_REQUIREMENTS = ("requirements-dev.txt", "requirements-test.txt", "requirements.txt",
                 "dev-requirements.txt", "test-requirements.txt")  # fmt: skip


def python_candidates(project: Project) -> Iterator[Candidate]:
    """Yield the test commands of a Python project, the likeliest first."""
    python, text = interpreter(project), project.read("pyproject.toml")
    tables = _tables(text)
    pytest = _pytest(project, text, tables)
    if pytest:
        yield Candidate(f"{python} -m pytest -q", pytest)
    elif unittest := _unittest(project):
        yield Candidate(f"{python} -m unittest discover", unittest)
    tox = project.read("tox.ini")
    if re.search(r"^\[(tox|testenv)", tox, re.MULTILINE):
        yield Candidate(f"{python} -m tox", f"tox.ini:{line_of(tox, r'^.(tox|testenv)')}")
    elif "tox" in tables:
        yield Candidate(f"{python} -m tox", _at(text, r"^\[tool\.tox"))
    if project.has("noxfile.py"):
        yield Candidate(f"{python} -m nox", "noxfile.py:1")
    if "hatch" in tables and re.search(r"^\[tool\.hatch\.envs\.", text, re.MULTILINE):
        yield Candidate("hatch test", _at(text, r"^\[tool\.hatch\.envs\."))
    for name, command in (("ruff", "ruff check"), ("mypy", "mypy")):
        if name in tables:
            yield Candidate(f"{python} -m {command}", _at(text, rf"^\[tool\.{name}"))


def interpreter(project: Project) -> str:
    """Return the command that starts the project's Python: its environment's, else its tool's."""
    for path in _ENVIRONMENTS:
        if project.has_here(path):
            return path
    for lock, command in _RUNNERS:
        if project.has(lock):
            return command
    return "python3"


def _pytest(project: Project, text: str, tables: dict[str, Any]) -> str:
    """Return the file and line that say that pytest runs the tests, or ''."""
    if "pytest" in tables:
        return _at(text, r"^\[tool\.pytest")
    for name, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"),
                          ("setup.cfg", "tool:pytest")):  # fmt: skip
        found = project.read(name)
        if _has_section(found, section):
            return f"{name}:{line_of(found, rf'^.{section}.')}"
    for name in ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", *_REQUIREMENTS):
        found = f"\n{project.read(name)}"
        if re.search(_NAMES_PYTEST, found):
            return f"{name}:{max(1, line_of(found, _NAMES_PYTEST.replace('[', '[', 1)) - 1)}"
    for name in ("conftest.py", "tests/conftest.py", "test/conftest.py"):
        if project.has(name):
            return f"{name}:1"
    return ""


def _unittest(project: Project) -> str:
    for folder in ("tests", "test", "."):
        path = os.path.join(project.files, folder)
        names = sorted(os.listdir(path)) if os.path.isdir(path) else []
        for name in names:
            if re.fullmatch(r"test\w*\.py", name):
                file = os.path.normpath(os.path.join(folder, name))
                text = project.read(file)
                if re.search(r"^(import|from) unittest\b", text, re.MULTILINE):
                    return f"{file}:{line_of(text, r'^(import|from) unittest')}"
    return ""


def _tables(text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _has_section(text: str, section: str) -> bool:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return False
    return parser.has_section(section)


def _at(text: str, pattern: str) -> str:
    return f"pyproject.toml:{line_of(text, pattern)}"
