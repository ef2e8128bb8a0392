"""Finds what was said of a light plan (a list of steps) and what its steps do not bear (PM-6).

No code is written yet, so steps and summary are compared by their words, and what they cite is
looked up in the user's tree.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from quality_reviewer.meanings import spelled_out, words_of_code
from quality_reviewer.named.bearing import holds
from quality_reviewer.named.cited import CONSTANT, IS_NUMBER, LINE
from quality_reviewer.named.directions import opposite
from quality_reviewer.named.dropped import Told, lost_of, wishes
from quality_reviewer.named.files import Files
from quality_reviewer.named.numbers import numbers_of
from quality_reviewer.named.taken_out import EXCHANGE
from quality_reviewer.named.things import digits, in_short, things
from quality_reviewer.unheard import AGREES, KEEPS
from quality_reviewer.words import words_with_names
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_READ = 1_000_000  # bytes of a file that is cited
_PATH = re.compile(r"(?<![\w./:@-])(?:[\w.-]+/)+[\w.-]*\w\.[A-Za-z]\w{0,4}(?![\w/])")
_MAKES = re.compile(r"\b(?:add|create|new|write|introduce|generate|make|move|rename|copy|split"
                    r"|extract"
                    r"|into|to)\b", re.IGNORECASE)  # fmt: skip
_PAPER = re.compile(
    r"\b(?:readme|change ?log|guide|manual|tutorial|docs|documentation|documented?"
    r"|release notes)\b",
    re.IGNORECASE,
)
_STAYS = re.compile(r"\b(?:keep|keeps|stay|stays|leave|retain)\b", re.IGNORECASE)
_GOES = re.compile(r"\b(?:drop|remove|delete|take out|get rid of)\b", re.IGNORECASE)
_NONE = re.compile(
    r"\b(?:no|without|never|not)\b (?:any |new |more |a |an |the )*(\w+)", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:no|not|without|never|instead|rather|remove|drop|avoid)\b|n't\b",
                     re.IGNORECASE)  # fmt: skip
_OR = re.compile(r"([\w.+-]+)(?:,| or) (?:or )?([\w.+-]+)\W*\?")


def unproven_of_light(
    plan: dict[str, Any], task: str, remarks: Sequence[str], root: str
) -> list[str]:
    """Return sentences about what was said of a light plan and its steps do not bear.

    `task` and `remarks` are the user's words, `root` the folder that paths are looked up in.
    """
    steps = [plan["summary"], *(step["description"] for step in plan["steps"])]
    found = [*_dropped(plan, task, steps), *_answers(plan, steps), *_remarks(remarks, steps)]
    for number, text in [*enumerate(steps), (0, plan["context_notes"])]:
        name = f"step {number}" if number else "the plan"
        found += [f"{name} {why}" for why in _citations(text, root)]
    return [*dict.fromkeys(found)]


def _dropped(plan: dict[str, Any], task: str, steps: Sequence[str]) -> Iterator[str]:
    said = [
        str(part) for one in plan["questions"] if isinstance(one, dict) for part in one.values()
    ]
    text = "\n".join([*steps, *said, plan["context_notes"]])
    told = Told(spelled_out(text))
    asked = [*wishes(spelled_out(task))]
    for part in asked:
        paper = _PAPER.search(part)
        lost = paper[0] if paper and not _PAPER.search(text) else lost_of(part, told)
        if lost and len(asked) > 1:  # a plan for one wish is about it, in whichever words
            yield f"the request asks for {in_short(part)!r}, and no step says anything of {lost}"


def _answers(plan: dict[str, Any], steps: Sequence[str]) -> Iterator[str]:
    for one in plan["questions"]:
        said = one.get("answer", "") if isinstance(one, dict) else ""
        if said and (why := _not_in(said, one["question"], steps)):
            yield f"{in_short(one['question'])!r} is answered {in_short(said)!r}, and {why}"


def _remarks(remarks: Sequence[str], steps: Sequence[str]) -> Iterator[str]:
    for number, said in enumerate(remarks, 1):
        if why := _not_in(said, "", steps):
            yield f"remark {number} says {in_short(said)!r}, and {why}"


def _not_in(said: str, question: str, steps: Sequence[str]) -> str:
    """Return what steps lack of an answer or a remark, or say otherwise; '' if nothing."""
    return next(_lacks(spelled_out(said), question, steps), "")


def _lacks(said: str, question: str, steps: Sequence[str]) -> Iterator[str]:
    text = spelled_out("\n".join(steps))
    if why := opposite(said, text):
        yield f"the steps say {why!r}"
    named = things(said, Files(()))
    yield from (f"no step names {one.shown}" for one in named if not holds(text, one))
    lost = sorted(numbers_of(said) - numbers_of(text)) if numbers_of(text) and not named else []
    if lost and _is_amount(said):
        yield f"no step names {lost[0]}"
    if why := _kept_or_gone(said, question, steps):
        yield f"the steps say {why!r}"
    if named or KEEPS.search(said):
        return
    wanted = words_with_names([said]) - AGREES
    own = wanted - words_with_names([question]) or wanted
    there = words_with_names([text]) | words_of_code(text)
    if other := _alternative(said, question, there):
        yield f"the steps say {other}"
    if own and not own & there:
        yield "no step says anything of it"


def _kept_or_gone(said: str, question: str, steps: Sequence[str]) -> str:
    """Return the step that takes away what is to stay, or has what is not to be; '' without one."""
    about = words_with_names([question]) | words_with_names([said])
    for step in steps:
        own = words_with_names([step])
        if _STAYS.search(said) and _GOES.search(step) and not _STAYS.search("\n".join(steps)):
            what = words_with_names([_GOES.split(step)[-1]])
            if what & about:
                return in_short(step)
        for match in _NONE.finditer(said):
            barred = words_with_names([match[1]])
            if barred and barred <= own and not _DENIED.search(step):
                return in_short(step)
        for match in EXCHANGE.finditer(said):
            new, old = (words_with_names([one]) for one in match.groups())
            if (
                old
                and old <= own
                and not new <= words_with_names(steps)
                and not _DENIED.search(step)
            ):
                return in_short(step)
    return ""


def _is_amount(said: str) -> bool:
    return re.fullmatch(r"\W*\d[\d.,_]*(?: \w+){0,3}\W*", said) is not None


def _alternative(said: str, question: str, there: set[str]) -> str:
    """Return the other one of `X or Y?` where the steps hold it, and not the one that was said."""
    match = _OR.search(question)
    pair = [words_with_names([one]) for one in match.groups()] if match else []
    mine = words_with_names([said])
    for own, other, shown in ((0, 1, 2), (1, 0, 1)) if match and all(pair) else ():
        if pair[own] <= mine and not pair[other] & mine and pair[other] <= there:
            return "" if pair[own] & there else match[shown]  # type: ignore[index]
    return ""


def _citations(text: str, root: str) -> Iterator[str]:
    for match in LINE.finditer(text):
        lines = _read(root, match[1])
        if lines is not None and int(match[3] or match[2]) > len(lines):
            yield f"cites {match[0]}, and that file has {len(lines)} lines"
    for name in dict.fromkeys(_PATH.findall(text)):
        sentence = next(s for s in re.split(r"(?<=[.;!?])\s+|\n", text) if name in s)
        known = os.path.exists(os.path.join(root, name))
        if not known and not _MAKES.search(sentence) and not path_problem(name):
            yield f"names {name}, which is not there"
        lines = _read(root, name) if known else None
        for stated in IS_NUMBER.finditer(sentence) if lines else ():
            values = [
                digits(m[2]) for m in map(CONSTANT.match, lines or ()) if m and m[1] == stated[1]
            ]
            if values and digits(stated[2]) not in values and not _MAKES.search(sentence):
                yield f"says that {stated[1]} is {stated[2]}, and it is {values[0]} in {name}"


def _read(root: str, name: str) -> list[str] | None:
    """Return the lines of a file of the user's tree; None if there is none to be read."""
    path = os.path.join(root, name)
    inside = os.path.realpath(path).startswith(f"{os.path.realpath(root)}{os.sep}")
    if path_problem(name) or not inside or not os.path.isfile(path):
        return None
    if os.path.getsize(path) > _MOST_READ:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()
