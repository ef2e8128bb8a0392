"""Check that the Python, JSON, TOML and YAML files changed by a plan can be parsed."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from quality_reviewer.checks.subject import Finding
from quality_reviewer.checks.syntax import PYTHON, check_syntax, find_parser, parse_python
from quality_reviewer.checks.wanted_python import other_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.checks.subject import Subject
    from state.models import Change

# Text without a grammar: there is nothing to parse, so nothing is left unchecked.
PROSE = frozenset((".md", ".markdown", ".rst", ".adoc", ".txt", ".csv", ".tsv", ".log", ".patch"))
BINARY_MARK_WITHIN_BYTES = 8_000


def check_parsing(subject: Subject) -> Iterator[Finding]:
    """Changed Python, JSON, TOML and YAML files can be parsed."""
    unread: Counter[str] = Counter()
    for change in subject.files:
        content = subject.after(change)
        if find_parser(change.file, content) is None:
            unread[family_of(change.file, content)] += 1
        else:
            yield from _check_file(subject, change, content)
    unread.pop("", None)
    if unread:
        families = ", ".join(f"{n} × {name}" for name, n in sorted(unread.items()))
        text = f"the program cannot parse {families}; only verify can tell"
        yield Finding("*", text, "NOT_CHECKED")


def _check_file(subject: Subject, change: Change, content: bytes) -> Iterator[Finding]:
    doubt = check_syntax(change.file, content)
    if doubt is None:
        return
    text = f"{change.file} does not parse: {doubt.text}"
    parser = find_parser(change.file, content)
    if not doubt.certain:
        yield Finding(change.file, text, "NOT_CHECKED")
    elif change.before is not None and parser and parser(subject.before(change)):
        yield Finding(change.file, f"{text} – nor did it at the base", "NOT_CHECKED")
    elif parser is parse_python and (other := other_python(subject, change.file, content)):
        text = f"{text} – but {other}, and {PYTHON} has parsed it"
        yield Finding(change.file, text, "NOT_CHECKED")
    else:
        yield Finding(change.file, f"{text}; fix it in the worktree and capture again")


def family_of(path: str, content: bytes) -> str:
    """Return a file's ending or name as its file type; empty for prose, binary or blank files."""
    name = os.path.basename(path)
    ending = os.path.splitext(name)[1].lower()
    if ending in PROSE or b"\0" in content[:BINARY_MARK_WITHIN_BYTES] or not content.strip():
        return ""
    return ending or name
