"""Queries of planner.db, the SQLite history of a plan: runs, reviews, answers, audit, events.

Only this module, its base classes and the migrations hold SQL. Printed steps read through it, so it
imports nothing but sqlite3. Audit and events can only grow: triggers abort everything else,
INSERT OR REPLACE too, whose delete runs no trigger.
"""

from __future__ import annotations

import json

from state.clock import now
from state.execution_rows import ExecutionRows
from state.queue_rows import QueueRows
from state.rows import Answer, Deviation, Late, Planning, Run

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from state.phases import Phase


__all__ = ["Database", "Planning", "Run"]


class Database(ExecutionRows, QueueRows):
    """The queries of the open database planner.db; each `with` block is one transaction."""

    def add_run(self, values: dict[str, Any]) -> None:
        """Insert a new run's database row: column values as given, times filled in."""
        row = {**values, "created_at": now(), "updated_at": now()}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT INTO runs ({names}) VALUES ({marks})"  # noqa: S608 – our own columns
        self._execute(sql, row.values())

    def set_run(self, run_id: str, **values: object) -> None:
        """Update columns of a run's row, except stage and status, which raise ValueError."""
        if "stage" in values or "status" in values:
            raise ValueError("stage and status of a run change by move_run alone")
        self._update_run(run_id, values)

    def move_run(self, run_id: str, stage: str, status: str, **values: object) -> None:
        """Update the stage and status of a run, and any further columns given, in the database."""
        self._update_run(run_id, {"stage": stage, "status": status, **values})

    def remove_run(self, run_id: str) -> None:
        """Delete the row of a run that never began."""
        self._execute("DELETE FROM runs WHERE run_id=? AND status='IDLE'", (run_id,))

    def _update_run(self, run_id: str, values: dict[str, object]) -> None:
        names = ", ".join(f"{name}=?" for name in (*values, "updated_at"))
        sql = f"UPDATE runs SET {names} WHERE run_id=?"  # noqa: S608 – names are our own columns
        self._execute(sql, (*values.values(), now(), run_id))

    def run(self, run_id: str) -> Run | None:
        """Return the run with the given id; None if there is none."""
        row = self._row("SELECT * FROM runs WHERE run_id=?", (run_id,))
        return Run(row) if row else None

    def run_at(self, state_dir: str) -> Run | None:
        """Return the run that keeps its files in a given state directory; None if there is none."""
        row = self._row("SELECT * FROM runs WHERE state_dir=?", (state_dir,))
        return Run(row) if row else None

    def runs(self, *statuses: str) -> list[Run]:
        """Return the runs with one of the given statuses (all if none is given), oldest first."""
        rows = self._rows("SELECT * FROM runs ORDER BY created_at, rowid")
        return [Run(row) for row in rows if not statuses or row["status"] in statuses]

    # planning mode

    def planning(self, agent: str) -> Planning | None:
        """Return the stored planning-mode state of an agent; None if the agent never planned."""
        row = self._row("SELECT * FROM planning_state WHERE agent_name=?", (agent,))
        return Planning(row) if row else None

    def planning_of(self, run_id: str) -> list[Planning]:
        """Return the planning-mode state of each agent that takes part in a run."""
        sql = "SELECT * FROM planning_state WHERE run_id=? ORDER BY agent_name"
        return [Planning(row) for row in self._rows(sql, (run_id,))]

    def planning_live(self) -> list[Planning]:
        """Return the planning-mode state of every agent whose planning mode is not inactive."""
        sql = "SELECT * FROM planning_state WHERE phase!='inactive' ORDER BY agent_name"
        return [Planning(row) for row in self._rows(sql)]

    def set_planning(self, agent: str, **values: object) -> None:
        """Update columns of an agent's planning-mode row; insert the row if the agent has none."""
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
        """Record workflow steps, given as (number, name), as done; replace earlier records."""
        sql, at = "INSERT OR REPLACE INTO steps VALUES (?,?,?,?,?,?,?)", now()
        for number, name in steps:
            self._execute(sql, (run.run_id, run.revision, workflow, number, name, by, at))

    def done_steps(self, run: Run, workflow: str) -> set[int]:
        """Return the numbers of a workflow's steps that are done in the run's revision."""
        sql = "SELECT number FROM steps WHERE run_id=? AND revision=? AND workflow=?"
        return {row[0] for row in self._rows(sql, (run.run_id, run.revision, workflow))}

    def phase(self, run: Run, phase: str) -> tuple[str, int]:
        """Return state and review round of a phase such as plan-code; ('INITIAL', 1) if new."""
        sql = "SELECT state, iteration FROM phases WHERE run_id=? AND revision=? AND phase=?"
        row = self._row(sql, (run.run_id, run.revision, phase))
        return (row[0], row[1]) if row else ("INITIAL", 1)

    def set_phase(self, run: Run, phase: str, state: str, iteration: int) -> None:
        """Store the state and the review round number of a phase such as plan-code."""
        values = (run.run_id, run.revision, phase, state, iteration)
        self._execute("INSERT OR REPLACE INTO phases VALUES (?,?,?,?,?)", values)

    def add_outcome(self, run: Run, phase: str, iteration: int, outcome: dict[str, Any]) -> None:
        """Record the decision whether a phase's review passed, with its reason and review items."""
        values = (
            run.run_id, run.revision, phase, iteration, outcome["verdict"], outcome["computed"],
            outcome["decided_by"], outcome["reason"], json.dumps(outcome["items"]), now(),
        )  # fmt: skip
        self._execute("INSERT INTO outcomes VALUES (NULL,?,?,?,?,?,?,?,?,?,?)", values)

    def outcomes(self, run: Run, *phases: str) -> list[dict[str, Any]]:
        """Return the decisions whether phases of the run's revision passed, each oldest first."""
        sql = "SELECT * FROM outcomes WHERE run_id=? AND revision=? ORDER BY seq"
        rows = [r for r in self._rows(sql, (run.run_id, run.revision)) if r["phase"] in phases]
        rows.sort(key=lambda row: phases.index(row["phase"]))
        return [{**dict(row), "items": self._json(row["items"])} for row in rows]

    def passed_reviews(self, run: Run) -> dict[Phase, list[dict[str, Any]]]:
        """Return by phase the review items with which it last passed, in any revision of a run."""
        sql = "SELECT phase, items FROM outcomes WHERE run_id=? AND verdict='pass' ORDER BY seq"
        return {row["phase"]: self._json(row["items"]) for row in self._rows(sql, (run.run_id,))}

    def verdicts(self) -> list[tuple[str, int, str]]:
        """Return phase, round and verdict of each gate of all runs, oldest first."""
        rows = self._rows("SELECT phase, iteration, verdict FROM outcomes ORDER BY seq")
        return [(row["phase"], row["iteration"], row["verdict"]) for row in rows]

    def gone_back(self, run: Run) -> tuple[int, int, str]:
        """Return how many steps a run has behind it beside those up to where it is on its path.

        With it come the number of the step at which it last went back, and why: 0 and "" if never.
        """
        row = self._row("SELECT behind, step, why FROM gone_back WHERE run_id=?", (run.run_id,))
        return (row[0], row[1], row[2]) if row else (0, 0, "")

    def go_back(self, run: Run, behind: int, step: int, why: str) -> None:
        """Record that a run goes through steps of its path again, as `gone_back` returns it."""
        values = (run.run_id, behind, step, why)
        self._execute("INSERT OR REPLACE INTO gone_back VALUES (?,?,?,?)", values)

    # answers, approvals, acceptances

    def answer(
        self,
        run: Run,
        checkpoint: str,
        choices: list[str],
        phase: str = "",
        *,
        by_assistant: bool = False,
    ) -> None:
        """Store the user's answer to a question; the last one counts, earlier ones are kept.

        `by_assistant` if the user has left it to the assistant; of the first answer, its `phase`
        stays.
        """
        old = self.answers(run).get(checkpoint)
        earlier = old.earlier if old is not None else []
        if old is not None:
            earlier, phase = [*earlier, [*old]] if old != choices else earlier, old.phase
        values = (
            run.run_id, checkpoint, json.dumps(choices), now(), phase, json.dumps(earlier),
            by_assistant,
        )  # fmt: skip
        self._execute("INSERT OR REPLACE INTO answers VALUES (?,?,?,?,?,?,?)", values)

    def answers(self, run: Run) -> dict[str, Answer]:
        """Return the user's answers of a run by the ids of the questions."""
        rows = self._rows("SELECT * FROM answers WHERE run_id=?", (run.run_id,))
        return {
            row["checkpoint"]: Answer(
                self._json(row["choices"]), self._json(row["earlier"]), row["phase"],
                by_assistant=bool(row["by_assistant"]),
            )
            for row in rows
        }  # fmt: skip

    def late(self, run: Run) -> list[Late]:
        """Return the statements that have made a phase due again, the oldest first."""
        rows = self._rows("SELECT * FROM late WHERE run_id=? ORDER BY rowid", (run.run_id,))
        return [Late(row) for row in rows]

    def add_late(self, run: Run, statement: str, phase: str, work: str) -> None:
        """Record that a statement makes a phase due again, and what the phase had made then."""
        values = (run.run_id, statement, phase, work, now())
        self._execute("INSERT OR REPLACE INTO late VALUES (?,?,?,?,?)", values)

    def drop_late(self, run: Run, phase: str) -> None:
        """Record that a phase has settled the statements that had made it due again."""
        self._execute("DELETE FROM late WHERE run_id=? AND phase=?", (run.run_id, phase))

    def confirm(self, digest: str, commands: str) -> None:
        """Record that a person allows running the project's commands, identified by their hash."""
        values = (digest, commands, now())
        self._execute("INSERT OR IGNORE INTO confirmed VALUES (?,?,?)", values)

    def is_confirmed(self, digest: str) -> bool:
        """Return whether a person allows running the project's commands that have a given hash."""
        return self._row("SELECT 1 FROM confirmed WHERE hash=?", (digest,)) is not None

    def approve(self, run: Run, digest: str, who: str, channel: str) -> None:
        """Record that a person approved the plan, identified by the digest of its content."""
        values = (run.run_id, run.revision, digest, who, channel, now())
        self._execute("INSERT OR IGNORE INTO approvals VALUES (?,?,?,?,?,?)", values)

    def is_approved(self, run: Run, digest: str) -> bool:
        """Return whether a person has approved the plan with the given digest in a run."""
        return self.approved_by(run, digest) is not None

    def approved_by(self, run: Run, digest: str) -> tuple[str, str] | None:
        """Return by which channel and by whom a digest was approved, None if it was not."""
        sql = "SELECT channel, approved_by FROM approvals WHERE run_id=? AND digest=?"
        row = self._row(sql, (run.run_id, digest))
        return (row[0], row[1]) if row else None

    def channels(self) -> dict[str, str]:
        """Return the channel by which each approved plan was approved, by its digest."""
        return {row[0]: row[1] for row in self._rows("SELECT digest, channel FROM approvals")}

    def accept(self, run: Run, phase: str, check: str, scope: str, reason: str) -> None:
        """Record that a person accepts a check's finding about one plan entity or file, and why."""
        values = (run.run_id, phase, check, scope, reason, now())
        self._execute("INSERT OR REPLACE INTO accepted VALUES (?,?,?,?,?,?)", values)

    def accepted(self, run: Run, *phases: str) -> dict[tuple[str, str, str], str]:
        """Return a person's reasons for accepting findings of phases by (phase, check, scope)."""
        sql = "SELECT phase, check_id, scope, reason FROM accepted WHERE run_id=?"
        rows = [row for row in self._rows(sql, (run.run_id,)) if row[0] in phases]
        rows.sort(key=lambda row: phases.index(row[0]))
        return {(row[0], row[1], row[2]): row[3] for row in rows}

    def deviate(self, run: Run, file: str, milestone: str, reason: str) -> None:
        """Record that a file differs from the plan, and why, as not yet accepted by a person."""
        values = (run.run_id, file, milestone, reason, now())
        self._execute("INSERT OR REPLACE INTO deviations VALUES (?,?,?,?,NULL,?)", values)

    def accept_deviation(self, run: Run, file: str, reason: str) -> bool:
        """Mark a file's recorded difference from the plan as accepted; False if none exists."""
        sql = "UPDATE deviations SET accepted=? WHERE run_id=? AND file=?"
        return self._execute(sql, (reason, run.run_id, file)).rowcount > 0

    def deviations_of(self, run: Run) -> list[Deviation]:
        """Return the files of a run that are recorded as differing from its plan, oldest first."""
        sql = "SELECT * FROM deviations WHERE run_id=? ORDER BY rowid"
        return [Deviation(row) for row in self._rows(sql, (run.run_id,))]

    def deviations(self, run: Run) -> dict[str, bool]:
        """Return the files recorded as differing from the plan, and whether each is accepted."""
        rows = self._rows("SELECT * FROM deviations WHERE run_id=?", (run.run_id,))
        return {row["file"]: row["accepted"] is not None for row in rows}

    # audit

    def audit(self, run: Run | None, who: str, action: str, **values: str | None) -> None:
        """Append a row to the audit log; the keyword arguments fill its optional columns.

        They are `before`, `after`, `digest`, `detail`, `at`, `agent` (else who opened it).
        """
        row = (
            values.get("at") or now(), run.run_id if run else None,
            values.get("agent") or self.agent, who, action, values.get("before") or "",
            values.get("after") or "", values.get("digest"), values.get("detail") or "",
        )  # fmt: skip
        self._execute("INSERT INTO audit VALUES (NULL,?,?,?,?,?,?,?,?,?)", row)

    def audit_rows(self, run: Run | None, after: int = 0) -> list[dict[str, Any]]:
        """Return the audit log's rows of a run, oldest first; those of all runs if `run` is None.

        `after` is the number of the last row that the caller has.
        """
        sql = "SELECT * FROM audit WHERE seq>? AND run_id IS coalesce(?, run_id) ORDER BY seq"
        return [dict(row) for row in self._rows(sql, (after, run.run_id if run else None))]

    def reverts(self, run: Run) -> list[str]:
        """Return the ids of the commits that took a run's commit back, oldest first."""
        sql = "SELECT detail FROM audit WHERE run_id=? AND action='revert' ORDER BY seq"
        return [str(row["detail"]) for row in self._rows(sql, (run.run_id,))]

    def was_noted(self, agent: str, action: str, since: str) -> bool:
        """Return whether the audit log holds an agent's action at the time `since` or later."""
        sql = "SELECT 1 FROM audit WHERE agent=? AND action=? AND at>=? LIMIT 1"
        return self._row(sql, (agent, action, since)) is not None

    # the file

    def check(self) -> list[str]:
        """Run SQLite's integrity check and return its error lines; an empty list means none."""
        return [row[0] for row in self._rows("PRAGMA integrity_check") if row[0] != "ok"]
