"""Read the commits of a range as git has stored them, and what each changes (CM-2).

Where a shallow clone ends, the stored commit still names its parents, so that what lies beyond is
never taken for a beginning.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from shared.git.large import MEBIBYTE
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Ends
    from shared.git.command import Git
    from shared.git.reader import Reader
    from shared.git.repository import Repository

_SIGNATURE = re.compile(rb"^gpgsig(?:-sha256)? (.*(?:\n .*)*)", re.MULTILINE)
# Of one commit, message included.
MOST_OF_A_COMMIT = MEBIBYTE
_WHOLE_HISTORY = "fetch the whole history: git fetch --unshallow; CI often fetches one commit"


class Stored(NamedTuple):
    """A commit as it is stored: its tree, parents, who made it, and its message."""

    commit: str
    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str
    # Its signature with armor, "" if it has none.
    signature: str = ""

    @property
    def subject(self) -> str:
        """The first line of its message."""
        return self.message.partition("\n")[0]


class Made(NamedTuple):
    """One commit to judge: as it is stored, the tree of its first parent, and changed paths."""

    stored: Stored
    # Git's empty tree where it has no parent.
    before: str
    changed: Mapping[str, Ends]

    @property
    def commit(self) -> str:
        """Its id."""
        return self.stored.commit

    @property
    def message(self) -> str:
        """Its message, line ends as stored."""
        return self.stored.message


def read_stored(reader: Reader, commit: str) -> Stored:
    """Return a commit by its id; Refused if it is not here, or too large to be read."""
    head = reader.head(commit)
    if head.kind != "commit":
        text = "this clone does not have this commit, which the range needs"
        raise Refused("not_found", commit, text, _WHOLE_HISTORY)
    data = reader.content(head.id, MOST_OF_A_COMMIT)
    if data is None:
        text = f"has {head.size:,} bytes, more than the {MOST_OF_A_COMMIT:,} that are read of one"
        raise Refused("refused", commit, text, "give the commit a shorter message")
    return _parsed(commit, data)


def stored_in(git: Git, commit: str) -> Stored:
    """Return a commit of the user's own by its id, whatever its size."""
    return _parsed(commit, git.lasting("cat-file", "commit", commit, of=[commit]))


def _parsed(commit: str, data: bytes) -> Stored:
    """Return a commit from its bytes; Refused if git makes none that has this form."""
    top, _, message = data.partition(b"\n\n")
    rows = [line.partition(b" ") for line in top.split(b"\n")]
    # Git reads these in this order alone: a parent that is named elsewhere is none.
    names = [name for name, _, _ in rows]
    count = next((n for n, name in enumerate(names[1:]) if name != b"parent"), len(names) - 1)
    if names[0] != b"tree" or names[count + 1 : count + 3] != [b"author", b"committer"]:
        text = "is not a commit as git makes one"
        raise Refused("invalid", commit, text, "make the commit anew, with git")
    values = [value for _, _, value in rows]
    more = dict(zip(names[count + 3 :], values[count + 3 :], strict=True))
    coding = more.get(b"encoding", b"utf-8").decode("ascii", "replace")
    author, committer = (
        _text(one, coding).rpartition("> ")[0] + ">" for one in values[count + 1 : count + 3]
    )
    signed = _SIGNATURE.search(top)
    signature = signed[1].replace(b"\n ", b"\n").decode("ascii", "replace") if signed else ""
    return Stored(
        commit, values[0].decode(), tuple(one.decode() for one in values[1 : count + 1]),
        author, committer, _text(message, coding), signature,
    )  # fmt: skip


def _text(message: bytes, coding: str) -> str:
    try:
        return message.decode(coding, "surrogateescape")
    except (LookupError, ValueError):  # of an encoding that Python does not have, or none at all
        return message.decode("utf-8", "surrogateescape")


def read_made(reader: Reader, stored: Stored, empty: str, most: int) -> Made:
    """Return a commit with what it changes in its first parent; Refused if that is not here."""
    before = empty
    if stored.parents:
        before = tree_of(reader, stored.parents[0])
    return Made(stored, before, reader.changed(before, stored.tree, most))


def tree_of(reader: Reader, commit: str) -> str:
    """Return the tree of a commit; Refused if the commit is not here."""
    return read_stored(reader, commit).tree


def empty_tree(repo: Repository) -> str:
    """Return the id of the tree without files, which git knows without having stored it."""
    return hashlib.new(repo.object_format, b"tree 0\0").hexdigest()


def list_commits(repo: Repository, start: str, end: str, most: int) -> list[str]:
    """Return the commits of `start..end`, parents first; Refused if there are more than `most`."""
    words = ("--reverse", "--topo-order", f"-n{most + 1}", f"{start}..{end}", "--")
    found = repo.git.text("rev-list", *words).splitlines()
    if len(found) > most:
        text = f"there are more than the {most:,} commits that are judged at once"
        way = "name a smaller range, or how many may be judged: --most N"
        raise Refused("refused", f"{start[:12]}..{end[:12]}", text, way)
    return found


def ends_of_history(repo: Repository) -> frozenset[str]:
    """Return the commits at which a shallow clone ends; none in a clone with the whole history."""
    try:
        with open(os.path.join(repo.common_dir, "shallow"), encoding="ascii") as file:
            return frozenset(file.read().split())
    except FileNotFoundError:
        return frozenset()


def check_whole(commits: Sequence[str], cut: frozenset[str]) -> None:
    """Raise Refused if the history of a range ends within it, since the clone is shallow."""
    text = "this clone is shallow: it has this commit of the range, and not what came before"
    problems = [Problem("not_found", one, text, _WHOLE_HISTORY) for one in commits if one in cut]
    if problems:
        raise Refused.of(problems)
