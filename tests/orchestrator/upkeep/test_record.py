"""The audit log as rows, lines and a block, from a database made by hand (PM-9)."""

from __future__ import annotations

import io
import json
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from orchestrator.upkeep.audit import Record, as_json, as_line, check_terminal, render
from state.database import Database
from state.errors import Refused
from tests.journey import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.requirement("PM-9")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(str(tmp_path / "planner.db"), create=True) as made:
        made.agent = "s-1"
        yield made


def test_a_row_is_one_line_with_what_it_has(database: Database) -> None:
    database.audit(None, "user", "approve", before="submitted", after="executing",
                   digest="d" * 64, detail="ok\x1b[2J", at="T")  # fmt: skip
    database.audit(None, "host", "pause", at="T", agent="s-2")
    database.agent = ""
    database.audit(None, "host", "begin", after="gathering", at="T")
    first, second, third = Record(database, None).rows()
    assert as_line(first) == (
        "T · approve · submitted → executing · by user · digest dddddddddddd… · ok\\x1b[2J · [s-1]"
    )
    assert as_line(second) == "T · pause · by host · [s-2]"
    assert as_line(third).startswith("T · begin ·  → gathering · by host")
    data = json.loads(as_json(first))
    assert (data["from"], data["to"], data["who"]) == ("submitted", "executing", "user")
    assert "from_state" not in data
    assert "\n" not in as_json(first)


def test_a_log_that_is_long_shows_its_newest_part_and_says_so(database: Database) -> None:
    assert "Nothing is recorded yet." in render(Record(database, None))
    for number in range(3):
        database.audit(None, "host", f"action-{number}")
    block = Answer(0, render(Record(database, None)), "").block
    assert block.find("task") is None
    assert [line.split(" · ")[1] for line in (block.findtext("data") or "").splitlines()] == [
        "action-0", "action-1", "action-2"
    ]  # fmt: skip
    for number in range(3, 60):
        database.audit(None, "host", f"action-{number}", detail="x" * 1000)
    block = Answer(0, render(Record(database, None)), "").block
    lines = (block.findtext("data") or "").splitlines()
    assert "action-59" in lines[-1]
    assert 1 < len(lines) < 60
    task = f"The newest {len(lines)} of 60 rows; all: planner audit --json"
    assert block.findtext("task") == task


def test_a_log_that_is_followed_yields_each_row_once(database: Database) -> None:
    waited = []

    def wait() -> None:
        waited.append(1)
        database.audit(None, "host", f"late-{len(waited)}")

    database.audit(None, "host", "early")
    seen = [row["action"] for row in islice(Record(database, None).grow(wait), 4)]
    assert seen == ["early", "late-1", "late-2", "late-3"]
    assert [r["action"] for r in Record(database, None).rows(after=2)] == ["late-2", "late-3"]


def test_nobody_follows_a_log_without_a_terminal() -> None:
    with pytest.raises(Refused) as refused:
        check_terminal(io.StringIO())
    [problem] = refused.value.problems
    assert (problem.kind, problem.at) == ("usage", "--follow")
    assert problem.retry == "planner audit --json"
