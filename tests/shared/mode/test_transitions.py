"""Any sequence of actions by any agents, with races, restarts and a clock of its own (PM-1, PM-8).

The model is a dictionary; the program is asked through several connections to one real database.
"""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from shared.mode import limits as mode
from shared.mode import sessions, transitions
from shared.resources import sessions_path
from state.clock import moment
from state.database import Database
from state.errors import Refused
from state.stages import ACTIONS, READ_ONLY
from tests.forms import examples
from tests.state.test_stages import STATUS_STAGES

ROOT = Path(__file__).resolve().parents[3]
AGENTS = ("s-1", "s-2", "s-3")
RUNS = ("run-1", "run-2")
# What a command may do to a run that has begun, or to an agent that plans without one.
STEPS = sorted(set(ACTIONS) - {"enter", "adopt", "revert"})
LIGHT_STEPS = sorted(set(STEPS) - {"revise"})


def test_an_action_of_a_plan_without_a_run_is_refused_to_a_session_with_one(
    tmp_path: Path,
) -> None:
    database = Database(str(tmp_path / "planner.db"), create=True)
    with database:
        database.add_run({
            "run_id": "run-1", "request": "x", "repository": "/r", "state_dir": "/r/x",
            "depth": "full", "status": "IDLE", "stage": "inactive", "workflow": "planner",
            "step": 1,
        })  # fmt: skip
        transitions.change_run(database, database.runs()[0], "enter", "host")
        transitions.bind(database, database.runs()[0], "s-1", mode.columns({}))
    with pytest.raises(Refused, match="part of the run run-1"), database:
        transitions.change_agent(database, "s-1", "submit", "host")
    row = database.planning("s-1")
    assert row is not None
    assert row.phase == "gathering"


def follow(stage: str, status: str, action: str) -> tuple[str, str] | None:
    """Return stage and status after an action; None where the table does not hold it."""
    sources, to, led = ACTIONS[action]
    return (led[stage], to) if status in sources and stage in led else None


