"""Finds which runner of Python tests a project's own files call: tox.ini, Makefile, CI (VR-1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from developer.candidates.ci import ci_lines
from developer.candidates.found import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from developer.candidates.found import Project

_FILES = ("tox.ini", "GNUmakefile", "makefile", "Makefile", "justfile", "Justfile")
# The variables before a call of unittest, and its words; a `cd` before it would be lost.
_UNITTEST = re.compile(
    r"""^[\s@'"-]*(?:commands\s*=\s*)?((?:[A-Z_]+=[\w./:-]+\s+)*)(?:(?:uv|poetry|pdm)\s+run\s+)?
    (?:\S*python\S*\s+(?:-[WX]\s+\S+\s+|-[WXbBuIE]\S*\s+)*(?:-m\s+)?)?
    (?:coverage\s+run\s+(?:-\S+\s+)*?)?-m\s+unittest\b([^;&|\#]*)""",
    re.IGNORECASE | re.VERBOSE,
)
_PYTEST = re.compile(r"(?:^|[\s;&@/-])(?:py\.test|pytest)(?:\s|$)")
_INSTALLS = re.compile(r"\b(?:install|deps|add|uses)\b|^\s*(?:pytest|-r)\S*\s*(?:[<>=~;].*)?$")
_OF_TOX = re.compile(r"\{posargs[^{}]*\}|\{\[[^{}]*\]\}|['\"]\s*$")
# A word of a command line that means the same whatever program started the line.
_PLAIN = re.compile(r"[\w./*=,:'-]+")


def called_runner(project: Project, python: str) -> tuple[str, Candidate | None]:
    """Return the first runner that a file calls: the name, and the command where it is unittest's.

    With pytest the second is no command but the line that calls it; '' and None where none is.
    """
    for text, evidence in _lines(project):
        if found := _UNITTEST.search(text):
            words = _OF_TOX.sub("", found[2]).split()
            if all(_PLAIN.fullmatch(word) for word in words):
                line = " ".join([*found[1].split(), python, "-m unittest", *words])
                return "unittest", Candidate(line, evidence)
        elif _PYTEST.search(text) and not _INSTALLS.search(text):
            return "pytest", Candidate("", evidence)
    return "", None


def _lines(project: Project) -> Iterator[tuple[str, str]]:
    for name in _FILES:
        for number, line in enumerate(project.read(name).splitlines(), start=1):
            if not line.lstrip().startswith("#"):
                yield line, f"{name}:{number}"
    yield from ci_lines(project)
