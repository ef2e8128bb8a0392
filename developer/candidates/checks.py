"""Finds what checks a project without running its tests: lint, types, documentation, coverage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from developer.candidates.found import Candidate, line_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from developer.candidates.found import Project

# The programs, as commands and configuration name them.
_PROGRAMS = """
bandit biome black clippy cobertura codespell coverage eslint flake8 golangci-lint isort
interrogate mdbook mkdocs mypy nyc prettier pycodestyle pydocstyle pylint pyright pytest-cov rubocop
ruff rustfmt shellcheck sphinx-build staticcheck stylelint tsc twine ty typedoc yamllint
"""
_NAMED = re.compile(rf"(?<![\w./-])(?:{'|'.join(_PROGRAMS.split())})(?![\w/-])")
# `pip install ruff` and its kin run nothing of it.
_INSTALLS = re.compile(r"\b(?:install|add|sync|setup|uses)\b")
_TABLES = ("black", "coverage", "isort", "mypy", "pylint", "pyright", "ruff")
_SCRIPT = re.compile(
    r'^\s*"(?:lint|types?|typecheck|type-check|docs?|coverage)[\w:-]*"\s*:\s*"(.*)"'
)


def is_check(command: str) -> bool:
    """Return whether a command runs one of these programs, and so may name a test without it."""
    return _NAMED.search(command) is not None


def checks(project: Project, ci: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield each program that CI or the project's configuration runs, with where, each once."""
    seen: set[str] = set()
    for one in (*_in(ci), *_configured(project)):
        if one.command not in seen:
            seen.add(one.command)
            yield one


def _in(lines: Iterable[Candidate]) -> Iterator[Candidate]:
    for line in lines:
        if not _INSTALLS.search(line.command):
            yield from (Candidate(n, line.evidence) for n in _NAMED.findall(line.command))


def _configured(project: Project) -> Iterator[Candidate]:
    """Yield what pyproject.toml has a table for, and what scripts of package.json run."""
    text = project.read("pyproject.toml")
    for name in _TABLES:
        if re.search(head := rf"^\[tool\.{name}[.\]]", text, re.MULTILINE):
            yield Candidate(name, f"pyproject.toml:{line_of(text, head)}")
    scripts = enumerate(project.read("package.json").splitlines(), start=1)
    found = [(number, _SCRIPT.match(line)) for number, line in scripts]
    yield from _in(Candidate(m[1], f"package.json:{n}") for n, m in found if m)
