"""How a run in the place ended, as the first process of the place tells it to ours.

It first says that the command has begun: whatever happens then, the command must not run again.
"""

from __future__ import annotations

import os

_BEGUN = b"\1"
_STOPPED = 137


def tell_begun(descriptor: int) -> None:
    """Write that the command is running, ahead of the report."""
    os.write(descriptor, _BEGUN)


class Report:
    """How a command ended."""

    __slots__ = ("code", "failure", "limit", "lost", "unseen")

    def __init__(
        self,
        code: int = 0,
        *,
        failure: str = "",
        limit: str = "",
        lost: list[str] | None = None,
    ) -> None:
        self.code = code
        # Why the command did not run at all.
        self.failure = failure
        # The one that ended it.
        self.limit = limit
        # Some of the files in the repository that it wrote or removed in vain.
        self.lost = lost or []
        # A line about what of a home it may have looked for in vain.
        self.unseen = ""

    def write(self, descriptor: int) -> None:
        """Write the report for `read`."""
        words = [str(self.code), self.failure, self.limit, *self.lost]
        left = b"\0".join(map(os.fsencode, words)) + b"\0"
        while left:
            left = left[os.write(descriptor, left) :]

    @classmethod
    def read(cls, said: bytes) -> Report | None:
        """Return the report that these bytes hold; None if the command may not have run."""
        begun = said.startswith(_BEGUN)
        words = [os.fsdecode(word) for word in said.removeprefix(_BEGUN).split(b"\0")]
        try:
            code, failure, limit, *lost, _ = words
        except ValueError:
            return cls(_STOPPED, limit="what watches it was ended") if begun else None
        if begun and failure:
            return cls(_STOPPED, limit=f"it could no longer be watched: {failure}")
        return cls(int(code), failure=failure, limit=limit, lost=lost)

    def leave_out_ignored(self, repository: str) -> None:
        """Leave out of `lost` what git ignores: what builds and caches write, nobody misses."""
        if not self.lost:
            return
        # Not at the top: most commands write nothing and need no git of ours.
        from shared.git.repository import find_repository
        from state.errors import Refused

        asked = b"\0".join(map(os.fsencode, self.lost))
        try:
            git = find_repository(repository).git
        except Refused:
            return
        said = git.attempt("check-ignore", "-z", "--stdin", stdin=asked).stdout
        ignored = {os.fsdecode(path) for path in said.split(b"\0")}
        self.lost = [path for path in self.lost if path not in ignored]

    def notes(self, instead: str) -> list[str]:
        """Return the lines that a person or model should read; `instead` says where to edit."""
        found = [f"planner: ended: {self.limit}"] if self.limit else []
        if self.unseen:
            found.append(f"planner: {_on_one_line(self.unseen)}")
        if self.lost:
            more = len(self.lost) - 1
            rest = f" and {more} more" if more else ""
            found.append(f"planner: not kept: {_on_one_line(self.lost[0])}{rest}; {instead}")
        return found


def _on_one_line(path: str) -> str:
    """Return the path with what is not printable escaped: its name can't forge a line of ours."""
    return path if path.isprintable() else ascii(path)[1:-1]
