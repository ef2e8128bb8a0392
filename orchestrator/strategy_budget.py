"""Fit what a strategy is shown into its share of tokens: cut what was gathered, never the query.

The share for input is 2,000 tokens, a token counted as four characters (ST-10).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shared.strategy_text import (
    plain,
    render_block,
    render_entry,
    render_gathered,
    render_query,
    render_verdicts,
)

if TYPE_CHECKING:
    from shared.strategy_record import Strategy

Json = dict[str, Any]

INPUT = 8_000  # characters
_LINE = 160
_NAMED = 12
_ANSWER = 1_200
_ABOUT_TITLES = 600  # characters kept for naming what is left out
_WORD = re.compile(r"\w{3,}")


def fitted_gathered(facts: Strategy, shown_by: str) -> str:
    """Return §2 within the budget: the most relevant blocks, and the titles of those left out.

    `shown_by` is the command that shows those as well. Empty where nothing was gathered.
    """
    if not facts.gathered:
        return ""
    whole = render_gathered(facts)
    room = INPUT - len(render_query(facts))
    if facts.attempt > 1:
        room -= len(render_verdicts(facts)) + len(fitted_progress(facts))
        room -= len(fitted_answer(facts, shown_by))
    if len(whole) <= room:
        return whole
    kept: list[Json] = []
    left = room - _ABOUT_TITLES
    for block in sorted(facts.gathered, key=lambda one: -relevance(one, facts)):
        size = len(render_block(block)) + 2
        if size <= left:
            kept.append(block)
            left -= size
    parts = [render_block(block) for block in facts.gathered if block in kept]
    titles = [_short(b["title"], 40) for b in facts.gathered if b not in kept]
    more = f", {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
    named = f"Left out to stay short: {', '.join(titles[:_NAMED])}{more}; `{shown_by}` prints all"
    return "\n\n".join(["## 2. Gathered Context", *parts, named]) + "\n"


def relevance(block: Json, facts: Strategy) -> float:
    """Return how much a gathered block matters for the query: shared words and confidence."""
    asked = set(_WORD.findall(f"{facts.query} {facts.purpose}".lower()))
    said = set(_WORD.findall(f"{block['title']} {block['content']}".lower()))
    shared = len(asked & said) / len(asked) if asked else 0.0
    return shared + float(block.get("confidence_avg") or 0)


def fitted_progress(facts: Strategy) -> str:
    """Return §4 for a retry: each thing that an earlier attempt did in one line."""
    lines = _briefly(facts.progress)
    return "\n".join(["## 4. Execution Progress (Previous Attempt)", *lines]) if lines else ""


def _briefly(entries: list[Json]) -> list[str]:
    """Return what was done for goals, each in one line; of many the last ones."""
    lines = []
    for entry in entries:
        said = " – ".join(filter(None, [entry.get("command", ""), entry.get("result", "")]))
        goal = f"{entry['goal']} {entry['status']}"
        lines.append(f"- Attempt {entry['attempt']}, {goal}: {_short(said, _LINE)}")
    if len(lines) > _NAMED:
        lines = [f"- {len(lines) - _NAMED} entries before these", *lines[-_NAMED:]]
    return lines


def fitted_answer(facts: Strategy, shown_by: str) -> str:
    """Return the answer that was not accepted, for a retry: its beginning if it is long."""
    text = plain(facts.answers[-1]["text"]) if facts.answers else ""
    if len(text) <= _ANSWER:
        return text
    return f"{text[:_ANSWER]}…\n\nThis is its beginning; `{shown_by}` prints all."


def found_out(facts: Strategy, shown_by: str) -> str:
    """Return what this attempt has found out for its goals; in short where it is long."""
    own = [one for one in facts.progress if one["attempt"] == facts.attempt]
    whole = "\n\n".join(render_entry(entry, number) for number, entry in enumerate(own, 1))
    if len(whole) <= INPUT:
        return whole
    return "\n".join([*_briefly(own), f"In short; `{shown_by}` prints all."])


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
