"""Who git names as author and committer of the commits that it makes here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from state.errors import Problem

if TYPE_CHECKING:
    from shared.git.command import Git

_BYTE = re.compile("[\udc80-\udcff]")
_TIME = re.compile(r" -?\d+ [+-]\d+$")


def identities(git: Git) -> tuple[str, str]:
    """Return author and committer as `Name <address>`, "" for one that git cannot name."""
    # Not `var -l`, which names somebody even where a commit would be refused.
    author, committer = (git.attempt("var", f"GIT_{who}_IDENT") for who in ("AUTHOR", "COMMITTER"))
    return _name_in(author.stdout), _name_in(committer.stdout)


def _name_in(said: bytes) -> str:
    return _TIME.sub("", as_stored(said.decode("utf-8", "surrogateescape")).strip())


def as_stored(text: str) -> str:
    """Return a text in which bytes that are not UTF-8 are as git stores them in a commit."""
    return _BYTE.sub(lambda found: chr(ord(found[0]) - 0xDC00), text)


def check_identities(git: Git) -> list[Problem]:
    """Return a problem if git could not name an author or a committer."""
    if all(identities(git)):
        return []
    allowed = "set both by `git config user.name …` and `git config user.email …`"
    text = "git has no name and address for the author of a commit"
    return [Problem("refused", "user.name", text, allowed)]
