"""Full-text index of what earlier plans decided; it is derived, so it may be made anew (ST-9).

A file of its own beside planner.db, searched by SQLite's FTS5. Every word of a query is quoted, so
that none is taken for an operator.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from state.errors import Refused
from state.files import refuse_linked_database

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

VERSION = "3"
_SCHEMA = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE plans (digest TEXT PRIMARY KEY, source TEXT NOT NULL,
    approved TEXT NOT NULL DEFAULT 'nobody', judged TEXT NOT NULL DEFAULT '')""",
    """CREATE VIRTUAL TABLE entries USING fts5(title, body, kind UNINDEXED, name UNINDEXED,
    digest UNINDEXED, source UNINDEXED, commit_id UNINDEXED, at UNINDEXED,
    tokenize='porter unicode61 remove_diacritics 2')""",
)
_COLUMNS = ("title", "body", "kind", "name", "digest", "source", "commit_id", "at")
# A word of the title counts as much as four of the reasoning below it.
_RANKED = (
    "SELECT rowid, *, (SELECT approved FROM plans WHERE plans.digest=entries.digest) approved "
    "FROM entries WHERE entries MATCH ? AND digest IN (SELECT digest FROM plans WHERE "
    "(approved='nobody')=?) ORDER BY bm25(entries, 4.0, 1.0) LIMIT ?"
)
_FIFTH = 5
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_SHORTEST, _MOST_WORDS, _RAREST, _LOOKED_AT = 2, 64, 12, 20
_SAYING_NOTHING = (
    "a about after all also an and any are as at be because been before but by can could did do "
    "does for from had has have how if in into is it its make may more must no not of on or our "
    "shall should so such than that the their them then there these they this to use was we were "
    "what when where which who why will with would you your"
)
_STOP = frozenset(_SAYING_NOTHING.split())


class Entry(NamedTuple):
    """One thing that a plan said: a decision, a rejected alternative, a constraint, a risk."""

    title: str
    body: str
    kind: str
    # Its id, "" of what has none.
    name: str
    digest: str
    # Where the plan was read.
    source: str
    # The commit that carried it out.
    commit_id: str
    # The time of that commit.
    at: str


class Found(NamedTuple):
    """An entry that a query has found, and how well it fits: 0 to 1."""

    entry: Entry
    confidence: float
    # Who approved the plan that says so: proven, unproven, nobody.
    approved: str


