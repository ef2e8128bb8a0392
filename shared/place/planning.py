"""The place for a command while a plan is made: what it sees, and what of its writing lasts."""

from __future__ import annotations

import os

from shared import resources
from shared.known_secrets import is_secret_variable
from shared.mode import sessions
from shared.place.git_folders import borrowed, git_folders, working_trees
from shared.place.secrets import secrets_of_repository, secrets_of_users, without_credentials
from shared.place.values import Place

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shared.place.values import Covering, Hidden

_SOCKETS_OF_OTHERS = frozenset({
    "DISPLAY", "SSH_AGENT_PID", "TMUX", "TMUX_PANE", "WAYLAND_DISPLAY",
})  # fmt: skip


def planning_place(folder: str, repository: str, state_dir: str | None = None) -> Place:
    """Return the place for a command that starts in `folder` while a repository is planned for.

    Without the state directory of a run nothing lasts.
    """
    place = _place(folder, repository, os.environ)
    place.shown += (place.folder,)
    if state_dir is not None:
        state_dir = os.path.realpath(state_dir)
        worktrees = resources.worktrees(state_dir)
        kept = (resources.answer_path(state_dir, "").rstrip(os.sep), *worktrees)
        # What leads elsewhere would let writing there last.
        place.kept = tuple(path for path in kept if os.path.realpath(path) == path)
        place.protected += (state_dir, *(os.path.join(tree, ".git") for tree in worktrees))
    return place


def capture_place(
    worktree: str, repository: str, given: Mapping[str, str], kept: Iterable[str]
) -> Place:
    """Return the place for a formatter or hook, which works in the scratch worktree for good.

    `repository` is the user's, "" if the worktree lies in it; writing lasts below `kept`.
    """
    place = _place(worktree, repository or sessions.repository_root(worktree), given)
    place.kept = tuple(dict.fromkeys(map(os.path.realpath, kept)))
    return place


def verifying_place(
    repository: str, given: Mapping[str, str], covered: Mapping[str, Covering], own: Iterable[str]
) -> Place:
    """Return the place for a project's commands: other files lie over the user's, nothing lasts.

    The folders `own`, which are the planner's, are absent.
    """
    place = _place(repository, repository, given)
    place.covered = covered
    place.protected = ()
    place.hidden += (os.path.join(place.repository, resources.PLANNER_FOLDER), *own)
    return place


def _place(folder: str, repository: str, given: Mapping[str, str]) -> Place:
    place = Place(os.path.realpath(folder), repository, environment(given))
    git = [os.path.join(place.repository, ".git"), *git_folders(place.repository)]
    place.protected = (os.path.join(place.repository, resources.PLANNER_FOLDER),)
    place.shown = (resources.ROOT, *(path for one in git for path in borrowed(one)))
    place.look = lambda: _look(git, place.repository, given)
    return place


def _look(git: Iterable[str], repository: str, given: Mapping[str, str]) -> Hidden:
    """Return the secrets that there are now, and git settings without credentials."""
    hidden = [*secrets_of_users(given), *secrets_of_repository(repository)]
    for tree in (tree for one in git for tree in working_trees(one)):
        # Our own are the assistant's to write in, and hold what it has written.
        if not f"{tree}/".startswith(f"{repository}/"):
            hidden += secrets_of_repository(tree)
    return tuple(hidden), without_credentials(git, given)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a command in the place gets: none that smells of a secret."""
    return {
        name: value
        for name, value in given.items()
        if name not in _SOCKETS_OF_OTHERS and not is_secret_variable(name, value)
    }
