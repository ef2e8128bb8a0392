"""Find the approved plans that a commit is said to hold, or holds without saying so (CM-2)."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.beside import beside_plan
from orchestrator.ci.limits import (
    MOST_APPROVAL_BYTES,
    MOST_FILES,
    MOST_PLAN_MB,
    MOST_REFS,
    plan_problem,
    size_problem,
)
from shared import plan_refs
from shared.git.change import GITLINK, ends
from shared.git.history import empty_tree, read_made, read_stored
from shared.git.large import MEBIBYTE
from shared.git.rebuilt import check_patches
from shared.resources import ARCHIVE_FOLDER
from state import store
from state.changes import plan_changes
from state.errors import Problem, Refused
from state.freeze import settled_digest
from state.validator import check_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shared.approval import Approval
    from shared.git.change import Ends
    from shared.git.history import Made
    from shared.git.reader import Reader
    from shared.git.repository import Repository
    from state.models import Change

# In any paragraph: a squash merge copies the messages of several commits into one.
_NAMED = re.compile(r"^\s*Plan-Digest: ([0-9a-f]{64})\s*$", re.MULTILINE)
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40,64})")
_DEEPEST = 20
_MOST = MOST_PLAN_MB * MEBIBYTE
_PLAIN = "100644"
# The contents that a plan's changes name; in a text of the plan the quotes are escaped.
_CONTENTS = re.compile(rb'"(?:before|after)": ?"([0-9a-f]{40,64})"')


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
    # Why this is not the plan with this digest.
    wrong: str = ""
    title: str = ""
    # The commit that its changes start from.
    base: str = ""
    # What is unsound in it, by file or entry.
    problems: tuple[Problem, ...] = ()
    # What could not be compared, since a content is not here.
    lacking: tuple[Problem, ...] = ()
    # In bytes.
    size: int = 0


class Plans:
    """The plans of a repository's refs and commits."""

    def __init__(self, repository: Repository, reader: Reader) -> None:
        self.repository = repository
        self.reader = reader
        self.empty = empty_tree(repository)
        self.refs = plan_refs.committed(repository, MOST_REFS)
        # The last that were found, together no larger than one plan may be.
        self._found: dict[str, Known | None] = {}
        self._held = 0
        self._digests: dict[str, str | None] = {}
        self._by_content: dict[str, list[str]] | None = None

    def plans_named(self, made: Made, depth: int = 0) -> Said:
        """Return which plans a commit's message names; a revert is of those of its commit.

        A revert that names a plan besides is that plan's own commit.
        """
        named = tuple(dict.fromkeys(_NAMED.findall(made.message)))
        reverted = _REVERTS.search(made.message)
        if reverted is None:
            return Said(named)
        if depth == _DEEPEST or self.reader.head(reverted[1]).kind != "commit":
            return Said(named, is_reverse=True, of=reverted[1])
        stored = read_stored(self.reader, reverted[1])
        undone = read_made(self.reader, stored, self.empty, MOST_FILES)
        before = self.plans_named(undone, depth + 1)
        if own := tuple(digest for digest in named if digest not in before.digests):
            return Said(own)
        if before.digests:
            return Said(before.digests, not before.is_reverse, reverted[1])
        holds = self.holding(undone)
        return Said((holds,) if holds else (), is_reverse=True, of=reverted[1])

    def find(self, digest: str, made: Made) -> Known | None:
        """Return a plan by its digest, from a ref or from the commit itself; None if not here."""
        if digest not in self._found:
            found = self._in_refs(digest)
            self._remember(digest, found)
        found = self._found[digest]
        if found is not None and not found.wrong:
            return found
        return self._in_commit(digest, made) or found

    def _remember(self, digest: str, found: Known | None) -> None:
        size = found.size if found else 0
        if self._held + size > _MOST:
            self._found.clear()
            self._held = 0
        self._held += size
        self._found[digest] = found

    def _in_refs(self, digest: str) -> Known | None:
        """Return the plan as the refs of this digest have it: the one that is best approved."""
        best, seen = None, set[str]()
        for ref, at in self.refs.get(digest, {}).items():
            known = self._in_ref(digest, ref, at) if at not in seen else None
            seen.add(at)
            if known and (best is None or _worth(known) > _worth(best)):
                best = known
        return best

    def _in_ref(self, digest: str, ref: str, at: str) -> Known:
        size = self.reader.head(f"{at}:{plan_refs.PLAN}").size
        if size > _MOST:
            return Known(digest, (), None, ref, f"{ref} {size_problem(size)}")
        data = self.reader.content(f"{at}:{plan_refs.PLAN}", _MOST)
        said = self.reader.content(f"{at}:{plan_refs.APPROVAL}", MOST_APPROVAL_BYTES)
        kept = plan_refs.parse_kept(ref, digest, data, said)
        if kept.wrong:
            return Known(digest, (), None, ref, kept.wrong)
        return self._read(digest, kept.data, ref, kept.approval)

    def _read(self, digest: str, data: bytes, place: str, approval: Approval | None) -> Known:
        """Return a plan with what is unsound in it: references, waves, paths, patches."""
        too_much = plan_problem(data)
        if too_much:
            return Known(digest, (), None, place, f"{place} {too_much}")
        try:
            plan = store.parse_plan(data, place)
            changes = plan_changes(plan)
            ends(changes)
        except Refused as refusal:
            return Known(
                digest, (), approval, place, problems=tuple(_named(place, refusal.problems))
            )
        problems = check_plan(plan)
        patches = [] if problems else check_patches(self.reader, changes)
        lacking = [one for one in patches if one.kind == "not_found"]
        problems += [one for one in patches if one.kind != "not_found"]
        base = plan.base.commit if plan.base else ""
        if approval is not None and approval.base != base:
            text = f"is an approval on the base {approval.base}, and the plan's is {base or 'none'}"
            problems = [*problems, Problem("invalid", plan_refs.APPROVAL, text)]
        return Known(
            digest, changes, approval, place, title=plan.overview.title, base=base,
            problems=tuple(_named(place, problems)), lacking=tuple(_named(place, lacking)),
            size=len(data),
        )  # fmt: skip

    def _in_commit(self, digest: str, made: Made) -> Known | None:
        """Return a plan of which the commit, or the one before it, has a copy among its files."""
        for tree in (made.stored.tree, made.before):
            for path, blob in archived(self.repository, tree):
                if self.digest_of(blob) == digest:
                    data = self.reader.content(blob, _MOST) or b""
                    return self._read(digest, data, path, None)
        return None

    def digest_of(self, blob: str) -> str | None:
        """Return the digest of the plan in a blob, None if it holds none."""
        if blob not in self._digests:
            data = self.reader.content(blob, _MOST)
            is_plan = data is not None and not plan_problem(data)
            self._digests[blob] = settled_digest(data) if data is not None and is_plan else None
        return self._digests[blob]

    def holding(self, made: Made) -> str:
        """Return the digest of a kept plan that makes just a commit's changes, "" without one.

        Copies of the plan and what its approval lets stand may be beside them.
        """
        if self._by_content is None:
            self._by_content = self._contents()
        digests = [self._by_content.get(one, ()) for one in sorted(_blobs(made.changed))]
        candidates = [
            known
            for digest in dict.fromkeys(chain.from_iterable(digests))
            if (known := self._in_refs(digest)) and not known.wrong
            if known.changes and self._holds(made, known)
        ]
        return max(candidates, key=_worth).digest if candidates else ""

    def _holds(self, made: Made, known: Known) -> bool:
        """Return whether a commit makes the changes of a plan, and none but what may be beside."""
        wanted = ends(known.changes)
        if any(made.changed.get(path) != end for path, end in wanted.items()):
            return False
        rest = made.changed.keys() - wanted.keys()
        given = known.approval
        signed = [(given, given.signature is not None)] if given else []
        ours = self.copies(made, [known.digest]) | beside_plan(made, signed, ()) if rest else set()
        return rest <= ours

    def _contents(self) -> dict[str, list[str]]:
        """Return the digests of the plans in refs, each by one of the contents that it names."""
        found: dict[str, list[str]] = {}
        for digest, refs in sorted(self.refs.items()):
            for at in refs.values():
                data = self.reader.content(f"{at}:{plan_refs.PLAN}", _MOST) or b""
                blobs = {blob.decode() for blob in _CONTENTS.findall(data)}
                digests = found.setdefault(min(blobs, default=""), [])
                digests += [digest] * (digest not in digests)
        return found

    def copies(self, made: Made, digests: Sequence[str]) -> set[str]:
        """Return the paths at which a commit adds or removes copies of these plans."""
        found: set[str] = set()
        for path, end in made.changed.items():
            entry = end.after or end.before
            if _is_copy(path) and entry is not None and entry.mode == _PLAIN:
                digest = self.digest_of(entry.blob)
                if digest is not None and digest in digests:
                    found |= {path, f"{path.removesuffix('.json')}.md"}
        there = {path: made.changed[path] for path in found & {*made.changed}}
        return {p for p, end in there.items() if {e.mode for e in end if e} == {_PLAIN}}


