"""Whatever a text holds, it stays text, and nothing of it goes unseen."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.submit.page import html
from orchestrator.submit.page.diff import compare
from orchestrator.submit.page.html import (
    Element,
    Items,
    Row,
    Section,
    Titled,
    Unclosed,
    listed,
    markup,
)
from shared.builders import counted, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.page.html import Node

ANYTHING = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    [
        "</td></table><script>alert(1)</script>",
        '" onmouseover="alert(1)',
        "' autofocus onfocus='alert(1)",
        "<!--",
        "]]>",
        "&lt;b&gt;&#x202e;",
        "\x1b[31mred\x1b[0m\x00\r",
        "\u202e\u2066\u200f\u200b\ufeff\U000e0041",
        "\ud800",
    ]
)


class Parsed(HTMLParser):
    """What a browser would make of a fragment: elements with their attributes, and text."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.odd: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def handle_decl(self, decl: str) -> None:
        self.odd.append(decl)

    def handle_pi(self, data: str) -> None:
        self.odd.append(data)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)


@pytest.mark.requirement("PM-15")
@given(ANYTHING, ANYTHING)
def test_text_and_attributes_hold_any_text_and_nothing_gets_out(one: str, two: str) -> None:
    page = Parsed(markup(Element("p", one, {"title": two})))
    escapes = [attrs for name, attrs in page.tags[1:] if name == "b"]
    assert page.tags[0] == ("p", {"title": visible(two)})
    assert page.tags[1:] == [("b", {"class": "esc"})] * len(escapes)
    assert (page.text, page.odd) == (visible(one), [])


@given(ANYTHING, ANYTHING)
def test_a_comparison_shows_both_texts_whole(old: str, new: str) -> None:
    shown = [Parsed(markup(part)) for part in compare(old, new)]
    assert [page.text for page in shown] == [visible(old), visible(new)]
    assert {name for page in shown for name, _ in page.tags} <= {"b", "mark"}


def test_what_nobody_would_see_is_marked_and_what_looks_alike_is_not() -> None:
    assert markup("a\u202eb") == "a<b class=esc>\\u202e</b>b"
    assert markup("a\\u202eb") == "a\\u202eb"
    assert markup("a\tb\nc é 漢 ⚠️") == "a\tb\nc é 漢 ⚠️"


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        (
            "return x + 1",
            "return x + 2",
            ("return x + <mark>1</mark>", "return x + <mark>2</mark>"),
        ),
        ("f(a)", "f(a, b)", ("f(a)", "f(a<mark>, b</mark>)")),
        ("one", "something else", ("one", "something else")),
        ("a", "a  ", ("a", "a<mark>  </mark>")),
        ("", "", ("", "")),
    ],
)
def test_only_the_words_that_differ_are_marked(old: str, new: str, marked: tuple[str, str]) -> None:
    assert tuple(map(markup, compare(old, new))) == marked


@given(st.recursive(ANYTHING, lambda texts: st.lists(texts) | st.tuples(texts, texts)))
def test_no_list_or_tuple_of_texts_becomes_an_element(texts: Any) -> None:  # noqa: ANN401 – nested
    found = Parsed(markup([texts, Items([texts]), Titled("x", texts), Row("a", [texts])]))
    assert {name for name, _ in found.tags} <= {"b", "ul", "li", "h3", "tr", "td"}


def test_only_one_module_of_the_page_writes_markup() -> None:
    folder = Path(html.__file__).parent
    tags = {path.name: re.findall(r"</?[a-z]\w*", path.read_text()) for path in folder.glob("*.py")}
    assert {name for name, found in tags.items() if found} == {"html.py"}


def test_a_tree_becomes_markup_and_none_leaves_nothing() -> None:
    inside = [Element("b", "x"), None, [("<", ">")]]
    assert markup(Element("p", inside, {"class": "a", "id": None})) == (
        '<p class="a"><b>x</b>&lt;&gt;</p>'
    )
    assert markup(listed(["<", Element("i")])) == "&lt;, <i></i>"
    assert markup(Unclosed("td", "<", {"colspan": "4"})) == "<td colspan=4>&lt;"
    assert markup(Row("a", ["1", "<"])) == "<tr class=a><td>1<td>&lt;"


@pytest.mark.parametrize("content", [None, "", [], [None, []], Items([]), Titled("x", None)])
def test_headings_and_lists_without_content_are_left_out(content: Node) -> None:
    assert markup([Section("x", "X", content), Titled("X", content)]) == ""


def test_a_section_has_the_place_that_links_lead_to() -> None:
    assert markup(Section("x", "X & Y", Items(["one"], "rows"), "wide")) == (
        '<section class="wide" aria-labelledby="x"><h2 id="x">X &amp; Y</h2>'
        '<ul class="rows"><li>one</li></ul></section>'
    )


def test_numbers_stand_with_the_right_noun() -> None:
    assert [counted(n, "file") for n in (0, 1, 1200)] == ["0 files", "1 file", "1,200 files"]
