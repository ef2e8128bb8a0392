"""The file changes on the review page: a table of files with links, then each file's diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.page.diff import diff_table
from orchestrator.submit.page.facts import count
from orchestrator.submit.page.html import Element, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.page.facts import Edited
    from orchestrator.submit.page.html import Node

LONGEST_OPEN = 120  # lines; a longer diff is folded, and so is what comes after many others
_MOST_OPEN = 40  # files


def changes(files: Sequence[Edited]) -> Section:
    """Return the table of changed files and their diffs, each diff under the id of its change."""
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    title = f"Changes: {count(len(files), 'file')}, +{added:,} −{removed:,}"
    shown = [_change(f, is_open=n < _MOST_OPEN) for n, f in enumerate(files)]
    return Section("changes", title, [_table(files), *shown] if files else None)


def _table(files: Sequence[Edited]) -> Node:
    names = ("File", "What", "For", "+", "−")
    head = Element("tr", [Element("th", name, {"scope": "col"}) for name in names])
    body = [Element("tr", _cells(f)) for f in files]
    parts = [Element("thead", head), Element("tbody", body)]
    return Element("table", parts, {"class": "files", "aria-label": "Changed files"})


def _cells(file: Edited) -> Node:
    where, change = file.milestone.id, file.change
    return [
        Element("th", Element("a", change.file, {"href": f"#{change.id}"}), {"scope": "row"}),
        Element("td", ", ".join([file.what, *file.notes])),
        Element("td", Element("a", where, {"href": f"#{where}"})),
        *(Element("td", f"{n:,}" if n else None, {"class": name}) for n, name in _sizes(file)),
    ]


def _sizes(file: Edited) -> tuple[tuple[int, str], ...]:
    return (file.added, "plus"), (file.removed, "minus")


def _counts(file: Edited) -> list[Node]:
    signs = {"plus": "+", "minus": "−"}
    return [
        Element("span", f"{signs[name]}{n:,}", {"class": name}) for n, name in _sizes(file) if n
    ]


def _change(file: Edited, *, is_open: bool) -> Node:
    """Return one file's diff as a folded element; its id is inside, so that a link unfolds it."""
    change, number = file.change, len(file.lines)
    folded = number > LONGEST_OPEN
    ids = f"{(change.before or 'absent')[:12]} → {(change.after or 'absent')[:12]}"
    intents = [i for i in (change.intent_ref, *change.more_intent_refs) if i]
    quiet = " · ".join([change.id, *intents, f"blob {ids}"])
    summary = Element("summary", [
        Element("h3", change.file),
        Element("span", ", ".join([file.what, *file.notes]), {"class": "quiet"}),
        _counts(file),
        Element("span", f"{count(number, 'line')} folded", {"class": "folded"}) if folded else None,
    ])  # fmt: skip
    about = Element("p", [
        Element("a", file.milestone.id, {"href": f"#{file.milestone.id}"}), f" · {quiet}",
        Element("a", "all files", {"href": "#changes", "class": "back"}),
    ], {"class": "quiet"})  # fmt: skip
    body = diff_table(file.lines, f"Diff of {change.file}") if file.lines else _empty(file)
    inside = Element("div", [about, body], {"id": change.id})
    opened = "" if is_open and not folded else None
    return Element("details", [summary, inside], {"class": "change", "open": opened})


def _empty(file: Edited) -> Node:
    said = "The content stays as it is." if file.change.before else "The file is empty."
    return Element("p", said, {"class": "quiet"})
