"""Checks of a plan's documentation: it changes no code, and its links work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.code import CAPTURE
from quality_reviewer.checks.links import Paths, find_links, resolve_link
from quality_reviewer.checks.meaning import compare_meaning
from quality_reviewer.checks.subject import Finding
from shared.git.change import LINK, Entry
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.checks.subject import Subject
    from state.models import Change

MARKDOWN = (".md", ".markdown")


class Pair(NamedTuple):
    """The git entry (mode and blob) of a file before and after documenting; None where absent."""

    path: str
    before: Entry | None
    after: Entry | None


def check_no_code(subject: Subject) -> Iterator[Finding]:
    """Documentation changes only comments, docstrings and prose, never code."""
    unknown = []
    for pair in written_pairs(subject):
        if _is_mode_change(pair):
            text = f"{pair.path} changes its kind or mode, which is not documentation"
            yield Finding(pair.path, f"{text}; undo that and {CAPTURE}")
            continue
        answer = compare_meaning(
            pair.path, content_of(subject, pair.before), content_of(subject, pair.after)
        )
        if answer == "other":
            text = f"{pair.path} differs in more than comments and docstrings"
            yield Finding(pair.path, f"{text}; undo the other differences and {CAPTURE}")
        elif answer == "unknown":
            unknown.append(pair.path)
    for path in unknown:
        text = f"the program cannot tell code from comment in {path}; look at the change"
        yield Finding(path, text, "NOT_CHECKED")


def written_pairs(subject: Subject) -> Iterator[Pair]:
    """Yield each file that the plan changes as documentation, with git entries before and after."""
    pairs = {}
    for milestone in subject.plan.milestones:
        written = changes_of(milestone) if milestone.is_documentation_only else ()
        for change in (*milestone.documentation.changes, *written):
            pairs[change.file] = _pair_of(change)
    if subject.code_tree is not None and subject.tree is not None:
        for path, (old, new) in subject.trees.differing(subject.code_tree, subject.tree).items():
            pairs[path] = Pair(path, old, new)
    yield from pairs.values()


def _pair_of(change: Change) -> Pair:
    before = Entry(change.old_mode or "", change.before) if change.before else None
    after = Entry(change.mode or "", change.after) if change.after else None
    return Pair(change.file, before, after)


def _is_mode_change(pair: Pair) -> bool:
    modes = {entry.mode for entry in (pair.before, pair.after) if entry is not None}
    return len(modes) > 1 or LINK in modes


def content_of(subject: Subject, entry: Entry | None) -> bytes:
    """Return the content of the file that a git tree's entry names; empty bytes if it is None."""
    return b"" if entry is None else subject.trees.read(entry.blob)


def check_links(subject: Subject) -> Iterator[Finding]:
    """Relative links in changed Markdown files lead to files or folders that exist."""
    changed = [c for c in subject.files if c.file.lower().endswith(MARKDOWN)]
    if not changed or subject.tree is None:
        return
    now = Paths(subject.trees.entries(subject.tree))
    base = Paths(subject.trees.entries(subject.base_tree) if subject.base_tree else {})
    for change in changed:
        yield from _broken_links(subject, change, now, base)


def _broken_links(subject: Subject, change: Change, now: Paths, base: Paths) -> Iterator[Finding]:
    """Yield findings for a Markdown file's broken links, except those broken in the base commit."""
    before = subject.before(change).decode("utf-8", "replace")
    old = {resolve_link(change.old_file or change.file, t) for _, t in find_links(before)}
    broken: list[str] = []
    outside: list[str] = []
    for number, target in find_links(subject.after(change).decode("utf-8", "replace")):
        path = resolve_link(change.file, target)
        if path is None or now.holds(path) or (path in old and not base.holds(path)):
            continue
        (outside if path.startswith("..") else broken).append(f"line {number}: {target}")
    if broken:
        text = f"{change.file} links to files that do not exist: {'; '.join(broken)}"
        yield Finding(change.file, f"{text}; fix the links and {CAPTURE}")
    if outside:
        text = f"{change.file} links out of the repository: {'; '.join(outside)}"
        yield Finding(change.file, text, "NOT_CHECKED")
