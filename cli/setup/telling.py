"""Tell a person what setup will do, with the difference of each settings file, and what it did."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cli.setup.hosts import HOSTS, parts_of
from cli.setup.record import BY_WHICH_PROJECT
from cli.setup.report import difference, still_planned
from orchestrator.upkeep.doctor import way_out
from shared import resources
from shared.builders import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cli.pen import Pen
    from cli.setup.assistants import Prepared
    from cli.setup.edits import Work
    from cli.setup.journal import Change

# What each part is there for, as a line behind the file.
_WHY = {
    "skill": "so that it finds the skill",
    "skill with its hooks": "so that it finds the skill, with hooks that keep it read-only while "
    "it plans",
    "hooks": "hooks that keep it read-only while it plans",
    "rule": "rules by which our commands and the files of a run need no question",
}
_REQUEST = "Plan this: WHAT YOU WANT CHANGED"
# Undo needs what it removes; so it is a person's choice, repository by repository.
_TAKE_OUT = (
    "rm -rf .planner; git worktree prune; git for-each-ref --format='delete %(refname)' "
    "refs/planner refs/planner-drafts refs/planner-fetched | git update-ref --no-deref --stdin"
)


def plan_of(work: Prepared, pen: Pen) -> str:
    """Return what will be done for each assistant; one line where there is nothing to do."""
    asked = work.asked
    if not work.changes and (work.works or asked.remove):
        return _nothing(work)
    parts = [] if asked.hosts or asked.remove else [pen.wrapped(_assistants_here(work.works), "")]
    parts += ["\n".join(_of_host(name, one, pen)) for name, one in work.works.items()]
    parts.append(_own_folders(work))
    return "\n\n".join(filter(None, parts)) + "\n\n"


def done_of(work: Prepared, pen: Pen) -> str:
    """Return what was done, what is left, and the next step."""
    if not work.changes and (work.works or work.asked.remove):
        return ""
    if work.asked.dry_run:
        words = [f"--{name}" for name in ("project", "remove") if getattr(work.asked, name)]
        return f"Nothing was written. To write it:\n{_typed('setup', *work.asked.hosts, *words)}\n"
    return "\n".join(_removed(work) if work.asked.remove else _written(work, pen)) + "\n"


def _nothing(work: Prepared) -> str:
    names = _joined(map(_title, work.works))
    are = "are" if len(work.works) > 1 else "is"
    if not names:
        return "Nothing to do: nothing is set up.\n"
    return f"Nothing to do: {names} {are} {'not ' if work.asked.remove else ''}set up.\n"


def _assistants_here(works: dict[str, Work]) -> str:
    missing = _joined(host.title for name, host in HOSTS.items() if not _has(works, name))
    if not works:
        return f"No assistant was found on this machine. Known are {missing}."
    found = f"Found: {_joined(map(_title, works))}."
    return f"{found} Not on this machine: {missing}." if missing else found


def _has(works: dict[str, Work], name: str) -> bool:
    return any(one.partition(BY_WHICH_PROJECT)[0] == name for one in works)


def _of_host(name: str, work: Work, pen: Pen) -> Iterator[str]:
    yield pen.heading(_title(name))
    if not work.changes:
        yield "  nothing to change"
    why = {path: part for part, path in parts_of(work.wanted)}
    why |= {os.path.realpath(path): part for path, part in why.items()}
    for change in work.changes:
        yield from _of_change(change, why.get(change.path, ""), pen)


def _of_change(change: Change, part: str, pen: Pen) -> Iterator[str]:
    path, before, after = _short(change.path), change.before, change.after
    if after is None:
        is_link = before is not None and before.link
        yield f"  remove the link {path}" if is_link else f"  remove {path}, which setup made"
        return
    if after.link:
        yield f"  link {path} to {_short(after.link)}"
    elif before is None:
        yield f"  create {path}"
    else:
        yield f"  change {path}" if part else f"  take our lines out of {path}"
    if part:
        yield f"    {_WHY[part]}"
    if not after.link:
        # The file is named above; a new one is all new.
        lines = difference(change)[2 if before else 3 :]
        yield from (f"    {pen.patch(visible(line.rstrip(chr(10))))}" for line in lines)


def _own_folders(work: Prepared) -> str:
    folder = resources.installed_path()
    if not any(change.path.startswith(folder + os.sep) for change in work.changes):
        return ""
    data = _short(folder)
    if work.last:
        state, packages = resources.setup_path(), resources.packages_path()
        others = " and ".join(_short(os.path.dirname(p.rstrip(os.sep))) for p in (state, packages))
        return f"Our own folders are removed: {data}, and what setup keeps in\n{others}."
    return f"Our own files go to {data}."


def _written(work: Prepared, pen: Pen) -> Iterator[str]:
    yield "Done."
    width = max((len(_title(name)) for name in work.works), default=0)
    for name, told in work.told.items():
        yield pen.wrapped(f"  {_title(name):{width}}  {told}", " " * (width + 4))
    if not work.works:
        yield from ("Name the assistant that you will use:", _typed("setup", "claude"))
        return
    yield ""
    said = "Next: restart the assistants that are running. Then ask in a repository, for example:"
    yield pen.wrapped(said, "")
    yield f"    {_REQUEST}"
    yield from ("To see what is in place, in a repository:", _typed("doctor"))
    project = ["--project"] * work.asked.project
    yield from ("To take it out again:", _typed("setup", *project, "--remove"))


def _removed(work: Prepared) -> Iterator[str]:
    yield "Done. What setup had put there is gone; restart assistants that are running."
    for one in work.works.values():
        yield from (f"  {_short(path)} was changed since and stays." for path in one.left)
    if not work.last:
        yield f"Still set up: {_joined(map(_title, work.kept))}."
        return
    for session in still_planned():
        yield f"Still planned in {session.repository}, no longer held by hooks. To end it:"
        yield f"    {way_out(session)}"
    yield "\nWhat stays, as it is yours:"
    if os.path.isdir(config := os.path.dirname(resources.user_config_path())):
        yield f"- {_short(config)}: your settings and templates."
    yield f"- {_short(resources.ROOT)}: this program; delete the folder."
    yield "- .planner/ and refs/planner* in each repository where you have planned: plans,"
    yield "  approvals, and what `undo` and `validate` need. To remove these there too:"
    yield f"    {_TAKE_OUT}"
    yield "  What is left then is the line /.planner/ in .git/info/exclude, which harms nothing."


def _title(name: str) -> str:
    host, inside, project = name.partition(BY_WHICH_PROJECT)
    return HOSTS[host].title + inside + (_short(project) if project else "")


def _joined(names: Iterable[str]) -> str:
    *rest, last = [*names] or [""]
    return f"{', '.join(rest)} and {last}" if rest else last


def _short(path: str) -> str:
    """Return a path as a person writes it, their home as `~`."""
    home = os.path.expanduser("~")
    return visible(f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path)


def _typed(*words: str) -> str:
    return "    " + " ".join(map(resources.quote, (resources.PROGRAM, *words)))
