"""Find links in Markdown text and resolve them to paths in the repository."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from shared.git.change import GITLINK, LINK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shared.git.change import Entry

LONGEST_LINE = 10_000
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_LIST = re.compile(r"[ \t]*([-*+]|[0-9]{1,9}[.)])[ \t]")
_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
_INLINE = re.compile(r"(?<!\\)\]\(\s*(<[^<>\n]*>|[^\s()<>]+(?:\([^\s()]*\)[^\s()]*)*)")
_TITLE = r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
_REFERENCE = re.compile(rf" {{0,3}}\[(?!\^)[^\]\n]+\]:\s*(<[^<>\n]*>|[^\s<]\S*){_TITLE}\s*$")
_HTML = re.compile(r"<(?:a|img)\s[^<>]*?(?:href|src)=\"([^\"<>]*)\"", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_SLOT = re.compile(r"\{\{|\{%|\$\{|<%")


def find_links(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and target of each link in Markdown prose; skip code and comments."""
    for number, line in find_prose(text):
        plain = _SPAN.sub("", line)
        reference = _REFERENCE.match(plain)
        targets = [m[1] for pattern in (_INLINE, _HTML) for m in pattern.finditer(plain)]
        for target in [*targets, *([reference[1]] if reference else [])]:
            bare = target.removeprefix("<").removesuffix(">")
            if not _SLOT.search(bare):
                yield number, bare


def find_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of the Markdown lines that are neither code nor HTML comment."""
    text = _COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
    fence = ""
    in_list = False
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
        elif len(line) <= LONGEST_LINE:
            indented = line.startswith(("    ", "\t"))
            if line.strip():
                in_list = bool(_LIST.match(line)) if not indented else in_list
            if not indented or in_list:
                yield number, line


def resolve_link(file: str, target: str) -> str | None:
    """Return the repository path to which a relative link in the Markdown file `file` leads.

    None for a link that is not relative or means its own file; it may begin with `..`.
    """
    path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
    if not path or path.startswith("/") or _SCHEME.match(target):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))


class Paths:
    """The paths of all files and folders in a git tree, to test whether a link's target exists."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.files = entries
        self.folders = {"."}
        for path in entries:
            folder = posixpath.dirname(path)
            while folder and folder not in self.folders:
                self.folders.add(folder)
                folder = posixpath.dirname(folder)

    def holds(self, path: str) -> bool:
        """Return whether a link's target exists: a file, a folder or the source of an HTML page."""
        if path in self.files or path in self.folders or self._leads_out(path):
            return True
        stem, ending = posixpath.splitext(path)
        pages = [path] if ending != ".html" else [stem]
        return any(f"{p}{e}" in self.files for p in pages for e in (".md", ".mdx", ".rst"))

    def _leads_out(self, path: str) -> bool:
        """Return whether a path leads through a submodule or symbolic link out of the git tree."""
        while path:
            entry = self.files.get(path)
            if entry is not None:
                return entry.mode in (GITLINK, LINK)
            path = posixpath.dirname(path)
        return False
