"""Says of the paths in a shell text where they lead, and whether a change there is to last.

`view_of` makes what the guard knows of a session into a View.
"""

from __future__ import annotations

import os

from shared.guard.denial import ASK, INSTALL, PLAN
from shared.guard.words import UNKNOWN
from shared.resources import answer_path, milestone_worktree_path, worktrees, writing_folder

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.guard.settings import Settings
    from shared.mode.sessions import Session
    from state.rows import Run

_FAILURE = "if it cannot be done without, hand in the failure and say what is missing"
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 – the place has folders of its own there


class View:
    """Where a shell text would run: `repository` is the user's, `ours` are folders that it keeps.

    `settings` hold the commands that the user denies. `instead` says where
    a change belongs: into the plan, unless approved intents are being written.
    """

    __slots__ = ("folder", "instead", "ours", "repository", "settings", "temporary")

    def __init__(
        self, cwd: str, repository: str, ours: tuple[str, ...], settings: Settings
    ) -> None:
        self.folder: str | None = os.path.realpath(cwd)
        self.repository = os.path.realpath(repository)
        self.ours = tuple(map(os.path.realpath, ours))
        self.temporary = (*TEMPORARY, *filter(os.path.isabs, [os.environ.get("TMPDIR", "")]))
        self.settings = settings
        self.instead = PLAN

    def advised(self, text: str) -> str:
        """Return what a denial says to do instead, with the place where changes belong now."""
        if self.instead != PLAN:
            text = text.replace(PLAN, self.instead)
            text = text.replace(ASK, _FAILURE).replace(INSTALL, _FAILURE)
        return text

    def in_worktree(self, folder: str) -> bool:
        """Return whether a folder lies in a worktree of the run, so that git acts on that."""
        return any(
            inside(folder, one) and os.path.lexists(os.path.join(one, ".git")) for one in self.ours
        )

    def lasts(self, path: str) -> bool:
        """Return whether a change of this path is meant to last; False if that is not known."""
        if path.startswith(UNKNOWN) or (self.folder is None and not os.path.isabs(path)):
            return False
        full = self.full(path.partition(UNKNOWN)[0])
        if any(inside(full, folder) for folder in self.ours):
            return False
        if inside(full, self.repository):
            return True
        return not full.startswith(("/dev/", "/proc/self/fd/")) and not any(
            inside(full, folder) for folder in self.temporary
        )

    def full(self, path: str) -> str:
        """Return the absolute path that a word of the text means."""
        # Not realpath, which would ask the file system about each of very many words.
        return os.path.normpath(os.path.join(self.folder or "/", path))

    def enter(self, words: list[str]) -> None:
        """Follow a `cd`; where it leads may be unknown."""
        target = words[1] if len(words) == 2 else UNKNOWN  # noqa: PLR2004 – cd and a folder
        if UNKNOWN in target or target.startswith("-") or self.folder is None:
            self.folder = target if os.path.isabs(target) and UNKNOWN not in target else None
        else:
            self.folder = os.path.normpath(os.path.join(self.folder, target))


def view_of(
    cwd: str, session: Session, settings: Settings, run: Run | None, milestone: str = ""
) -> View:
    """Return the View of a session's shell; the agent that writes `milestone` has its worktree."""
    home = session.home
    own = milestone_worktree_path(home, milestone) if milestone else ""
    ours = (answer_path(home, ""), *([own] if own else worktrees(home)))
    view = View(cwd, session.repository, ours, settings)
    if run is not None and run.workflow == "executor" and run.digest is None:
        rest = "; other agents write the rest" if own else ""
        view.instead = f"change files under {own or writing_folder(home)} only{rest}"
    return view


def inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it; both are absolute."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
