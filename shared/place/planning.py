"""The place for a command while a plan is made: what it sees, and what of its writing lasts."""

from __future__ import annotations

import os

from shared import resources
from shared.known_secrets import is_secret_variable
from shared.mode import sessions
from shared.paths import lies_in, real_path
from shared.place import secrets
from shared.place.git_folders import borrowed, git_folders, working_trees
from shared.place.homes import Homes, emptied
from shared.place.leads import names
from shared.place.unseen import shown_by_user
from shared.place.values import Place

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from shared.place.values import Covering

_SOCKETS_OF_OTHERS = frozenset({
    "DISPLAY", "SSH_AGENT_PID", "TMUX", "TMUX_PANE", "WAYLAND_DISPLAY",
})  # fmt: skip


def planning_place(folder: str, repository: str, state_dir: str | None = None) -> Place:
    """Return the place for a command that starts in `folder` while a repository is planned for.

    Without the state directory of a run nothing lasts.
    """
    place = _place(folder, repository, os.environ)
    # What lies in a home is shown if the project leads there, not because a command starts there.
    if not lies_in(place.folder, emptied(place.repository, place.home)):
        place.shown += (place.folder,)
    if state_dir is not None:
        state_dir = real_path(state_dir)
        worktrees = resources.worktrees(state_dir)
        kept = (resources.answer_path(state_dir, "").rstrip(os.sep), *worktrees)
        # What leads elsewhere would let writing there last.
        place.kept = tuple(path for path in kept if real_path(path) == path)
        place.protected += (state_dir, *(os.path.join(tree, ".git") for tree in worktrees))
    return place


def leave_worktrees_out(place: Place, text: str) -> None:
    """Hide the planner's worktrees from a command that neither names them nor starts there.

    What walks the repository, as searches and runners of tests do, would find each file again.
    """
    ours = os.path.join(place.repository, resources.PLANNER_FOLDER)
    if resources.PLANNER_FOLDER in text or lies_in(place.folder, (ours,)):
        return
    runs = os.path.join(ours, "runs")
    trees = [tree for run in names(runs) for tree in resources.all_trees(os.path.join(runs, run))]
    place.hidden += tuple(trees)
    place.kept = tuple(path for path in place.kept if not lies_in(path, trees))
    place.protected = tuple(path for path in place.protected if not lies_in(path, trees))


def capture_place(
    worktree: str, repository: str, given: Mapping[str, str], kept: Iterable[str]
) -> Place:
    """Return the place for a formatter or hook, which works in the scratch worktree for good.

    `repository` is the user's, "" if the worktree lies in it; writing lasts below `kept`.
    """
    place = _place(worktree, repository or sessions.repository_root(worktree), given)
    place.kept = tuple(dict.fromkeys(map(real_path, kept)))
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
    place = Place(real_path(folder), repository, environment(given))
    git = [os.path.join(place.repository, ".git"), *git_folders(place.repository)]
    place.protected = (os.path.join(place.repository, resources.PLANNER_FOLDER),)
    place.shown = (resources.ROOT, *(path for one in git for path in borrowed(one)))
    place.look = lambda: _look(place, git, given)
    return place


def _look(place: Place, git: list[str], given: Mapping[str, str]) -> dict[str, Any]:
    """Return what there is now to hide, git settings without credentials, what homes show."""
    given = {**given, "HOME": place.home}  # without the variable it is the account's
    hidden, named = secrets.survey(place.repository)
    hidden += secrets.secrets_of_user(given)
    # Our own working trees are the assistant's to write in, and hold what it has written.
    others = (tree for one in git for tree in working_trees(one))
    for folder in (*git[1:], *(t for t in others if not lies_in(t, (place.repository,)))):
        hidden += secrets.survey(folder)[0]
    files = [*secrets.settings_of_user(given), *secrets.settings_below(git)]
    settings = secrets.git_settings(files, place.home)
    homes = Homes(place.repository, place.home, given)
    homes.look(hidden, settings, named, shown_by_user(place.home))
    files = secrets.settings_below(f"{path}/.git" for path in homes.led)
    led = secrets.git_settings(files, place.home)
    return {
        "hidden": (*hidden, *homes.secrets),
        "replaced": secrets.without_credentials({**settings, **led}),
        "emptied": homes.emptied,
        "tools": tuple(homes.tools),
        "shown": (*place.shown, *homes.led),
        "copied": homes.files,
        "links": homes.links,
    }


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a command in the place gets: none that smells of a secret."""
    return {
        name: value
        for name, value in given.items()
        if name not in _SOCKETS_OF_OTHERS and not is_secret_variable(name, value)
    }
