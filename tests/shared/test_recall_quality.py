"""Labelled queries find the right decision, better than a search for their words does.

The decisions are those of docs/decisions. The queries were written by somebody who had seen their
titles alone; each line is the number of the decision and a query.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from state.memory import Entry, Memory, words_of

ROOT = Path(__file__).resolve().parents[2]
QUERIES = Path(__file__).with_name("recall_queries.txt")
AMONG = 3


def decisions() -> dict[str, tuple[str, str]]:
    """Return title and text of each decision record by its number."""
    found = {}
    for path in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        title, _, body = path.read_text(encoding="utf-8").partition("\n")
        found[str(int(path.name[:4]))] = (title.lstrip("# ").strip(), body.strip())
    return found


def labelled() -> list[tuple[str, str]]:
    """Return the queries with the decision that each is about."""
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    return [(number, query) for number, _, query in (line.partition(" ") for line in lines)]


def by_grep(texts: dict[str, tuple[str, str]], query: str) -> list[str]:
    """Return the decisions with any word of a query, those with the most first."""
    counts = {
        name: sum(bool(re.search(rf"\b{re.escape(word)}", f"{title} {body}".lower()))
                  for word in words_of(query))
        for name, (title, body) in texts.items()
    }  # fmt: skip
    return sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])


@pytest.mark.requirement("ST-9")
def test_nine_of_ten_queries_find_their_decision_among_the_first_three() -> None:
    texts, queries, memory = decisions(), labelled(), Memory(":memory:")
    with memory:
        memory.add("digest", "docs", [
            Entry(title, body, "decision", name, "digest", "docs", "", "2026-01-02T03:04:05Z")
            for name, (title, body) in texts.items()
        ])  # fmt: skip
    ours = [
        name in [one.entry.name for one in memory.recall(query, AMONG)] for name, query in queries
    ]
    theirs = [name in by_grep(texts, query)[:AMONG] for name, query in queries]
    missed = [query for (_, query), hit in zip(queries, ours, strict=True) if not hit]
    assert len(queries) >= 60
    assert sum(ours) >= 0.9 * len(queries), missed
    assert sum(ours) > sum(theirs)
