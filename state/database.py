"""What happened to a plan, stored in planner.db: runs, gates, answers, modes, audit, events.

Only this module, its connection and the migrations hold SQL. Printed steps read through it, so it
imports nothing but sqlite3. Audit and events can only grow: triggers abort everything else,
INSERT OR REPLACE too, whose delete runs no trigger.
"""

from __future__ import annotations

import json

from state.clock import now
from state.connection import FAULTS, Connection, damaged, unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any


class Run:
    """One run (a request from start to end) as its database row; read-only."""

    __slots__ = (
        "commit_id", "created_at", "depth", "digest", "repository", "request", "review",
        "revision", "run_id", "stage", "state_dir", "status", "step", "workflow",
    )  # fmt: skip
    run_id: str
    request: str
    repository: str
    state_dir: str
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


class Planning:
    """The planning mode of one agent as its database row; read-only, times are text."""

    __slots__ = (
        "agent_name", "approval_timeout_s", "approved_at", "approved_by", "digest",
        "gathering_start", "gathering_timeout_s", "last_tool_at", "on_timeout", "paused_at",
        "phase", "plan_json", "reason", "revision", "run_id", "submitted_at", "task_description",
    )  # fmt: skip
    agent_name: str
    phase: str
    task_description: str | None
    plan_json: str | None
    gathering_start: str | None
    submitted_at: str | None
    approved_at: str | None
    approved_by: str | None
    reason: str | None
    run_id: str | None
    revision: int
    digest: str | None
    last_tool_at: str | None
    paused_at: str | None
    gathering_timeout_s: int
    approval_timeout_s: int
    on_timeout: str

    def __init__(self, row: sqlite3.Row) -> None:
        for name in self.__slots__:
            setattr(self, name, row[name])


