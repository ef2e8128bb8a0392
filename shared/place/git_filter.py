"""Runs a filter of git in the place: `git_filter.py REPOSITORY COMMAND [FILE]`, in the worktree.

Git starts it instead of the filter, gives it the content of files and reads what it makes of them.
It finds git's folder as in the user's own working tree, keys below it included, and settings
without credentials but for the files that `[place] show` names. Where there is no place, the filter
runs unable to write, as far as the kernel can hold that.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

# Git knows this file alone.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from shared import sandbox
from shared.paths import followed, lies_in
from shared.place.enter import CannotEnter, run
from shared.place.git_folders import git_folder, git_folders
from shared.place.level import forget
from shared.place.planning import capture_place
from shared.place.unseen import shown_by_user
from shared.place.values import Limits

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from shared.place.values import Place

_LIMIT_S = 900.0
_MOST_OUTPUT = 1 << 31
# By these git would lead the filter's own git to our worktree's record, or to an index of ours.
_LEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
            "GIT_PREFIX")  # fmt: skip
# In the worktree `.git` leads to our record of it; what is written there vanishes.
_AT_HOME = '[ "$1" = . ] || { rm -rf .git && ln -s "$1" .git; }; shift; exec "$@"'


def _with_keys(place: Place, look: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Return what finds what is hidden, without what lies in git's own folders, such as keys."""
    folders = (os.path.join(place.repository, ".git"), *git_folders(place.repository))

    def found() -> dict[str, Any]:
        seen = look()
        return {**seen, "hidden": [p for p in seen["hidden"] if not lies_in(p, folders)]}

    return found


def main(repository: str, *words: str) -> int:
    """Run the filter and return its exit code."""
    # Git would start us again for a git that the filter starts.
    os.environ.pop("GIT_CONFIG_PARAMETERS", None)
    command = ["sh", "-c", words[0], "sh", *words[1:]]
    given = {name: value for name, value in os.environ.items() if name not in _LEADING}
    place = capture_place(os.getcwd(), repository, given, ())
    is_home = os.path.realpath(place.folder) == place.repository
    lead = "." if is_home else git_folder(place.repository)
    place.protected = ()
    place.look = _with_keys(place, place.look)
    place.allowed = {followed(path) for path in shown_by_user(place.home)}
    place.shown += (place.folder,)
    place.input = True
    place.limits = Limits(seconds=_LIMIT_S, output=_MOST_OUTPUT)
    try:
        report = run(place, ["sh", "-c", _AT_HOME, "sh", lead, *command])
    except CannotEnter as error:
        forget(place, str(error))
        if not is_home:
            os.environ |= {"GIT_DIR": lead, "GIT_WORK_TREE": place.folder}
        sandbox.become(sandbox.wrap((), command, strict=True), dict(os.environ))
    ours = os.path.join(place.folder, ".git")
    report.lost = [path for path in report.lost if path != ours]
    sys.stderr.writelines(f"{line}\n" for line in report.notes("a filter may only print"))
    return report.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
