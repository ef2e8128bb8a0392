"""Keep what waits in a queue as a template of several plans, for any repository (PC-15)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from orchestrator.folders import make_folder
from orchestrator.queue import waiting
from orchestrator.queue.enqueue import add_all
from shared import resources
from state.errors import Refused
from state.files import Lock, read_json, write_json

if TYPE_CHECKING:
    from state.database import Database

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_SLOT = re.compile(r"\{\{([a-z0-9_]+)\}\}")
_FORM = '[{"request": "Release {{version}}", "priority": 0, "after": []}, …]'


def save(database: Database, name: str, slots: dict[str, str]) -> str:
    """Keep what waits in the queue as a template; return its file. Each slot's value is replaced.

    A template of the same name is replaced too.
    """
    path = _path(name)
    rows = [place.row for place in waiting.places(database) if place.run is None]
    rows.sort(key=lambda row: row.number)
    if not rows:
        text = "nothing waits in the queue, so there is nothing to keep"
        raise Refused("not_found", "queue", text, 'planner queue add "TEXT"', "planner queue list")
    number = {row.id: n for n, row in enumerate(rows, 1)}
    entries = [
        {"request": _with_slots(row.request, slots), "priority": row.priority,
         "after": [number[one] for one in row.after if one in number]}
        for row in rows
    ]  # fmt: skip
    folder = os.path.dirname(path)
    make_folder(folder)
    with Lock(resources.lock_path(folder), "template save"):
        write_json(path, entries)
    return path


def use(folder: str, name: str, values: dict[str, str]) -> list[str]:
    """Add the plans of a template to the queue, all or none; return their ids."""
    entries = load(name)
    wanted = {slot for entry in entries for slot in _SLOT.findall(entry["request"])}
    if wanted != values.keys():
        text = f"the template {name} has the slots {', '.join(sorted(wanted)) or '(none)'}"
        options = [word for slot in sorted(wanted) for word in ("--set", f"{slot}=VALUE")]
        retry = resources.command("template", "use", name, *options)
        raise Refused("invalid", "--set", text, "give each of them once, and no other", retry)
    for entry in entries:
        entry["request"] = _SLOT.sub(lambda found: values[found[1]], entry["request"])
    return add_all(folder, entries)


def load(name: str) -> list[dict[str, Any]]:
    """Return the plans of a template; Refused if there is none, or if its file was damaged."""
    path = _path(name)
    if not os.path.isfile(path):
        allowed = ", ".join(names()) or "there is none yet"
        raise Refused("not_found", name, "there is no such template", allowed)
    entries = read_json(path)
    if not isinstance(entries, list) or not all(
        _is_entry(entry, n) for n, entry in enumerate(entries)
    ):
        raise Refused("invalid", path, "this is not a template of plans", f"write {_FORM}")
    return entries


def names() -> list[str]:
    """Return the names of the user's templates."""
    folder = os.path.dirname(resources.template_path(""))
    try:
        files = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(f.removesuffix(".json") for f in files if f.endswith(".json"))


def _is_entry(entry: object, before: int) -> bool:
    """Return whether a row of a template is a plan that comes after earlier ones alone."""
    if not isinstance(entry, dict) or entry.keys() != {"request", "priority", "after"}:
        return False
    request, after = entry["request"], entry["after"]
    return (
        isinstance(request, str) and bool(request.strip()) and type(entry["priority"]) is int
        and isinstance(after, list) and all(type(n) is int and 0 < n <= before for n in after)
    )  # fmt: skip


def _with_slots(text: str, slots: dict[str, str]) -> str:
    for name, value in slots.items():
        text = text.replace(value, f"{{{{{name}}}}}")
    return text


def _path(name: str) -> str:
    if not _NAME.fullmatch(name):
        text = f"{name!r} is not a name of a template"
        raise Refused("invalid", "NAME", text, "small letters, digits and dashes, at most 41")
    return resources.template_path(name)
