"""The commit message of completed requirements: its limits, and the trailers added to it (RL-9)."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from orchestrator.submit.message import description_of, is_sign_off, subject_of, with_body
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from state.models import Plan

LONGEST = 72
MOST_LINES = 10
_OURS = re.compile(r"(Requirements|Todo|Plan-Digest):", re.IGNORECASE)


def check_message(text: str, at: str, trailers: Sequence[str]) -> str:
    """Return the whole commit message; Refused with everything that is to be shortened.

    The trailers and the empty line before them count among the description's ten lines; a digest
    alone may make a line longer than 72 characters, since it is of use only as a whole.
    """
    lines = [line.rstrip() for line in text.strip().split("\n")]
    subject, gap, *body = [*lines, "", ""][: max(len(lines), 2)]
    most = _most(trailers)
    problems = []
    if not subject:
        problems.append(Problem("invalid", at, "the message is empty", "a summary line, at least"))
    if gap:
        said = "the second line is not empty"
        problems.append(Problem("invalid", f"{at}:2", said, "leave it empty: the summary is alone"))
    if len(body) > most:
        said = f"the description has {len(body)} lines"
        allowed = f"at most {most}, since {len(trailers)} lines are added; leave details out"
        problems.append(Problem("invalid", at, said, allowed))
    for number, line in enumerate(lines, 1):
        problems += _line_problems(line, f"{at}:{number}")
    if problems:
        raise Refused.of(problems)
    return with_body(subject, "\n".join(body), trailers)


def message_of_plan(plan: Plan, trailers: Sequence[str]) -> str:
    """Return the message from the title and approach of a plan, cut to the limits.

    The user is shown it and may have it reworded.
    """
    lines, most = description_of(plan).split("\n"), _most(trailers)
    if len(lines) > most or max(map(len, lines)) > LONGEST:
        text = " ".join(" ".join(lines).split())
        lines = textwrap.wrap(text, LONGEST, max_lines=most, placeholder=" …")
    return with_body(_plain(subject_of(plan)), "\n".join(map(_plain, lines)), trailers)


def with_trailers(message: str, trailers: Sequence[str]) -> str:
    """Return a whole message with these trailers in place of its own."""
    rest, _, last = message.rstrip("\n").rpartition("\n\n")
    signed = filter(is_sign_off, last.split("\n"))
    return "\n\n".join([rest, "\n".join([*signed, *trailers])]) + "\n"


def _most(trailers: Sequence[str]) -> int:
    return MOST_LINES - len(trailers) - 1


def _plain(line: str) -> str:
    """Return a line without what a message may not hold: invisible marks, a trailer of ours."""
    text = "".join(c if c.isprintable() else " " for c in line)
    return _OURS.sub(r"\1", text, 1) if _OURS.match(text) else text


def _line_problems(line: str, at: str) -> list[Problem]:
    problems = []
    if len(line) > LONGEST:
        said = f"the line has {len(line)} characters"
        allowed = f"at most {LONGEST}; shorten or break it"
        problems.append(Problem("invalid", at, said, allowed))
    if not line.isprintable():
        said = "the line has an invisible character"
        problems.append(Problem("invalid", at, said, "plain text"))
    if _OURS.match(line):
        said = "the line is a trailer that is added for you"
        problems.append(Problem("invalid", at, said, "leave it out"))
    return problems
