"""What a check looks at (the plan and the captured files), and the finding that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from shared.git.change import LINK
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Entry
    from state.models import Change, Plan


class Finding(NamedTuple):
    """What is wrong, where, and what to do; `scope` is `*`, the id of an entity or a file."""

    scope: str
    text: str
    status: Literal["FAIL", "NOT_CHECKED"] = "FAIL"


class Trees(Protocol):
    """What the checks of a plan read from git."""

    def entries(self, tree: str) -> Mapping[str, Entry]:
        """Return every file of a git tree by its path."""

    def read(self, blob: str) -> bytes:
        """Return the content of a git blob."""

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        """Return the git tree that the patches make of `base_tree`; raise Refused if none fits."""


class NoTrees:
    """An empty stand-in for git, for plans without a base."""

    def entries(self, tree: str) -> Mapping[str, Entry]:  # noqa: ARG002 – of the protocol
        """Return no files, because a plan without a base has no git tree."""
        return {}

    def read(self, blob: str) -> bytes:
        """Raise LookupError, because a plan without a base has no git blobs."""
        raise LookupError(blob)

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:  # noqa: ARG002 – the same
        """Raise LookupError, because a plan without a base has no git trees."""
        raise LookupError(base_tree)


NO_TREES = NoTrees()


@dataclass(frozen=True)
class Subject:
    """What the checks look at: the plan and the files captured for it.

    - `tree`: the captured tree; None before the first capture
    - `code_tree`: the tree with which plan-code passed its gate, for comparison in plan-docs
    - `verify_commands`: those that the project configures
    """

    plan: Plan
    worktree: str | None = None
    base_tree: str | None = None
    tree: str | None = None
    code_tree: str | None = None
    verify_commands: tuple[str, ...] = ()
    trees: Trees = NO_TREES

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Return all changes of the plan, by milestone."""
        return tuple(c for m in self.plan.milestones for c in changes_of(m))

    @cached_property
    def files(self) -> tuple[Change, ...]:
        """Return the changes that leave a file with content, not a link or a deleted file."""
        return tuple(filter(is_file, self.changes))

    def before(self, change: Change) -> bytes:
        """Return a file's content before the plan's changes; empty if it is new or a link."""
        return self._content(change.before, change.old_mode)

    def after(self, change: Change) -> bytes:
        """Return a file's content after the plan's changes; empty if it is deleted or a link."""
        return self._content(change.after, change.mode)

    def _content(self, blob: str | None, mode: str | None) -> bytes:
        return b"" if blob is None or mode == LINK else self.trees.read(blob)


def is_file(change: Change) -> bool:
    """Return whether a change leaves a file with content, not a link or a deleted file."""
    return change.after is not None and change.mode != LINK


def differing(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
    """Return the paths, sorted, at which two git trees differ."""
    return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
