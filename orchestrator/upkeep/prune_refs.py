"""Drop the refs with frozen plans of ended runs; refs with approved and committed plans stay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orchestrator.upkeep.prune import ended_runs
from shared import resources
from shared.git import refs
from shared.git.repository import repository_at
from shared.plan_refs import DRAFTS
from state.files import read_bytes
from state.frozen_bytes import digest_of

if TYPE_CHECKING:
    from state.database import Database, Run


def prune_drafts(database: Database, root: str, age_s: int, *, dry_run: bool) -> list[str]:
    """Drop drafts of runs that ended longer than `age_s` ago; return the names of their refs.

    One that no run here has frozen stays, and so does the only copy of a plan.
    """
    repository = repository_at(root)
    ended = ended_runs(database, age_s)
    others = {run.run_id for run in database.runs()} - {run.run_id for run in ended}
    live = [run for run in database.runs() if run.run_id in others]
    needed = {digest for run in live for digest in _frozen(database, run)}
    needed |= {run.digest for run in ended if run.digest and not _has_plan(run)}
    known = {digest for run in ended for digest in _frozen(database, run)} - needed
    found = [r for r in refs.listed_refs(repository, DRAFTS) if r.removeprefix(DRAFTS) in known]
    for ref in () if dry_run else found:
        refs.drop(repository, ref)
    return found


def _frozen(database: Database, run: Run) -> set[str]:
    """Return the digest of every revision that a run has frozen."""
    rows = database.audit_rows(run)
    return {digest for digest in (run.digest, *(row["digest"] for row in rows)) if digest}


def _has_plan(run: Run) -> bool:
    path = resources.plan_path(run.state_dir)
    return os.path.isfile(path) and digest_of(read_bytes(path))[1] == run.digest
