"""The tables of planning mode: stages, actions, statuses, time limits (PM-1, PM-2, PM-8)."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.clock import moment
from state.database import Planning
from state.errors import Refused
from state.stages import (
    ACTIONS,
    ACTIVE,
    CANCELLED,
    COMPLETED,
    EXECUTING,
    GATHERING,
    IDLE,
    INACTIVE,
    PAUSED,
    READ_ONLY,
    STAGES,
    SUBMITTED,
    after,
    overdue,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "mode.md"
NOON = 1_767_225_600.0
# Which stages a run's status goes with; what the actions above can lead to, and nothing else.
STATUS_STAGES = {
    IDLE: (INACTIVE,),
    ACTIVE: (GATHERING, SUBMITTED, EXECUTING),
    PAUSED: (GATHERING, SUBMITTED, EXECUTING),
    COMPLETED: (INACTIVE,),
    CANCELLED: (INACTIVE,),
}


def render_actions() -> str:
    """Return the table of actions as docs/mode.md has it."""
    rows = []
    for action, (sources, to, stages) in ACTIONS.items():
        cells = " | ".join(stages.get(stage, "") for stage in STAGES)
        rows.append(f"| {action} | {cells} | {', '.join(sources)} → {to} |\n")
    return "".join(rows)


def render_statuses() -> str:
    """Return the table of statuses as docs/mode.md has it."""
    rows = (f"| {status} | {', '.join(stages)} |\n" for status, stages in STATUS_STAGES.items())
    return "".join(rows)


def row(**values: object) -> Planning:
    """Return a row as the database gives it."""
    blank: dict[str, Any] = dict.fromkeys(Planning.__slots__)
    limits = {"gathering_timeout_s": 3_600, "approval_timeout_s": 1_800, "on_timeout": "pause"}
    columns = {**blank, **limits, **values}
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    names = ", ".join(f"? AS {name}" for name in columns)
    found = connection.execute(f"SELECT {names}", tuple(columns.values())).fetchone()
    connection.close()
    return Planning(found)


@pytest.mark.requirement("PM-1")
class TestTheTables:
    def test_lead_from_a_pair_of_status_and_stage_only_to_such_a_pair(self) -> None:
        found = {("IDLE", INACTIVE)}
        while True:
            led = set(found)
            for (status, stage), action in itertools.product(found, ACTIONS):
                if status in ACTIONS[action][0] and stage in ACTIONS[action][2]:
                    to, status_to = after(stage, status, action)
                    led.add((status_to, to))
            if led == found:
                break
            found = led
        assert found == {(s, stage) for s, stages in STATUS_STAGES.items() for stage in stages}

    def test_are_those_of_the_document(self) -> None:
        text = DOCUMENT.read_text(encoding="utf-8")
        assert f"|---|---|---|---|---|---|\n{render_actions()}\n" in text
        assert f"|---|---|\n{render_statuses()}\n" in text

    def test_let_nothing_but_an_approval_lead_out_of_what_is_read_only(self) -> None:
        ways = {
            (action, to)
            for action, (_, _, stages) in ACTIONS.items()
            for stage, to in stages.items()
            if stage in READ_ONLY and to not in READ_ONLY
        }
        assert ways == {("approve", EXECUTING), ("reject", INACTIVE), ("cancel", INACTIVE)}

    @pytest.mark.parametrize("action", ACTIONS)
    def test_refuse_what_they_do_not_hold_and_say_what_is_possible(self, action: str) -> None:
        sources, to, stages = ACTIONS[action]
        for status, stage in itertools.product(STATUS_STAGES, STAGES):
            if status in sources and stage in stages:
                assert after(stage, status, action) == (stages[stage], to)
                continue
            with pytest.raises(Refused) as refused:
                after(stage, status, action)
            (problem,) = refused.value.problems
            assert problem.kind == "conflict"
            assert action not in problem.allowed.split(", ")


@pytest.mark.requirement("PM-8")
class TestATimeLimit:
    @pytest.mark.parametrize(
        ("stage", "column", "limit_s"),
        [(GATHERING, "last_tool_at", 3_600), (SUBMITTED, "submitted_at", 1_800)],
    )
    def test_passes_at_its_second_and_not_before(
        self, stage: str, column: str, limit_s: int
    ) -> None:
        waiting = row(phase=stage, **{column: moment(NOON)})
        assert not overdue(waiting, NOON + limit_s - 1)
        text = overdue(waiting, NOON + limit_s)
        assert f"for {limit_s // 60} minutes" in text
        assert moment(NOON) in text

    def test_of_gathering_begins_anew_with_every_call_of_a_tool(self) -> None:
        waiting = row(phase=GATHERING, gathering_start=moment(NOON))
        assert overdue(waiting, NOON + 3_600)
        assert not overdue(waiting, NOON + 3_600, last_call=NOON + 1)
        later = row(phase=GATHERING, gathering_start=moment(NOON), last_tool_at=moment(NOON + 60))
        assert not overdue(later, NOON + 3_600)

    def test_of_an_answer_is_not_lengthened_by_the_assistant(self) -> None:
        waiting = row(phase=SUBMITTED, submitted_at=moment(NOON), last_tool_at=moment(NOON + 1_700))
        assert overdue(waiting, NOON + 1_800, last_call=NOON + 1_799)

    @given(st.sampled_from(STAGES), st.integers(0, 10**9))
    def test_never_passes_while_paused_executing_or_inactive(self, stage: str, s: int) -> None:
        times = {"gathering_start": moment(NOON), "submitted_at": moment(NOON)}
        assert not overdue(row(phase=stage, paused_at=moment(NOON), **times), NOON + s)
        if stage not in READ_ONLY:
            assert not overdue(row(phase=stage, **times), NOON + s)

    def test_statuses_without_a_run_are_idle_active_or_paused(self) -> None:
        from shared.mode.transitions import status_of

        assert status_of(row(phase=INACTIVE, paused_at=moment(NOON))) == "IDLE"
        assert status_of(row(phase=GATHERING)) == ACTIVE
        assert status_of(row(phase=GATHERING, paused_at=moment(NOON))) == "PAUSED"
