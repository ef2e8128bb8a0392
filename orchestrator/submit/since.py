"""What is new in the code since an earlier revision of a plan: both trees to come, compared (LP-1).

Every superseded revision is kept with its patches, so that nothing else needs to be kept.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.trees import opened_trees
from shared import resources
from shared.builders import visible_line
from shared.workspace import base_of
from state import store
from state.changes import plan_changes
from state.errors import Refused
from state.files import read_bytes
from state.frozen_bytes import digest_of
from state.milestones import files_of
from state.models import Change
from state.statements import DONE, outcome_of, placed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.git.change import FileChange
    from shared.run import State
    from state.models import Anchor, Plan

WITHOUT = "without a remark"
NO_DIFFERENCE = "no difference in the code"
APART = "too large for a patch: its content is a blob beside the plan"
BASE_MOVED = (
    "The base has moved as well, so a file may also differ by what others have changed in it."
)
MOST_SAID = 500  # characters; the whole stands with the other things that were said
_MILESTONE = re.compile(r"M-\d+")
_LINE = re.compile(r"(.+?):\d+(?:-\d+)?")
_SEPARATOR = re.compile(r"[,;] ")


class Cause(NamedTuple):
    """Something that a person has said since the earlier revision, with what became of it."""

    id: str
    text: str
    outcome: str
    # Of a remark, what it is about.
    anchor: Anchor | None = None

    @property
    def line(self) -> str:
        """Return it as one line of text in which nothing is hidden."""
        return visible_line(f"{self.id}: {self.said} → {self.outcome}")

    @property
    def said(self) -> str:
        """Return its words in one line, of many the first."""
        text = " ".join(self.text.split())
        return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]} …"


class Part(NamedTuple):
    """The files that differ for the same causes; no causes where nothing says why."""

    causes: tuple[Cause, ...]
    changes: tuple[Change, ...]


class Since(NamedTuple):
    """How the code of a plan differs from that of an earlier revision."""

    revision: int
    # In the order of what was said; what nobody asked for last.
    parts: tuple[Part, ...] = ()
    # What was said and no difference of the code is for.
    unmet: tuple[Cause, ...] = ()
    # Whether both start from another tree, so that a file may differ by what others have changed.
    base_moved: bool = False
    # Why it cannot be shown; '' where it is.
    wrong: str = ""

    @property
    def changes(self) -> list[Change]:
        """Return every file's change, part after part."""
        return [change for part in self.parts for change in part.changes]

    @property
    def causes(self) -> list[Cause]:
        """Return all that was said since, in the order of what differs for it."""
        return [*(cause for part in self.parts for cause in part.causes), *self.unmet]


def seen_revision(state: State, plan: Plan) -> int:
    """Return the last earlier revision that the person has answered, else the one before, or 0.

    They have remarked on it or approved it; one that nobody has answered may be unread.
    """
    remarked = {one.revision for one in plan.user_remarks}
    for number in range(plan.revision - 1, 0, -1):
        path = resources.superseded_plan_path(state.state_dir, number)
        digest = digest_of(read_bytes(path))[0] if os.path.isfile(path) else None
        if digest and (number in remarked or state.database.is_approved(state.run, digest)):
            return number
    return plan.revision - 1


def read_revision(state: State, plan: Plan, number: int) -> Plan:
    """Return an earlier revision of the plan as it was submitted; raise Refused if it is not so."""
    path = resources.superseded_plan_path(state.state_dir, number)
    kept = [n for n in range(1, plan.revision) if _is_kept(state, n)]
    if number not in kept:
        text = "there is no earlier revision of this number"
        raise Refused("not_found", str(number), text, ", ".join(map(str, kept)) or "none is kept")
    stated, actual = digest_of(read_bytes(path))
    known = {row["digest"] for row in state.database.audit_rows(state.run)}
    if stated != actual or stated not in known:
        text = "this revision is not as it was submitted, so nothing can be compared with it"
        raise Refused("invalid", path, text, "read the whole change: planner plan diff")
    return store.load_plan(path)


