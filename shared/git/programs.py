"""Keep git, when we call it, from starting what a repository's settings name (PP-1).

`SAFE` in `command.py` switches off the settings whose names are fixed: hooks, the file system
monitor, pagers. Here are those that the repository names: filters, merge drivers, and what a
partial clone fetches by. Whoever writes `.git/config` could have any program run before approval.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.git.filters import confined, merging_plainly

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.command import Git

# By these a fetch starts programs; a server's address may name one, too.
_FETCHING = re.compile(
    r"core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper|remote\..*\.(uploadpack|vcs)"
    r"|protocol\.(.*\.)?allow|url\..*\.(pushi|i)nsteadof",
    re.DOTALL,
)
_ADDRESS = re.compile(r"remote\..*\.url", re.DOTALL)
_PROTOCOLS = ("", "ext.", "file.", "ftp.", "ftps.", "git.", "http.", "https.", "ssh.")


def harmless(git: Git, folder: str, repository: str) -> list[str]:
    """Return the git settings with which git starts no program of the repository outside the place.

    `folder` is the working tree that git is to work in, `repository` the root of the user's.
    """
    return [*confined(git, folder, repository), *merging_plainly(git), *_offline(git)]


def is_partial(settings: Mapping[str, str]) -> bool:
    """Return whether a repository with these settings is a partial clone.

    In one, git fetches what it lacks, whatever it is called for.
    """
    return any(key.endswith((".promisor", ".partialclonefilter")) for key in settings)


def _offline(git: Git) -> list[str]:
    """Return the settings by which git fetches nothing, where the repository itself says how."""
    own = git.known.own if is_partial(git.settings()) else ()
    if not any(
        _FETCHING.fullmatch(key) or (_ADDRESS.fullmatch(key) and "::" in value)
        for key, value in own
    ):
        return []
    return [f"protocol.{name}allow=never" for name in _PROTOCOLS]
