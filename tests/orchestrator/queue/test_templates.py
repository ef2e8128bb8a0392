"""The queue and its templates from a database and files made by hand (PC-14, PC-15)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.queue import templates
from orchestrator.queue.enqueue import remove
from orchestrator.queue.waiting import following, has_ready, places, waiting
from shared.resources import template_path
from state.database import Database
from tests.state.plans import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.requirement("PC-14", "PC-15")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(str(tmp_path / "planner.db"), create=True)
    with made:
        for request, priority, after in (("one", 0, []), ("two", 0, ["Q-001"]), ("three", 5, [])):
            made.enqueue(request, priority, after)
            made.audit(None, "host", "queue add")
    yield made
    made.close()


def run(database: Database, request: str, status: str) -> None:
    """Add a run that was started after the requests of the queue."""
    name = f"run of {request} {status}"
    database.add_run({
        "run_id": name, "request": request, "repository": "/repo", "state_dir": f"/{name}",
        "depth": "full", "status": status, "stage": "gathering", "workflow": "planner", "step": 1,
    })  # fmt: skip
    sql = "UPDATE runs SET created_at='9999-01-01T00:00:00Z' WHERE run_id=?"
    database.connection.execute(sql, (name,))


def lines(database: Database) -> list[str]:
    return [place.line() for place in places(database)]


def test_the_queue_is_in_the_order_of_priority_and_says_what_waits(database: Database) -> None:
    assert lines(database) == [
        "Q-003 READY three · priority 5", "Q-001 READY one", "Q-002 WAITING two · waits for Q-001"
    ]  # fmt: skip
    assert following(database, "").row.id == "Q-003"
    assert waiting(database) == lines(database)
    assert places(database)[2].to_json() == {
        "id": "Q-002", "request": "two", "priority": 0, "after": ["Q-001"], "status": "WAITING",
        "waits_for": ["Q-001"], "run": None,
    }  # fmt: skip


def test_a_run_with_its_words_is_that_of_a_request(database: Database) -> None:
    run(database, "one", "CANCELLED")
    assert lines(database)[2] == "Q-002 WAITING two · waits for Q-001 (CANCELLED)"
    run(database, "one", "ACTIVE")
    assert lines(database)[1:] == [
        "Q-001 ACTIVE one", "Q-002 WAITING two · waits for Q-001 (ACTIVE)"
    ]  # fmt: skip
    assert following(database, "").row.id == "Q-001"
    assert [line.split()[0] for line in waiting(database)] == ["Q-003", "Q-002"]


def test_what_is_completed_frees_what_waits_for_it(database: Database) -> None:
    run(database, "one", "COMPLETED")
    assert lines(database)[2] == "Q-002 READY two"
    assert has_ready(database)
    run(database, "two", "COMPLETED")
    run(database, "three", "COMPLETED")
    assert not has_ready(database)
    [problem] = refusal(following, database, "")
    assert problem.problem == "nothing waits in the queue"
    assert problem.allowed == 'planner queue add "TEXT"'


def test_where_nothing_can_start_what_waits_is_named(database: Database) -> None:
    run(database, "one", "CANCELLED")
    run(database, "three", "COMPLETED")
    [problem] = refusal(following, database, "")
    assert problem.problem == "nothing of the queue can start"
    assert problem.allowed == "Q-002 WAITING two · waits for Q-001 (CANCELLED)"


def test_what_is_removed_is_waited_for_by_nothing(database: Database) -> None:
    assert remove(database, "Q-001") == ["Q-002"]
    assert lines(database) == ["Q-003 READY three · priority 5", "Q-002 READY two"]
    assert remove(database, "Q-001") == []
    assert refusal(remove, database, "Q-009")[0].kind == "not_found"


def test_what_waits_is_kept_as_a_template_with_its_slots(database: Database) -> None:
    run(database, "three", "ACTIVE")
    path = templates.save(database, "release", {"count": "one", "next": "two"})
    assert path == template_path("release")
    assert templates.load("release") == [
        {"request": "{{count}}", "priority": 0, "after": []},
        {"request": "{{next}}", "priority": 0, "after": [1]},
    ]
    assert templates.names() == ["release"]
    [problem] = refusal(templates.use, "/repo", "release", {"count": "1"})
    assert problem.problem == "the template release has the slots count, next"
    assert problem.retry.endswith("template use release --set count=VALUE --set next=VALUE")


def test_an_empty_queue_is_no_template(tmp_path: Path) -> None:
    with Database(str(tmp_path / "planner.db"), create=True) as empty:
        [problem] = refusal(templates.save, empty, "release", {})
    assert problem.problem == "nothing waits in the queue, so there is nothing to keep"
    assert templates.names() == []


@pytest.mark.parametrize("name", ["", "A", "-a", "a/b", "a.b", "a" * 42])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    [problem] = refusal(templates.load, name)
    assert problem.problem == f"{name!r} is not a name of a template"
    assert problem.allowed == "small letters, digits and dashes, at most 41"


def test_a_template_that_there_is_not_is_refused_with_those_there_are(database: Database) -> None:
    assert refusal(templates.load, "release")[0].allowed == "there is none yet"
    templates.save(database, "a", {})
    templates.save(database, "b", {})
    assert refusal(templates.load, "release")[0].allowed == "a, b"


ENTRY = {"request": "r", "priority": 0, "after": []}


@pytest.mark.parametrize(
    "entries",
    [
        {}, [1], [{}], [{**ENTRY, "more": 1}], [{**ENTRY, "request": " "}],
        [{**ENTRY, "request": 1}], [{**ENTRY, "priority": True}], [{**ENTRY, "after": [1]}],
        [ENTRY, {**ENTRY, "after": [0]}], [ENTRY, {**ENTRY, "after": ["1"]}],
        [ENTRY, {**ENTRY, "after": 1}], [ENTRY, {**ENTRY, "after": [2]}],
    ],
)  # fmt: skip
def test_a_file_that_is_no_template_is_refused_with_the_form(entries: object) -> None:
    path = Path(template_path("release"))
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([ENTRY, {**ENTRY, "after": [1]}]))
    assert len(templates.load("release")) == 2
    path.write_text(json.dumps(entries))
    [problem] = refusal(templates.load, "release")
    assert (problem.at, problem.problem) == (str(path), "this is not a template of plans")
    assert problem.allowed.startswith('write [{"request"')