class Database(Connection):
    """The queries of the open database planner.db; each `with` block is one transaction."""

    # runs

    def add_run(self, values: dict[str, Any]) -> None:
        """Add the row of a run; `values` needs each column without a default, except the times."""
        row = {**values, "created_at": now(), "updated_at": now()}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT INTO runs ({names}) VALUES ({marks})"  # noqa: S608 – our own columns
        self._execute(sql, row.values())

    def set_run(self, run_id: str, **values: object) -> None:
        """Change columns of a run, except stage and status, which `move_run` changes."""
        if "stage" in values or "status" in values:
            raise ValueError("stage and status of a run change by move_run alone")
        self._update_run(run_id, values)

    def move_run(self, run_id: str, stage: str, status: str, **values: object) -> None:
        """Change stage and status of a run, and other columns with them."""
        self._update_run(run_id, {"stage": stage, "status": status, **values})

    def _update_run(self, run_id: str, values: dict[str, object]) -> None:
        names = ", ".join(f"{name}=?" for name in (*values, "updated_at"))
        sql = f"UPDATE runs SET {names} WHERE run_id=?"  # noqa: S608 – names are our own columns
        self._execute(sql, (*values.values(), now(), run_id))

    def run(self, run_id: str) -> Run | None:
        """Return the run with this id."""
        row = self._row("SELECT * FROM runs WHERE run_id=?", (run_id,))
        return Run(row) if row else None

    def run_at(self, state_dir: str) -> Run | None:
        """Return the run whose state directory this is."""
        row = self._row("SELECT * FROM runs WHERE state_dir=?", (state_dir,))
        return Run(row) if row else None

    def runs(self, *statuses: str) -> list[Run]:
        """Return the runs with one of `statuses` (all when none is given), newest last."""
        rows = self._rows("SELECT * FROM runs ORDER BY created_at, rowid")
        return [Run(row) for row in rows if not statuses or row["status"] in statuses]

    # planning mode

    def planning(self, agent: str) -> Planning | None:
        """Return the planning mode of an agent; None for an agent that never planned."""
        row = self._row("SELECT * FROM planning_state WHERE agent_name=?", (agent,))
        return Planning(row) if row else None

    def planning_of(self, run_id: str) -> list[Planning]:
        """Return the planning mode of each agent that takes part in a run."""
        sql = "SELECT * FROM planning_state WHERE run_id=? ORDER BY agent_name"
        return [Planning(row) for row in self._rows(sql, (run_id,))]

    def planning_live(self) -> list[Planning]:
        """Return the planning mode of each agent that is planning or executing."""
        sql = "SELECT * FROM planning_state WHERE phase!='inactive' ORDER BY agent_name"
        return [Planning(row) for row in self._rows(sql)]

    def set_planning(self, agent: str, **values: object) -> None:
        """Change columns of an agent's planning mode; a new row needs all without a default."""
        names = ", ".join(("agent_name", *values))
        marks = ", ".join("?" * (len(values) + 1))
        known = "SELECT 1 FROM planning_state WHERE agent_name=?"
        if self._row(known, (agent,)) is None:
            sql = f"INSERT INTO planning_state ({names}) VALUES ({marks})"  # noqa: S608 – our own columns
            self._execute(sql, (agent, *values.values()))
        else:
            changes = ", ".join(f"{name}=?" for name in values)
            sql = f"UPDATE planning_state SET {changes} WHERE agent_name=?"  # noqa: S608 – our own columns
            self._execute(sql, (*values.values(), agent))

    # steps, phases, outcomes

    def add_steps(self, run: Run, workflow: str, steps: Iterable[tuple[int, str]], by: str) -> None:
        """Record workflow steps, as (number, name), as done; a later record replaces an earlier."""
        sql, at = "INSERT OR REPLACE INTO steps VALUES (?,?,?,?,?,?,?)", now()
        for number, name in steps:
            self._execute(sql, (run.run_id, run.revision, workflow, number, name, by, at))

    def phase(self, run: Run, phase: str) -> tuple[str, int]:
        """Return state and round of a phase such as plan-code: ('INITIAL', 1) for a new one."""
        sql = "SELECT state, iteration FROM phases WHERE run_id=? AND revision=? AND phase=?"
        row = self._row(sql, (run.run_id, run.revision, phase))
        return (row[0], row[1]) if row else ("INITIAL", 1)

    def set_phase(self, run: Run, phase: str, state: str, iteration: int) -> None:
        """Store the state and the number of the round of a phase such as plan-code."""
        values = (run.run_id, run.revision, phase, state, iteration)
        self._execute("INSERT OR REPLACE INTO phases VALUES (?,?,?,?,?)", values)

    def add_outcome(self, run: Run, phase: str, iteration: int, outcome: dict[str, Any]) -> None:
        """Record whether a phase passed: verdict, computed, decided_by, reason, items."""
        values = (
            run.run_id, run.revision, phase, iteration, outcome["verdict"], outcome["computed"],
            outcome["decided_by"], outcome["reason"], json.dumps(outcome["items"]), now(),
        )  # fmt: skip
        self._execute("INSERT INTO outcomes VALUES (NULL,?,?,?,?,?,?,?,?,?,?)", values)

    def outcomes(self, run: Run, phase: str) -> list[dict[str, Any]]:
        """Return the decisions whether a phase of this revision passed, oldest first."""
        sql = "SELECT * FROM outcomes WHERE run_id=? AND revision=? AND phase=? ORDER BY seq"
        rows = self._rows(sql, (run.run_id, run.revision, phase))
        return [{**dict(row), "items": self._json(row["items"])} for row in rows]

    # answers, approvals, acceptances

    def answer(self, run: Run, checkpoint: str, choices: list[str]) -> None:
        """Store the user's answer to a question; a later answer replaces an earlier one."""
        values = (run.run_id, checkpoint, json.dumps(choices), now())
        self._execute("INSERT OR REPLACE INTO answers VALUES (?,?,?,?)", values)

    def answers(self, run: Run) -> dict[str, list[str]]:
        """Return the user's answers, by the ids of the questions."""
        sql = "SELECT checkpoint, choices FROM answers WHERE run_id=?"
        return {row[0]: self._json(row[1]) for row in self._rows(sql, (run.run_id,))}

    def confirm(self, digest: str, commands: str) -> None:
        """Remember that a person allowed the project's commands that have this hash."""
        values = (digest, commands, now())
        self._execute("INSERT OR IGNORE INTO confirmed VALUES (?,?,?)", values)

    def is_confirmed(self, digest: str) -> bool:
        """Return whether a person allowed the project's commands that have this hash."""
        return self._row("SELECT 1 FROM confirmed WHERE hash=?", (digest,)) is not None

    def approve(self, run: Run, digest: str, who: str, channel: str) -> None:
        """Record a person's approval of the plan with this digest."""
        values = (run.run_id, run.revision, digest, who, channel, now())
        self._execute("INSERT OR IGNORE INTO approvals VALUES (?,?,?,?,?,?)", values)

    def is_approved(self, run: Run, digest: str) -> bool:
        """Return whether the plan with this digest is approved for this run."""
        sql = "SELECT 1 FROM approvals WHERE run_id=? AND digest=?"
        return self._row(sql, (run.run_id, digest)) is not None

    def accept(self, run: Run, phase: str, check: str, scope: str, reason: str) -> None:
        """Store that a person accepts what a check finds at a scope (an entity or a file)."""
        values = (run.run_id, phase, check, scope, reason, now())
        self._execute("INSERT OR REPLACE INTO accepted VALUES (?,?,?,?,?,?)", values)

    def accepted(self, run: Run, phase: str) -> dict[tuple[str, str], str]:
        """Return the reasons for which a person accepted findings, by (check, scope)."""
        sql = "SELECT check_id, scope, reason FROM accepted WHERE run_id=? AND phase=?"
        return {(row[0], row[1]): row[2] for row in self._rows(sql, (run.run_id, phase))}

    def deviate(self, run: Run, file: str, milestone: str, reason: str) -> None:
        """Record a file whose content differs from the plan; no person has accepted that yet."""
        values = (run.run_id, file, milestone, reason, now())
        self._execute("INSERT OR REPLACE INTO deviations VALUES (?,?,?,?,NULL,?)", values)

    def accept_deviation(self, run: Run, file: str, reason: str) -> bool:
        """Mark a file's recorded difference from the plan as accepted; False if there is none."""
        sql = "UPDATE deviations SET accepted=? WHERE run_id=? AND file=?"
        return self._execute(sql, (reason, run.run_id, file)).rowcount > 0

    def deviations(self, run: Run) -> dict[str, bool]:
        """Return the files recorded as differing from the plan, and whether each is accepted."""
        rows = self._rows("SELECT * FROM deviations WHERE run_id=?", (run.run_id,))
        return {row["file"]: row["accepted"] is not None for row in rows}

    # audit and events

    def audit(self, run: Run | None, who: str, action: str, **values: str | None) -> None:
        """Append a row to the audit; the keyword arguments fill its optional columns.

        They are `before`, `after`, `digest`, `detail`, `at`, `agent` (else who opened it).
        """
        row = (
            values.get("at") or now(), run.run_id if run else None,
            values.get("agent") or self.agent, who, action, values.get("before") or "",
            values.get("after") or "", values.get("digest"), values.get("detail") or "",
        )  # fmt: skip
        self._execute("INSERT INTO audit VALUES (NULL,?,?,?,?,?,?,?,?,?)", row)

    def audit_rows(self, run: Run | None, after: int = 0) -> list[dict[str, Any]]:
        """Return the audit rows of a run, oldest first; all rows where `run` is None.

        `after` is the number of the last row that the caller has.
        """
        sql = "SELECT * FROM audit WHERE seq>? AND run_id IS coalesce(?, run_id) ORDER BY seq"
        return [dict(row) for row in self._rows(sql, (after, run.run_id if run else None))]

    def was_noted(self, agent: str, action: str, since: str) -> bool:
        """Return whether the audit has this action of an agent at `since` or later."""
        sql = "SELECT 1 FROM audit WHERE agent=? AND action=? AND at>=? LIMIT 1"
        return self._row(sql, (agent, action, since)) is not None

    def event(self, run: Run | None, kind: str, payload: dict[str, Any]) -> None:
        """Append an event, with its kind and details, to the database."""
        text = json.dumps(payload, ensure_ascii=False)
        values = (now(), run.run_id if run else None, kind, text)
        self._execute("INSERT INTO events VALUES (NULL,?,?,?,?)", values)

    # statements

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the database file; empty if nothing."""
        return [row[0] for row in self._rows("PRAGMA integrity_check") if row[0] != "ok"]

    def _execute(self, sql: str, values: Iterable[object] = ()) -> sqlite3.Cursor:
        try:
            return self.connection.execute(sql, tuple(values))
        except FAULTS as error:
            raise unusable(self.path, error) from None

    def _rows(self, sql: str, values: Iterable[object] = ()) -> list[sqlite3.Row]:
        """Return the rows that a query finds; SQLite may notice damage only while reading them."""
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
