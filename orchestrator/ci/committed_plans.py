"""Find the approved plans that a commit is said to hold, or holds without saying so (CM-2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from shared import plan_refs
from shared.git import refs
from shared.git.change import GITLINK, ends
from shared.git.verdict import read_commit
from shared.resources import ARCHIVE_FOLDER
from state import store
from state.changes import plan_changes
from state.errors import Refused
from state.freeze import settled_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shared.approval import Approval
    from shared.git.change import Ends
    from shared.git.repository import Repository
    from shared.git.verdict import Made
    from state.models import Change

# In any paragraph: a squash merge copies the messages of several commits into one.
_NAMED = re.compile(r"^\s*Plan-Digest: ([0-9a-f]{64})\s*$", re.MULTILINE)
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40,64})")
_DEEPEST = 20


class Said(NamedTuple):
    """What a commit's message says: which plans it holds, or whether it takes them back."""

    digests: tuple[str, ...]
    is_reverse: bool = False
    of: str = ""


class Known(NamedTuple):
    """A plan that was found: digest, changes, approval where a ref has one, place and title."""

    digest: str
    changes: Sequence[Change]
    approval: Approval | None
    place: str
    wrong: str = ""
    title: str = ""


class Plans:
    """The plans of a repository's refs and commits, each read once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._found: dict[str, Known | None] = {}
        self._by_content: dict[frozenset[tuple[str, Ends]], str] | None = None

    def plans_named(self, made: Made, depth: int = 0) -> Said:
        """Return which plans a commit's message names; a revert is of those of its commit."""
        named = tuple(dict.fromkeys(_NAMED.findall(made.message)))
        reverted = _REVERTS.search(made.message)
        if reverted is None:
            return Said(named)
        git = self.repository.git
        if depth < _DEEPEST and git.ok("cat-file", "-e", f"{reverted[1]}^{{commit}}"):
            undone = read_commit(self.repository, reverted[1])
            before = self.plans_named(undone, depth + 1)
            if before.digests:
                return Said(before.digests, not before.is_reverse, reverted[1])
            if holds := self.holding(undone.changed):
                return Said((holds,), is_reverse=True, of=reverted[1])
        return Said(named, is_reverse=True, of=reverted[1])

    def find(self, digest: str, made: Made) -> Known | None:
        """Return a plan by its digest, from a ref or from the commit itself; None if not here."""
        if digest not in self._found:
            self._found[digest] = self._in_ref(digest)
        found = self._found[digest]
        if found is not None and not found.wrong:
            return found
        return self._in_commit(digest, made) or found

    def _in_ref(self, digest: str) -> Known | None:
        kept = plan_refs.find(self.repository, digest)
        if kept is None:
            return None
        if kept.wrong:
            return Known(digest, (), None, kept.ref, kept.wrong)
        try:
            plan = store.parse_plan(kept.data, kept.ref)
            changes = plan_changes(plan)
            ends(changes)
        except Refused as refusal:
            why = f"{kept.ref} holds a plan that cannot be read: {refusal.problems[0].problem}"
            return Known(digest, (), None, kept.ref, why)
        return Known(digest, changes, kept.approval, kept.ref, title=plan.overview.title)

    def _in_commit(self, digest: str, made: Made) -> Known | None:
        """Return a plan of which the commit, or the one before it, has a copy among its files."""
        for revision in (made.commit, made.parent):
            for path, data in archived(self.repository, revision):
                if settled_digest(data) == digest:
                    plan = store.parse_plan(data, path)
                    return Known(digest, plan_changes(plan), None, path, title=plan.overview.title)
        return None

    def holding(self, changed: Mapping[str, Ends]) -> str:
        """Return the digest of a kept plan that makes just these changes, "" without one."""
        if self._by_content is None:
            self._by_content = dict(self._contents())
        return self._by_content.get(frozenset(changed.items()), "")

    def _contents(self) -> Iterator[tuple[frozenset[tuple[str, Ends]], str]]:
        for digest in sorted(plan_refs.committed(self.repository)):
            known = self._in_ref(digest)
            if known is not None and not known.wrong:
                yield frozenset(ends(known.changes).items()), digest


def archived(repository: Repository, revision: str) -> Iterator[tuple[str, bytes]]:
    """Yield the copies of plans among the files of a commit, each with its path."""
    rows = repository.git.attempt("ls-tree", "-z", revision, f"{ARCHIVE_FOLDER}/").stdout
    for row in filter(None, rows.split(b"\0")):
        meta, _, path = row.partition(b"\t")
        if path.endswith(b".json") and meta.split()[1] == b"blob":
            data = refs.blob(repository, meta.split()[2].decode())
            yield path.decode("utf-8", "surrogateescape"), data


def copies(repository: Repository, made: Made, digests: Sequence[str]) -> set[str]:
    """Return the paths at which a commit adds or removes copies of these plans."""
    found: set[str] = set()
    for path, end in made.changed.items():
        if path.startswith(f"{ARCHIVE_FOLDER}/") and path.endswith(".json"):
            entry = end.after or end.before
            if entry is None or entry.mode == GITLINK:
                continue
            digest = settled_digest(refs.blob(repository, entry.blob))
            if digest is not None and digest in digests:
                found |= {path, f"{path.removesuffix('.json')}.md"}
    return found & {*made.changed}
