"""Define the input of a check (plan and captured files) and its output (findings)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from shared.git.change import LINK
from shared.git.large import BLOB
from state.changes import apart
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from shared.git.change import Ends, Entry
    from state.models import Change, Plan


class Finding(NamedTuple):
    """What a check finds wrong, and what to do."""

    # `*`, an entity's id or a file.
    scope: str
    text: str
    status: Literal["FAIL", "NOT_CHECKED"] = "FAIL"


class Trees(Protocol):
    """The interface through which the checks of a plan read trees and files from git."""

    def entries(self, tree: str) -> Mapping[str, Entry]:
        """Return the files of a git tree as a dict from path to mode and blob id."""

    def alike(self, tree: str, paths: Collection[str]) -> set[str]:
        """Return which of these paths, and folders above, a git tree has, in any letter case."""

    def differing(self, old: str, new: str) -> dict[str, Ends]:
        """Return the files that differ between two git trees, in order, each as in both."""

    def read(self, blob: str) -> bytes:
        """Return the content of a git blob (a stored file) as bytes."""

    def hold(self, blobs: Collection[str]) -> None:
        """Make ready for `read`, at once, those of the git blobs that there are."""

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        """Apply patches to the git tree `base_tree`; return the new tree's id, or raise Refused."""


class NoTrees:
    """A stand-in for git without trees or files, for plans that have no base commit."""

    def entries(self, tree: str) -> Mapping[str, Entry]:  # noqa: ARG002 – of the protocol
        """Return an empty dict of files, because a plan without a base commit has no git tree."""
        return {}

    def alike(self, tree: str, paths: Collection[str]) -> set[str]:  # noqa: ARG002 – of the protocol
        """Return no path, because a plan without a base commit has no git tree."""
        return set()

    def differing(self, old: str, new: str) -> dict[str, Ends]:  # noqa: ARG002 – of the protocol
        """Return no file, because a plan without a base commit has no git trees."""
        return {}

    def read(self, blob: str) -> bytes:
        """Raise LookupError, because a plan without a base commit has no git blobs."""
        raise LookupError(blob)

    def hold(self, blobs: Collection[str]) -> None:
        """Do nothing, because a plan without a base commit has no git blobs."""

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:  # noqa: ARG002 – the same
        """Raise LookupError, because a plan without a base commit has no git trees."""
        raise LookupError(base_tree)


NO_TREES = NoTrees()


@dataclass(frozen=True)
class Subject:
    """The input of the checks: the plan and the git trees of its captured changes."""

    plan: Plan
    worktree: str | None = None
    base_tree: str | None = None
    # The captured tree; None before the first capture.
    tree: str | None = None
    # The tree with which plan-code passed its gate, for comparison in plan-docs.
    code_tree: str | None = None
    # Those that the project configures.
    verify_commands: tuple[str, ...] = ()
    trees: Trees = NO_TREES

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Return all file changes of the plan, grouped by milestone in the plan's order."""
        return tuple(c for m in self.plan.milestones for c in changes_of(m))

    @cached_property
    def files(self) -> tuple[Change, ...]:
        """Return the changes of files that are neither deleted nor turned into a symbolic link.

        Those that are too large for a patch are not among them: nobody reads their lines.
        """
        return tuple(c for c in self.changes if is_file(c) and not apart(c))

    @cached_property
    def touched(self) -> frozenset[str | None]:
        """Return the path that each changed file has, and the one that it had."""
        return frozenset(path for c in self.changes for path in (c.file, c.old_file))

    @cached_property
    def large(self) -> tuple[Change, ...]:
        """Return the changes of files that are too large for a patch."""
        return tuple(filter(apart, self.changes))

    def before(self, change: Change) -> bytes:
        """Return a file's content before the plan's changes; empty if new or a symbolic link.

        Empty too if it is too large for a patch: hundreds of megabytes are not read.
        """
        return self._content(change, change.before, change.old_mode)

    def after(self, change: Change) -> bytes:
        """Return a file's content after the plan's changes; empty if deleted or a symbolic link."""
        return self._content(change, change.after, change.mode)

    def _content(self, change: Change, blob: str | None, mode: str | None) -> bytes:
        if blob is None or mode == LINK or change.encoding == BLOB:
            return b""
        return self._read(blob)

    @cached_property
    def _read(self) -> Callable[[str], bytes]:
        """Reads a blob. Most checks read the changed files, so git is asked for them at once."""
        files = [c for c in self.changes if c.encoding != BLOB]
        ends = [(c.before, c.old_mode) for c in files] + [(c.after, c.mode) for c in files]
        self.trees.hold({blob for blob, mode in ends if blob and mode != LINK})
        return self.trees.read


def is_file(change: Change) -> bool:
    """Return whether a changed file is neither deleted nor, after the change, a symbolic link."""
    return change.after is not None and change.mode != LINK
