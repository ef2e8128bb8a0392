"""Open the SQLite file planner.db, upgrade its schema, run transactions, explain errors.

Durability is by rollback journal with `synchronous=EXTRA`; WAL is avoided since the SQLite that
most Pythons link can corrupt it with several writers.
"""

from __future__ import annotations

import json
import os
import sqlite3

from state.errors import Refused
from state.files import refuse_linked_database, refuse_links
from state.migrations import MIGRATIONS, statements

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self

APPLICATION_ID = 0x504C4E52  # "PLNR"
BUSY_TIMEOUT_MS = 30_000
# Python cannot decode SQLite's message about a damaged name, nor pass on a text that is not valid
# Unicode.
FAULTS = (sqlite3.Error, UnicodeError, OverflowError)
# The disk or our rights to it are at fault, not the database.
_ENVIRONMENT = (
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
)  # fmt: skip

DAMAGED = "the database is damaged"


class Connection:
    """An open connection to planner.db; each `with` block on the connection is one transaction.

    The transaction is IMMEDIATE, committed at the end of the block and rolled back when the block
    raises.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        refuse_linked_database(path)
        if not create and not os.path.isfile(path):
            allowed = "name a state directory that `planner start` made"
            raise Refused("not_found", path, "there is no planner database here", allowed)
        self.path = path
        # The agent that the audit names.
        self.agent = ""
        # Whether an agent has begun to plan by this connection, so in this very command.
        self.begun = False
        self._then: list[Callable[[], object]] = []
        try:
            # One that has gone since is not made anew, empty.
            wanted = path if create else _existing(path)
            # The collector may close it in another thread than the one that opened it.
            self.connection = sqlite3.connect(
                wanted, isolation_level=None, uri=not create, check_same_thread=False
            )
        except FAULTS as error:
            raise unusable(path, error) from None
        try:
            self._open()
        except FAULTS as error:
            self.close()
            raise unusable(path, error) from None
        except Refused:
            self.close()
            raise

    def _open(self) -> None:
        self.connection.row_factory = sqlite3.Row
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=DELETE", "synchronous=EXTRA",
            "foreign_keys=ON",
        ):  # fmt: skip
            self.connection.execute(f"PRAGMA {pragma}")
        self._migrate()

    def close(self) -> None:
        """Close the connection to the database."""
        self.connection.close()

    def __del__(self) -> None:
        """Close the database connection when the Connection object is destroyed."""
        if hasattr(self, "connection"):
            self.connection.close()

    def __enter__(self) -> Self:
        """Start a write transaction on the database (BEGIN IMMEDIATE)."""
        self._control("BEGIN IMMEDIATE")
        return self

    def after_commit(self, action: Callable[[], object]) -> None:
        """Register a function to call once the current transaction commits; a rollback drops it."""
        self._then.append(action)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        actions, self._then = self._then, []
        if kind is None:
            try:
                self._control("COMMIT")
            finally:
                self._roll_back()
            for action in actions:
                action()
        else:
            self._roll_back()

    def _roll_back(self) -> None:
        # SQLite has rolled back by itself where the disk failed.
        if self.connection.in_transaction:
            self._control("ROLLBACK")

    def _control(self, sql: str) -> None:
        """Run a BEGIN, COMMIT or ROLLBACK statement; raise Refused if SQLite reports an error."""
        try:
            self.connection.execute(sql)
        except FAULTS as error:
            raise unusable(self.path, error) from None

    def _migrate(self) -> None:
        """Back up the database and upgrade its schema in one transaction; refuse a newer schema."""
        version = self._pragma("user_version")
        self._check_ours(version)
        if version == len(MIGRATIONS):
            return
        if version > len(MIGRATIONS):
            text = (
                f"the database is of a newer planner (schema {version}, known: {len(MIGRATIONS)})"
            )
            raise Refused("invalid", self.path, text, "update the planner; nothing was changed")
        if version:
            self._back_up(version)
        self.connection.execute("BEGIN IMMEDIATE")
        found = self._pragma("user_version")
        for number, script in enumerate(MIGRATIONS[found:], start=found + 1):
            for statement in statements(script):
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA user_version={number}")
        self.connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        self.connection.execute("COMMIT")

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _check_ours(self, version: int) -> None:
        """Raise Refused if the file is an SQLite database of another program."""
        tables = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ours = self._pragma("application_id") == APPLICATION_ID
        if (version or tables) and not ours:
            text = "the file is not a database of the planner; it was not changed"
            raise Refused("invalid", self.path, text, "put the planner.db back that was here")

    def _back_up(self, version: int) -> None:
        copy = f"{self.path}.v{version}"
        unfinished = f"{copy}.{os.getpid()}"
        refuse_links((copy, unfinished))
        if not os.path.exists(copy):
            self.connection.execute("VACUUM INTO ?", (unfinished,))
            os.replace(unfinished, copy)

    def _execute(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Cursor:
        try:
            return self.connection.execute(sql, tuple(values))
        except FAULTS as error:
            raise unusable(self.path, error) from None

    def _rows(self, sql: str, values: Iterable[object] = ()) -> list[sqlite3.Row]:
        """Return all rows of an SQL query; raise Refused if SQLite reports an error or damage."""
        try:
            return self.connection.execute(sql, tuple(values)).fetchall()
        except FAULTS as error:
            raise unusable(self.path, error) from None

    def _row(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Row | None:
        return next(iter(self._rows(sql, values)), None)

    def _json(self, text: str) -> Any:  # noqa: ANN401 – any JSON value
        try:
            return json.loads(text)
        except (ValueError, TypeError) as error:
            raise damaged(self.path, error) from None

    def _list(self, text: str) -> list[Any]:
        found = self._json(text)
        if isinstance(found, list):
            return found
        raise damaged(self.path, ValueError("a list is missing"))


def _existing(path: str) -> str:
    """Return the URI by which SQLite opens a database that is there, and makes none."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{os.path.abspath(quoted)}?mode=rw"


def unusable(path: str, error: Exception) -> Refused:
    """Return the Refused exception that explains an error reported by SQLite."""
    kinds = {
        UnicodeEncodeError: ("text", f"the text cannot be stored: {error}", "text of valid UTF-8"),
        OverflowError: ("number", "a number has more than 64 bits", f"at most {(1 << 63) - 1}"),
    }
    if (kind := kinds.get(type(error))) is not None:
        return Refused("invalid", kind[0], f"{kind[1]}; nothing was changed", kind[2])
    # The lowest byte of a code is its kind; Python's own errors have no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    text = f"{error}; nothing was changed"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Refused("locked", path, text, "run the command again")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return Refused("conflict", path, text, "see where the run is", "planner status")
    if code == sqlite3.SQLITE_FULL:
        allowed = "make room on the disk, then run the same command again"
        return Refused("refused", path, text, allowed)
    if code in _ENVIRONMENT:
        return Refused("refused", path, text, "use a folder that can be written")
    return damaged(path, error)


def damaged(path: str, error: Exception) -> Refused:
    """Return the Refused exception that says that the database file is damaged."""
    text = f"{DAMAGED} ({error}); it was not changed"
    return Refused("invalid", path, text, "see what can be restored", "planner doctor")
