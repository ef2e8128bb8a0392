"""The one place that speaks SQL: what happened to a plan, kept in planner.db.

Printed steps read through it, so it imports nothing but sqlite3. Durability is by rollback
journal with `synchronous=EXTRA`; WAL is avoided since the SQLite that most Pythons link can
corrupt it with several writers. Audit and events can only grow: triggers abort the rest, and an
INSERT OR REPLACE too, which deletes without asking them.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time

from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

APPLICATION_ID = 0x504C4E52  # "PLNR"
BUSY_TIMEOUT_MS = 30_000

_FIRST = """
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, request TEXT NOT NULL, repository TEXT NOT NULL,
    state_dir TEXT NOT NULL UNIQUE, lane TEXT NOT NULL DEFAULT '', depth TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('IDLE','ACTIVE','PAUSED','COMPLETED','CANCELLED')),
    stage TEXT NOT NULL CHECK (stage IN ('inactive','gathering','submitted','executing')),
    workflow TEXT NOT NULL, step INTEGER NOT NULL, revision INTEGER NOT NULL DEFAULT 1,
    digest TEXT, commit_id TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE steps (
    run_id TEXT NOT NULL REFERENCES runs, revision INTEGER NOT NULL, workflow TEXT NOT NULL,
    number INTEGER NOT NULL, name TEXT NOT NULL, done_by TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (run_id, revision, workflow, number));
CREATE TABLE phases (
    run_id TEXT NOT NULL REFERENCES runs, revision INTEGER NOT NULL, phase TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('INITIAL','RETRY','COMPLETE')),
    iteration INTEGER NOT NULL, PRIMARY KEY (run_id, revision, phase));
CREATE TABLE outcomes (
    seq INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs, revision INTEGER NOT NULL,
    phase TEXT NOT NULL, iteration INTEGER NOT NULL, verdict TEXT NOT NULL,
    computed TEXT NOT NULL, decided_by TEXT NOT NULL, reason TEXT NOT NULL, items TEXT NOT NULL,
    at TEXT NOT NULL);
CREATE TABLE milestones (
    run_id TEXT NOT NULL REFERENCES runs, milestone TEXT NOT NULL, status TEXT NOT NULL,
    note TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (run_id, milestone));
CREATE TABLE answers (
    run_id TEXT NOT NULL REFERENCES runs, checkpoint TEXT NOT NULL, choices TEXT NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (run_id, checkpoint));
CREATE TABLE confirmed (
    hash TEXT PRIMARY KEY, commands TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE approvals (
    run_id TEXT NOT NULL REFERENCES runs, revision INTEGER NOT NULL, digest TEXT NOT NULL,
    approved_by TEXT NOT NULL, channel TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (run_id, digest));
CREATE TABLE accepted (
    run_id TEXT NOT NULL REFERENCES runs, phase TEXT NOT NULL, check_id TEXT NOT NULL,
    scope TEXT NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (run_id, phase, check_id, scope));
CREATE TABLE deviations (
    run_id TEXT NOT NULL REFERENCES runs, file TEXT NOT NULL, milestone TEXT NOT NULL,
    reason TEXT NOT NULL, accepted TEXT, at TEXT NOT NULL, PRIMARY KEY (run_id, file));
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, run_id TEXT, agent TEXT NOT NULL,
    who TEXT NOT NULL, action TEXT NOT NULL, from_state TEXT NOT NULL, to_state TEXT NOT NULL,
    digest TEXT, detail TEXT NOT NULL);
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, run_id TEXT, kind TEXT NOT NULL,
    payload TEXT NOT NULL);
CREATE TRIGGER audit_keeps BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_grows BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER events_grow BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""
_REVIEW = """
ALTER TABLE runs ADD COLUMN review TEXT NOT NULL DEFAULT 'auto'
    CHECK (review IN ('auto','full','small','none'));
"""
MIGRATIONS = (_FIRST, _REVIEW)
# Python cannot decode what SQLite says of a name that is damaged itself.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
# What is wrong with the disk or our rights to it, and not with the database.
_ENVIRONMENT = (
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
)  # fmt: skip