class Modes(RuleBasedStateMachine):
    """Two runs, three agents, one database; `self.runs` and `self.agents` are the model."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        shutil.rmtree(sessions_path(), ignore_errors=True)
        self.path = f"{self.folder}/planner.db"
        self.connections = [Database(self.path, create=True) for _ in range(2)]
        # Far ahead of the real one, since the files of sessions bear real times, and a disk that
        # others use makes an example take minutes.
        self.now = time.time() + 86_400
        self.runs: dict[str, dict[str, Any]] = {}
        self.agents: dict[str, dict[str, Any]] = {}

    def teardown(self) -> None:
        for database in self.connections:
            database.close()
        # Else another example's thread may be the one that collects what this one opened.
        self.connections.clear()
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        database = self.connections[0]
        for name in RUNS:
            with database:
                database.add_run({
                    "run_id": name, "request": "x", "repository": "/r", "depth": "full",
                    "state_dir": f"/r/{name}", "status": "IDLE", "stage": "inactive",
                    "workflow": "planner", "step": 1,
                })  # fmt: skip
            self.runs[name] = {"stage": "inactive", "status": "IDLE"}

    # the model

    def bound(self, run: str) -> list[dict[str, Any]]:
        return [a for a in self.agents.values() if a["run"] == run]

    def move(self, moved: list[dict[str, Any]], stage: str, status: str, action: str) -> None:
        for one in moved:
            one.update(stage=stage, status=status)
            if action in ("enter", "submit", "revise", "approve", "resume"):
                one["seen"] = moment(self.now)
            if stage == "submitted" and action in ("submit", "resume"):
                one["submitted"] = moment(self.now)

    def overdue(self, agent: dict[str, Any]) -> bool:
        since = agent["seen"] if agent["stage"] == "gathering" else agent["submitted"]
        limit_s = agent["limit_s"] // (1 if agent["stage"] == "gathering" else 2)
        waits = agent["stage"] in READ_ONLY and agent["status"] == "ACTIVE"
        return waits and str(since) <= moment(self.now - limit_s)

    # what happens

    @rule(minutes=st.integers(1, 90))
    def time_passes(self, minutes: int) -> None:
        self.now += 60 * minutes

    @rule(which=st.integers(0, 1))
    def the_program_starts_again(self, which: int) -> None:
        self.connections[which].close()
        self.connections[which] = Database(self.path)

    @rule(
        run=st.sampled_from(RUNS), agent=st.sampled_from(AGENTS), which=st.integers(0, 1),
        limit_s=st.sampled_from((600, 3_600)), on=st.sampled_from(("pause", "cancel")),
    )  # fmt: skip
    def an_agent_joins_a_run(self, run: str, agent: str, which: int, limit_s: int, on: str) -> None:
        database, known = self.connections[which], self.runs[run]
        row, before = database.run(run), self.agents.get(agent)
        assert row is not None
        limits = {
            "gathering_timeout_s": limit_s, "approval_timeout_s": limit_s // 2, "on_timeout": on,
        }  # fmt: skip
        idle = known["status"] == "IDLE"
        stage = "gathering" if idle else known["stage"]
        there = before is not None and before["run"] == run and before["stage"] == stage
        escapes = before is not None and before["stage"] in READ_ONLY and stage not in READ_ONLY
        refused = not there and (stage == "inactive" or escapes)
        try:
            with database:
                if idle:
                    transitions.change_run(database, row, "enter", "host", at=moment(self.now))
                transitions.bind(database, row, agent, limits, moment(self.now))
        except Refused:
            assert refused
            return
        assert not refused
        if idle:
            known.update(stage="gathering", status="ACTIVE")
            self.move(self.bound(run), "gathering", "ACTIVE", "enter")
        if not there:
            at = moment(self.now)
            self.agents[agent] = {
                **known, "run": run, "limit_s": limit_s, "on": on, "seen": at, "submitted": at,
            }  # fmt: skip

    @rule(agent=st.sampled_from(AGENTS), which=st.integers(0, 1))
    def an_agent_enters_without_a_run(self, agent: str, which: int) -> None:
        known = self.agents.get(agent)
        at = moment(self.now)
        limits = mode.columns({})
        try:
            with self.connections[which] as database:
                transitions.change_agent(
                    database, agent, "enter", "host", at=at, run_id=None, **limits
                )
        except Refused:
            assert known is not None
            assert known["stage"] != "inactive"
            return
        assert known is None or known["stage"] == "inactive"
        self.agents[agent] = {
            "stage": "gathering", "status": "ACTIVE", "run": None, "limit_s": 3_600, "on": "pause",
            "seen": at, "submitted": at,
        }  # fmt: skip

    @rule(run=st.sampled_from(RUNS), action=st.sampled_from(STEPS), which=st.integers(0, 1))
    def a_command_moves_a_run(self, run: str, action: str, which: int) -> None:
        known = self.runs[run]
        wanted = follow(known["stage"], known["status"], action)
        done = self.act_on_run(self.connections[which], run, action)
        assert done == (wanted is not None)
        if wanted is not None:
            known.update(stage=wanted[0], status=wanted[1])
            self.move(self.bound(run), *wanted, action)

    def act_on_run(self, database: Database, run: str, action: str) -> bool:
        row = database.run(run)
        assert row is not None
        while True:
            try:
                with database:
                    transitions.change_run(database, row, action, "x", at=moment(self.now))
            except Refused as refusal:
                if refusal.problems[0].kind != "locked":
                    return False
            else:
                return True

    @rule(agent=st.sampled_from(AGENTS), action=st.sampled_from(LIGHT_STEPS))
    def a_command_moves_an_agent(self, agent: str, action: str) -> None:
        known = self.agents.get(agent, {"stage": "inactive", "status": "IDLE", "run": None})
        idle = known["stage"] == "inactive"
        wanted = follow(known["stage"], "IDLE" if idle else known["status"], action)
        wanted = None if idle or known["run"] else wanted
        if idle:
            return
        try:
            with self.connections[0] as database:
                transitions.change_agent(database, agent, action, "x", at=moment(self.now))
        except Refused:
            assert wanted is None
            return
        assert wanted is not None
        self.move([known], *wanted, action)

    @rule(agent=st.sampled_from(AGENTS), which=st.integers(0, 1))
    def somebody_looks_at_the_clock(self, agent: str, which: int) -> None:
        known = self.agents.get(agent)
        shown, passed = mode.row_at(self.connections[which], agent, self.now)
        said = mode.settle(self.connections[which], agent, self.now)
        stored = self.connections[which].planning(agent)
        assert bool(passed) == bool(said)
        assert [shown and getattr(shown, name) for name in ("phase", "paused_at")] == [
            stored and getattr(stored, name) for name in ("phase", "paused_at")
        ]
        group = [known] if known and known["run"] is None else []
        if known and known["run"]:
            group = self.bound(known["run"])
        waits = known is not None and known["stage"] in READ_ONLY and known["status"] == "ACTIVE"
        late = waits and all(self.overdue(one) for one in group)
        assert bool(said) == late
        if late and known:
            wanted = follow(known["stage"], known["status"], known["on"])
            assert wanted is not None
            if known["run"]:
                self.runs[known["run"]].update(stage=wanted[0], status=wanted[1])
            self.move(group, *wanted, known["on"])

    # Who wins differs from time to time: no draw may depend on what a run has become.
    @rule(run=st.sampled_from(RUNS), actions=st.tuples(*[st.sampled_from(STEPS)] * 2))
    def two_commands_race(self, run: str, actions: tuple[str, str]) -> None:
        known = self.runs[run]
        if known["stage"] == "inactive":
            return
        done = self.at_once(run, actions)
        orders = [[0, 1], [1, 0]]
        for order in orders:
            at: tuple[str, str] = (known["stage"], known["status"])
            expected = [False, False]
            steps = []
            for index in order:
                to = follow(*at, actions[index])
                if to is not None:
                    at, expected[index] = to, True
                    steps.append((to, actions[index]))
            row = self.connections[0].run(run)
            assert row is not None
            if expected == done and at == (row.stage, row.status):
                for to, action in steps:
                    known.update(stage=to[0], status=to[1])
                    self.move(self.bound(run), *to, action)
                return
        raise AssertionError(f"{actions} gave {done}, as no order of them does")

    def at_once(self, run: str, actions: tuple[str, str]) -> list[bool]:
        done = [False] * len(actions)
        barrier = threading.Barrier(len(actions))

        def act(index: int) -> None:
            database = Database(self.path)
            barrier.wait()
            done[index] = self.act_on_run(database, run, actions[index])
            database.close()

        threads = [threading.Thread(target=act, args=(n,)) for n in range(len(actions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return done

    # what always holds

    @invariant()
    def the_database_is_as_the_model(self) -> None:
        database = self.connections[0]
        for name, known in self.runs.items():
            run = database.run(name)
            assert run is not None
            assert (run.stage, run.status) == (known["stage"], known["status"])
            assert run.stage in STATUS_STAGES[run.status]
            assert {row.phase for row in database.planning_of(name)} <= {run.stage}
        for name, known in self.agents.items():
            row = database.planning(name)
            assert row is not None
            assert (row.phase, row.run_id) == (known["stage"], known["run"])
            if row.phase != "inactive":
                assert transitions.status_of(row) == known["status"]

    @invariant()
    def hooks_find_just_those_who_plan(self) -> None:
        for name, known in self.agents.items():
            assert sessions.is_published(name) == (known["stage"] != "inactive")

    @invariant()
    def the_audit_is_one_unbroken_story(self) -> None:
        for name in self.runs:
            run = self.connections[1].run(name)
            assert run is not None
            rows = self.connections[1].audit_rows(run)
            moves = [r for r in rows if r["action"] != "bind"]
            ends = [r["to_state"] for r in moves]
            assert [r["from_state"] for r in moves[1:]] == ends[:-1]


@pytest.mark.slow
@pytest.mark.requirement("PM-1", "PM-8", "PM-9", "PM-14")
def test_any_sequence_of_actions_leaves_what_the_model_says() -> None:
    gc.collect()  # what earlier tests left open would be closed by a thread that did not open it
    run_state_machine_as_test(
        Modes,
        settings=settings(
            max_examples=examples(40),
            stateful_step_count=25,
            suppress_health_check=list(HealthCheck),
        ),
    )


RACE = """
import sys
sys.path.insert(0, sys.argv[1])
from shared import stages
from state.database import Database
from state.errors import Refused

