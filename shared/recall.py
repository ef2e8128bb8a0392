"""Recall what earlier plans of a repository decided; read them from its commits (ST-9).

Only what was carried out counts: a plan whose digest a commit in the history of HEAD names in its
`Plan-Digest:` trailer, and no later commit takes back. Plans are read from `planning/plans/` at
HEAD, from `refs/planner/`, and from those fetched (`refs/planner-fetched/`). Anybody who commits
can write all that: each says who approved it, and what nobody approved is never taken up unasked.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import TYPE_CHECKING, Any

from shared import resources
from shared.approvers import NOBODY, approvals
from shared.contents import (
    ALTERNATIVES,
    ASSUMED,
    CONSTRAINTS,
    DECISIONS,
    INVARIANTS,
    NOT_WANTED,
    RISKS,
    TRADEOFFS,
)
from shared.git.repository import find_repository
from shared.plan_refs import FETCHED, KEPT
from state.clock import moment
from state.errors import Refused
from state.files import parse_json, write_json
from state.freeze import settled_digest
from state.plan_table import Plan
from state.recall_index import Entry, Memory
from state.shape import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.repository import Repository
    from shared.run import State
    from state.recall_index import Found

    Json = dict[str, Any]

ENOUGH = 0.70  # from this confidence on, what is recalled need not be found again
USEFUL = 0.35
_BEST, _LOOKED_FOR = 3, 6
_LOG = "--format=%H%x00%ct%x00%(trailers:key=Plan-Digest,valueonly,separator=%x2C)%x00%b%x01"
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40})")
_DAY_S = 86_400
_RECALLED = (
    ("decision", DECISIONS),
    ("rejected alternative", ALTERNATIVES),
    ("rejected alternative", NOT_WANTED),
    ("constraint", CONSTRAINTS),
    ("assumption", ASSUMED),
    ("risk", RISKS),
    ("invariant", INVARIANTS),
    ("tradeoff", TRADEOFFS),
)


def open_memory(repository: Repository) -> Memory:
    """Return the up-to-date index of a repository; it is kept only where the planner has a folder.

    It is made anew where it is missing, damaged, or of another history than HEAD's.
    """
    folder = os.path.join(repository.root, resources.PLANNER_FOLDER)
    kept = os.path.isdir(folder) and os.access(folder, os.W_OK)
    head = repository.git.attempt("rev-parse", "--verify", "-q", "HEAD^{commit}")
    at = head.stdout.decode().strip()
    refs = repository.git.text("for-each-ref", "--format=%(objectname) %(refname)", KEPT, FETCHED)
    path = os.path.join(folder, resources.MEMORY)
    if not kept or not (os.path.exists(path) or refs or _archived(repository, at)):
        path = ":memory:"
    memory = Memory(path)
    if memory.noted("read") != f"{at}\n{refs}":
        _read(repository, memory, at, refs)
    return memory


def _read(repository: Repository, memory: Memory, head: str, refs: str) -> None:
    """Bring the index up to the plans that HEAD and refs have now."""
    with memory:
        sources = dict(_sources(repository, head, refs))
        committed = _committed(repository) if sources else {}
        wanted: dict[str, tuple[str, bytes]] = {}
        for source, data in sources.items():
            digest = _digest(data)
            if digest in committed and digest not in wanted:
                wanted[digest] = (source, data)
        known = memory.plans()
        memory.forget(digest for digest in known if digest not in wanted)
        for digest, (source, data) in wanted.items():
            if digest not in known:
                commit, at = committed[digest]
                plan, faults = read(parse_json(data, source), Plan)
                # One of a form that is not known says nothing.
                said = [] if faults else _entries_of(plan, digest, source, commit, at)
                memory.add(digest, source, said)
        for given in approvals(repository, wanted, refs) if wanted else ():
            if memory.judged(given.digest) != given.key:
                memory.approve(given.digest, given.word(), given.key)
        memory.note("read", f"{head}\n{refs}")


def _sources(repository: Repository, head: str, refs: str) -> Iterator[tuple[str, bytes]]:
    """Yield each plan that HEAD and the refs hold: where it lies, and its bytes."""
    git, objects = repository.git, []
    for row in _archived(repository, head):
        meta, _, path = row.partition(b"\t")
        if path.endswith(b".json") and meta.split()[1] == b"blob":
            objects.append((os.fsdecode(path), meta.split()[2].decode()))
    objects += [
        (line.partition(" ")[2], f"{line.split()[0]}:plan.json") for line in refs.splitlines()
    ]
    for source, name in objects:
        with contextlib.suppress(Refused):
            yield source, git.run("cat-file", "blob", name)


def _archived(repository: Repository, head: str) -> list[bytes]:
    """Return the lines of `git ls-tree` for the folder of plans at a commit; none without one."""
    if not head:
        return []
    words = ("ls-tree", "-z", head, f"{resources.ARCHIVE_FOLDER}/")
    return repository.git.lasting(*words, of=[head]).split(b"\0")[:-1]


def _digest(data: bytes) -> str:
    """Return the digest of a frozen plan's bytes, "" if they are no sound frozen plan."""
    return settled_digest(data) or ""