class Run:
    """One row of `runs`; read-only."""

    __slots__ = (
        "commit_id", "created_at", "depth", "digest", "lane", "repository", "request", "review",
        "revision", "run_id", "stage", "state_dir", "status", "step", "workflow",
    )  # fmt: skip
    run_id: str
    request: str
    repository: str
    state_dir: str
    lane: str
    depth: str
    status: str
    stage: str
    workflow: str
    step: int
    review: str
    revision: int
    digest: str | None
    commit_id: str | None
    created_at: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


def now() -> str:
    """Return the time as UTC in ISO 8601 with seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Database:
    """planner.db, opened; use as a context manager: one `with` is one transaction.

    Inside the block all writes are one IMMEDIATE transaction, committed at its end and rolled
    back when it raises.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        if not create and not os.path.isfile(path):
            allowed = "a state directory that `planner start` made"
            raise Refused("not_found", path, "there is no planner database here", allowed)
        self.path = path
        try:
            self.connection = sqlite3.connect(path, isolation_level=None)
        except sqlite3.Error as error:
            raise _unusable(path, error) from None
        try:
            self._open()
        except _FAULTS as error:
            self.close()
            raise _unusable(path, error) from None
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
        """Close the connection."""
        self.connection.close()

    def __del__(self) -> None:
        """Close the connection that nobody closed: a command ends with its one database."""
        if hasattr(self, "connection"):
            self.connection.close()

    def __enter__(self) -> Self:
        """Begin a transaction that may write."""
        self._execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            try:
                self._execute("COMMIT")
            finally:
                self._roll_back()
        else:
            self._roll_back()

    def _roll_back(self) -> None:
        # SQLite has rolled back by itself where the disk failed.
        if self.connection.in_transaction:
            self._execute("ROLLBACK")

    def _execute(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Cursor:
        try:
            return self.connection.execute(sql, tuple(values))
        except _FAULTS as error:
            raise _unusable(self.path, error) from None
        except UnicodeEncodeError as error:
            text = f"is no text that can be kept: {error}; nothing was changed"
            raise Refused("invalid", "text", text, "text that is valid UTF-8") from None

    def _rows(self, sql: str, values: Iterable[object] = ()) -> list[sqlite3.Row]:
        """Return what a query finds; SQLite notices damage as late as here."""
        cursor = self._execute(sql, values)
        try:
            return cursor.fetchall()
        except _FAULTS as error:
            raise _unusable(self.path, error) from None

    def _row(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Row | None:
        rows = self._rows(sql, values)
        return rows[0] if rows else None

    def _json(self, text: str) -> Any:  # noqa: ANN401 – any JSON value
        try:
            return json.loads(text)
        except (ValueError, TypeError) as error:
            raise _damaged(self.path, error) from None

    def _migrate(self) -> None:
        """Bring the schema to ours in one transaction after a backup; refuse a newer one."""
        version = self._pragma("user_version")
        self._check_ours(version)
        if version == len(MIGRATIONS):
            return
        if version > len(MIGRATIONS):
            text = f"was written by a newer planner (schema {version}, we know {len(MIGRATIONS)})"
            raise Refused("invalid", self.path, text, "update the planner; nothing was changed")
        if version:
            self._back_up(version)
        self.connection.execute("BEGIN IMMEDIATE")
        found = self._pragma("user_version")
        for number, script in enumerate(MIGRATIONS[found:], start=found + 1):
            for statement in _statements(script):
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA user_version={number}")
        self.connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        self.connection.execute("COMMIT")

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _check_ours(self, version: int) -> None:
        """Refuse a database of another program; an empty file becomes ours."""
        tables = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ours = self._pragma("application_id") == APPLICATION_ID
        if (version or tables) and not ours:
            text = "is no database of the planner; it is left as it is"
            raise Refused("invalid", self.path, text, "the planner.db that was here")

    def _back_up(self, version: int) -> None:
        copy = f"{self.path}.v{version}"
        if not os.path.exists(copy):
            unfinished = f"{copy}.{os.getpid()}"
            self.connection.execute("VACUUM INTO ?", (unfinished,))
            os.replace(unfinished, copy)

    # runs

    def add_run(self, values: dict[str, Any]) -> None:
        """Add a run; `values` holds every column that has no default but the times."""
        row = {**values, "created_at": now(), "updated_at": now()}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT INTO runs ({names}) VALUES ({marks})"  # noqa: S608 – our own columns
        self._execute(sql, row.values())

    def set_run(self, run_id: str, **values: object) -> None:
        """Change columns of a run."""
        names = ", ".join(f"{name}=?" for name in (*values, "updated_at"))
        sql = f"UPDATE runs SET {names} WHERE run_id=?"  # noqa: S608 – names are our own columns
        self._execute(sql, (*values.values(), now(), run_id))

    def run_at(self, state_dir: str) -> Run | None:
        """Return the run whose state directory this is."""
        row = self._row("SELECT * FROM runs WHERE state_dir=?", (state_dir,))
        return Run(row) if row else None

    def runs(self, *statuses: str) -> list[Run]:
        """Return the runs with one of `statuses` (all when none is given), newest last."""
        rows = self._rows("SELECT * FROM runs ORDER BY created_at, rowid")
        return [Run(row) for row in rows if not statuses or row["status"] in statuses]

    # steps, phases, outcomes

    def add_step(self, run: Run, workflow: str, number: int, name: str, done_by: str) -> None:
        """Record that a step is done; the last time counts."""
        values = (run.run_id, run.revision, workflow, number, name, done_by, now())
        self._execute("INSERT OR REPLACE INTO steps VALUES (?,?,?,?,?,?,?)", values)

    def phase(self, run: Run, phase: str) -> tuple[str, int]:
        """Return the loop state and the iteration of a phase: ('INITIAL', 1) when it is new."""
        sql = "SELECT state, iteration FROM phases WHERE run_id=? AND revision=? AND phase=?"
        row = self._row(sql, (run.run_id, run.revision, phase))
        return (row[0], row[1]) if row else ("INITIAL", 1)

    def set_phase(self, run: Run, phase: str, state: str, iteration: int) -> None:
        """Store loop state and iteration of a phase."""
        values = (run.run_id, run.revision, phase, state, iteration)
        self._execute("INSERT OR REPLACE INTO phases VALUES (?,?,?,?,?)", values)

    def add_outcome(self, run: Run, phase: str, iteration: int, outcome: dict[str, Any]) -> None:
        """Record a gate's decision: verdict, computed, decided_by, reason, items."""
        values = (
            run.run_id, run.revision, phase, iteration, outcome["verdict"], outcome["computed"],
            outcome["decided_by"], outcome["reason"], json.dumps(outcome["items"]), now(),
        )  # fmt: skip
        self._execute("INSERT INTO outcomes VALUES (NULL,?,?,?,?,?,?,?,?,?,?)", values)

    def outcomes(self, run: Run, phase: str) -> list[dict[str, Any]]:
        """Return the decisions of a phase in this revision, oldest first."""
        sql = "SELECT * FROM outcomes WHERE run_id=? AND revision=? AND phase=? ORDER BY seq"
        rows = self._rows(sql, (run.run_id, run.revision, phase))
        return [{**dict(row), "items": self._json(row["items"])} for row in rows]

    # what people said

    def answer(self, run: Run, checkpoint: str, choices: list[str]) -> None:
        """Store the answer to a checkpoint; the last one holds."""
        values = (run.run_id, checkpoint, json.dumps(choices), now())
        self._execute("INSERT OR REPLACE INTO answers VALUES (?,?,?,?)", values)

    def answers(self, run: Run) -> dict[str, list[str]]:
        """Return the answers by checkpoint id."""
        rows = self._rows("SELECT * FROM answers WHERE run_id=?", (run.run_id,))
        return {row["checkpoint"]: self._json(row["choices"]) for row in rows}

    def confirm(self, digest: str, commands: str) -> None:
        """Remember that a person confirmed the commands with this hash."""
        values = (digest, commands, now())
        self._execute("INSERT OR IGNORE INTO confirmed VALUES (?,?,?)", values)

    def is_confirmed(self, digest: str) -> bool:
        """Say whether the commands with this hash are confirmed."""
        sql = "SELECT 1 FROM confirmed WHERE hash=?"
        return self._row(sql, (digest,)) is not None

    def approve(self, run: Run, digest: str, who: str, channel: str) -> None:
        """Record an approval of a digest."""
        values = (run.run_id, run.revision, digest, who, channel, now())
        self._execute("INSERT OR IGNORE INTO approvals VALUES (?,?,?,?,?,?)", values)

    def is_approved(self, run: Run, digest: str) -> bool:
        """Say whether this digest is approved for this run."""
        sql = "SELECT 1 FROM approvals WHERE run_id=? AND digest=?"
        return self._row(sql, (run.run_id, digest)) is not None

    def accept(self, run: Run, phase: str, check: str, scope: str, reason: str) -> None:
        """Store a person's acceptance of what a check finds at a scope."""
        values = (run.run_id, phase, check, scope, reason, now())
        self._execute("INSERT OR REPLACE INTO accepted VALUES (?,?,?,?,?,?)", values)

    def accepted(self, run: Run, phase: str) -> dict[tuple[str, str], str]:
        """Return the reasons of acceptances by (check, scope)."""
        sql = "SELECT check_id, scope, reason FROM accepted WHERE run_id=? AND phase=?"
        rows = self._rows(sql, (run.run_id, phase))
        return {(row[0], row[1]): row[2] for row in rows}

    def deviate(self, run: Run, file: str, milestone: str, reason: str) -> None:
        """Report a file that the tree holds otherwise than the plan; not accepted yet."""
        values = (run.run_id, file, milestone, reason, now())
        self._execute("INSERT OR REPLACE INTO deviations VALUES (?,?,?,?,NULL,?)", values)

    def accept_deviation(self, run: Run, file: str, reason: str) -> bool:
        """Accept a reported deviation; False when none is reported for the file."""
        sql = "UPDATE deviations SET accepted=? WHERE run_id=? AND file=?"
        return self._execute(sql, (reason, run.run_id, file)).rowcount > 0

    def deviations(self, run: Run) -> dict[str, bool]:
        """Return the reported files and whether each is accepted."""
        rows = self._rows("SELECT * FROM deviations WHERE run_id=?", (run.run_id,))
        return {row["file"]: row["accepted"] is not None for row in rows}

    def set_milestone(self, run: Run, milestone: str, status: str, note: str = "") -> None:
        """Store how far a milestone's execution is."""
        values = (run.run_id, milestone, status, note, now())
        self._execute("INSERT OR REPLACE INTO milestones VALUES (?,?,?,?,?)", values)

    def milestones(self, run: Run) -> dict[str, str]:
        """Return the execution status by milestone id."""
        rows = self._rows("SELECT * FROM milestones WHERE run_id=?", (run.run_id,))
        return {row["milestone"]: row["status"] for row in rows}

    # the record

    def audit(self, run: Run, who: str, action: str, **values: str | None) -> None:
        """Append to the audit: `before`, `after`, `digest`, `detail`, `agent` may be given."""
        row = (
            now(), run.run_id, values.get("agent") or "", who, action, values.get("before") or "",
            values.get("after") or "", values.get("digest"), values.get("detail") or "",
        )  # fmt: skip
        self._execute("INSERT INTO audit VALUES (NULL,?,?,?,?,?,?,?,?,?)", row)

    def audit_rows(self, run: Run) -> list[dict[str, Any]]:
        """Return the audit of a run, oldest first."""
        sql = "SELECT * FROM audit WHERE run_id=? ORDER BY seq"
        return [dict(row) for row in self._rows(sql, (run.run_id,))]

    def event(self, run: Run, kind: str, payload: dict[str, Any]) -> None:
        """Append an event."""
        values = (now(), run.run_id, kind, json.dumps(payload, ensure_ascii=False))
        self._execute("INSERT INTO events VALUES (NULL,?,?,?,?)", values)

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file; empty when it is sound."""
        rows = self._rows("PRAGMA integrity_check")
        return [row[0] for row in rows if row[0] != "ok"]


def _statements(script: str) -> list[str]:
    """Return the statements of a script; a trigger's inner semicolon does not end it."""
    statements, lines = [], ""
    for line in script.splitlines():
        lines += line + "\n"
        if sqlite3.complete_statement(lines):
            statements.append(lines)
            lines = ""
    return [s for s in statements if s.strip()]


def _unusable(path: str, error: Exception) -> Refused:
    # The lowest byte of a code says what kind it is; errors of Python's own have none.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    text = f"{error}; nothing was changed"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Refused("locked", path, text, "run the command again")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return Refused("conflict", path, text, "planner status says where the run is")
    if code in _ENVIRONMENT:
        return Refused("refused", path, text, "a folder that can be written and has room")
    return _damaged(path, error)


def _damaged(path: str, error: Exception) -> Refused:
    text = f"the database is damaged ({error}); it is left as it is"
    return Refused("invalid", path, text, "planner doctor says what can be restored")
