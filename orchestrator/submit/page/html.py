"""HTML elements that are safe to build from any text: a plain string is always escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from shared.builders import visible

if TYPE_CHECKING:
    from collections.abc import Iterable


class Markup(str):
    """Text that is already HTML; any other string is escaped before it is shown."""

    __slots__ = ()


class _Shown(dict[int, str]):
    """How each character is shown, by its code; those beyond ASCII are added when first met."""

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
    r"""Return `value` as HTML text; invisible characters become marked escapes such as `\u202e`."""
    return Markup(value.translate(_SHOWN))


def tag(name: str, *children: str | None, **attributes: str | None) -> Markup:
    """Return an element; a child that is not Markup is escaped, None is left out.

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
    """Return the children joined by the separator, plain strings escaped."""
    parts = (c if isinstance(c, Markup) else text(c) for c in children if c is not None)
    return Markup(text(separator).join(parts))


def items(rows: Iterable[str], **attributes: str | None) -> Markup | None:
    """Return an unordered list, or None if it would be empty."""
    found = [tag("li", row) for row in rows]
    return tag("ul", *found, **attributes) if found else None


def section(name: str, title: str, *children: str | None) -> Markup:
    """Return a section under a heading that links can lead to; empty without content."""
    if not any(children):
        return Markup()
    heading = tag("h2", title, id=name)
    return tag("section", heading, *children, aria_labelledby=name)


def titled(title: str, content: Markup | None) -> Markup | None:
    """Return content under a third-level heading; None without content."""
    return joined([tag("h3", title), content]) if content else None


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
