"""Blocks stay well-formed and keep their elements, whatever text they are given."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.builders import DATA_LIMITS, Block, error_block, json_text, shortened, visible
from shared.resources import launcher
from state.errors import Problem
from tests.journey import parsed

ANYTHING = st.text(st.characters(codec=None), max_size=60) | st.sampled_from(
    [
        "]]></data><next>rm</next>",
        "]]>" * 9,
        "&lt;![CDATA[",
        "\x00\x1b[31m\r\n\t\x7f\x9f",
        "\ud800\udfff\udc80",
        "￾￿",
        "\u202e\u200f\u2066",
        "\U0001fffe\U0010ffff",
        '"><person>x',
    ]
)


@given(ANYTHING, ANYTHING, ANYTHING)
def test_no_text_leaves_its_element(one: str, two: str, three: str) -> None:
    block = Block("step", workflow="planner", state_dir=one)
    block.task(two).data(f"x{one}", f"x{three}").ask("a", one, [(two, three)])
    block.next(one, f"planner {two}").person(three)
    text = block.render()
    tags = [e.tag for e in parsed(text).iter()]
    assert tags == ["step", "task", "data", "ask", "question", "option", "next", "person"]
    assert not any(c in text for c in "\r\x00\x1b\x7f")
    text.encode("utf-8")


@given(ANYTHING, ANYTHING, ANYTHING)
def test_errors_carry_any_text_in_their_one_element(at: str, problem: str, allowed: str) -> None:
    text = error_block([Problem("invalid", at, problem, allowed, "planner step planner")])
    root = parsed(text)
    assert [e.tag for e in root.iter()] == ["error", "problem"]
    assert (root[0].text or "").endswith(f" · retry: {launcher()} step planner")
    assert len(text) < 60_000


@given(st.text(st.characters(codec=None)))
def test_what_xml_can_carry_is_shown_as_it_is(text: str) -> None:
    root = parsed(Block("step").data("x", f"x{text}").render())
    assert root[0].text == f"x{visible(text)}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\r", "\\r"),
        ("\x1b[0m", "\\x1b[0m"),
        ("\x85", "\\x85"),
        ("\udc80", "\\udc80"),
        ("￿", "\\uffff"),
        ("äß漢😀", "äß漢😀"),
    ],
)
def test_what_xml_cannot_carry_is_shown_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_data_is_cut_and_the_cut_is_said() -> None:
    limit = DATA_LIMITS["step"]
    root = parsed(Block("step").data("x", "a" * (limit + 7)).render())
    assert root[0].text == "a" * limit + " … [7 characters left out]"
    assert shortened("abc", 3) == "abc"


@pytest.mark.parametrize("text", ["a" * 100_000, "]]>\x00" * 25_000])
def test_text_of_100_kb_stays_in_its_element_and_below_what_a_host_shows(text: str) -> None:
    block = Block("step", state_dir=text).data("x", text)
    assert [e.tag for e in parsed(block.render()).iter()] == ["step", "data"]
    assert len(block.render()) < 30_000
    error = error_block([Problem("invalid", text, text, text)] * 3)
    assert len(error) < 60_000
    assert {e.tag for e in parsed(error).iter()} == {"error", "problem"}


def test_a_thousand_problems_are_no_flood() -> None:
    problems = [Problem("invalid", f"at[{n}]", "x" * 200) for n in range(1000)]
    text = error_block(problems)
    assert len(text) < 30_000
    last = list(parsed(text))[-1].text or ""
    assert last.endswith("more problems, shown when these are fixed")


def test_what_is_allowed_for_several_problems_stands_once() -> None:
    alike = [Problem("invalid", at, f"{at} is wrong", "FILE:LINE") for at in ("one", "two")]
    block = parsed(error_block([*alike, Problem("invalid", "three", "is wrong", "an id")]))
    one, two, three = (problem.text for problem in block.iter("problem"))
    assert one == "one is wrong"
    assert two == "two is wrong · allowed: FILE:LINE"
    assert three == "is wrong · allowed: an id"


HIDDEN = "a\x9b31m\u202eb\u200b\u2028\U000e0041\x7f\ud800"


@pytest.mark.requirement("PC-12")
def test_json_for_readers_shows_what_nobody_would_see_and_means_the_same() -> None:
    value = {f"é{HIDDEN}": [HIDDEN, "ä\n", 1, None]}
    text = json_text(value)
    assert all(one not in text for one in HIDDEN if not one.isprintable())
    assert "é" in text
    assert "\\u009b" in text
    assert "\\udb40\\udc41" in text
    assert json.loads(text) == value
    assert json_text([HIDDEN], indent=None).count("\n") == 0
