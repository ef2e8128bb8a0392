"""Find the comments of a source file: in Python by its tokens, elsewhere by a small lexer.

The lexer knows only strings and comments. In doubt it takes text for a string, because a missed
comment costs less than code that is read as one.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.meaning import LINE_COMMENTS
from quality_reviewer.checks.syntax import Doubt, find_parser, parse_python, read_python

if TYPE_CHECKING:
    from collections.abc import Iterator

# Nobody wrote a longer line by hand.
LONGEST_LINE = 2_000

_STRINGS = r"""
    \"\"\".*?\"\"\" | r(?P<hashes>\#+)".*?"(?P=hashes)
    | "(?:\\.|[^"\\\n]){0,2000}" | '(?:\\.|[^'\\\n]){0,2000}'
"""
_TICKS = r"| `(?:\\.|[^`\\])*`"
_BLOCK = r"/\*.*?(?:\*/|\Z)"
_SLASHES = rf"(?<!:)//[^\n]* | {_BLOCK}"
_HASHES = r"(?:^|(?<=\s))\#[^\n]*"
_DASHES = rf"--\[\[.*?(?:\]\]|\Z) | \{{-.*?(?:-\}}|\Z) | --[^\n]* | {_BLOCK}"
_MARKUP = r"<!--.*?(?:-->|\Z)"
_GRAMMARS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((".php",), _STRINGS, rf"{_SLASHES} | \#(?!\[)[^\n]*"),
    ((".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts", ".go"),
     _STRINGS + _TICKS, _SLASHES),
    ((*LINE_COMMENTS[b"//"], ".scss", ".less", ".proto", ".groovy", ".gradle", ".zig"),
     _STRINGS, _SLASHES),
    ((".css",), _STRINGS, _BLOCK),
    ((*LINE_COMMENTS[b"#"], ".yaml", ".yml", ".toml", ".ini", ".zsh", ".ex", ".exs", ".nix",
      "makefile", "dockerfile", ".gitignore", ".gitattributes", ".dockerignore", ".editorconfig"),
     _STRINGS, _HASHES),
    (LINE_COMMENTS[b"--"], _STRINGS, _DASHES),
    ((".html", ".htm", ".xml", ".svg", ".vue", ".svelte"), r"<!\[CDATA\[.*?\]\]>", _MARKUP),
)  # fmt: skip
_FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE
_LEXERS = {
    ending: re.compile(rf"{strings} | (?P<comment>{comments})", _FLAGS)
    for endings, strings, comments in reversed(_GRAMMARS)
    for ending in endings
}
_OPENING = re.compile(r"\s*(?:<!--|--\[\[|\{-|/\*+!?|//+!?|\#+|--+|\*+(?!/))?\s?")
_CLOSING = re.compile(r"\s*(?:-->|\]\]|-\}|\*+/)?\s*\Z")


class Comment(NamedTuple):
    """One comment line without marks like #."""

    number: int
    text: str
    # Whether it may continue the previous line.
    goes_on: bool


def find_comments(path: str, content: bytes) -> list[Comment] | None:
    """Return the comment lines of a source file, in order; None for an unknown language."""
    content = b"\n".join(content.splitlines())
    if find_parser(path, content) is parse_python:
        found = sorted(_python_comments(content))
    else:
        name, ending = os.path.splitext(os.path.basename(path).lower())
        lexer = _LEXERS.get(ending or name)
        if lexer is None:
            return None
        found = list(_lexed_comments(lexer, content.decode("utf-8", "replace")))
    return [comment for comment in found if len(comment.text) <= LONGEST_LINE]


def _python_comments(content: bytes) -> Iterator[Comment]:
    """Yield the comments and docstrings of Python code; nothing if it does not parse."""
    tree = read_python(content)
    if isinstance(tree, Doubt):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _docstring(node)
    try:
        for token in tokenize.tokenize(io.BytesIO(content).readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                yield Comment(token.start[0], token.string.lstrip("#").strip(), alone)
    except (tokenize.TokenError, SyntaxError, ValueError, LookupError):
        return


def _docstring(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[Comment]:
    text = ast.get_docstring(node, clean=False)
    if text is not None:
        start = node.body[0].lineno
        for n, line in enumerate(text.split("\n")):
            yield Comment(start + n, line.strip(), goes_on=n > 0)


def _lexed_comments(lexer: re.Pattern[str], text: str) -> Iterator[Comment]:
    at, number = 0, 1
    for match in lexer.finditer(text):
        if match["comment"] is None:
            continue
        number += text.count("\n", at, match.start())
        at = match.start()
        alone = not text[text.rfind("\n", 0, at) + 1 : at].strip()
        for n, line in enumerate(match["comment"].split("\n")):
            bare = _CLOSING.sub("", _OPENING.sub("", line, count=1), count=1)
            yield Comment(number + n, bare, goes_on=alone or n > 0)
