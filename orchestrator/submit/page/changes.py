"""Every change of the plan: a table that leads to each, then each as a diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.page.diff import diff_table
from orchestrator.submit.page.html import Markup, count, joined, section, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.page.facts import Edited

LONGEST_OPEN = 120  # lines; a longer diff is folded, and so is what comes after many others
_MOST_OPEN = 40  # files


def changes(files: Sequence[Edited]) -> Markup:
    """Return the table of files and the diffs, each under the id of its change."""
    if not files:
        return Markup()
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    title = f"Changes: {count(len(files), 'file')}, +{added:,} −{removed:,}"
    shown = [_change(f, is_open=n < _MOST_OPEN) for n, f in enumerate(files)]
    return section("changes", title, _table(files), *shown)


def _table(files: Sequence[Edited]) -> Markup:
    names = ("File", "What", "For", "+", "−")
    head = [tag("th", name, scope="col") for name in names]
    body = [tag("tr", *_cells(f)) for f in files]
    return tag(
        "table", tag("thead", tag("tr", *head)), tag("tbody", *body), class_="files",
        aria_label="Changed files",
    )  # fmt: skip


def _cells(file: Edited) -> list[Markup]:
    where = file.milestone.id
    return [
        tag("th", tag("a", file.change.file, href=f"#{file.change.id}"), scope="row"),
        tag("td", ", ".join([file.what, *file.notes])),
        tag("td", tag("a", where, href=f"#{where}")),
        *(tag("td", f"{n:,}" if n else None, class_=name) for n, name in _sizes(file)),
    ]


def _sizes(file: Edited) -> tuple[tuple[int, str], ...]:
    return (file.added, "plus"), (file.removed, "minus")


def _counts(file: Edited) -> list[Markup]:
    signs = {"plus": "+", "minus": "−"}
    return [tag("span", f"{signs[name]}{n:,}", class_=name) for n, name in _sizes(file) if n]


def _change(file: Edited, *, is_open: bool) -> Markup:
    """Return one file's diff; its id is inside the folded part, so that a link unfolds it."""
    change = file.change
    folded = len(file.lines) > LONGEST_OPEN
    ids = f"{(change.before or 'absent')[:12]} → {(change.after or 'absent')[:12]}"
    intents = [i for i in (change.intent_ref, *change.more_intent_refs) if i]
    summary = tag(
        "summary",
        tag("h3", change.file),
        tag("span", ", ".join([file.what, *file.notes]), class_="quiet"),
        *_counts(file),
        tag("span", f"{count(len(file.lines), 'line')} folded", class_="folded")
        if folded
        else None,
    )
    quiet = [change.id, *intents, f"blob {ids}"]
    about = joined([
        tag("a", file.milestone.id, href=f"#{file.milestone.id}"), f" · {' · '.join(quiet)}",
        tag("a", "all files", href="#changes", class_="back"),
    ])  # fmt: skip
    body = diff_table(file.lines, f"Diff of {change.file}") if file.lines else _empty(file)
    inside = tag("div", tag("p", about, class_="quiet"), body, id=change.id)
    return tag(
        "details", summary, inside, class_="change", open="" if _opens(folded, is_open) else None
    )


def _opens(folded: bool, is_open: bool) -> bool:
    return is_open and not folded


def _empty(file: Edited) -> Markup:
    said = "The content stays as it is." if file.change.before else "The file is empty."
    return tag("p", said, class_="quiet")
