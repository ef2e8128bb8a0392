"""Elements whose text cannot become anything else: a plain string is escaped wherever it goes."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from shared.builders import visible

if TYPE_CHECKING:
    from collections.abc import Iterable


class Markup(str):
    """Text that is HTML already; whatever is no Markup is escaped before it is shown."""

    __slots__ = ()


class _Shown(dict[int, str]):
    """How each character is shown, by its code; others than ASCII are added as they turn up."""

    def __init__(self) -> None:
        super().__init__({code: html.escape(chr(code)) for code in (0x0A, *range(0x20, 0x7F))})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        seen = visible(character)
        shown = html.escape(seen)
        self[code] = shown if seen == character else f"<b class=esc>{shown}</b>"
        return self[code]


_SHOWN = _Shown()


def text(value: str) -> Markup:
    r"""Return `value` as HTML text; what nobody would see is a marked escape such as `\u202e`."""
    return Markup(value.translate(_SHOWN))


def tag(name: str, *children: str | None, **attributes: str | None) -> Markup:
    """Return an element; a child that is no Markup is text, None is left out.

    A trailing underscore of an attribute's name is dropped (`class_`), others become dashes.
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{shown}>{joined(children)}</{name}>")


def _attribute(value: str) -> str:
    plain = value.isascii() and value.isprintable()
    return html.escape(value if plain else visible(value))


def joined(children: Iterable[str | None], separator: str = "") -> Markup:
    """Return the children side by side, text among them escaped."""
    parts = (c if isinstance(c, Markup) else text(c) for c in children if c is not None)
    return Markup(text(separator).join(parts))


def items(rows: Iterable[str], **attributes: str | None) -> Markup | None:
    """Return an unordered list; None where it would be empty."""
    found = [tag("li", row) for row in rows]
    return tag("ul", *found, **attributes) if found else None


def section(name: str, title: str, *children: str | None) -> Markup:
    """Return a part of the page under a heading that links lead to; empty without content."""
    if not any(children):
        return Markup()
    heading = tag("h2", title, id=name)
    return tag("section", heading, *children, aria_labelledby=name)


def titled(title: str, content: Markup | None) -> Markup | None:
    """Return content under a heading of its own; None without content."""
    return joined([tag("h3", title), content]) if content else None


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
