"""Validate plan files in CI (PL-30): schema, references, waves of milestones, digest, commit."""

from __future__ import annotations

import gc
import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.beside import beside_plan
from orchestrator.ci.committed_plans import copies
from shared.git.change import check_blobs
from shared.git.proof import Staged, check_commit
from shared.git.repository import find_repository
from shared.git.users_files import check_before
from shared.git.vault import open_vault
from shared.git.verdict import read_commit
from state import store
from state.changes import plan_changes
from state.errors import Problem, Refused
from state.files import parse_json, read_bytes
from state.freeze import check_seals, settled_digest
from state.validator import check_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shared.git.proof import Extra
    from state.models import Plan


class Report(NamedTuple):
    """The validation result of one plan file."""

    file: str
    digest: str | None
    # Empty if the file is valid.
    problems: list[Problem]
    # Files that the commit has beside the plan, as one of requirements may.
    beside: Sequence[str] = ()
    # A plan that is not self-contained needs its ref.
    needs_ref: bool = False


class Wanted(NamedTuple):
    """Optional demands on a plan file: it is frozen, fits a repository's tree, matches a commit."""

    frozen: bool = False
    repository: str | None = None
    commit: str | None = None


def validate_files(files: Iterable[str], wanted: Wanted) -> Iterator[Report]:
    """Yield a report for each plan file; an unreadable file gets a report with a problem too."""
    gc.disable()  # plans are trees without cycles: collecting while they load only costs time
    try:
        for file in files:
            try:
                yield _validate(file, wanted)
            except Refused as refusal:
                yield Report(file, None, list(refusal.problems))
    finally:
        gc.enable()


def _validate(file: str, wanted: Wanted) -> Report:
    data = read_bytes(file)
    plan = store.parse_plan(data, file)
    problems = check_plan(plan) + _check_digest(file, data, plan, wanted)
    if not problems and wanted.repository is not None:
        problems = _check_repository(file, plan, wanted)
    beside: Sequence[str] = ()
    if wanted.repository is not None and wanted.commit is not None:
        beside = [*beside_plan(find_repository(wanted.repository), wanted.commit)]
    return Report(file, plan.digest, problems, beside, not plan.self_contained)


def _check_digest(file: str, data: bytes, plan: Plan, wanted: Wanted) -> list[Problem]:
    if plan.digest is None and plan.frozen_at is None:
        text = "the plan is not frozen"
        return (
            [Problem("invalid", "frozen_at", text, "run `planner plan freeze`")]
            if wanted.frozen
            else []
        )
    if settled_digest(data) is not None or (plan.digest is None and not plan.seals):
        return []  # one that another program froze has nothing to compare, and is a finding
    return check_seals(store.check_version(parse_json(data, file), file))


def _check_repository(file: str, plan: Plan, wanted: Wanted) -> list[Problem]:
    repository = find_repository(wanted.repository or ".")
    changes = plan_changes(plan)
    if wanted.commit is None:
        with TemporaryDirectory(prefix="planner-") as folder:
            vault = open_vault(repository, os.path.join(folder, "vault.git"))
            problems = check_before(repository, vault, changes)
        missing = check_blobs(repository.git, changes)
        for problem in problems:
            problem.allowed = "check out the plan's base; or name the plan's commit with `--commit`"
        return problems + missing
    made = read_commit(repository, wanted.commit)
    ours = copies(repository, made, [plan.digest or ""])
    allowed: Extra = {
        **beside_plan(repository, wanted.commit),
        **{path: Staged(made.changed[path].after) for path in ours},
    }
    problems = check_commit(repository, wanted.commit, changes, allowed)
    if f"Plan-Digest: {plan.digest}" not in made.message.splitlines():
        text = (
            f"the commit message does not name this plan: it has no line Plan-Digest: {plan.digest}"
        )
        problems.append(Problem("invalid", f"{file} {wanted.commit}", text))
    return problems
