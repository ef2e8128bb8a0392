"""Say how each assistant of this machine is set up: skill, hooks, and the rule for our commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cli.installed import contents
from cli.setup import record
from cli.setup.edits import Work
from cli.setup.hosts import HOSTS, parts_of
from cli.setup.journal import content_of
from orchestrator.upkeep.doctor import Finding
from shared import resources
from shared.mode import sessions
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator


def assistants(folder: str) -> list[Finding]:
    """Return a finding for each assistant that is found, and one if what they start is not ours.

    One that is set up for the repository around `folder` alone is examined there.
    """
    try:
        placed = record.load()
    except Refused as refusal:
        return [Finding("setup", p.problem, p.allowed) for p in refusal.problems]
    found = [one for name in _names(folder, placed) for one in _examined(name, placed)]
    if placed and any((c := content_of(p)) is None or c.data != d for p, (d, _) in _ours()):
        state = "what assistants start is missing or of another version"
        found.append(Finding("launcher", state, resources.command("setup")))
    return found


def _ours() -> list[tuple[str, tuple[bytes, int]]]:
    """Return the files that assistants start, with what this version wants in them."""
    return [(path, wanted) for path, wanted in contents().items() if not path.endswith("python")]


def _names(folder: str, placed: dict[str, record.Placed]) -> Iterator[str]:
    """Yield the names of the record for all that is to be examined."""
    project = sessions.repository_root(folder)
    for name, host in HOSTS.items():
        inside = f"{name}{record.BY_WHICH_PROJECT}{project}"
        if inside in placed:
            yield inside
        if name in placed or (host.is_here() and inside not in placed):
            yield name


def _examined(name: str, placed: dict[str, record.Placed]) -> Iterator[Finding]:
    known, _, project = name.partition(record.BY_WHICH_PROJECT)
    host = HOSTS[known]
    wanted = host.wanted(host.folder(project), bool(project))
    work = Work(wanted, placed.get(name, record.NOTHING), project)
    for problem in work.problems:
        yield Finding(name, f"{problem.at} {problem.problem}", problem.allowed)
    if work.problems:
        return
    changed = {change.path for change in work.changes}
    parts: dict[str, list[str]] = {}
    for part, path in parts_of(wanted):
        parts.setdefault(part, []).append(path)
    missing = [
        part for part, paths in parts.items()
        if changed & {*paths, *map(os.path.realpath, paths)}
    ]  # fmt: skip
    has = [part for part in parts if part not in missing]
    setup = resources.command("setup", *["--project"] * bool(project), known)
    if not missing:
        note = f"; {wanted.note}" if wanted.note else ""
        yield Finding(name, f"in place: {', '.join(has)}{note}")
    elif name in placed:
        yield Finding(name, f"not in place: {', '.join(missing)}", setup)
    else:
        yield Finding(name, f"not set up: {', '.join(missing)}", hint=setup)
