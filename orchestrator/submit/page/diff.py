"""A patch as a table that a person reads: numbers, signs, and what differs within a line."""

from __future__ import annotations

import re
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from orchestrator.submit.page.html import Markup, joined, tag, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.submit.page.patch import Line

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_COMPARED = 2_000  # characters; finding words in a minified line is of no use
_TAIL = re.compile(r"[ \t]+$")
_HEAD = Markup(
    "<colgroup><col class=n><col class=n><col class=s><col></colgroup><thead><tr>"
    "<th scope=col>old line<th scope=col>new line<th scope=col>sign<th scope=col>text</thead>"
)
_CLASS = {"+": "a", "-": "d", " ": "c"}


def diff_table(lines: Sequence[Line], label: str) -> Markup:
    """Return the lines as a table; `label` names it for screen readers."""
    body = "".join(_rows(lines))
    return tag("table", _HEAD, Markup(f"<tbody>{body}</tbody>"), class_="diff", aria_label=label)


def _rows(lines: Iterable[Line]) -> Iterator[str]:
    for is_changed, group in groupby(lines, key=lambda line: line.kind in "+-"):
        if is_changed:
            yield from _changed(list(group))
            continue
        for line in group:
            if line.kind == " ":
                yield _row(line, text(line.text))
            elif line.kind == "@":
                place = f"from line {line.new or line.old}" + (
                    f" · {line.text}" if line.text else ""
                )
                yield f"</tbody><tbody><tr class=h><th colspan=4 scope=rowgroup>{text(place)}"
            else:
                yield f"<tr class=m><td colspan=4>{text(line.text)}"


def _changed(lines: list[Line]) -> Iterator[str]:
    """Yield removed and added lines; a removed line is compared with the one that replaces it."""
    removed = [line for line in lines if line.kind == "-"]
    added = [line for line in lines if line.kind == "+"]
    if len(removed) != len(added):
        yield from (_row(line, _text(line.text)) for line in lines)
        return
    pairs = [compare(old.text, new.text) for old, new in zip(removed, added, strict=True)]
    yield from (_row(line, old) for line, (old, _) in zip(removed, pairs, strict=True))
    yield from (_row(line, new) for line, (_, new) in zip(added, pairs, strict=True))


def _row(line: Line, shown: str) -> str:
    sign = "" if line.kind == " " else line.kind
    old, new = line.old or "", line.new or ""
    return f"<tr class={_CLASS[line.kind]}><td>{old}<td>{new}<td>{sign}<td>{shown}"


def _text(value: str) -> Markup:
    """Return a line's text with trailing blanks marked, as a change of them is invisible."""
    found = _TAIL.search(value)
    if found is None:
        return text(value)
    return joined([value[: found.start()], tag("mark", found[0])])


def compare(old: str, new: str) -> tuple[Markup, Markup]:
    """Return both texts, the words between their common beginning and end marked.

    If they have less than half in common, nothing is marked: all of it is new.
    """
    if max(len(old), len(new)) > _LONGEST_COMPARED:
        return text(old), text(new)
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    shared = len("".join((*before[:head], *before[len(before) - tail :])).strip())
    if 2 * shared < min(len(old.strip()), len(new.strip())):
        return _text(old), _text(new)
    return _marked(before, head, tail), _marked(after, head, tail)


def _common(one: list[str], other: list[str]) -> int:
    """Return how many words the lists have in common at their beginning."""
    pairs = enumerate(zip_longest(one, other))
    return next((n for n, (a, b) in pairs if a != b), len(one))


def _marked(words: list[str], head: int, tail: int) -> Markup:
    end = len(words) - tail
    middle = "".join(words[head:end])
    parts = ["".join(words[:head]), tag("mark", middle) if middle else None, "".join(words[end:])]
    return joined(parts)
