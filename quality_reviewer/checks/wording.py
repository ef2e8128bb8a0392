"""Check that added comments and prose describe the present state, not what has changed."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.comments import Comment, find_comments
from quality_reviewer.checks.docs import MARKDOWN, content_of, written_pairs
from quality_reviewer.checks.lines import SHOWN_MAX, added_lines
from quality_reviewer.checks.links import find_prose
from quality_reviewer.checks.parsing import family_of
from quality_reviewer.checks.subject import Finding, is_file
from quality_reviewer.checks.temporal import find_temporal
from shared.builders import first_of
from shared.git.change import GITLINK, LINK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quality_reviewer.checks.subject import Subject

# Formats without comments, and files whose subject is what changed.
_BARE = (".json", ".geojson", ".ipynb", ".webmanifest", ".lock")
_HISTORY = re.compile(
    r"(?:^|/)(?:change-?log|changes|news|history|upgrad\w*|migrat\w*|releas\w*)[^/]*$"
    r"|(?:^|/)(?:adrs?|decisions|news|releases|changelog\.d|newsfragments)/",
    re.IGNORECASE,
)
_MARK = re.compile(r"[\s>]*(?:(?:#{1,6}|[-*+]|[0-9]{1,9}[.)]|\|)\s)?\s*")
_HEADING = re.compile(r" {0,3}(#{1,6})\s")
_TELLS = re.compile(
    r"change-?log|changes|history|migrat|news|releas|upgrad|what.s new", re.IGNORECASE
)
# Deeper than any heading: no section about changes is open.
_NO_HISTORY = 7
_LINKS = frozenset((LINK, GITLINK))


class _Written(NamedTuple):
    """A file's path, and its content before and after the plan's changes."""

    path: str
    before: bytes
    after: bytes


def check_comments(subject: Subject) -> Iterator[Finding]:
    """Added comments describe what is, not what was or what has changed."""
    changes = [
        change
        for milestone in subject.plan.milestones
        if not milestone.is_documentation_only
        for change in filter(is_file, milestone.code_changes)
    ]
    written = [_Written(c.file, subject.before(c), subject.after(c)) for c in changes]
    yield from _in_comments(written)


def check_documentation(subject: Subject) -> Iterator[Finding]:
    """Added Markdown and comments of documentation describe what is, not what has changed."""
    yield from _in_comments(
        [
            _Written(p.path, content_of(subject, p.before), content_of(subject, p.after))
            for p in written_pairs(subject)
            if p.after is not None and _LINKS.isdisjoint(e.mode for e in (p.before, p.after) if e)
        ]
    )
    for change in subject.files:
        if change.file.lower().endswith(MARKDOWN) and not _HISTORY.search(change.file):
            file = _Written(change.file, subject.before(change), subject.after(change))
            yield from _temporal(file, list(_prose(file.after)))


def _prose(content: bytes) -> Iterator[Comment]:
    """Yield the Markdown prose lines of a file, without sections about history such as a changelog.

    A list item or a heading starts a new sentence.
    """
    text = b"\n".join(content.splitlines()).decode("utf-8", "replace")
    history = _NO_HISTORY
    for number, line in find_prose(text):
        heading = _HEADING.match(line)
        if heading and len(heading[1]) <= history:
            history = len(heading[1]) if _TELLS.search(line) else _NO_HISTORY
        if history == _NO_HISTORY:
            bare = _MARK.sub("", line, count=1)
            yield Comment(number, bare, goes_on=bare == line.strip())


def _in_comments(files: Sequence[_Written]) -> Iterator[Finding]:
    unread: Counter[str] = Counter()
    for file in files:
        comments = find_comments(file.path, file.after)
        if comments is not None:
            yield from _temporal(file, comments)
        elif os.path.splitext(file.path)[1].lower() not in _BARE:
            unread[family_of(file.path, file.after)] += 1
    unread.pop("", None)
    if unread:
        families = ", ".join(f"{n} × {name}" for name, n in sorted(unread.items()))
        text = f"the program cannot find comments in {families}"
        yield Finding("*", text, "NOT_CHECKED")


def _temporal(file: _Written, comments: Sequence[Comment]) -> Iterator[Finding]:
    added = {line.number for line in added_lines(file.before, file.after)}
    places = [f"line {n}: “{words}”" for n, words in find_temporal(comments) if n in added]
    if places:
        text = f"{file.path}, {'; '.join(first_of(places, SHOWN_MAX))}"
        what = "write it for a reader who has only the final text, then capture again"
        yield Finding(file.path, f"{text}: these words tell how the text came to be; {what}")
