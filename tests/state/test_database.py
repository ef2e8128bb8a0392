"""planner.db: migrations, transactions, the append-only record, damage (90)."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import connection as module
from state.connection import APPLICATION_ID
from state.database import Database, Run
from state.errors import Refused
from state.migrations import MIGRATIONS
from tests.forms import examples
from tests.state.plans import outcome, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.requirement("PL-11")

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).parent / "fixtures"
LIMITS = {"gathering_timeout_s": 3_600, "approval_timeout_s": 1_800, "on_timeout": "pause"}
RUN: dict[str, Any] = {
    "run_id": "20260102-abcdef",
    "request": "Parse dates",
    "repository": "/repo",
    "state_dir": "/repo/.planner/runs/20260102-abcdef",
    "depth": "full",
    "status": "ACTIVE",
    "stage": "gathering",
    "workflow": "planner",
    "step": 3,
}
TABLES = {
    "runs", "steps", "phases", "outcomes", "milestones", "answers", "confirmed", "approvals",
    "accepted", "deviations", "audit", "events", "planning_state", "checkpoints", "holders", "auto",
    "queue", "late", "gone_back",
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "planner.db")


@pytest.fixture
def database(path: str) -> Iterator[Database]:
    made = Database(path, create=True)
    with made:
        made.add_run(RUN)
    yield made
    made.close()


def run_of(database: Database) -> Run:
    found = database.run_at(RUN["state_dir"])
    assert found is not None
    return found


def content(path: str) -> list[str]:
    """Return everything that a database holds, as SQL."""
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def pragma(path: str, name: str) -> Any:  # noqa: ANN401
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]
    finally:
        connection.close()


class TestASchema:
    def test_is_made_whole_and_marked_as_ours(self, database: Database, path: str) -> None:
        rows = database.connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        assert {row[0] for row in rows} - {"sqlite_sequence"} == TABLES
        assert pragma(path, "user_version") == len(MIGRATIONS)
        assert pragma(path, "application_id") == APPLICATION_ID
        assert database.check() == []

    def test_is_used_with_the_settings_that_survive_a_power_cut(self, database: Database) -> None:
        def setting(name: str) -> object:
            return database.connection.execute(f"PRAGMA {name}").fetchone()[0]

        assert setting("journal_mode") == "delete"
        assert setting("synchronous") == 3
        assert setting("foreign_keys") == 1
        assert setting("busy_timeout") == 30_000

    def test_that_nobody_has_closed_is_closed_in_whichever_thread_collects_it(
        self, database: Database, path: str
    ) -> None:
        """A refusal keeps the frames that it passed through, until the collector finds the ring."""
        database.close()
        gc.collect()
        gc.disable()
        try:
            ring = Database(path)
            ring.after_commit(ring.close)
            connection = ring.connection
            del ring
            thread = threading.Thread(target=gc.collect)
            thread.start()
            thread.join()
        finally:
            gc.enable()
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")

    def test_is_taken_back_from_a_write_ahead_log(self, database: Database, path: str) -> None:
        database.close()
        assert pragma(path, "journal_mode=WAL") == "wal"
        Database(path).close()
        assert pragma(path, "journal_mode") == "delete"

    def test_newer_than_ours_is_refused_and_left_as_it_is(
        self, database: Database, path: str
    ) -> None:
        database.connection.execute("PRAGMA user_version=99")
        database.close()
        before = Path(path).read_bytes()
        (problem,) = refusal(Database, path)
        assert problem.kind == "invalid"
        assert f"schema 99, known: {len(MIGRATIONS)}" in problem.problem
        assert Path(path).read_bytes() == before
        assert os.listdir(Path(path).parent) == ["planner.db"]

    @pytest.mark.parametrize("while_it_is_made", [False, True])
    def test_of_an_older_version_is_not_backed_up_through_a_link(
        self, path: str, tmp_path: Path, *, while_it_is_made: bool
    ) -> None:
        tail = f".{os.getpid()}" if while_it_is_made else ""
        connection = sqlite3.connect(path)
        connection.executescript((FIXTURES / "planner-v1.sql").read_text(encoding="utf-8"))
        connection.close()
        place, before = Path(f"{path}.v1{tail}"), Path(path).read_bytes()
        place.symlink_to(tmp_path / "elsewhere")
        (problem,) = refusal(Database, path)
        assert (problem.kind, problem.at) == ("refused", str(place))
        assert not (tmp_path / "elsewhere").exists()
        assert Path(path).read_bytes() == before

    @pytest.mark.parametrize("version", [1, 2])
    def test_of_an_older_version_opens_with_all_that_it_held(self, path: str, version: int) -> None:
        connection = sqlite3.connect(path)
        script = FIXTURES / f"planner-v{version}.sql"
        connection.executescript(script.read_text(encoding="utf-8"))
        connection.close()
        assert pragma(path, "user_version") == version
        database = Database(path)
        run = run_of(database)
        assert (run.request, run.status, run.step) == ("Parse 'ISO' dates\nand more", "ACTIVE", 2)
        assert database.phase(run, "plan-code") == ("RETRY", 2)
        (outcome_row,) = database.outcomes(run, "plan-code")
        assert (outcome_row["reason"], outcome_row["items"]) == ("ü", [{"id": "qa-001"}])
        assert database.answers(run) == {"CP-001": ["a", "b"]}
        assert database.is_confirmed("h" * 64)
        assert database.is_approved(run, "d" * 64)
        assert database.accepted(run, "plan-code") == {("plan-code", "c-lines", "a.py"): "fine"}
        assert database.deviations(run) == {"a.py": True}
        assert [row["action"] for row in database.audit_rows(run)] == ["freeze"]
        assert database.planning_live() == []
        assert database.check() == []
        database.close()
        assert pragma(path, "user_version") == len(MIGRATIONS)

    def test_of_version_2_keeps_how_much_review_a_run_gets(self, path: str) -> None:
        connection = sqlite3.connect(path)
        script = FIXTURES / "planner-v2.sql"
        connection.executescript(script.read_text(encoding="utf-8"))
        connection.close()
        database = Database(path)
        assert [(r.request, r.review, r.stage, r.digest) for r in database.runs()][1:] == [
            ("Zähle\nneu", "small", "submitted", "e" * 64)
        ]
        with database:
            database.set_planning("a", phase="submitted", run_id="20260103-fedcba", **LIMITS)
        assert [row.agent_name for row in database.planning_of("20260103-fedcba")] == ["a"]

    def test_older_than_ours_is_backed_up_and_brought_up(
        self, database: Database, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        database.close()
        before = content(path)
        later = (*MIGRATIONS, "ALTER TABLE runs ADD COLUMN budget INTEGER NOT NULL DEFAULT 7;\n")
        monkeypatch.setattr(module, "MIGRATIONS", later)
        again = Database(path)
        assert again.connection.execute("SELECT budget FROM runs").fetchone()[0] == 7
        assert run_of(again).request == "Parse dates"
        again.close()
        assert pragma(path, "user_version") == len(later)
        kept = f"{path}.v{len(MIGRATIONS)}"
        assert content(kept) == before
        assert pragma(kept, "user_version") == len(MIGRATIONS)
        assert sorted(os.listdir(Path(path).parent)) == [
            "planner.db", f"planner.db.v{len(MIGRATIONS)}",
        ]  # fmt: skip

    def test_whose_migration_fails_stays_as_it_was(
        self, database: Database, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        database.close()
        before = content(path)
        broken = "ALTER TABLE runs ADD COLUMN budget INTEGER;\nALTER TABLE nothing ADD COLUMN x;\n"
        monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, broken))
        assert refusal(Database, path)
        assert content(path) == before
        assert pragma(path, "user_version") == len(MIGRATIONS)

    def test_is_made_once_by_many_at_once(self, path: str) -> None:
        code = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from state.database import Database
Database(sys.argv[1], create=True).close()
"""
        command = [sys.executable, "-S", "-c", code, path]
        processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(6)]
        for process in processes:
            assert process.communicate()[1] == b""
        assert pragma(path, "user_version") == len(MIGRATIONS)


