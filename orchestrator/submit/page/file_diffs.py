"""The file changes on the review page: a table of files with links, then each file's diff."""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from orchestrator.submit.kinds import GENERATED
from orchestrator.submit.page.diff import diff_table
from orchestrator.submit.page.html import Element, Section
from orchestrator.submit.plan_md import MOST_SHOWN
from shared.builders import counted
from state.changes import apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.page.facts import Diff, Edited
    from orchestrator.submit.page.html import Node
    from shared.patch import Line

LONGEST_OPEN = 120  # lines; a longer diff is folded, and so is what comes after many others
MOST_OPEN = 40  # files


def changes(files: Sequence[Edited]) -> Section:
    """Return the table of changed files and their diffs, each diff under the id of its change."""
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    title = f"Changes: {counted(len(files), 'file')}, +{added:,} −{removed:,}"
    diffs = [_change(f, is_open=n < MOST_OPEN) for n, f in enumerate(files)]
    return Section("changes", title, [_table(files), *diffs] if files else None)


def _table(files: Sequence[Edited]) -> Node:
    """Return the changed files with links to their diffs; each kind under its name."""
    names = ("File", "What", "For", "+", "−")
    head = Element("tr", [Element("th", name, {"scope": "col"}) for name in names])
    bodies = []
    for kind, group in groupby(files, key=lambda file: file.kind):
        title = Element("th", kind, {"scope": "rowgroup", "colspan": "5", "class": "kind"})
        rows = [Element("tr", _cells(f)) for f in group]
        bodies.append(Element("tbody", [Element("tr", title), *rows]))
    parts = [Element("thead", head), *bodies]
    return Element("table", parts, {"class": "files", "aria-label": "Changed files"})


def _cells(file: Edited) -> Node:
    where, change = file.milestone.id, file.change
    return [
        Element("th", Element("a", change.file, {"href": f"#{change.id}"}), {"scope": "row"}),
        Element("td", ", ".join([file.what, *file.notes])),
        Element("td", Element("a", where, {"href": f"#{where}"})),
        *(Element("td", f"{n:,}" if n else None, {"class": name}) for n, name in _sizes(file)),
    ]


def _sizes(file: Diff) -> tuple[tuple[int, str], ...]:
    return (file.added, "plus"), (file.removed, "minus")


def _counts(file: Diff) -> list[Node]:
    signs = {"plus": "+", "minus": "−"}
    return [
        Element("span", f"{signs[name]}{n:,}", {"class": name}) for n, name in _sizes(file) if n
    ]


def _change(file: Edited, *, is_open: bool) -> Node:
    """Return one file's diff with what it is for; a generated file's is folded."""
    change = file.change
    intents = [i for i in (change.intent_ref, *change.more_intent_refs) if i]
    about = Element("p", [
        Element("a", file.milestone.id, {"href": f"#{file.milestone.id}"}),
        "".join(f" · {name}" for name in intents),
        Element("a", "all files", {"href": "#changes", "class": "back"}),
    ], {"class": "quiet"})  # fmt: skip
    folded = "generated, folded" if file.kind == GENERATED else ""
    return shown(file, change.id, file.anchor, about, folded, is_open=is_open)


def shown(
    file: Diff, name: str, rows: str, about: Node = None, folded: str = "", *, is_open: bool
) -> Node:
    """Return one file's diff as an element that folds, and why if it is `folded` anyhow.

    Its id, `name`, is inside, so that a link unfolds it; its rows are anchors that begin with
    `rows`.
    """
    change, number = file.change, len(file.lines)
    if not folded and number > LONGEST_OPEN:
        folded = f"{counted(number, 'line')} folded"
    summary = Element("summary", [
        Element("h3", change.file),
        Element("span", ", ".join([file.what, *file.notes]), {"class": "quiet"}),
        _counts(file),
        Element("span", folded, {"class": "folded"}) if folded else None,
    ])  # fmt: skip
    lines = beginning(file.lines)
    body = diff_table(lines, f"Diff of {change.file}", rows) if lines else _empty(file)
    left = number - len(lines)
    more = f"{counted(left, 'more line')} not shown here: planner plan diff {change.file}"
    rest = Element("p", more, {"class": "quiet"}) if left else None
    inside = Element("div", [about, body, rest], {"id": name})
    opened = "" if is_open and not folded else None
    return Element("details", [summary, inside], {"class": "change", "open": opened})


def beginning(lines: Sequence[Line]) -> Sequence[Line]:
    """Return as many lines of a diff as a page shows."""
    ends = accumulate(len(line.text) + 1 for line in lines)
    return lines[: sum(1 for end in ends if end <= MOST_SHOWN)]


def _empty(file: Diff) -> Node:
    if file.lines:
        return Element("p", "The diff is too long to be shown.", {"class": "quiet"})
    if apart(file.change):
        said = "Too large for a patch: its content is a blob, kept in the plan's ref beside it."
        return Element("p", said, {"class": "quiet"})
    said = "The content stays as it is." if file.change.before else "The file is empty."
    if file.change.after is None:
        said = "All of the file is deleted."
    return Element("p", said, {"class": "quiet"})
