"""Reads from a project's CI files what they run, as text to judge by; never run as it stands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from developer.candidates.found import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.nodes import Node, ScalarNode

    from developer.candidates.found import Project

_FOLDER = ".github/workflows"
_MOST_FILES, _MOST_DEPTH = 10, 12
WORDS = ("test", "tox", "nox", "lint", "check", "verify", "mypy", "ruff")


def ci_lines(project: Project) -> Iterator[Candidate]:
    """Yield the lines of CI workflows, of which those with one of WORDS seem to test something."""
    folder = os.path.join(project.files, _FOLDER)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    files = [f"{_FOLDER}/{n}" for n in names if n.endswith((".yml", ".yaml"))][:_MOST_FILES]
    files += [".gitlab-ci.yml"] * project.has(".gitlab-ci.yml")
    for name in files:
        for line, text in _run_lines(project.read(name)):
            yield Candidate(text, f"{name}:{line}")


def _run_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each command of a workflow."""
    # Not at the top: most projects are detected without it.
    import yaml

    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return
    for node in _commands(top, 0):
        block = getattr(node, "style", None) in ("|", ">")
        for number, line in enumerate(str(node.value).splitlines()):
            if line.strip() and not line.strip().startswith("#"):
                yield node.start_mark.line + 1 + block + number, line.strip()


def _commands(node: Node | None, depth: int) -> Iterator[ScalarNode]:
    """Yield the nodes of `run:` and `script:`, however deep they lie."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if depth > _MOST_DEPTH:
        return
    if isinstance(node, SequenceNode):
        for one in node.value:
            yield from _commands(one, depth + 1)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            named = key.value in ("run", "script")
            if named and isinstance(value, ScalarNode):
                yield value
            elif named and isinstance(value, SequenceNode):
                yield from (one for one in value.value if isinstance(one, ScalarNode))
            else:
                yield from _commands(value, depth + 1)