class TestATransaction:
    def test_that_ends_well_is_kept(self, database: Database, path: str) -> None:
        with database:
            database.set_run(RUN["run_id"], step=4)
        assert run_of(Database(path)).step == 4

    def test_that_raises_leaves_nothing(self, database: Database) -> None:
        def fail() -> None:
            with database:
                database.set_run(RUN["run_id"], step=9)
                database.audit(run_of(database), "host", "x")
                raise Refused("refused", "x", "y")

        assert refusal(fail)[0].at == "x"
        assert run_of(database).step == 3
        assert database.audit_rows(run_of(database)) == []
        assert not database.connection.in_transaction

    def test_that_breaks_a_rule_is_refused_and_leaves_nothing(self, database: Database) -> None:
        def fail() -> None:
            with database:
                database.move_run(RUN["run_id"], "gathering", "ASLEEP")

        assert refusal(fail)
        assert run_of(database).status == "ACTIVE"

    def test_that_cannot_begin_names_the_lock(self, database: Database, path: str) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        database.connection.execute("PRAGMA busy_timeout=50")
        (problem,) = refusal(database.__enter__)
        assert problem.kind == "locked"
        other.execute("ROLLBACK")
        other.close()
        with database:
            database.set_run(RUN["run_id"], step=4)

    def test_without_room_is_refused_and_leaves_nothing(
        self, database: Database, path: str
    ) -> None:
        pages = database.connection.execute("PRAGMA page_count").fetchone()[0]
        database.connection.execute(f"PRAGMA max_page_count={pages}")

        def fill() -> None:
            with database:
                for _ in range(200):
                    database.event(run_of(database), "Filled", {"text": "x" * 4000})

        (problem,) = refusal(fill)
        assert (problem.kind, "full" in problem.problem) == ("refused", True)
        assert not database.connection.in_transaction
        database.connection.execute(f"PRAGMA max_page_count={pages * 10}")
        with database:
            database.event(run_of(database), "Kept", {})
        assert database.check() == []
        assert pragma(path, "integrity_check") == "ok"

    @pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
    def test_with_text_that_is_none_is_refused(self, database: Database, text: str) -> None:
        def write() -> None:
            with database:
                database.event(run_of(database), "x", {"goal": text})

        assert refusal(write)[0].kind == "invalid"
        assert not database.connection.in_transaction

    def test_of_many_processes_at_once_loses_nothing(self, database: Database, path: str) -> None:
        code = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from state.database import Database
