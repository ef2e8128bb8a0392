"""Labelled queries find the right decision, better than a search for their words does.

The decisions are the first of docs/decisions, up to the last that a query asks for: a later one may
be the better answer to a query that was written before it. Each line of the queries is a decision's
number and a query. Both files were written by people who had seen the titles alone: the first as
one types a search some weeks later, the second in other words on purpose.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from state.recall_index import Entry, Memory, words_of

ROOT = Path(__file__).resolve().parents[2]
QUERIES = Path(__file__).with_name("recall_queries.txt")
IN_OTHER_WORDS = Path(__file__).with_name("recall_queries_in_other_words.txt")
AMONG = 3


def decisions(last: int) -> dict[str, tuple[str, str]]:
    """Return title and text of each decision record up to the number `last`, by its number."""
    found = {}
    for path in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        if int(path.name[:4]) > last:
            continue
        title, _, body = path.read_text(encoding="utf-8").partition("\n")
        found[str(int(path.name[:4]))] = (title.lstrip("# ").strip(), body.strip())
    return found


def labelled(queries: Path) -> list[tuple[str, str]]:
    """Return the queries of a file with the decision that each is about."""
    lines = queries.read_text(encoding="utf-8").splitlines()
    return [(number, query) for number, _, query in (line.partition(" ") for line in lines)]


def by_grep(texts: dict[str, tuple[str, str]], query: str) -> list[str]:
    """Return the decisions with any word of a query, those with the most first."""
    counts = {
        name: sum(bool(re.search(rf"\b{re.escape(word)}", f"{title} {body}".lower()))
                  for word in words_of(query))
        for name, (title, body) in texts.items()
    }  # fmt: skip
    return sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])


def found(queries: list[tuple[str, str]]) -> tuple[list[str], int]:
    """Return which queries miss their decision, and how many a search for words finds."""
    texts, memory = decisions(max(int(name) for name, _ in queries)), Memory(":memory:")
    with memory:
        memory.add("digest", "docs", [
            Entry(title, body, "decision", name, "digest", "docs", "", "2026-01-02T03:04:05Z")
            for name, (title, body) in texts.items()
        ])  # fmt: skip
    missed = [
        query
        for name, query in queries
        if name not in [one.entry.name for one in memory.recall(query, AMONG)]
    ]
    return missed, sum(name in by_grep(texts, query)[:AMONG] for name, query in queries)


@pytest.mark.requirement("ST-9")
def test_nine_of_ten_queries_find_their_decision_among_the_first_three() -> None:
    queries = labelled(QUERIES)
    missed, _ = found(queries)
    assert len(queries) >= 60
    assert len(missed) <= 0.1 * len(queries), missed


@pytest.mark.requirement("ST-9")
@pytest.mark.parametrize("file", [QUERIES, IN_OTHER_WORDS], ids=lambda path: path.stem)
def test_more_are_found_than_by_a_search_for_words(file: Path) -> None:
    queries = labelled(file)
    missed, by_words = found(queries)
    assert len(queries) - len(missed) > by_words
