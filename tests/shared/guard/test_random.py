"""The guard answers every text, without an exception or a fault."""

from __future__ import annotations

import random

import pytest

from shared.guard.decide import decide
from shared.resources import launcher
from tests.forms import LONG, SEED
from tests.shared.guard.corpus.corpus import must_be_denied, must_pass
from tests.shared.guard.mutants import mutants

COUNT = 100_000 if LONG else 4_000
ALPHABET = (
    " \n;|&<>(){}[]$`'\"\\*?~!#=-./,:@%^+0129abegilnorstxyzHOMEPWD\t\0\x1b\x7f\u00a0é€𝒳\ud800"
)


def texts() -> list[str]:
    """Return random bytes read as text, random syntax, and mutants of real commands."""
    dice = random.Random(SEED)  # noqa: S311 – inputs, not keys
    seeds = [command.text for command in must_pass() + must_be_denied()]
    made = mutants(seeds, dice)
    found = []
    for number in range(COUNT):
        length = dice.randint(0, dice.choice((4, 40, 400)))
        if number % 4 == 0:
            found.append(dice.randbytes(length).decode("utf-8", "surrogateescape"))
        elif number % 4 == 1:
            found.append(dice.randbytes(length).decode("latin-1"))
        elif number % 4 == 2:
            found.append("".join(dice.choices(ALPHABET, k=length)))
        else:
            found.append(next(made))
    return found


@pytest.mark.requirement("PM-5")
def test_no_text_makes_the_guard_fail() -> None:
    answers = [(text, decide(text, cwd="/")) for text in texts()]
    assert not [text for text, answer in answers if "the guard failed" in answer.reason]
    assert all(answer.reason for _, answer in answers)
    assert all(answer.instead for _, answer in answers if not answer.allowed)
    assert all(
        answer.reason.isprintable() and answer.instead.isprintable() for _, answer in answers
    )


@pytest.mark.parametrize("odd", [None, 7, b"ls", ["ls"], "ls" * 10_000_000, "cat " + "'" * 3_999])
def test_what_is_not_a_command_is_denied(odd: object) -> None:
    assert not decide(odd, cwd="/").allowed  # type: ignore[arg-type]


def test_a_fault_of_the_guard_is_a_denial() -> None:
    def broken(_: list[str]) -> None:
        raise RecursionError

    answer = decide(f"{launcher()} status", cwd="/", planner=broken)
    assert not answer.allowed
    assert answer.reason == "the guard failed on this command: RecursionError"
    assert answer.instead
