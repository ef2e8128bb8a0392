"""What the commit of a plan says, cut to the limits of a message (CM-1, RL-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements_lane.message import check_message, message_of_plan, with_trailers
from orchestrator.submit.message import description_of, message_of, subject_of
from tests.state.plans import empty_plan, refusal

if TYPE_CHECKING:
    from state.models import Plan

DIGEST = "d" * 64
TRAILERS = ("Requirements: planning/r.md", "Todo: planning/t.md", f"Plan-Digest: {DIGEST}")


def plan(title: str, approach: str = "") -> Plan:
    return empty_plan(overview={"title": title, "problem": "p", "approach": approach})


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Parse  dates\nin", "Parse dates in"), ("", "Apply a plan"), (" \n", "Apply a plan"),
        ("a" * 72, "a" * 72), ("a" * 73, "a" * 71 + "…"), ("a" * 70 + " bcd", "a" * 70 + "…"),
    ],
)  # fmt: skip
def test_the_subject_is_the_title_in_one_line_of_at_most_72(title: str, subject: str) -> None:
    assert subject_of(plan(title)) == subject


@pytest.mark.parametrize(
    ("approach", "description"),
    [
        ("", ""), ("One\nline.", "One line."), ("One.\r\n\r\nTwo.", "One.\n\nTwo."),
        ("One.\n\n \n\nTwo.", "One.\n\nTwo."), ("w" * 80, "w" * 80),
        ("one-two " * 10, ("one-two " * 9).strip() + "\none-two"),
    ],
)  # fmt: skip
def test_the_description_is_the_approach_in_lines_of_at_most_72(
    approach: str, description: str
) -> None:
    assert description_of(plan("t", approach)) == description


@pytest.mark.requirement("CM-1")
def test_a_message_ends_with_the_digest() -> None:
    made = plan("Parse", "One.").model_copy(update={"digest": DIGEST})
    assert message_of(made) == f"Parse\n\nOne.\n\nPlan-Digest: {DIGEST}\n"
    bare = plan("Parse").model_copy(update={"digest": DIGEST})
    assert message_of(bare) == f"Parse\n\nPlan-Digest: {DIGEST}\n"


@pytest.mark.requirement("RL-9")
class TestAMessageOfRequirements:
    def test_within_its_limits_is_taken_with_its_trailers(self) -> None:
        body = "\n".join("b" * 72 for _ in range(6))
        text = f"  Parse dates \n\n{body}\n\n"
        expected = f"Parse dates\n\n{body}\n\n" + "\n".join(TRAILERS) + "\n"
        assert check_message(text, "m", TRAILERS) == expected
        assert check_message("Parse", "m", TRAILERS) == "Parse\n\n" + "\n".join(TRAILERS) + "\n"

    @pytest.mark.parametrize(
        ("text", "at", "said"),
        [
            ("", "m", "the message is empty"), (" \n\n", "m", "the message is empty"),
            ("a\nb", "m:2", "the second line is not empty"),
            ("a\n\n" + "b\n" * 7, "m", "the description has 7 lines"),
            ("a" * 73, "m:1", "the line has 73 characters"),
            ("a\n\nb\x07", "m:3", "the line has an invisible character"),
            ("a\n\ntodo: x", "m:3", "the line is a trailer that is added for you"),
            ("Plan-Digest: x", "m:1", "the line is a trailer that is added for you"),
        ],
    )  # fmt: skip
    def test_beyond_them_is_refused_where_it_is(self, text: str, at: str, said: str) -> None:
        [problem] = refusal(check_message, text, "m", TRAILERS)
        assert (problem.at, problem.problem) == (at, said)
        if "lines" in said:
            assert problem.allowed.startswith("at most 6, since 3 lines are added")

    def test_names_every_fault_at_once(self) -> None:
        found = refusal(check_message, "a" * 80 + "\nTodo: \x07", "m", TRAILERS)
        assert [p.at for p in found] == ["m:2", "m:1", "m:2", "m:2"]

    def test_is_made_from_a_plan_and_cut(self) -> None:
        text = message_of_plan(plan("Todo: it\x07", "One.\n\nTwo."), TRAILERS)
        assert text == "Todo it \n\nOne.\n\nTwo.\n\n" + "\n".join(TRAILERS) + "\n"
        long = message_of_plan(plan("Parse", "word " * 200), TRAILERS).split("\n")
        body = long[2 : long.index("", 2)]
        assert len(body) == 6
        assert body[-1].endswith(" …")
        assert max(map(len, body)) <= 72

    def test_gets_other_trailers_in_place_of_its_own(self) -> None:
        whole = check_message("Parse\n\nbody", "m", TRAILERS)
        assert with_trailers(whole, ["Todo: x"]) == "Parse\n\nbody\n\nTodo: x\n"
