"""Have the filters that git's attributes ask for run in the place, and no merge drivers (PP-1).

Git starts them when it reads, writes or merges a file of the scratch worktree, and their programs
may lie there: whoever writes in the worktree would run what they like.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

from shared.paths import real_path
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared.git.command import Git

_SHARED = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(_SHARED, "place", "git_filter.py")
_STARTS = ("clean", "smudge", "process")
# They keep the content of files in the git folder, and fetch it: what they write has to last. They
# run nothing of a working tree.
_KEEPERS = re.compile(r"(git-lfs|git-annex)((?: [-\w%]+)*)")
_PLAIN_MERGE = "git merge-file --marker-size=%L %A %O %B"


def drivers(git: Git) -> dict[str, str]:
    """Return what git's settings say of filters: by key, such as `filter.lfs.clean`, the value."""
    return {key: value for key, value in git.settings().items() if key.startswith("filter.")}


def starting(git: Git) -> dict[str, str]:
    """Return those of the filters' settings by which git starts a program, with its command."""
    return {k: v for k, v in drivers(git).items() if v and k.rpartition(".")[2] in _STARTS}


def unknown(git: Git) -> dict[str, str]:
    """Return the same as `starting` without git-lfs and its like, which run nothing of a tree."""
    return {k: v for k, v in starting(git).items() if not _KEEPERS.fullmatch(v)}


def switched_off(git: Git) -> list[str]:
    """Return the git settings with which no filter runs and files count as they are on disk."""
    names = {key.removeprefix("filter.").rpartition(".")[0] for key in drivers(git)}
    off = ("clean=", "smudge=", "process=", "required=false")
    return [f"filter.{driver}.{setting}" for driver in sorted(names) for setting in off]


def confined(git: Git, worktree: str, repository: str) -> list[str]:
    """Return the git settings with which no filter runs outside of the place in `worktree`.

    `repository` is the root of the user's working tree, whose secrets the place hides.
    """
    found = starting(git)
    _check_names(found)
    return [f"{key}={_confined(key, text, worktree, repository)}" for key, text in found.items()]


def hold_content(users: Git, git: Git, names: Iterable[bytes]) -> bool:
    """Return whether a filter keeps the content of one of these files in the git folder.

    `users` is a git in the user's tree, for the settings, `git` the one in which the files are.
    """
    found = [
        key.split(".", 1)[1] for key, text in drivers(users).items() if _KEEPERS.fullmatch(text)
    ]
    keepers = {name.rpartition(".")[0] for name in found}
    if not keepers:
        return False
    asked = b"".join(name + b"\0" for name in names)
    said = git.run("check-attr", "-z", "--stdin", "filter", stdin=asked).split(b"\0")
    return not keepers.isdisjoint(map(os.fsdecode, said[2::3]))


def merging_plainly(git: Git) -> list[str]:
    """Return the git settings with which git merges files as text, by no driver of the user's."""
    found = [key for key in git.settings() if re.fullmatch(r"merge\..*\.driver", key, re.DOTALL)]
    _check_names(found)
    return [f"{key}={_PLAIN_MERGE}" for key in found]


def _check_names(settings: Iterable[str]) -> None:
    """Raise Refused for settings that no option of git can replace."""
    if odd := [key for key in settings if "=" in key]:
        text = "a filter or driver has `=` in its name, so it cannot be kept from running"
        raise Refused("refused", f"git config {odd[0]}", text, "rename it in git's settings")


def _confined(key: str, text: str, worktree: str, repository: str) -> str:
    """Return the command line that git is to start instead of a filter's own."""
    keeper = _KEEPERS.fullmatch(text)
    program = keeper and _outside(keeper[1], worktree)
    if keeper and program:
        return shlex.quote(program) + keeper[2]
    # Git may be lent copies of files; a filter's own programs lie in the real worktree.
    there = f"cd {shlex.quote(worktree)} && exec "
    words = [sys.executable, "-I", "-S", PROGRAM, repository]
    if key.endswith(".process"):
        return there + shlex.join([*words, text])
    # Git puts the file's path, quoted, in place of %f, and % in place of %%.
    text = re.sub("%%|%f", lambda found: '"$1"' if found[0] == "%f" else found[0], text)
    return f"{(there + shlex.join(words)).replace('%', '%%')} {shlex.quote(text)} %f"


def _outside(name: str, worktree: str) -> str | None:
    """Return the path of a program outside of the worktree, by absolute folders of PATH alone."""
    folders = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    found = shutil.which(name, path=os.pathsep.join(folders))
    inside = found and f"{real_path(found)}/".startswith(f"{real_path(worktree)}/")
    return None if inside else found
