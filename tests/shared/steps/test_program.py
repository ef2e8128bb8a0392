"""The command line of a step's script, read in one place for all of them (PL-5)."""

from __future__ import annotations

import pytest

from orchestrator import planner
from shared.steps.program import Request, answer, asks_for_help, refuse_words, step_number
from tests.state.plans import refusal


@pytest.mark.parametrize(
    ("words", "number", "state_dir", "selectors"),
    [
        ("", None, None, {}),
        ("--step 3", "3", None, {}),
        ("--step=3", "3", None, {}),
        ("--step=", "", None, {}),
        ("--state-dir=/a=b", None, "/a=b", {}),
        ("--state-dir /a --step 2", "2", "/a", {}),
        ("--group=2 --by host", None, None, {"group": "2", "by": "host"}),
        ("--milestone M-001", None, None, {"milestone": "M-001"}),
        ("--step 1 --step=2", "2", None, {}),
    ],
)
def test_an_option_has_its_value_behind_a_space_or_an_equals_sign(
    words: str, number: str | None, state_dir: str | None, selectors: dict[str, str]
) -> None:
    asked = Request(words.split())
    assert (asked.number, asked.state_dir, asked.selectors) == (number, state_dir, selectors)
    assert (asked.words, asked.request, asked.again) == ([], None, False)


def test_words_the_request_and_the_wish_to_see_a_step_again_are_kept_apart() -> None:
    asked = Request(["4", "--again", "--request=a=b", "--role", "host"])
    assert (asked.words, asked.request, asked.again) == (["4"], "a=b", True)
    refuse_words(planner.WORKFLOW, asked)
    assert (asked.number, asked.words) == ("4", [])


@pytest.mark.parametrize(
    ("argv", "at", "said"),
    [
        (["--stop"], "--stop", "there is no option --stop"),
        (["--stop=3"], "--stop", "there is no option --stop"),
        (["--step"], "--step", "--step needs a value"),
        (["2", "--group"], "--group", "--group needs a value"),
    ],
)
def test_an_option_that_is_none_or_has_no_value_is_refused_with_those_there_are(
    argv: list[str], at: str, said: str
) -> None:
    [problem] = refusal(Request, argv)
    assert (problem.kind, problem.at, problem.problem) == ("usage", at, said)
    assert problem.allowed.split(", ") == [
        "--step", "--state-dir", "--request", "--role", "--group", "--by", "--milestone", "--again"
    ]  # fmt: skip


@pytest.mark.parametrize("words", [["two"], ["2", "3"], ["-2"]])
def test_words_that_are_no_step_are_refused_with_the_usage(words: list[str]) -> None:
    [problem] = refusal(refuse_words, planner.WORKFLOW, Request([*words]))
    assert problem.problem == f"the command takes no such words: {' '.join(words)}"
    assert problem.allowed == "planner step planner [N] [--again] [--state-dir DIR]"
    both = Request(["--step", "2", "3"])
    assert refusal(refuse_words, planner.WORKFLOW, both)[0].problem.endswith("words: 3")


def test_a_steps_number_is_one_in_plain_digits() -> None:
    assert step_number(None, planner.WORKFLOW) is None
    assert step_number("11", planner.WORKFLOW) == 11
    assert step_number("9" * 5000, planner.WORKFLOW) == 999_999_999
    for text in ("", "x", "-1", "1.0", "²", "\N{ARABIC-INDIC DIGIT ONE}"):
        [problem] = refusal(step_number, text, planner.WORKFLOW)
        assert problem.problem == f"{text!r} is not the number of a step"
        assert problem.allowed.startswith("1 plan-init, 2 context-verify, 3 ")


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_step_and_option_without_a_run(word: str) -> None:
    assert asks_for_help(["--step", "3", word])
    assert not asks_for_help(["--helper", "h"])
    lines = answer(planner.WORKFLOW, [word]).splitlines()
    steps = {f"{number:>4} {step.name}" for number, step in planner.STEPS.items()}
    assert steps <= {*lines}
    for option in ("--step N", "--state-dir DIR", "--again"):
        assert any(line.startswith(f"  {option} ") for line in lines), option
