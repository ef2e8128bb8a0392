"""Add plans to the queue of a repository, one or all of a template, and remove them (PC-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.folders import make_planner_folder
from orchestrator.queue.waiting import LIST, places
from shared.git.readiness import check_startable
from shared.git.repository import exclude_planner, find_repository
from shared.mode.where import database_path
from state.actors import HOST
from state.database import Database
from state.errors import Refused
from state.plain_json import check_value

if TYPE_CHECKING:
    from collections.abc import Sequence


def add(folder: str, request: str, priority: int, after: Sequence[str]) -> str:
    """Add a request to the queue; return its id. Repeated while it waits, it stays one."""
    text = request.strip()
    problems = [*check_startable(folder), *check_value("TEXT", text)]
    if problems:
        raise Refused.of(problems)
    if not text:
        raise Refused("usage", "TEXT", "there is no request", "say what is to be planned")
    with _database(folder) as database:
        _check_known(database, after)
        for place in places(database):
            row = place.row
            if not place.run and (row.request, row.priority, row.after) == (
                text, priority, [*after],
            ):  # fmt: skip
                return row.id
        return _added(database, text, priority, after)


def remove(database: Database, name: str) -> list[str]:
    """Take a request off the queue; return those that waited for it. A run of it goes on.

    Repeated, it changes nothing.
    """
    with database:
        if name in _removed(database):
            return []
        _check_known(database, [name])
        database.audit(None, HOST, "queue remove", detail=name)
        return database.dequeue(name)


def add_all(folder: str, entries: Sequence[dict[str, Any]]) -> list[str]:
    """Add the plans of a template, all or none; `after` are their numbers in it, from 1.

    Repeated while all of them wait, they stay as they are.
    """
    problems = [p for entry in entries for p in check_value("request", entry["request"])]
    problems += check_startable(folder)
    if problems:
        raise Refused.of(problems)
    names: list[str] = []
    with _database(folder) as database:
        if there := _all_waiting(database, entries):
            return there
        for entry in entries:
            after = [names[number - 1] for number in entry["after"]]
            names.append(_added(database, entry["request"], entry["priority"], after))
    return names


def _all_waiting(database: Database, entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return the ids of a template's plans if all of them wait in the queue; else none."""
    waiting = sorted((p.row for p in places(database) if not p.run), key=lambda row: row.number)
    names: list[str] = []
    for entry in entries:
        after = [names[number - 1] for number in entry["after"]]
        wanted = (entry["request"], entry["priority"], after)
        same = (row.id for row in waiting if (row.request, row.priority, row.after) == wanted)
        name = next((one for one in same if one not in names), None)
        if name is None:
            return []
        names.append(name)
    return names


def _removed(database: Database) -> set[str]:
    """Return the ids that were taken off the queue; none is ever given again."""
    rows = database.audit_rows(None)
    return {row["detail"] for row in rows if row["action"] == "queue remove"}


def _added(database: Database, request: str, priority: int, after: Sequence[str]) -> str:
    name = database.enqueue(request, priority, after)
    database.audit(None, HOST, "queue add", detail=f"{name}: {request}")
    return name


def _check_known(database: Database, names: Sequence[str]) -> None:
    known = [row.id for row in database.queued()]
    for name in names:
        if name not in known:
            allowed = ", ".join(known) or "the queue is empty"
            raise Refused("not_found", name, "the queue has no such plan", allowed, LIST)


def _database(folder: str) -> Database:
    """Open the database of a repository, made if there is none."""
    repository = find_repository(folder)
    make_planner_folder(repository.root)
    exclude_planner(repository)
    return Database(database_path(folder), create=True)
