"""Find for which Python a project or one of its files is written, without running it (PL-24)."""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import sys
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.syntax import TOO_DEEP, Doubt, read_python
from shared.git.change import LINK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from quality_reviewer.checks.subject import Subject

Version = tuple[int, int]

OURS: Version = sys.version_info[:2]
_KEYS = frozenset(("requires_python", "python_requires", "python_version", "python_full_version"))
# Tables in which `python` is the interpreter.
_TABLES = frozenset(("dependencies", "tools"))
_BOUND = re.compile(r"(>=|>|<=|<|={1,3}|!=|~=?|\^|)\s*v?(\d{1,4})(?:\.(\d{1,4}))?[\w.*+]*")
_PINNED = re.compile(r"(?:c?python[-@]?|pypy)?(\d{1,4})\.(\d{1,4})", re.IGNORECASE)
_SCRIPT = re.compile(rb"^#[ \t]*requires-python[ \t]*=[ \t]*[\"']([^\"'\n]*)[\"']", re.MULTILINE)
_SHEBANG = re.compile(rb"#![^\r\n]*\bpython(\d)\.(\d{1,4})\b")
_CONDA = re.compile(r"^\s*-\s*[\"']?python\s*([=<>~!][^\"'#\n]*)", re.MULTILINE)


class Bounds(NamedTuple):
    """The least Python that something runs with, and the first that it no longer runs with."""

    least: Version
    end: Version | None = None

    @property
    def other(self) -> str:
        """The Python that is wanted, if the running one cannot tell what is valid in it."""
        if self.least > OURS:
            return f"Python {self.least[0]}.{self.least[1]}"
        return "Python 2" if self.end is not None and self.end <= (3, 0) else ""


def other_python(subject: Subject, path: str, content: bytes) -> str:
    """Return what asks for a Python, for a file, that the running one does not know; else ''.

    The file's own word counts, then the nearest folder above it in which anything names a Python.
    """
    entries = subject.trees.entries(subject.tree or "")
    found = [(path, bounds) for bounds in _of_script(content)]
    folder = path
    while not found and folder:
        folder = posixpath.dirname(folder)
        for name, reader in READERS.items():
            source = posixpath.join(folder, name)
            entry = entries.get(source)
            if entry is not None and entry.mode != LINK:
                found += [(source, bounds) for bounds in reader(subject.trees.read(entry.blob))]
    return next((f"{source} asks for {one.other}" for source, one in found if one.other), "")


def bounds_of(text: str) -> Bounds | None:
    """Return what specifiers of a version allow, with all alternatives; None for no version."""
    parts = [one for part in text.split("||") if (one := _bounds_of(part))]
    if not parts:
        return None
    ends = [one.end for one in parts if one.end is not None]
    return Bounds(min(one.least for one in parts), max(ends) if len(ends) == len(parts) else None)


def _bounds_of(text: str) -> Bounds | None:
    least, ends = [], []
    for sign, major, minor in _BOUND.findall(text):
        version = int(major), int(minor or 0)
        if sign == "<":
            ends.append(version)
        elif sign != "!=":
            least += [] if sign == "<=" else [version]
            ends += [] if sign in (">=", ">") else [(version[0] + 1, 0)]
    if not least and not ends:
        return None
    return Bounds(max(least, default=(0, 0)), min(ends, default=None))


def _all_bounds(texts: Iterable[str]) -> Iterator[Bounds]:
    yield from filter(None, map(bounds_of, texts))


def _of_script(content: bytes) -> Iterator[Bounds]:
    """Yield what a file says itself: metadata of a script, or its first line."""
    yield from _all_bounds(m.decode("utf-8", "replace") for m in _SCRIPT.findall(content))
    if first := _SHEBANG.match(content):
        yield Bounds((int(first[1]), int(first[2])))


def _in_toml(content: bytes) -> Iterator[Bounds]:
    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, *TOO_DEEP):
        return
    yield from _all_bounds(_strings(table, ""))


def _strings(value: object, key: str) -> Iterator[str]:
    """Yield the texts that name a Python anywhere in a TOML table."""
    if isinstance(value, dict):
        for name, inner in value.items():
            below = name.replace("-", "_")
            if below in _KEYS or (name == "python" and key in _TABLES):
                yield from _leaves(inner)
            else:
                yield from _strings(inner, below)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, dict):
        yield from _leaves(value.get("version"))


def _in_cfg(content: bytes) -> Iterator[Bounds]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(content.decode("utf-8-sig"))
    except (ValueError, configparser.Error):
        return
    for name in parser.sections():
        texts = (
            text for key, text in parser.items(name) if key.replace("-", "_") in _KEYS and text
        )
        yield from _all_bounds(texts)


def _in_setup(content: bytes) -> Iterator[Bounds]:
    """Yield what a setup.py says in words that need not run: a text, or a name that is one."""
    tree = read_python(content)
    if isinstance(tree, Doubt):
        return
    known = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for value in _given(tree):
        named = known.get(value.id) if isinstance(value, ast.Name) else value
        if isinstance(named, ast.Constant) and isinstance(named.value, str):
            yield from _all_bounds([named.value])


def _given(tree: ast.Module) -> Iterator[ast.expr]:
    key = "python_requires"
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == key:
            yield node.value
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for name, value in pairs if getattr(name, "value", None) == key)
        elif isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Subscript) and getattr(t.slice, "value", None) == key
            for t in node.targets
        ):
            yield node.value


def _in_pin(content: bytes) -> Iterator[Bounds]:
    """Yield the versions of a file that lists what a version manager uses, each a line."""
    for line in content.decode("utf-8", "replace").splitlines():
        if found := _PINNED.match(line.strip()):
            yield Bounds((int(found[1]), int(found[2])), (int(found[1]) + 1, 0))


def _in_tools(content: bytes) -> Iterator[Bounds]:
    lines = (line.split() for line in content.decode("utf-8", "replace").splitlines())
    for words in lines:
        if words[:1] == ["python"]:
            yield from _in_pin("\n".join(words[1:]).encode())


def _in_conda(content: bytes) -> Iterator[Bounds]:
    yield from _all_bounds(_CONDA.findall(content.decode("utf-8", "replace")))


READERS: dict[str, Callable[[bytes], Iterator[Bounds]]] = {
    "pyproject.toml": _in_toml,
    "setup.cfg": _in_cfg,
    "setup.py": _in_setup,
    ".python-version": _in_pin,
    ".tool-versions": _in_tools,
    "mise.toml": _in_toml,
    ".mise.toml": _in_toml,
    "Pipfile": _in_toml,
    "pixi.toml": _in_toml,
    "runtime.txt": _in_pin,
    "environment.yml": _in_conda,
    "environment.yaml": _in_conda,
}
