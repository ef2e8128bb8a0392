"""SQL scripts that create and upgrade the schema of planner.db; released ones never change."""

from __future__ import annotations

from sqlite3 import complete_statement

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
_PLANNING = """
CREATE TABLE planning_state (
    agent_name TEXT PRIMARY KEY,
    phase TEXT NOT NULL CHECK (phase IN ('inactive','gathering','submitted','executing')),
    task_description TEXT, plan_json TEXT, gathering_start TEXT, submitted_at TEXT,
    approved_at TEXT, approved_by TEXT, reason TEXT, run_id TEXT REFERENCES runs,
    revision INTEGER NOT NULL DEFAULT 0, digest TEXT, last_tool_at TEXT, paused_at TEXT,
    gathering_timeout_s INTEGER NOT NULL, approval_timeout_s INTEGER NOT NULL,
    on_timeout TEXT NOT NULL CHECK (on_timeout IN ('pause','cancel')));
"""
# No planner has written a row of the old table.
_EXECUTION = """
DROP TABLE milestones;
CREATE TABLE milestones (
    run_id TEXT NOT NULL REFERENCES runs, milestone TEXT NOT NULL,
    status TEXT NOT NULL CHECK (
        status IN ('PENDING','IN_PROGRESS','BLOCKED','NEEDS_DECISION','COMPLETED')),
    note TEXT NOT NULL, waits TEXT NOT NULL, agent TEXT NOT NULL, attempts INTEGER NOT NULL,
    started_at TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (run_id, milestone));
CREATE TABLE checkpoints (
    run_id TEXT NOT NULL REFERENCES runs, checkpoint TEXT NOT NULL, milestone TEXT NOT NULL,
    header TEXT NOT NULL, question TEXT NOT NULL, options TEXT NOT NULL, multi INTEGER NOT NULL,
    timeout_s INTEGER NOT NULL, asked_at TEXT NOT NULL, PRIMARY KEY (run_id, checkpoint));
CREATE TABLE holders (
    run_id TEXT PRIMARY KEY REFERENCES runs, instance TEXT NOT NULL, machine TEXT NOT NULL,
    pid INTEGER NOT NULL, process_start TEXT NOT NULL, since TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE auto (
    run_id TEXT PRIMARY KEY REFERENCES runs, most_files INTEGER NOT NULL, risk TEXT NOT NULL,
    who TEXT NOT NULL, channel TEXT NOT NULL, at TEXT NOT NULL);
"""
_PACE = """
ALTER TABLE milestones ADD COLUMN not_before TEXT NOT NULL DEFAULT '';
ALTER TABLE milestones ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE milestones ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
CREATE TABLE queue (
    id TEXT PRIMARY KEY, request TEXT NOT NULL, priority INTEGER NOT NULL, after TEXT NOT NULL,
    at TEXT NOT NULL);
"""
# Whether the host starts no sub-agents and does the work of every role itself.
_ALONE = "ALTER TABLE runs ADD COLUMN alone INTEGER NOT NULL DEFAULT 0 CHECK (alone IN (0, 1));"
# In which phase a question was first answered, what was answered before, and whether the user left
# the answer to the assistant; the statements that make a phase due again, with what its work was.
_LATE = """
ALTER TABLE answers ADD COLUMN phase TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]';
ALTER TABLE answers ADD COLUMN by_assistant INTEGER NOT NULL DEFAULT 0
    CHECK (by_assistant IN (0, 1));
CREATE TABLE late (
    run_id TEXT NOT NULL REFERENCES runs, statement TEXT NOT NULL, phase TEXT NOT NULL,
    work TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (run_id, statement));
"""
# How many steps of its path a run has behind it that it goes through again, at which step it last
# went back, and why.
_GONE_BACK = """
CREATE TABLE gone_back (
    run_id TEXT PRIMARY KEY REFERENCES runs, behind INTEGER NOT NULL, step INTEGER NOT NULL,
    why TEXT NOT NULL);
"""
MIGRATIONS = (_FIRST, _REVIEW, _PLANNING, _EXECUTION, _PACE, _ALONE, _LATE, _GONE_BACK)


def statements(script: str) -> list[str]:
    """Split an SQL script into its statements; semicolons inside a trigger do not split."""
    statements, lines = [], ""
    for line in script.splitlines():
        lines += line + "\n"
        if complete_statement(lines):
            statements.append(lines)
            lines = ""
    return [s for s in statements if s.strip()]
