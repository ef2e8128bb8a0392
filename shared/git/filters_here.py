"""Find filters of git that make other bytes in the place than in the user's own folder (CM-4)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from shared.git.filters import unknown
from shared.git.journal import read_file
from shared.git.proof import blob_id
from state.errors import AGAIN, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.repository import Repository

_CLEANING = ("clean", "process")
# Files that show what a filter has made of them, and files that are looked at for them.
_WANTED, _LOOKED_AT = 3, 50


def check_filters(repo: Repository, own: str) -> list[Problem]:
    """Return a problem for each filter whose work in the place differs from what git has of it.

    `own` is the path of the user's own settings, in which a person can show it more.
    Else files that nobody has touched would count as changed, and new ones would be stored raw.
    """
    keys = (key.removeprefix("filter.").rpartition(".") for key in unknown(repo.git))
    drivers = sorted({name for name, _, what in keys if what in _CLEANING})
    return [p for name in drivers if re.fullmatch(r"[\w-]+", name) for p in _check(repo, name, own)]


def _check(repo: Repository, driver: str, own: str) -> list[Problem]:
    compared = [_compare(repo, *one) for one in _made_by(repo, driver)]
    if not compared or not all(compared):
        return []
    settings = os.path.join(repo.common_dir, "config")
    text = f"this filter of git makes other bytes in the place than git has from it: {compared[0]}"
    way = "it runs there without network, and passwords in git's settings read ***; a file of "
    way += f'settings is shown to filters by [place] show = ["{settings}"] in {own}'
    return [Problem("refused", f"filter.{driver}", text, f"{way}; then start again", AGAIN)]


def _made_by(repo: Repository, driver: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield some unchanged files of which the filter has made others: path, blob and content."""
    paths = ("--", f":(top,attr:filter={driver})")
    changed = {*repo.git.attempt("ls-files", "-z", "-m", *paths).stdout.split(b"\0")}
    found = 0
    for row in repo.git.names("ls-files", "-z", "-s", *paths)[:_LOOKED_AT]:
        meta, name = row.split(b"\t", 1)
        mode, blob, _stage = meta.decode().split(" ")
        read = mode[:3] == "100" and read_file(repo.root, os.fsdecode(name))
        # One that git has as it is was committed before there was the filter.
        if not read or blob_id(repo, read.data) == blob:
            continue
        if name in changed and not _is_since(repo, os.fsdecode(name)):
            continue
        if b"\r\n" not in read.data:
            yield os.fsdecode(name), blob, read.data
            found += 1
            if found == _WANTED:
                return


def _is_since(repo: Repository, path: str) -> bool:
    """Return whether a file is since when git has it: git asks the filter where that is too near.

    A file of the same time as the index may have been written after it.
    """
    said = repo.git.attempt("ls-files", "--debug", "--", f":(top,literal){path}").stdout
    since = re.search(rb"^  mtime: (\d+):(\d+)$", said, re.MULTILINE)
    found = os.lstat(os.path.join(repo.root, path)).st_mtime_ns
    return since is not None and int(since[1]) * 10**9 + int(since[2]) == found


def _compare(repo: Repository, path: str, blob: str, data: bytes) -> str:
    """Return in words how the filter makes another blob of a file here, "" if it does not."""
    done = repo.git.attempt("hash-object", "--stdin", f"--path={path}", stdin=data)
    if done.stdout.decode().strip() == blob:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    return f"{path}{f' ({said})' if said else ''}"