database = Database(sys.argv[2])
run = database.runs()[0]
for action in sys.argv[3:]:
    try:
        with database:
            stages.change_run(database, run, action, "x")
        print(action)
    except Refused:
        pass
"""


@pytest.mark.requirement("PM-1", "PM-9")
def test_of_processes_that_answer_at_once_one_is_heard(tmp_path: Path) -> None:
    path = str(tmp_path / "planner.db")
    database = Database(path, create=True)
    with database:
        database.add_run({
            "run_id": "r", "request": "x", "repository": "/r", "state_dir": "/r/x",
            "depth": "full", "status": "IDLE", "stage": "inactive", "workflow": "planner",
            "step": 1,
        })  # fmt: skip
        run = database.runs()[0]
        transitions.change_run(database, run, "enter", "host")
        transitions.bind(database, run, "s-1", mode.columns({}))
        transitions.change_run(database, run, "submit", "host")
    command = [sys.executable, "-S", "-c", RACE, str(ROOT), path]
    answers = ("approve", "reject", "cancel", "approve", "reject", "pause")
    started = [
        subprocess.Popen([*command, answer], stdout=subprocess.PIPE, text=True)
        for answer in answers
    ]
    said = [process.communicate()[0] for process in started]
    rows = database.audit_rows(run)[3:]
    assert sorted("".join(said).split()) == sorted(row["action"] for row in rows)
    states = ["submitted", *(row["to_state"] for row in rows)]
    assert [row["from_state"] for row in rows] == states[:-1]
    assert sum(row["action"] in ("approve", "reject") for row in rows) <= 1
    row = database.planning("s-1")
    ended = database.run("r")
    assert row is not None
    assert ended is not None
    assert row.phase == ended.stage
