"""Finds statements that name a line, a document or tests which say nothing of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.named.bearing import holds
from quality_reviewer.named.things import clauses, is_english, sentences, things
from quality_reviewer.words import words
from state.statements import is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from shared.run import State

    Found = Iterator[tuple[str, str]]

_PLACE = re.compile(r"(?:done: )?(\S+?):(\d{1,7})(?:-(\d{1,7}))?$")
_LEAST_WORDS = 2
_BESIDE = 1  # lines above and below the one that is named
# What a document does with what it is about.
_TELLS = re.compile(
    r"\b(?:sa(?:ys?|id)|explain(?:s|ed)?|document(?:s|ed)|describ(?:e|es|ed)|mention(?:s|ed)?|"
    r"list(?:s|ed)?|show(?:s|n)?|tells?|told|names?|has an?|gets an?)\b",
    re.IGNORECASE,
)
_TESTED = re.compile(
    r"\b(?:tests?) (?:that|of|for|shows?|covers?|checks?|proves?)\b|\b(?:tested|covered by)\b",
    re.IGNORECASE,
)


def lines(_state: State, bearing: Bearing) -> Found:
    """Yield each statement that is said to hold at a line that says nothing of it."""
    stated = [(one.id, one.text, one.outcome) for one in bearing.plan.user_remarks]
    stated += [(c.id, f"{c.question} {c.answer}", c.outcome) for c in bearing.plan.checkpoints]
    for name, text, outcome in stated:
        match = _PLACE.match(outcome)
        if not match or not is_english(text):
            continue
        rows = bearing.lines.planned(match[1]) or []
        first, last = int(match[2]), int(match[3] or match[2])
        near = "\n".join([*rows[max(first - 1 - _BESIDE, 0) : last + _BESIDE], match[1]])
        wanted = words(text) - words(match[1])
        is_about = len(wanted & words(near)) * 2 > len(wanted)
        if not is_about and not any(
            holds(near, t) for t in things(text, bearing.files) if t.kind != "document"
        ):
            yield name, f"{name} is said to hold at {match[1]}:{match[2]}, which says nothing of it"


def documents(_state: State, bearing: Bearing) -> Found:
    """Yield each entry of the task or remark that a touched document does not tell of."""
    for name, text in _wanted(bearing):
        for clause in clauses(text):
            found = things(clause, bearing.files)
            papers = [t for t in found if t.kind == "document" and bearing.bears(t)]
            if not papers or not _TELLS.search(clause):
                continue
            paper = papers[0]
            lines = "\n".join("\n".join(bearing.lines.planned(f) or ()) for f in paper.forms)
            lost = [t.shown for t in found if t.kind not in ("document", "path", "tests")
                    and not holds(lines, t)]  # fmt: skip
            told = words(_TELLS.sub("", clause)) - words(f"{paper.shown} {' '.join(paper.forms)}")
            if lost:
                yield name, f"{name} has {paper.shown} tell of {lost[0]}, which it does not name"
            elif len(told) >= _LEAST_WORDS and told.isdisjoint(words(lines)) and is_english(clause):
                yield name, f"{name} has {paper.shown} tell of something of which it says no word"


def tests(_state: State, bearing: Bearing) -> Found:
    """Yield what an entry of the task or a remark says to be tested, and no test names."""
    files = sorted(bearing.tests | {p for p in bearing.paths if bearing.is_test(p)})
    lines = "\n".join("\n".join(bearing.lines.planned(file) or ()) for file in files)
    for name, text in _wanted(bearing) if lines else ():
        for sentence in sentences(text):
            for thing in things(sentence, bearing.files) if _TESTED.search(sentence) else ():
                is_named = thing.kind in ("path", "document", "tests") or holds(lines, thing)
                if not is_named and bearing.bears(thing):
                    yield name, f"{name} has {thing.shown} tested, which no test names"


def _wanted(bearing: Bearing) -> list[tuple[str, str]]:
    if not bearing.is_whole:
        return []
    plan = bearing.plan
    task = [t for t in plan.task_spec if not t.out_of_scope and not is_left_out(plan, t)]
    said = [r for r in plan.user_remarks if not r.outcome and not is_left_out(plan, r)]
    return [*((t.id, t.text) for t in task), *((r.id, r.text) for r in said)]
