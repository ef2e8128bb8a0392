"""Prove that a commit holds exactly the plan's changes, and find such a commit (PL-29)."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import Ends, Entry, ends
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Change
    from shared.git.repository import Repository

    # A file to commit with the plan: its bytes, None to remove it, or what the user has staged.
    Extra = Mapping[str, "bytes | Staged | None"]

_SEARCHED = 200
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S.*")


class Staged(NamedTuple):
    """A file that is committed with the plan as it is in the user's index; None where removed."""

    entry: Entry | None


def blob_id(repo: Repository, data: bytes) -> str:
    """Return the id that git gives to a file whose content is `data`."""
    header = f"blob {len(data)}\0".encode()
    return hashlib.new(repo.object_format, header + data, usedforsecurity=False).hexdigest()


def extra_entries(repo: Repository, extra: Extra) -> dict[str, Entry | None]:
    """Return git's mode and blob for extra files to commit with the plan; None removes a file."""
    return {path: _entry(repo, data) for path, data in extra.items()}


def _entry(repo: Repository, data: bytes | Staged | None) -> Entry | None:
    if isinstance(data, Staged):
        return data.entry
    return None if data is None else Entry("100644", blob_id(repo, data))


def check_commit(
    repo: Repository, commit: str, changes: Sequence[Change], allowed: Extra
) -> list[Problem]:
    """Return a problem for each difference between `commit` and the plan.

    Compared with its only parent, exactly the planned paths may differ, each from `before` to
    `after`, and the `allowed` paths, with exactly these bytes (None: removed).
    """
    parents = parents_of(repo, commit)
    if len(parents) != 1:
        text = f"the commit has {len(parents)} parents, but the plan's commit must have one"
        return [Problem("refused", commit, text)]
    found = compare_trees(repo, parents[0], commit)
    planned = ends(changes)
    problems: list[Problem] = []
    for path, entry in extra_entries(repo, allowed).items():
        end = found.pop(path, None)
        if end is not None and end.after != entry:
            text = f"is committed as {describe(end.after)}, not as {describe(entry)}, as it must be"
            problems.append(Problem("refused", path, text))
        elif end is None and (entry_at(repo, commit, path) != entry):
            problems.append(
                Problem("refused", path, "is not in the commit with the content it must have")
            )
    for path in sorted({*planned, *found}):
        want, got = planned.get(path), found.get(path)
        if want != got:
            problems.append(Problem("refused", path, _difference(want, got)))
    return problems


def parents_of(repo: Repository, commit: str) -> list[str]:
    """Return the parents of a commit."""
    said = repo.git.lasting("rev-list", "--parents", "-n1", commit, "--", of=[commit])
    return said.decode().split()[1:]


def compare_trees(repo: Repository, old: str, new: str) -> dict[str, Ends]:
    """Return each path that differs between two trees or commits, with its file in both."""
    if old == new:
        return {}
    shape = ("-r", "-z", "--raw", "--full-index", "--no-renames")
    rows = repo.git.lasting("diff-tree", *shape, old, new, of=[old, new]).split(b"\0")[:-1]
    found: dict[str, Ends] = {}
    for meta, name in zip(rows[0::2], rows[1::2], strict=True):
        old_mode, mode, before, after = meta.decode().lstrip(":").split(" ")[:4]
        path = name.decode("utf-8", "surrogateescape")
        found[path] = Ends(
            None if old_mode == "000000" else Entry(old_mode, before),
            None if mode == "000000" else Entry(mode, after),
        )
    return found


def entry_at(repo: Repository, commit: str, path: str) -> Entry | None:
    """Return git's mode and blob of a path in a commit, None if it is not there."""
    rows = repo.git.names("ls-tree", "-z", "--full-tree", commit, "--", path)
    if not rows:
        return None
    mode, _kind, blob = rows[0].split(b"\t", 1)[0].decode().split(" ")
    return Entry(mode, blob)


def _difference(want: Ends | None, got: Ends | None) -> str:
    if got is None:
        return "is changed by the plan but not by the commit"
    if want is None:
        return "is changed by the commit but not by the plan"
    if want.before != got.before:
        return f"was {describe(got.before)} in the parent; the plan expects {describe(want.before)}"
    return f"is committed as {describe(got.after)}; the plan has {describe(want.after)}"


def describe(entry: Entry | None) -> str:
    """Return a file's blob and mode in a few words, for a message."""
    return f"{entry.blob[:12]} ({entry.mode})" if entry else "nothing"


def trailers(message: str) -> list[str]:
    """Return the trailers (`Key: value` lines) in the last paragraph of a commit message."""
    last = message.strip().split("\n\n")[-1].split("\n")
    return [line.strip() for line in last if _TRAILER.fullmatch(line.strip())]


def check_trailers(made: str, message: str) -> list[Problem]:
    """Return a problem for each trailer of `message` that a hook took out of the message `made`."""
    lines = {line.strip() for line in made.split("\n")}
    text = "a git hook of the repository removed this line from the commit message"
    way = "have the hook keep the last lines of the message"
    return [Problem("refused", line, text, way) for line in trailers(message) if line not in lines]


def find_committed(
    repo: Repository,
    changes: Sequence[Change],
    message: str,
    extra: Extra,
) -> str | None:
    """Return the commit among HEAD's first parents that already holds the plan, or None.

    It has the trailers and passes the proof. Without trailers only HEAD is checked.
    """
    depth = str(_SEARCHED if trailers(message) else 1)
    log = repo.git.text("log", "--first-parent", f"-n{depth}", "--format=%H%n%B%x00", "HEAD")
    for part in log.split("\0"):
        commit, _, body = part.strip().partition("\n")
        lines = {line.strip() for line in body.split("\n")}
        if not commit or not lines.issuperset(trailers(message)):
            continue
        try:
            if not check_commit(repo, commit, changes, extra):
                return commit
        except Refused:
            continue
    return None
