"""Show what setup changes: a diff of each settings file, and one line for each assistant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from cli.setup.hosts import HOSTS
from shared.builders import Block
from shared.mode import sessions
from shared.resources import installed_path, launcher_path, setup_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.setup.assistants import Prepared
    from cli.setup.journal import Change, Content
    from shared.mode.sessions import Session


def diffs(changes: Sequence[Change]) -> str:
    """Return what is changed as one text: a diff of each file, a line for each link."""
    return "\n".join(filter(None, map(_diff, changes)))


def report_block(work: Prepared) -> str:
    """Return the block that says what was written, or would be."""
    asked = work.asked
    block = Block("result", dry_run=str(asked.dry_run).lower(), changes=len(work.changes))
    if not work.told:
        names = ", ".join(HOSTS)
        block.task(
            "Nothing is set up." if asked.remove else
            f"No assistant was found. Name the one that you will use: {names}."
        )  # fmt: skip
    block.data("assistants", "\n".join(f"{name}: {said}" for name, said in work.told.items()))
    block.data("changes", diffs(work.changes))
    if not asked.remove and not asked.dry_run:
        block.data("program", launcher_path())
    if work.last and not asked.dry_run:
        block.data("still planned", "\n".join(one.repository for one in still_planned()))
        block.task(
            "Left, as they are yours: ~/.config/planner, and in your repositories .planner/ and "
            "refs/planner*, which docs/install.md says how to remove."
        )
    return block.render()


def still_planned() -> list[Session]:
    """Return the sessions that plan, each once: their hooks are gone with setup."""
    return [one for one in sessions.all_sessions() if one.session == one.agent]


def _diff(change: Change) -> str:
    if change.path.startswith((installed_path(), setup_path())):
        return ""  # ours alone
    if _is_link(change.before) or _is_link(change.after):
        return _line(change)
    return "".join(difference(change)).rstrip("\n") or _line(change)


def difference(change: Change) -> list[str]:
    """Return the lines of the difference of a file, the two that name it first."""
    old, new = (change.path if side else "/dev/null" for side in change[1:])
    return [*difflib.unified_diff(_lines(change.before), _lines(change.after), old, new)]


def _is_link(content: Content | None) -> bool:
    return bool(content and content.link)


def _line(change: Change) -> str:
    if change.after is None:
        return f"remove {change.path}"
    return (
        f"link {change.path} -> {change.after.link}"
        if change.after.link
        else f"write {change.path}"
    )


def _lines(content: Content | None) -> list[str]:
    if content is None:
        return []
    lines = content.data.decode("utf-8", "replace").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
