"""Say how each assistant of this machine is set up: skill, hooks, and the rule for our commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cli.setup import record
from cli.setup.changes import Work
from cli.setup.hosts import HOSTS
from cli.setup.journal import content_of
from orchestrator.run.doctor import Finding
from shared import resources
from shared.installed import contents
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.setup.hosts import Host, Wanted


def assistants() -> list[Finding]:
    """Return a finding for each assistant that is found, and one if what they start is not ours."""
    try:
        placed = record.load()
    except Refused as refusal:
        return [Finding("setup", p.problem, p.allowed) for p in refusal.problems]
    here = {name: host for name, host in HOSTS.items() if host.is_here() or name in placed}
    found = [one for name, host in here.items() for one in _examined(name, host, placed)]
    if placed and any((c := content_of(p)) is None or c.data != d for p, (d, _) in _ours()):
        state = "what assistants start is missing or of another version"
        found.append(Finding("launcher", state, resources.command("setup")))
    return found


def _ours() -> list[tuple[str, tuple[bytes, int]]]:
    """Return the files that assistants start, with what this version wants in them."""
    return [(path, wanted) for path, wanted in contents().items() if not path.endswith("python")]


def _examined(name: str, host: Host, placed: dict[str, record.Placed]) -> Iterator[Finding]:
    wanted = host.wanted(host.folder(), False)  # noqa: FBT003 – not for a project
    work = Work(wanted, placed.get(name, record.NOTHING))
    for problem in work.problems:
        yield Finding(name, f"{problem.at} {problem.problem}", problem.allowed)
    if work.problems:
        return
    changed = {change.path for change in work.changes}
    parts: dict[str, list[str]] = {}
    for part, path in _parts(wanted):
        parts.setdefault(part, []).append(path)
    missing = [
        part for part, paths in parts.items()
        if changed & {*paths, *map(os.path.realpath, paths)}
    ]  # fmt: skip
    has = [part for part in parts if part not in missing]
    setup = resources.command("setup", name)
    if not missing:
        note = f"; {wanted.note}" if wanted.note else ""
        yield Finding(name, f"in place: {', '.join(has)}{note}")
    elif name in placed:
        yield Finding(name, f"not in place: {', '.join(missing)}", setup)
    else:
        yield Finding(name, f"not set up: {', '.join(missing)}", hint=setup)


def _parts(wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield what each path is for: the skill, hooks, or the rule that allows our commands."""
    for path, target in wanted.links.items():
        if target.startswith(resources.installed_path("hooks")):
            yield "hooks", path
        else:
            # Claude Code reads the hooks from the folder of the skill.
            yield "skill with its hooks" if target == resources.ROOT else "skill", path
    for path, _, entry in wanted.entries:
        is_hook = "hooks" in entry.keys or os.path.basename(path).startswith("hooks")
        yield "hooks" if is_hook else "rule", path
    yield from (("rule", path) for path in wanted.files)
