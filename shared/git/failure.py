"""What git says when it fails, and what helps: the refusal for a command of git that failed."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN = "then run the same command again"
CAUSE = f"fix what git says, or wait until nobody changes the repository, {_AGAIN}"

# What git says, and what helps.
_NO_LFS = (
    r"git-lfs\S*( filter-process)?: (\d+: )?(git-lfs: )?(command )?not found"
    r"|external filter '?git-lfs|'lfs' is not a git command"
)
_FAR_AWAY = r"promisor remote|Could not resolve host|Could not read from remote repository"
_FILTER = r"(clean|smudge) filter '[^']*' failed"
_CONFINED = (
    "the filter that git's settings name ran in the place, where it has no network and no password "
    "of git's settings, and what"
)
# Fetches all that a partial clone leaves out.
FETCH_ALL = "git fetch --refetch --no-filter"
_FORBIDDEN = r"transport '\w+' not allowed"
_PARTIAL = "in a partial clone git fetches what it left out when it is needed"
_WAYS = (
    (
        r"[Nn]o space left on device|Out of diskspace|Disk quota exceeded",
        f"make room on the disk, {_AGAIN}",
    ),
    (_NO_LFS, f"install git-lfs, which this repository's attributes ask for, {_AGAIN}"),
    (
        _FORBIDDEN,
        f"read what .git/config fetches by; if that is yours: {FETCH_ALL}, {_AGAIN}",
    ),
    (
        "dubious ownership",
        f"if you trust who owns that folder, run the command that git names, {_AGAIN}",
    ),
    (_FAR_AWAY, f"{_PARTIAL}: make its remote reachable, {_AGAIN}; or: {FETCH_ALL}"),
    (_FILTER, f"{_CONFINED} it writes is lost: fix it, {_AGAIN}"),
)
_SAID_MAX_CHARS = 2_000
_LOCK = re.compile(r"Unable to create '([^']+\.lock)': File exists")


@contextlib.contextmanager
def unstartable(root: str) -> Iterator[None]:
    """Turn the failure to start git in the folder `root` into Refused."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as missing:
        if not os.path.isdir(root):
            allowed = f"restore the folder, {_AGAIN}"
            raise Refused("not_found", root, "this folder does not exist", allowed) from missing
        allowed = "install git 2.30 or newer"
        raise Refused("not_found", "git", "git is not on PATH", allowed) from missing
    except OSError as error:
        text = f"git could not be run: {error.strerror or error}"
        allowed = f"fix the cause, {_AGAIN}"
        raise Refused("refused", "git", text, allowed) from error


def failed(at: str, text: str, allowed: str = "", retry: str = "", output: str = "") -> Refused:
    """Return the Refused for a failed git command, with what to do where git's words show that."""
    held = _LOCK.search(text + output)
    if held is None:
        known = [way for sign, way in _WAYS if re.search(sign, text + output)]
        return Refused("refused", at, text, known[0] if known else allowed, retry, output)
    way = "wait until the other git command ends; if none is running, remove this lock file"
    return Refused("locked", held[1], "a lock file of another git command exists", way, retry)


def error_text(stderr: bytes, code: int) -> str:
    """Return git's error message without its hints, because following some hints loses work."""
    kept: list[str] = []
    for line in stderr.decode("utf-8", "replace").splitlines():
        if not line.strip() and kept and not kept[-1].endswith(":"):
            break  # what ends in a colon announces a command, below an empty line
        if line.strip() and not line.startswith(("hint:", "warning:")):
            kept.append(re.sub(r"^(fatal|error): ", "", line.strip()))
    return (
        "; ".join(kept).replace(":; ", ": ")[:_SAID_MAX_CHARS]
        or f"git ended with exit code {code} and said nothing"
    )
