"""The data that the review page shows: the plan, its history, and figures used in many places."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.submit.kinds import KINDS, kind_of
from shared.builders import visible
from shared.git.change import LINK
from shared.patch import Line, read_patch, size
from state.changes import apart
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.submit.since import Since
    from orchestrator.submit.spent import Spent
    from state.database import Run
    from state.models import Change, Checkpoint, Milestone, Plan


STAGES = {
    "gathering": "still being written, nothing to approve yet",
    "submitted": "waits for your decision",
    "executing": "approved",
}


class Facts(NamedTuple):
    """All data from which the review page is made; the same review gives the same bytes."""

    plan: Plan
    run: Run
    # Which changed files are generated, or are not, as the project says.
    marked: Mapping[str, bool] = {}
    spent: Spent | None = None
    # The revision that the person has seen last, and how the code differs from it.
    previous: Plan | None = None
    since: Since | None = None
    # In words, where what each remark is about is now, by the remark's id.
    now: Mapping[str, str] = {}
    answers: Mapping[str, Sequence[str]] = {}
    # The gates' decisions of this revision, oldest first.
    outcomes: Sequence[Mapping[str, Any]] = ()
    # Each is (phase, check, scope, reason).
    accepted: Sequence[tuple[str, str, str, str]] = ()
    # The audit's row of the approval.
    approved: Mapping[str, Any] | None = None
    # How the approval was given.
    channel: str = ""
    # Whether a hook has checked a tool call of the session that planned it.
    guarded: bool = True
    # The commit that took it back.
    reverted: str = ""
    # The texts that the user may type, by what they do.
    commands: Mapping[str, str] = {}

    @property
    def waits(self) -> bool:
        """Whether this plan revision is submitted and waits for a person's answer."""
        return self.run.stage == "submitted" and self.plan.digest is not None

    @property
    def is_intent(self) -> bool:
        """Whether only intents (edits in words) are approved now, and their code later."""
        return self.run.depth == "intent"

    def open_questions(self) -> list[Checkpoint]:
        """Return the plan's questions that the user has not answered."""
        return [c for c in self.plan.checkpoints if c.id not in self.answers]


class Diff:
    """The change of one file with its patch, which is read once."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self.lines: list[Line] = read_patch(change)
        self.added, self.removed = size(self.lines)

    @property
    def what(self) -> str:
        """What happens to the file, such as added or renamed, in one word or a few."""
        change = self.change
        if change.before is None and change.after is None:
            return "changed"
        if change.before is None:
            return "new"
        if change.after is None:
            return "deleted"
        if change.old_file:
            return "renamed" if change.before == change.after else "renamed and changed"
        return "mode only" if change.before == change.after else "changed"

    @property
    def figures(self) -> str:
        """Return how many lines of the file are added and removed, as text; empty if none."""
        return f"+{self.added:,} −{self.removed:,}" if self.added or self.removed else ""

    @cached_property
    def notes(self) -> list[str]:
        """Return what else to know of the changed file, such as its old name or file mode."""
        change = self.change
        old, new = change.old_mode, change.mode
        found = [f"was {change.old_file}"] if change.old_file else []
        if LINK in (old, new):
            found.append("symbolic link" if old == new or None in (old, new) else _kinds(old))
        elif old and new and old != new:
            found.append(f"mode {old} → {new}")
        elif new == "100755" and old is None:
            found.append("executable")
        if apart(change):
            found.append("too large for the plan: needs its ref")
        elif self.is_binary:
            found.append("binary")
        elif change.encoding == "base64":
            found.append("not UTF-8: other bytes are shown as \\xNN")
        if self.unseen:
            found.append(f"{self.unseen} invisible characters, shown as escapes")
        return found

    @property
    def is_binary(self) -> bool:
        """Whether the file's patch holds bytes that no table can show."""
        return any(line.kind == "!" and line.text.startswith("binary:") for line in self.lines)

    @cached_property
    def unseen(self) -> int:
        """How many characters added to the file are invisible or change the text direction."""
        added = "".join(line.text.removesuffix("\r") for line in self.lines if line.kind == "+")
        shown = visible(added)
        return sum(visible(c) != c for c in added) if shown != added else 0


class Edited(Diff):
    """A changed file of the plan with its milestone, and its kind, one of KINDS.

    `anchor` begins those of its rows, as its id does not change from revision to revision.
    """

    def __init__(self, change: Change, milestone: Milestone, marked: Mapping[str, bool]) -> None:
        super().__init__(change)
        self.milestone = milestone
        self.anchor = f"f{int(change.id.rpartition('-')[2])}"
        self.kind = kind_of(change.file, milestone.tests.files, marked)


def _kinds(old: str | None) -> str:
    return "a link becomes a file" if old == LINK else "a file becomes a link"


def edited_files(plan: Plan, marked: Mapping[str, bool] | None = None) -> list[Edited]:
    """Return the plan's changed files by kind, those of a kind in the order of the milestones.

    `marked` says of some whether they are generated.
    """
    found = [Edited(c, m, marked or {}) for m in plan.milestones for c in changes_of(m)]
    return sorted(found, key=lambda file: KINDS.index(file.kind))