def _committed(repository: Repository) -> dict[str, tuple[str, str]]:
    """Return for each digest that a commit of HEAD's history names: that commit and its time."""
    log = repository.git.run(
        "log", "--extended-regexp", "--grep=^Plan-Digest: ", "--grep=^This reverts commit ",
        _LOG, "HEAD",
    )  # fmt: skip
    found: dict[str, tuple[str, str]] = {}
    taken_back: set[str] = set()
    for part in log.decode("utf-8", "replace").split("\x01"):
        commit, _, rest = part.strip().partition("\0")
        if not rest:
            continue
        seconds, digests, body = rest.split("\0", 2)
        if commit in taken_back:  # newest first: a revert that is reverted does not count
            continue
        reverted = _REVERTS.findall(body)
        if reverted:  # our own names the digest that it takes back
            taken_back.update(reverted)
            continue
        for digest in filter(None, (one.strip() for one in digests.split(","))):
            found.setdefault(digest, (commit, moment(int(seconds))))
    return found


def _entries_of(plan: Plan, digest: str, source: str, commit: str, at: str) -> list[Entry]:
    """Return what a plan said that may help a later one."""

    def entry(kind: str, name: str, title: str, body: str) -> Entry:
        return Entry(title.strip(), body.strip(), kind, name, digest, source, commit, at)

    about = plan.overview
    history = "\n".join(filter(None, [about.problem.strip(), about.approach.strip()]))
    rows = [(kind, row) for kind, content in _RECALLED for row in content.rows(plan)]
    found = [entry("history", "overview", about.title, history)]
    found += [entry(kind, row.id, row.text, row.why) for kind, row in rows]
    return [one for one in found if one.title]


# what is recalled


def recall(folder: str, query: str, limit: int) -> list[Found]:
    """Return what earlier plans of the repository around a folder say to a query, best first."""
    return _recall(find_repository(folder), query, limit)


def _recall(repository: Repository, query: str, limit: int) -> list[Found]:
    memory = open_memory(repository)
    try:
        return memory.recall(query, limit)
    finally:
        memory.close()


def useful(state: State, query: str) -> list[Found]:
    """Return the best few that fit a query well and that somebody approved.

    None where nothing can be recalled. Who designs a change would take them for settled.
    """
    try:
        found = _recall(state.repository, query, _LOOKED_FOR)
    except Refused:
        return []
    fit = [one for one in found if one.confidence >= USEFUL and one.approved != NOBODY]
    return fit[:_BEST]


def age_of(at: str, now: float) -> str:
    """Return how old a time is, in words."""
    with contextlib.suppress(ValueError):
        days = int((now - _seconds(at)) // _DAY_S)
        return "today" if days < 1 else "1 day" if days == 1 else f"{days} days"
    return "unknown"


def _seconds(at: str) -> float:
    import calendar

    return calendar.timegm(time.strptime(at, "%Y-%m-%dT%H:%M:%SZ"))


def as_block(one: Found) -> Json:
    """Return what was recalled as a block of gathered context (§2), with where it comes from."""
    entry = one.entry
    where = " ".join(filter(None, [entry.source, entry.name]))
    origin = f"{where}, commit {entry.commit_id[:12]} of {entry.at}"
    return {
        "title": f"{entry.kind.capitalize()}: {entry.title}", "source_type": "plan_memory",
        "node_ids": [f"{entry.digest[:12]}:{entry.name or entry.kind}"],
        "provenance": [f"{origin}, approved: {one.approved}"],
        "confidence_avg": one.confidence, "content": entry.body or entry.title,
    }  # fmt: skip


def keep_for_design(state: State, query: str) -> None:
    """Store the best few of earlier plans in a run's folder, for who designs the change."""
    found = useful(state, query)
    if found:
        lines = [line_of(one) for one in found]
        write_json(resources.recalled_path(state.state_dir), lines)


def line_of(one: Found) -> str:
    """Return what was recalled in one line: what, why, where from, how sure."""
    entry = one.entry
    why = " ".join(entry.body.split())
    named = " ".join(filter(None, [entry.kind, entry.name]))
    text = f"{named}: {' '.join(entry.title.split())}"
    told = f"{entry.source}, {entry.at[:10]}, approved: {one.approved}"
    told += f", confidence {one.confidence:.2f}"
    return f"{text}{f' – {why}' if why else ''} ({told})"
