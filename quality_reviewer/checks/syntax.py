"""Parse Python, JSON, TOML and YAML files and return why one cannot be parsed (PL-24).

Content is read, never run. Where an error would prove nothing – another dialect, a template, a
file that is encrypted or stored elsewhere – the answer is NOT_CHECKED.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import os
import re
import sys
import tomllib
import warnings
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import yaml

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
TOO_DEEP = (RecursionError, MemoryError)

# JSON in which the reader of the file allows comments or trailing commas.
LENIENT_JSON = (
    "*.jsonc", "*.json5", "*.code-workspace", "tsconfig*.json", "jsconfig*.json",
    ".eslintrc*", ".babelrc*", "babel.config.json", "devcontainer.json", ".devcontainer.json",
    "api-extractor*.json", "deno.json", "renovate.json", "turbo.json",
)  # fmt: skip
LENIENT_FOLDERS = (".vscode", ".devcontainer")

_ELSEWHERE = (b"version https://git-lfs.github.com/spec/", b"\0GITCRYPT\0")
_TEMPLATE = re.compile(rb"\{\{|\{%|<%")
_TEMPLATE_LINE = re.compile(rb"^[ \t]*(\{\{|\{%|<%)", re.MULTILINE)
_SAMPLE = re.compile(
    r"(^|/)(fixtures?|test[-_]?data|golden|snapshots?|__snapshots__|cassettes)/"
    r"|(invalid|broken|malformed|corrupt)[^/]*$",
    re.IGNORECASE,
)
_SHEBANG = re.compile(rb"#![^\r\n]*\bpython(3(\.[0-9]+)?)?\b(?![0-9])")


class Doubt(NamedTuple):
    """Why a file cannot be parsed."""

    text: str
    # False if the file may be valid all the same.
    certain: bool = True


def find_parser(path: str, content: bytes) -> Callable[[bytes], Doubt | None] | None:
    """Return the parser function for a file, by its name and content; None for other file types."""
    name = os.path.basename(path).lower()
    if _is_lenient_json(path):
        return parse_json
    by_ending = PARSERS.get(os.path.splitext(name)[1])
    if by_ending is None and "." not in name and _SHEBANG.match(content):
        return parse_python
    return by_ending


def check_syntax(path: str, content: bytes) -> Doubt | None:
    """Return why a file cannot be parsed; None if it parses or has a file type without parser."""
    parser = find_parser(path, content)
    doubt = parser(content) if parser else None
    if doubt is None or not doubt.certain:
        return doubt
    reason = next(_reasons_for_doubt(path, content, parser is parse_python), None)
    return Doubt(f"{doubt.text} – but {reason}", certain=False) if reason else doubt


def _reasons_for_doubt(path: str, content: bytes, python: bool) -> Iterator[str]:
    if content.startswith(_ELSEWHERE):
        yield "git holds only a pointer to the file, or its encrypted form"
    if _is_lenient_json(path):
        yield "such files may hold comments and trailing commas"
    if _TEMPLATE.search(path.encode("utf-8", "replace")):
        yield "its path is a template"
    if (_TEMPLATE_LINE if python else _TEMPLATE).search(content):
        yield "it looks like a template"
    if _SAMPLE.search(path):
        yield "by its path it is a sample for tests"


def _is_lenient_json(path: str) -> bool:
    name = os.path.basename(path).lower()
    in_folder = name.endswith(".json") and any(f in path.split("/") for f in LENIENT_FOLDERS)
    return in_folder or any(fnmatch.fnmatchcase(name, pattern) for pattern in LENIENT_JSON)


def parse_python(content: bytes) -> Doubt | None:
    """Return why `content` is not valid Python for the running interpreter; None if it is."""
    tree = read_python(content)
    return tree if isinstance(tree, Doubt) else None


def read_python(content: bytes) -> ast.Module | Doubt:
    """Return the syntax tree of Python source, or the reason why it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except SyntaxError as error:
        return Doubt(f"line {error.lineno}: {error.msg} ({PYTHON})")
    except ValueError as error:
        return Doubt(f"{error} ({PYTHON})")
    except TOO_DEEP:
        return Doubt("is nested too deeply for the parser", certain=False)


def parse_json(content: bytes) -> Doubt | None:
    """Return why `content` is not valid JSON; None if it is."""
    try:
        json.loads(content, parse_int=len, parse_constant=_refuse_constant)
    except ValueError as error:
        return Doubt(str(error))
    except TOO_DEEP:
        return Doubt("is nested too deeply for the parser", certain=False)
    return None


def _refuse_constant(name: str) -> None:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def parse_toml(content: bytes) -> Doubt | None:
    """Return why `content` is not valid TOML; None if it is."""
    try:
        tomllib.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        return Doubt(str(error))
    except TOO_DEEP:
        return Doubt("is nested too deeply for the parser", certain=False)
    return None


def parse_yaml(content: bytes) -> Doubt | None:
    """Return why `content` is not valid YAML, with any tags allowed; None if it is."""
    events = read_yaml(content)
    return events if isinstance(events, Doubt) else None


def read_yaml(content: bytes) -> list[tuple[object, ...]] | Doubt:
    """Return the parse events of YAML text as tuples, or why the text cannot be parsed."""
    import yaml  # not at the top: few plans change a file of it, and loading it takes long

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return [_event_fields(event) for event in yaml.parse(content, Loader=loader)]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        return Doubt(f"{line}{error.problem or error.context}")
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError) as error:
        return Doubt(" ".join(str(error).split()))
    except TOO_DEEP:
        return Doubt("is nested too deeply for the parser", certain=False)


def _event_fields(event: yaml.Event) -> tuple[object, ...]:
    fields = ("anchor", "tag", "value", "implicit")
    return (type(event).__name__, *(getattr(event, name, None) for name in fields))


PARSERS: dict[str, Callable[[bytes], Doubt | None]] = {
    ".py": parse_python,
    ".pyi": parse_python,
    ".json": parse_json,
    ".ipynb": parse_json,
    ".geojson": parse_json,
    ".webmanifest": parse_json,
    ".toml": parse_toml,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
}
