"""Build and print the HTML elements of the review page; no other module writes HTML.

A string anywhere in a tree is text, so nothing that a plan holds can become an element.
"""

from __future__ import annotations

import base64
import html
import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from shared import resources
from shared.builders import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Node: TypeAlias = (
        "str | Element | Unclosed | Row | Items | Titled | Section | Sequence[Node] | None"
    )

_DATA = os.path.dirname(os.path.abspath(__file__))


class Element(NamedTuple):
    """An HTML element; an attribute whose value is None is left out."""

    name: str
    content: Node = None
    attributes: Mapping[str, str | None] = {}

    def markup(self) -> str:
        """Return the element with all its content as HTML text."""
        shown = "".join(
            f' {key}="{_attribute(value)}"'
            for key, value in self.attributes.items()
            if value is not None
        )
        return f"<{self.name}{shown}>{markup(self.content)}</{self.name}>"


class Unclosed(NamedTuple):
    """An HTML element written without end tag and quotes, where HTML needs neither."""

    name: str
    content: Node = None
    attributes: Mapping[str, str] = {}

    def markup(self) -> str:
        """Return the start tag with all the element's content as HTML text."""
        shown = "".join(f" {key}={_attribute(value)}" for key, value in self.attributes.items())
        return f"<{self.name}{shown}>{markup(self.content)}"


class Row(NamedTuple):
    """A table row with a CSS class and no end tags, because a long diff has thousands of rows."""

    kind: str
    cells: Sequence[Node]
    # What links lead to; a letter or digit first, and no blank.
    id: str = ""

    def markup(self) -> str:
        """Return the start tag and the cells of the table row as HTML text."""
        name = f" id={_attribute(self.id)}" if self.id else ""
        cells = "<td>".join(map(markup, self.cells))
        return f"<tr class={_attribute(self.kind)}{name}><td>{cells}"


class Items(NamedTuple):
    """An unordered HTML list with a CSS class; it prints nothing if it has no rows."""

    rows: Sequence[Node]
    kind: str | None = None

    def markup(self) -> str:
        """Return the list as HTML text, empty if the list has no rows."""
        rows = [Element("li", row) for row in self.rows]
        return Element("ul", rows, {"class": self.kind}).markup() if rows else ""


class Titled(NamedTuple):
    """Page content under its own heading; without content not even the heading is printed."""

    title: str
    content: Node

    def markup(self) -> str:
        """Return heading and content as HTML text, empty without content."""
        content = markup(self.content)
        return Element("h3", self.title).markup() + content if content else ""


class Section(NamedTuple):
    """A page section under a heading with a link target; without content it prints nothing."""

    id: str
    heading: str
    content: Node
    kind: str | None = None

    def markup(self) -> str:
        """Return the section as HTML text, empty without content."""
        content = markup(self.content)
        if not content:
            return ""
        heading = Element("h2", self.heading, {"id": self.id}).markup()
        kind = "" if self.kind is None else f' class="{_attribute(self.kind)}"'
        name = _attribute(self.id)
        return f'<section{kind} aria-labelledby="{name}">{heading}{content}</section>'


def markup(node: Node) -> str:
    r"""Return page elements as HTML text; invisible characters become escapes such as `\u202e`."""
    if isinstance(node, str):
        return node.translate(_SHOWN)
    if node is None:
        return ""
    if isinstance(node, (Row, Element, Unclosed, Items, Titled, Section)):
        return node.markup()
    return "".join(map(markup, node))


class _Shown(dict[int, str]):
    """A cache of how each character is shown in HTML, filled when a new character is met."""

    def __init__(self) -> None:
        super().__init__({code: html.escape(chr(code)) for code in (0x0A, *range(0x20, 0x7F))})

    def __missing__(self, code: int) -> str:
        character = chr(code)
        seen = visible(character)
        shown = html.escape(seen)
        self[code] = shown if seen == character else f"<b class=esc>{shown}</b>"
        return self[code]


_SHOWN = _Shown()


def _attribute(value: str) -> str:
    plain = value.isascii() and value.isprintable()
    return html.escape(value if plain else visible(value))


def listed(nodes: Iterable[Node]) -> list[Node]:
    """Return page elements with commas between the elements."""
    return [part for node in nodes for part in (", ", node)][1:]


def page(title: str, first: Node, parts: Mapping[str, Section], footer: Node) -> str:
    """Return the page as HTML; `parts` maps link texts to sections, empty ones are left out."""
    style = _read("style.css")
    written = {link: (part.id, part.markup()) for link, part in parts.items()}
    found = {link: pair for link, pair in written.items() if pair[1]}
    places = {"Overview": "top", **{link: name for link, (name, _) in found.items()}}
    slots = {
        "hash": "sha256-" + base64.b64encode(sha256(style.encode()).digest()).decode(),
        "style": style,
        "title": markup(title),
        "links": markup([Element("a", link, {"href": f"#{at}"}) for link, at in places.items()]),
        "content": "\n".join([markup(first), *(text for _, text in found.values())]),
        "footer": markup(footer),
    }
    return resources.fill(_read("frame.html"), slots)


def _read(name: str) -> str:
    with open(os.path.join(_DATA, name), encoding="utf-8") as file:
        return file.read()