class Memory:
    """The open index."""

    def __init__(self, path: str) -> None:
        # Its file, or ":memory:" for one that is not kept.
        self.path = path
        refuse_linked_database(path)
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            if "fts5" in str(error):
                text = "the SQLite of this Python has no FTS5, which the memory needs"
                allowed = "use a Python whose SQLite has it; planning works without"
                raise Refused("refused", path, text, allowed) from None
            self._remake(error)

    def _open(self) -> None:
        self.connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        self.connection.row_factory = sqlite3.Row
        with self:
            if self._version() != VERSION:
                for name in ("entries", "plans", "facts"):
                    self.connection.execute(f"DROP TABLE IF EXISTS {name}")
                for statement in _SCHEMA:
                    self.connection.execute(statement)
                self.note("version", VERSION)

    def _remake(self, error: sqlite3.DatabaseError) -> None:
        """Replace a damaged index by an empty one, since it holds nothing of its own."""
        self.close()
        try:
            os.unlink(self.path)
            self._open()
        except (OSError, sqlite3.DatabaseError):
            text = f"the memory of earlier plans cannot be opened: {error}"
            raise Refused("refused", self.path, text, "remove the file; it is made anew") from None

    def _version(self) -> str:
        try:
            return self.noted("version")
        except sqlite3.OperationalError:  # there is no table yet
            return ""

    def __enter__(self) -> Self:
        """Begin a transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.connection.execute("COMMIT" if kind is None else "ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(AttributeError):
            self.connection.close()

    # what is known

    def note(self, name: str, value: str) -> None:
        """Store a fact about the index, such as the commit up to which it was read."""
        self.connection.execute("INSERT OR REPLACE INTO facts VALUES (?,?)", (name, value))

    def noted(self, name: str) -> str:
        """Return a fact about the index, "" if it is not stored."""
        row = self.connection.execute("SELECT value FROM facts WHERE name=?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def plans(self) -> dict[str, str]:
        """Return the digests of all plans in the index, each with where it was read."""
        rows = self.connection.execute("SELECT digest, source FROM plans ORDER BY rowid")
        return {row[0]: row[1] for row in rows}

    def add(self, digest: str, source: str, entries: Iterable[Entry]) -> None:
        """Add what a plan said; use it in a transaction."""
        self.connection.execute(
            "INSERT OR IGNORE INTO plans (digest, source) VALUES (?,?)", (digest, source)
        )
        sql = f"INSERT INTO entries ({', '.join(_COLUMNS)}) VALUES (?,?,?,?,?,?,?,?)"  # noqa: S608 – our own columns
        self.connection.executemany(sql, entries)

    def judged(self, digest: str) -> str:
        """Return by what `approve` judged a plan the last time, "" if it has not."""
        sql = "SELECT judged FROM plans WHERE digest=?"
        row = self.connection.execute(sql, (digest,)).fetchone()
        return str(row[0]) if row else ""

    def approve(self, digest: str, approved: str, judged: str) -> None:
        """Store who approved a plan, and by what that was judged; use it in a transaction."""
        sql = "UPDATE plans SET approved=?, judged=? WHERE digest=?"
        self.connection.execute(sql, (approved, judged, digest))

    def forget(self, digests: Iterable[str]) -> None:
        """Remove plans and what they said; use it in a transaction."""
        for digest in digests:
            self.connection.execute("DELETE FROM plans WHERE digest=?", (digest,))
            self.connection.execute("DELETE FROM entries WHERE digest=?", (digest,))

    # recall

    def recall(self, query: str, limit: int) -> list[Found]:
        """Return the entries that fit a query best, best first; what nobody approved comes last.

        The confidence is the share of the query's rare words that an entry has, each weighed by
        how rare it is; words that no plan has lower it.
        """
        words = words_of(query)
        weights, common = self._weights(words)
        if not weights:
            return []
        rare = [word for word in weights if word not in common] or list(weights)
        match = " OR ".join(f'"{word}"' for word in rare)
        rows = [
            row
            for by_nobody in (False, True)
            for row in self.connection.execute(_RANKED, (match, by_nobody, max(limit, _LOOKED_AT)))
        ]
        has = self._words_in([row["rowid"] for row in rows], weights)
        whole = sum(weights.values())
        known = min(1.0, len(weights) / min(len(words), _RAREST))
        found = []
        for row in rows:
            covered = sum(weights[word] for word in has[row["rowid"]])
            entry = Entry(*(row[name] for name in _COLUMNS))
            found.append(Found(entry, round(covered / whole * known, 2), row["approved"]))
        return sorted(found, key=lambda one: (one.approved == "nobody", -one.confidence))[:limit]

    def _weights(self, words: Sequence[str]) -> tuple[dict[str, float], set[str]]:
        """Return how rare the rarest words of a query are that the index has, and the common ones.

        Common is what a fifth of all entries say: it would find too many, beside a rarer word.
        """
        total = self.connection.execute("SELECT count(*) FROM entries").fetchone()[0]
        sql = "SELECT count(*) FROM (SELECT 1 FROM entries WHERE entries MATCH ? LIMIT ?)"
        most, weights = max(total // _FIFTH, _LOOKED_AT) + 1, {}
        common = set()
        for word in words:
            count = self.connection.execute(sql, (f'"{word}"', most)).fetchone()[0]
            if count:
                weights[word] = math.log(1 + total / count)
            if count == most:
                common.add(word)
        rarest = sorted(weights, key=lambda word: -weights[word])[:_RAREST]
        return {word: weights[word] for word in rarest}, common

    def _words_in(self, rowids: Sequence[int], words: Iterable[str]) -> dict[int, list[str]]:
        """Return which of the words each entry has."""
        has: dict[int, list[str]] = {rowid: [] for rowid in rowids}
        marks = ",".join("?" * len(rowids))
        sql = f"SELECT rowid FROM entries WHERE entries MATCH ? AND rowid IN ({marks})"  # noqa: S608 – marks alone
        for word in words:
            for row in self.connection.execute(sql, (f'"{word}"', *rowids)):
                has[row[0]].append(word)
        return has


def words_of(query: str) -> list[str]:
    """Return the words of a query that say something, each once, in order."""
    words = (word.lower() for word in _WORD.findall(query))
    kept = dict.fromkeys(w for w in words if len(w) >= _SHORTEST and w not in _STOP)
    return list(kept)[:_MOST_WORDS]
