"""Finds the test commands of a Python project, run by the interpreter that the project uses."""

from __future__ import annotations

import configparser
import glob
import re
import shutil
import tomllib
from typing import TYPE_CHECKING, Any

from developer.candidates.found import Candidate, line_of
from developer.candidates.python_tests import (
    by_pytest,
    by_unittest,
    packages,
    python_test_files,
)
from developer.candidates.runner import called_runner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from developer.candidates.found import Project

_ENVIRONMENTS = (".venv/bin/python", "venv/bin/python")
_TOX = ".tox/"
_RUNNERS = (
    ("uv.lock", "uv run --offline --no-sync python"),
    ("poetry.lock", "poetry run python"),
    ("pdm.lock", "pdm run python"),
)
_NAMES_DJANGO = r"\bdjango\b"
_NAMES_PYTEST = r"""["'\s]pytest(?![\w-])"""
_REQUIREMENTS = ("requirements-dev.txt", "requirements-test.txt", "requirements.txt",
                 "dev-requirements.txt", "test-requirements.txt")  # fmt: skip


def python_candidates(project: Project) -> Iterator[Candidate]:
    """Yield the test commands of a Python project, the likeliest first."""
    python, text = interpreter(project), project.read("pyproject.toml")
    tables = _tables(text)
    yield from _tests(
        project, python, _configured(project, text, tables), _pytest_named_at(project)
    )
    yield from _that_can_start(project, [*_tools(project, python, text, tables)])


def _that_can_start(project: Project, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield those of the candidates whose module is not known to be missing."""
    started = {one: _module(one.command) for one in found}
    wanted: dict[str, list[str]] = {}
    for python, module in filter(None, started.values()):
        wanted.setdefault(python, []).append(module)
    installed = {python: packages(project, python, names) for python, names in wanted.items()}
    for one, by in started.items():
        known = installed[by[0]] if by else None
        if known is None or (by and by[1] in known):
            yield one


def _module(command: str) -> tuple[str, str] | None:
    """Return the interpreter and the module that a command starts with `-m`, if it does."""
    python, _, rest = command.partition(" -m ")
    return (python, rest.split()[0]) if rest else None


def _tools(project: Project, python: str, text: str, tables: dict[str, Any]) -> Iterator[Candidate]:
    """Yield what runs the tests in environments of its own, then what only reads the code."""
    if tox := _tox(project, text, tables):
        yield Candidate(" ".join([_program("tox", python), *_made_by_tox(project)]), tox)
    if project.has("noxfile.py"):
        # As its environments are: there is no network to install from.
        yield Candidate(f"{_program('nox', python)} -R", "noxfile.py:1")
    if "hatch" in tables and re.search(r"^\[tool\.hatch\.envs\.", text, re.MULTILINE):
        yield Candidate("hatch test", _at(text, r"^\[tool\.hatch\.envs\."))
    for name, command in (("ruff", "ruff check"), ("mypy", "mypy")):
        if name in tables:
            yield Candidate(f"{python} -m {command}", _at(text, rf"^\[tool\.{name}"))


def _tests(project: Project, python: str, configured: str, named: str) -> Iterator[Candidate]:
    """Yield what runs the tests; `configured` and `named` are file and line that speak for pytest.

    Settings of pytest decide; a line that calls a runner outweighs one that only names pytest.
    """
    pytest = configured or named
    if python.startswith(_TOX) and project.has("src"):
        # Into its environments tox installs the package: they would import that copy.
        return
    managed = project.read("manage.py")
    if not pytest and re.search(_NAMES_DJANGO, managed):
        yield Candidate(f"{python} manage.py test", f"manage.py:{line_of(managed, _NAMES_DJANGO)}")
        return
    files = python_test_files(project)
    classes = [file for file in files if file.is_unittest]
    functions = [file for file in files if not file.is_unittest]
    called, line = ("", None) if configured else called_runner(project, python)
    if line and called == "unittest":
        yield line
    elif line:
        pytest = line.evidence
    # pytest does not call `load_tests`, so it would leave out what that adds.
    of_unittest = called == "unittest" or (not pytest and any(f.loads for f in classes))
    installed = bool(classes) and "pytest" in (packages(project, python, ["pytest"]) or ())
    if classes and called != "unittest" and (of_unittest or not installed):
        yield from by_unittest(project, python, classes)
    if not (pytest or functions) and installed:
        pytest = f"{classes[0].evidence}, and pytest is installed"
    if pytest or functions:
        yield Candidate(by_pytest(python, files), pytest or functions[0].evidence)


def interpreter(project: Project) -> str:
    """Return the command that starts the project's Python: its environment's, else its tool's."""
    for path in _ENVIRONMENTS:
        if project.has_here(path):
            return path
    for lock, command in _RUNNERS:
        if project.has(lock):
            return command
    made = _made_by_tox(project)
    return f"{_TOX}{made[1]}/bin/python" if made else "python3"


def _program(name: str, python: str) -> str:
    """Return how a tool is started that a user has on PATH or in the project's environment."""
    python = "python3" if python.startswith(_TOX) else python
    return name if shutil.which(name) else f"{python} -m {name}"


def _made_by_tox(project: Project) -> list[str]:
    """Return the words that choose the newest Python environment that tox has made, if any."""
    found = glob.glob(f"{_TOX}py*/bin/python", root_dir=project.root)
    names = sorted((path.split("/")[1] for path in found), key=lambda name: (len(name), name))
    return ["-e", names[-1]] if names else []


def _tox(project: Project, text: str, tables: dict[str, Any]) -> str:
    """Return the file and line that say that tox runs the tests, or ''."""
    tox = project.read("tox.ini")
    if re.search(r"^\[(tox|testenv)", tox, re.MULTILINE):
        return f"tox.ini:{line_of(tox, r'^.(tox|testenv)')}"
    return _at(text, r"^\[tool\.tox") if "tox" in tables else ""


def _configured(project: Project, text: str, tables: dict[str, Any]) -> str:
    """Return the file and line of pytest's own settings, or ''."""
    if "pytest" in tables:
        return _at(text, r"^\[tool\.pytest")
    for name, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"),
                          ("setup.cfg", "tool:pytest")):  # fmt: skip
        found = project.read(name)
        if _has_section(found, section):
            return f"{name}:{line_of(found, rf'^.{section}.')}"
    return ""


def _pytest_named_at(project: Project) -> str:
    """Return the file and line that name pytest as something to install, or its conftest.py."""
    for name in ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", *_REQUIREMENTS):
        found = f"\n{project.read(name)}"
        if re.search(_NAMES_PYTEST, found):
            return f"{name}:{max(1, line_of(found, _NAMES_PYTEST.replace('[', '[', 1)) - 1)}"
    for name in ("conftest.py", "tests/conftest.py", "test/conftest.py"):
        if project.has(name):
            return f"{name}:1"
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
