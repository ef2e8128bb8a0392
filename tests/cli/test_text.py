"""Blocks as a person reads them and as JSON, each part of a block at least once (HO-5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.text import json_of, patch_of, text_of, typed
from shared.builders import Block, error_block
from shared.resources import PROGRAM, command, quote
from state.errors import Problem

if TYPE_CHECKING:
    from state.errors import Kind
    from tests.conftest import Golden

pytestmark = pytest.mark.requirement("HO-5")


def whole() -> str:
    """Return a block with every part that a step may print."""
    block = Block("step", workflow="planner", number="4", of="11", name="plan-design-qr",
                  path="3 of 6", state_dir="/repo/.planner/runs/x", iteration="2")  # fmt: skip
    block.task("Do it.\n\n- one\n- two\n\n```\ncode  stays\n```\n" + "word " * 40)
    block.rules("Not that.")
    block.data("one line", "a").data("two lines", "a\nb").data("empty", "")
    block.data("table", "id\tname\nM-001\tParse dates\nM-0002\tx", rows=3)
    block.data("ragged", "a\tb\nc")
    block.data("patch", "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\x1b[2J\n ")
    block.dispatch("developer", [command("step", "a"), command("step", "b")], model="big")
    block.ask("CP-001", "Which <way>?", [("a", "A & B"), ("b", "B")], multi=True)
    block.ask("CP-002", "Why?", [])
    block.next("done", command("step", "planner", state_dir="/repo/x"))
    block.next("pause", command("pause"))
    return block.render()


def shown(text: str) -> str:
    return text.replace(quote(PROGRAM), "PLANNER")


@pytest.mark.parametrize(
    ("width", "colour", "name"), [(0, False, "plain"), (60, False, "narrow"), (80, True, "colour")]
)
def test_a_block_is_text_with_headings_lists_and_tables(
    width: int, colour: bool, name: str, golden: Golden
) -> None:
    golden(f"people/every-part.{name}.txt", shown(text_of(whole(), width, colour=colour)))


def test_a_block_is_json_with_attributes_texts_and_children() -> None:
    found = json.loads(json_of(whole()))["step"]
    assert (found["workflow"], found["number"]) == ("planner", "4")
    assert [d["name"] for d in found["data"]] == [
        "one line", "two lines", "table", "ragged", "patch"
    ]  # fmt: skip
    assert found["data"][0]["text"] == "a"
    assert [r["text"].split()[-1] for r in found["dispatch"][0]["run"]] == ["a", "b"]
    assert [o["value"] for o in found["ask"][0]["option"]] == ["a", "b"]
    assert [n["on"] for n in found["next"]] == ["done", "pause"]


KINDS: tuple[Kind, ...] = (
    "not_found",
    "conflict",
    "frozen",
    "invalid",
    "refused",
    "locked",
    "usage",
    "internal",
)


def test_each_problem_says_its_kind_where_it_is_what_is_allowed_and_what_to_run(
    golden: Golden,
) -> None:
    problems = [Problem(kind, f"place {kind}", f"what is wrong: {kind}") for kind in KINDS]
    problems += [
        Problem("refused", "a.py", "differs\x1b", "one, or two", "planner status"),
        Problem("refused", "b.py", "differs", retry="git add b.py"),
    ]
    block = error_block(problems, "", ["status"])
    golden("people/every-problem.txt", shown(text_of(block)))


def test_a_command_is_typed_by_its_name_unless_it_is_quoted() -> None:
    line = command("status")
    assert typed(f"Run {line}") == f"Run {quote(PROGRAM)} status"
    assert typed(f'("{line}" and [{line})') == f'("{line}" and [{line})'


def test_a_patch_shows_what_a_terminal_would_obey() -> None:
    patch = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\x1b[2J\n kept"
    assert patch_of(patch, colour=False) == patch.replace("\x1b", "\\x1b")
    coloured = patch_of(patch, colour=True).split("\n")
    assert coloured[-1] == " kept"
    assert coloured[3] != "-old"
    assert "-old" in coloured[3]
    assert coloured[3].replace("old", "") != coloured[4].replace("new\\x1b[2J", "")


def test_a_block_that_says_nothing_is_done() -> None:
    assert text_of(Block("result").render()) == "Done.\n"