database = Database(sys.argv[1])
run = database.runs()[0]
for number in range(15):
    with database:
        database.audit(run, sys.argv[2], "count", detail=str(number))
        step = database.runs()[0].step
        database.set_run(run.run_id, step=step + 1)
"""
        processes = [
            subprocess.Popen([sys.executable, "-S", "-c", code, path, str(n)]) for n in range(4)
        ]
        assert [process.wait() for process in processes] == [0] * 4
        rows = database.audit_rows(run_of(database))
        assert sorted((r["who"], int(r["detail"])) for r in rows) == [
            (str(n), i) for n in range(4) for i in range(15)
        ]
        assert run_of(database).step == 3 + 60


@pytest.mark.requirement("PM-9")
class TestTheRecord:
    @pytest.mark.parametrize("table", ["audit", "events"])
    @pytest.mark.parametrize(
        "sql",
        [
            "UPDATE {} SET at='never'",
            "DELETE FROM {}",
            "DELETE FROM {} WHERE seq=1",
            "UPDATE {} SET run_id=NULL WHERE seq=1",
            "INSERT OR REPLACE INTO {} SELECT * FROM {} WHERE seq=1",
        ],
    )
    def test_can_only_grow(self, database: Database, path: str, table: str, sql: str) -> None:
        with database:
            database.audit(run_of(database), "host", "start")
            database.event(run_of(database), "PlanStarted", {"goal": "x"})
        before = content(path)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            database.connection.execute(sql.format(table, table))
        assert content(path) == before

    def test_is_read_in_the_order_in_which_it_was_written(self, database: Database) -> None:
        run = run_of(database)
        with database:
            for number in range(5):
                database.audit(run, "host", f"a{number}", before="x", after="y", digest="d" * 64)
        rows = database.audit_rows(run)
        assert [r["action"] for r in rows] == [f"a{n}" for n in range(5)]
        assert [r["seq"] for r in rows] == sorted(r["seq"] for r in rows)
        assert (rows[0]["from_state"], rows[0]["to_state"], rows[0]["digest"]) == (
            "x",
            "y",
            "d" * 64,
        )


@pytest.mark.requirement("PL-20")
class TestRoundTrips:
    def test_a_run_is_found_by_its_state_directory_and_status(self, database: Database) -> None:
        run = run_of(database)
        assert {name: getattr(run, name) for name in RUN} == RUN
        assert (run.revision, run.digest, run.commit_id) == (1, None, None)
        assert [r.run_id for r in database.runs("ACTIVE", "PAUSED")] == [RUN["run_id"]]
        assert database.runs("COMPLETED") == []
        assert database.run_at("/elsewhere") is None

    def test_two_runs_cannot_share_a_state_directory(self, database: Database) -> None:
        def twice() -> None:
            with database:
                database.add_run({**RUN, "run_id": "other"})

        assert refusal(twice)
        assert len(database.runs()) == 1

    def test_a_phase_begins_at_its_first_round_and_is_kept_by_revision(
        self, database: Database
    ) -> None:
        run = run_of(database)
        assert database.phase(run, "plan-code") == ("INITIAL", 1)
        with database:
            database.set_phase(run, "plan-code", "RETRY", 2)
            database.set_phase(run, "plan-code", "RETRY", 3)
        assert database.phase(run, "plan-code") == ("RETRY", 3)
        assert database.phase(run, "plan-docs") == ("INITIAL", 1)
        with database:
            database.set_run(run.run_id, revision=2)
        assert database.phase(run_of(database), "plan-code") == ("INITIAL", 1)

    def test_outcomes_come_back_in_order_with_their_items(self, database: Database) -> None:
        run = run_of(database)
        wanted = []
        with database:
            for iteration in (1, 2):
                row = {
                    "verdict": "fail", "computed": "pass", "decided_by": "host", "reason": "räson",
                    "items": [{"id": f"qa-00{iteration}", "finding": None}],
                }  # fmt: skip
                database.add_outcome(run, "plan-code", iteration, row)
                wanted.append({**row, "iteration": iteration})
        found = database.outcomes(run, "plan-code")
        assert [{k: row[k] for k in wanted[0]} for row in found] == wanted
        assert database.outcomes(run, "plan-docs") == []

    @given(st.lists(st.text(max_size=10), max_size=4), st.text(max_size=20), st.text(max_size=20))
    @settings(max_examples=examples(40))
    def test_any_text_comes_back_as_it_was(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        choices: list[str],
        checkpoint: str,
        text: str,
    ) -> None:
        path = str(tmp_path_factory.getbasetemp() / "texts.db")
        database = Database(path, create=True)
        if not database.runs():
            with database:
                database.add_run(RUN)
        run = run_of(database)
        with database:
            database.answer(run, checkpoint, choices)
            database.audit(run, text, text, detail=text)
            database.set_run(run.run_id, request=text)
        assert database.answers(run)[checkpoint] == choices
        assert database.audit_rows(run)[-1]["detail"] == text
        assert run_of(database).request == text
        database.close()

    def test_confirmations_approvals_and_deviations_are_remembered(
        self, database: Database
    ) -> None:
        run = run_of(database)
        assert not database.is_confirmed("h")
        assert not database.is_approved(run, "d")
        assert not database.accept_deviation(run, "a.py", "why")
        with database:
            database.confirm("h", "make")
            database.confirm("h", "make again")
            database.approve(run, "d", "person", "terminal")
            database.approve(run, "d", "person", "terminal")
            database.deviate(run, "a.py", "M-001", "mine")
        assert database.is_confirmed("h")
        assert database.is_approved(run, "d")
        assert not database.is_approved(run, "e")
        assert database.deviations(run) == {"a.py": False}
        with database:
            assert database.accept_deviation(run, "a.py", "why")
            database.accept(run, "plan-code", "check", "M-001", "as it is")
        assert database.deviations(run) == {"a.py": True}
        assert database.accepted(run, "plan-code") == {("plan-code", "check", "M-001"): "as it is"}
        assert database.accepted(run, "plan-docs") == {}

    def test_the_mode_of_an_agent_is_kept_and_changed_by_name(self, database: Database) -> None:
        assert database.planning("a") is None
        with database:
            database.set_planning("a", phase="gathering", task_description="ä", **LIMITS)
            database.set_planning("b", phase="inactive", **LIMITS)
            database.set_planning("a", reason="why")
        row = database.planning("a")
        assert row is not None
        assert (row.phase, row.task_description, row.reason) == ("gathering", "ä", "why")
        assert (row.run_id, row.revision, row.paused_at) == (None, 0, None)
        assert [r.agent_name for r in database.planning_live()] == ["a"]

    @pytest.mark.parametrize("values", [{"phase": "asleep"}, {"on_timeout": "forget"}])
    def test_a_mode_that_there_is_not_is_refused(
        self, database: Database, values: dict[str, object]
    ) -> None:
        def write() -> None:
            with database:
                database.set_planning("a", **{"phase": "inactive", **LIMITS, **values})

        assert refusal(write)[0].kind == "conflict"

    def test_stage_and_status_are_no_columns_to_set_by_themselves(self, database: Database) -> None:
        for values in ({"stage": "executing"}, {"status": "PAUSED"}):
            with pytest.raises(ValueError, match="move_run"), database:
                database.set_run(RUN["run_id"], **values)

    def test_what_comes_after_a_commit_comes_only_then(self, database: Database) -> None:
        done: list[bool] = []
        with database:
            database.after_commit(lambda: done.append(database.connection.in_transaction))
            assert done == []
        assert done == [False]

        def fail() -> None:
            with database:
                database.after_commit(lambda: done.append(True))
                raise Refused("refused", "x", "y")

        assert refusal(fail)
        with database:
            database.event(run_of(database), "x", {})
        assert done == [False]

    def test_the_audit_can_be_read_from_a_row_on_and_for_everything(
        self, database: Database
    ) -> None:
        run = run_of(database)
        with database:
            database.audit(run, "host", "one")
            database.audit(None, "host", "two", agent="a", at="2026-01-02T03:04:05Z")
        assert [r["action"] for r in database.audit_rows(run)] == ["one"]
        first, second = database.audit_rows(None)
        assert (second["run_id"], second["agent"], second["at"][:4]) == (None, "a", "2026")
        assert database.audit_rows(None, first["seq"]) == [second]

    def test_a_step_done_again_is_recorded_once(self, database: Database) -> None:
        run = run_of(database)
        with database:
            database.add_steps(run, "planner", [(1, "plan-init")], "script")
            database.add_steps(run, "planner", [(1, "plan-init")], "host")
        rows = database.connection.execute("SELECT done_by FROM steps").fetchall()
        assert [row[0] for row in rows] == ["host"]


class TestDamage:
    def test_where_there_is_no_database_none_is_made_unasked(self, path: str) -> None:
        (problem,) = refusal(Database, path)
        assert problem.kind == "not_found"
        assert not os.path.exists(path)

    @pytest.mark.parametrize(
        "data",
        [b"not a database at all" * 100, b"\0" * 8192, b"SQLite format 3\0" + b"\xff" * 4096],
    )
    def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
        self, path: str, data: bytes
    ) -> None:
        Path(path).write_bytes(data)
        (problem,) = refusal(Database, path)
        assert problem.kind == "invalid"
        assert "was not changed" in problem.problem
        assert Path(path).read_bytes() == data

    def test_the_database_of_another_program_is_refused_and_left_as_it_is(self, path: str) -> None:
        for sql in ("CREATE TABLE theirs (x)", "PRAGMA user_version=1"):
            other = sqlite3.connect(path)
            other.execute(sql)
            other.commit()
            other.close()
            before = Path(path).read_bytes()
            assert "not a database of the planner" in refusal(Database, path)[0].problem
            assert Path(path).read_bytes() == before

    def test_a_missing_table_is_refused_when_it_is_needed(self, database: Database) -> None:
        database.connection.execute("DROP TABLE phases")
        (problem,) = refusal(database.phase, run_of(database), "plan-code")
        assert problem.kind == "invalid"

    def test_a_folder_in_its_place_is_refused(self, path: str) -> None:
        Path(path).mkdir()
        assert refusal(Database, path)
        with pytest.raises(Refused):
            Database(path, create=True)

    def test_a_folder_that_is_gone_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(Refused):
            Database(str(tmp_path / "none" / "planner.db"), create=True)

    def test_a_name_that_is_no_text_any_more_is_refused(
        self, database: Database, path: str
    ) -> None:
        """SQLite names the broken table in bytes that Python cannot decode."""
        database.close()
        whole = Path(path).read_bytes()
        damaged = whole.replace(b"tablerunsruns", b"table\x80unsruns")
        Path(path).write_bytes(damaged.replace(b"CREATE TABLE runs (", b"CREATE TABLE (uns ("))
        (problem,) = refusal(Database, path)
        assert problem.kind == "invalid"

    @given(st.data())
    @settings(max_examples=examples(80))
    def test_any_damage_is_read_or_refused(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        folder = tmp_path_factory.getbasetemp() / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / "planner.db"
        made = Database(str(path), create=True)
        with made:
            made.add_run(RUN)
            for number in range(30):
                made.audit(run_of(made), "host", "x", detail=f"{number}" * 200)
        made.close()
        whole = bytearray(path.read_bytes())
        if data.draw(st.booleans()):
            del whole[data.draw(st.integers(0, len(whole))) :]
        for _ in range(data.draw(st.integers(0, 20))):
            if whole:
                whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(whole)
        opened, _ = outcome(Database, str(path))
        if opened is not None:
            found, _ = outcome(opened.run_at, RUN["state_dir"])
            if found is not None:
                outcome(opened.audit_rows, found)
                outcome(opened.phase, found, "plan-code")
                outcome(lambda: _write(opened, found))
            outcome(opened.runs)
            outcome(opened.check)
            opened.close()

    def test_check_names_what_is_broken(self, database: Database, path: str) -> None:
        with database:
            for _ in range(50):
                database.event(run_of(database), "x", {"text": "y" * 3000})
        database.close()
        data = bytearray(Path(path).read_bytes())
        data[len(data) // 2 :] = os.urandom(len(data) - len(data) // 2)
        Path(path).write_bytes(data)
        found, problems = outcome(lambda: Database(path).check())
        assert found or problems


def _write(database: Database, run: Run) -> None:
    with database:
        database.audit(run, "host", "write")
        database.set_run(run.run_id, step=1)
