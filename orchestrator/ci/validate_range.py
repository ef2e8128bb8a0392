"""Give each commit of a range one of eight verdicts: how it stands to an approved plan (CM-2).

Nothing that the judged commits bring along is believed: what counts is the plan's digest, what a
signature covers, and what git itself makes of contents (CM-3).
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.judge import Judge
from orchestrator.ci.judged import ENOUGH, NOT_APPROVED, Judged
from orchestrator.ci.limits import MOST_COMMITS, MOST_FILES, within_memory
from orchestrator.ci.whole_range import WholeRange
from shared.git.history import (
    check_whole,
    empty_tree,
    ends_of_history,
    list_commits,
    read_made,
    read_stored,
)
from shared.git.reader import Reader
from shared.git.repository import find_repository
from shared.git.vault import open_vault
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.ci.judged import Verdict
    from shared.git.repository import Repository


class Wanted(NamedTuple):
    """What is judged: commits `A..B` or one commit, who says who may sign, what is enough."""

    repository: str
    range: str | None = None
    commit: str | None = None
    target: str | None = None
    require: str | None = None
    # Commits that are judged at once.
    most: int = MOST_COMMITS


def judge_commits(wanted: Wanted) -> Judged:
    """Return a verdict for each commit that is asked about.

    Refused if this clone does not have what is needed for it, or it is more than the limits allow.
    """
    with within_memory(), ExitStack() as stack:
        repository = find_repository(wanted.repository, is_read=True)
        start, end, commits = _commits(repository, wanted)
        cut = ends_of_history(repository)
        check_whole(commits, cut)
        target = known_commit(repository, wanted.target) if wanted.target else start
        folder = stack.enter_context(TemporaryDirectory(prefix="planner-"))
        vault = open_vault(repository, os.path.join(folder, "vault.git"))
        reader = stack.enter_context(Reader(repository.git, vault.git))
        judge = Judge(repository, vault, reader, target, is_shallow=bool(cut))
        whole = WholeRange(judge, wanted.require)
        judged = _judge_each(judge, commits, wanted.require, whole)
        return judged._replace(whole=whole.judged(start, end)) if start else judged


def _commits(repository: Repository, wanted: Wanted) -> tuple[str | None, str, list[str]]:
    """Return where a range starts, None for a single commit, where it ends, and its commits."""
    if wanted.commit is not None:
        only = known_commit(repository, wanted.commit)
        return None, only, [only]
    first, _, last = (wanted.range or "").partition("..")
    start = known_commit(repository, first or "A..B")
    end = known_commit(repository, last or "HEAD")
    return start, end, list_commits(repository, start, end, wanted.most)


def _judge_each(
    judge: Judge, commits: Sequence[str], require: str | None, whole: WholeRange
) -> Judged:
    found: list[Verdict] = []
    left = MOST_FILES
    empty = empty_tree(judge.repository)
    for commit in commits:
        made = read_made(judge.reader, read_stored(judge.reader, commit), empty, left)
        left -= len(made.changed)
        verdict = judge.verdict(made)
        if verdict is not None:
            verdict = verdict._replace(changed=tuple(sorted(made.changed)))
            verdict = _with_demand(verdict, require)
            found.append(verdict)
        whole.add(made, verdict)
    return Judged(found, len(commits) - len(found))


def known_commit(repository: Repository, revision: str) -> str:
    """Return the id of a commit; Refused if this clone does not have it, or has two of this name.

    A tag that somebody brings would else stand for the branch whose name it has.
    """
    done = repository.git.attempt("rev-parse", "--verify", f"{revision}^{{commit}}")
    if done.returncode or revision.startswith("-"):
        text = "this clone does not have this commit"
        raise Refused("not_found", revision, text, "fetch it first; CI often fetches one")
    is_whole = revision.startswith("refs/") or revision in done.stdout.decode()
    if b"is ambiguous" in done.stderr and not is_whole:
        text = "a tag and a branch of this clone have this name, and which is meant cannot be known"
        way = f"the whole name, such as refs/heads/{revision} or refs/remotes/{revision}"
        raise Refused("conflict", revision, text, way)
    return done.stdout.decode().strip()


def _with_demand(verdict: Verdict, require: str | None) -> Verdict:
    """Add a problem to a verdict that is not enough for what is required."""
    is_enough = require is None or verdict.word in ENOUGH[require]
    if is_enough and verdict.word != NOT_APPROVED:
        return verdict
    files = ", ".join((*verdict.edited, *verdict.additional))
    text = ": ".join(filter(None, (verdict.word, files or verdict.why)))
    allowed = f"`--require {require}`: " if require else "an approved plan: "
    allowed += " · ".join(ENOUGH[require or "any"])
    problem = Problem("refused", verdict.commit, text, allowed)
    return verdict._replace(problems=(*verdict.problems, problem))