def _is_copy(path: str) -> bool:
    return path.startswith(f"{ARCHIVE_FOLDER}/") and path.endswith(".json")


def _worth(known: Known) -> tuple[bool, bool, bool, bool]:
    """Return what makes one copy of a plan better than another: sound, and approved by whom."""
    approval = known.approval
    return (
        not known.wrong, not known.problems, approval is not None,
        approval is not None and approval.signature is not None,
    )  # fmt: skip


def _named(place: str, problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield the problems of a plan with the place of the plan before their own."""
    for one in problems:
        yield Problem(one.kind, f"{place} {one.at}", one.problem, one.allowed)


def _blobs(changed: Mapping[str, Ends]) -> set[str]:
    return {entry.blob for end in changed.values() for entry in end if entry is not None}


def archived(repository: Repository, tree: str) -> Iterator[tuple[str, str]]:
    """Yield the path and blob of each copy of a plan in a tree."""
    rows = repository.git.attempt("ls-tree", "-z", tree, f"{ARCHIVE_FOLDER}/").stdout
    for row in filter(None, rows.split(b"\0")):
        meta, _, path = row.partition(b"\t")
        mode, kind, blob = meta.decode().split(" ")
        if kind == "blob" and mode != GITLINK and path.endswith(b".json"):
            yield path.decode("utf-8", "surrogateescape"), blob