def _is_kept(state: State, number: int) -> bool:
    return os.path.isfile(resources.superseded_plan_path(state.state_dir, number))


def last_seen(state: State, plan: Plan) -> tuple[Plan | None, Since | None]:
    """Return the revision that the person has seen, and how the code differs from it.

    Where it cannot be read, or was made without code, there is none of the one or the other.
    """
    number = seen_revision(state, plan)
    if not _is_kept(state, number):
        return None, None
    try:
        earlier = read_revision(state, plan, number)
    except Refused as refusal:
        return None, Since(number, wrong=str(refusal))
    return earlier, code_since(state, earlier, plan)


def since_revision(state: State, plan: Plan, number: int) -> Since:
    """Return how the code differs from revision `number`, 0 for the last that the person has seen.

    Raises Refused if there is no such revision, or none with code, or a tree cannot be made.
    """
    number = number or seen_revision(state, plan)
    earlier = read_revision(state, plan, number)
    found = code_since(state, earlier, plan)
    if found is None or found.wrong:
        text = found.wrong if found else "this revision had no code yet"
        raise Refused("refused", f"--since {number}", text, "the whole change: planner plan diff")
    return found


def code_since(state: State, earlier: Plan, plan: Plan) -> Since | None:
    """Return how the code differs from an earlier revision; None where that one had no code yet.

    Where a tree cannot be made, it says why.
    """
    if not plan_changes(earlier):
        return None
    try:
        with opened_trees(state) as trees:
            found = trees.between(earlier, plan)
    except Refused as refusal:
        said = "; ".join(f"{one.at}: {one.problem}" for one in refusal.problems)
        return Since(earlier.revision, wrong=said)
    parts, unmet = _by_cause(earlier, plan, found)
    moved = base_of(earlier).tree != base_of(plan).tree
    return Since(earlier.revision, parts, unmet, base_moved=moved)


def _by_cause(
    earlier: Plan, plan: Plan, found: Sequence[FileChange]
) -> tuple[tuple[Part, ...], tuple[Cause, ...]]:
    """Return the changes by what they were made for, and what no change was made for."""
    causes = list(_causes(earlier, plan))
    files = {cause: _files_for(cause, earlier, plan) for cause in causes}
    parts: dict[tuple[Cause, ...], list[Change]] = {}
    for number, change in enumerate(found, start=1):
        paths = {change.file, change.old_file}
        own = tuple(cause for cause in causes if paths & files[cause])
        entity = Change(id=f"CC-{number:03d}", **asdict(change))
        parts.setdefault(own, []).append(entity)
    order = {cause: at for at, cause in enumerate(causes)}
    ordered = sorted(parts, key=lambda own: [order[one] for one in own] or [len(order)])
    met = {cause for own in parts for cause in own}
    unmet = tuple(cause for cause in causes if cause not in met)
    return tuple(Part(own, tuple(parts[own])) for own in ordered), unmet


def _causes(earlier: Plan, plan: Plan) -> Iterator[Cause]:
    """Yield what was said since: remarks, and answers that came late enough to change the plan."""
    known = {one.id: one.outcome for one in earlier.checkpoints}
    for asked in plan.checkpoints:
        if asked.outcome and known.get(asked.id) != asked.outcome:
            yield Cause(asked.id, asked.question, asked.outcome)
    for one in plan.user_remarks:
        if one.revision >= earlier.revision:
            text, outcome = placed(one.text, one.anchor), outcome_of(plan, one, one.outcome)
            yield Cause(one.id, text, outcome, one.anchor)


def _files_for(cause: Cause, earlier: Plan, plan: Plan) -> set[str | None]:
    """Return the files that an outcome names: those of its milestones, or that of a line."""
    found: set[str | None] = set()
    for part in _SEPARATOR.split(cause.outcome.removeprefix(DONE)):
        if _MILESTONE.fullmatch(part):
            for one in (earlier, plan):
                found.update(*(files_of(m) for m in one.milestones if m.id == part))
        elif named := _LINE.fullmatch(part):
            found.add(named[1])
    return found
