"""The patches of a plan, file by file or as one that git applies."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from orchestrator.submit.since import APART, NO_DIFFERENCE, WITHOUT
from shared.builders import visible_line
from state.changes import plan_changes
from state.errors import Refused
from state.milestones import changes_of, files_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from orchestrator.submit.since import Since
    from state.models import Change, Plan


def patches(plan: Plan, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the file name and patch of each change, of the named milestones and files or of all."""
    yield from map(patch_text, _chosen_changes(plan, names))


def patch_text(change: Change) -> tuple[str, str]:
    """Return the file name and the patch of a change, `binary` where that is no text."""
    return change.file, (change.patch or "") if change.encoding is None else "binary"


def whole_patch(plan: Plan, names: Collection[str]) -> bytes:
    """Return the patches of the named milestones and files, or of all, as `git apply` reads them.

    Refused for a change that has none, since the rest would pass for all of it.
    """
    changes = [*_chosen_changes(plan, names)]
    if without := [change.file for change in changes if change.patch is None]:
        others = ", ".join(change.file for change in changes if change.patch is not None)
        text = "too large for a patch, so its content is beside the plan"
        allowed = f"`planner exec run` applies it; as a patch: {others or 'nothing else'}"
        raise Refused("refused", ", ".join(without), text, allowed)
    return b"".join(_bytes(change) for change in changes)


def since_patch(plan: Plan, since: Since, names: Collection[str]) -> bytes:
    """Return what differs from an earlier revision as one patch, each part under its causes.

    What is said of a part stands in lines that `git apply` passes over.
    """
    lines: list[bytes] = []
    for part, changes in parts_of(plan, since, names):
        lines += [f"# {text}\n".encode() for text in part]
        for change in changes:
            without = f"# {visible_line(change.file)}: {APART}\n".encode()
            lines.append(without if change.patch is None else _bytes(change))
    return b"".join(lines)


def parts_of(
    plan: Plan, since: Since, names: Collection[str]
) -> Iterator[tuple[list[str], list[Change]]]:
    """Yield each part of a difference: its causes in a line each, and its changes.

    Only those of the named milestones and files, or all; what has no difference comes last.
    """
    _check_known(plan, names, {change.file for change in since.changes})
    own = {m.id: files_of(m) for m in plan.milestones}
    wanted = {file for name in names for file in own.get(name, {name})}
    for part in since.parts:
        changes = [c for c in part.changes if not names or {c.file, c.old_file or c.file} & wanted]
        if changes:
            yield [one.line for one in part.causes] or [WITHOUT], changes
    if since.unmet and not names:
        yield [f"{one.line} ({NO_DIFFERENCE})" for one in since.unmet], []


def causes_of(plan: Plan, since: Since, names: Collection[str]) -> Iterator[str]:
    """Yield each part of a difference as text: its causes, then the files that differ for them."""
    for said, changes in parts_of(plan, since, names):
        yield "\n".join([*said, *(f"  {visible_line(change.file)}" for change in changes)])


def _bytes(change: Change) -> bytes:
    patch = change.patch or ""
    return base64.b64decode(patch) if change.encoding == "base64" else patch.encode()


def _chosen_changes(plan: Plan, names: Collection[str]) -> Iterator[Change]:
    _check_known(plan, names, {change.file for change in plan_changes(plan)})
    for milestone in plan.milestones:
        for change in changes_of(milestone):
            if not names or milestone.id in names or change.file in names:
                yield change


def _check_known(plan: Plan, names: Collection[str], files: Collection[str]) -> None:
    """Raise Refused with the names that are neither a milestone nor one of the files."""
    known = [m.id for m in plan.milestones]
    if unknown := [name for name in names if name not in known and name not in files]:
        text = "the plan has no such milestone, and no change of such a file"
        raise Refused("not_found", ", ".join(unknown), text, ", ".join(known) or "none yet")
