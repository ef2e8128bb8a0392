"""Validate plan files in CI (PL-30): schema, references, waves of milestones, digest, commit."""

from __future__ import annotations

import gc
import os
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.as_approved import is_on_base, other_people
from orchestrator.ci.beside import beside_plan
from orchestrator.ci.committed_plans import Plans
from orchestrator.ci.limits import (
    MOST_FILES,
    MOST_PLAN_MB,
    plan_problem,
    size_problem,
    within_memory,
)
from orchestrator.ci.validate_approval import is_sent, recorded
from orchestrator.ci.validate_range import known_commit
from shared.config import load_config
from shared.git.change import check_blobs
from shared.git.history import empty_tree, read_made, read_stored
from shared.git.large import MEBIBYTE
from shared.git.proof import Staged, check_commit
from shared.git.reader import Reader
from shared.git.rebuilt import check_patches
from shared.git.repository import find_repository
from shared.git.users_files import check_before
from shared.git.vault import open_vault
from state import store
from state.changes import plan_changes
from state.errors import Problem, Refused
from state.files import parse_json, read_bytes
from state.freeze import check_seals, settled_digest
from state.validator import check_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shared.git.proof import Extra
    from shared.git.repository import Repository
    from state.models import Change, Plan


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
    # Files whose patch was not compared, as what was before is in no repository here.
    unproved: Sequence[str] = ()


class Wanted(NamedTuple):
    """Optional demands on a plan file: it is frozen, fits a repository's tree, matches a commit."""

    frozen: bool = False
    repository: str | None = None
    commit: str | None = None


def validate_files(files: Iterable[str], wanted: Wanted) -> Iterator[Report]:
    """Yield a report for each plan file; an unreadable file gets a report with a problem too."""
    gc.disable()  # plans are trees without cycles: collecting while they load only costs time
    try:
        with within_memory(), ExitStack() as stack:
            repository = _repository(wanted)
            git = repository.git if repository else None
            reader = stack.enter_context(Reader(git)) if git else None
            for file in files:
                try:
                    yield _validate(file, wanted, reader)
                except Refused as refusal:
                    yield Report(file, None, list(refusal.problems))
    finally:
        gc.enable()


def _repository(wanted: Wanted) -> Repository | None:
    """Return the repository in which patches are rebuilt; None where none is named or around."""
    if wanted.repository is not None:
        return find_repository(wanted.repository)
    try:
        return find_repository(".")
    except Refused:
        return None


def _validate(file: str, wanted: Wanted, reader: Reader | None) -> Report:
    data = _read(file)
    plan = store.parse_plan(data, file)
    problems = check_plan(plan) + _check_digest(file, data, plan, wanted)
    changes = plan_changes(plan)
    patches = check_patches(reader, changes) if reader and not problems else []
    problems += [p for p in patches if p.kind != "not_found" or wanted.repository]
    beside: Sequence[str] = ()
    if not problems and wanted.commit is not None and reader is not None:
        beside, problems = _check_commit(file, plan, wanted, reader)
    elif not problems and wanted.repository is not None:
        problems = _check_repository(changes, wanted.repository)
    unproved = [p.at for p in patches if p.kind == "not_found"]
    unproved += [c.file for c in changes if reader is None]
    return Report(file, plan.digest, problems, beside, not plan.self_contained, unproved)


def _read(file: str) -> bytes:
    """Return the bytes of a plan file; Refused if it is larger than is read of one."""
    size = os.path.getsize(file) if os.path.isfile(file) else 0
    large = size_problem(size) if size > MOST_PLAN_MB * MEBIBYTE else ""
    data = b"" if large else read_bytes(file)
    if text := large or plan_problem(data):
        raise Refused("refused", file, text, "a plan file as `planner plan freeze` writes it")
    return data


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


def _check_repository(changes: Sequence[Change], folder: str) -> list[Problem]:
    repository = find_repository(folder)
    with TemporaryDirectory(prefix="planner-") as scratch:
        vault = open_vault(repository, os.path.join(scratch, "vault.git"))
        problems = check_before(repository, vault, changes)
    missing = check_blobs(repository.git, changes)
    for problem in problems:
        problem.allowed = "check out the plan's base; or name the plan's commit with `--commit`"
    return problems + missing


def _check_commit(
    file: str, plan: Plan, wanted: Wanted, reader: Reader
) -> tuple[list[str], list[Problem]]:
    """Return what a commit has beside a plan, and a problem for each way in which it differs."""
    repository = find_repository(wanted.repository or ".")
    commit = known_commit(repository, wanted.commit or "HEAD")
    made = read_made(reader, read_stored(reader, commit), empty_tree(repository), MOST_FILES)
    digest = plan.digest or ""
    copies = Plans(repository, reader).copies(made, [digest])
    given, _ = recorded(file, digest, repository.root)
    # The judged commit alone does not say which file the list of signers is.
    signers = {
        load_config(repository.git, at).allowed_signers for at in (commit, *made.stored.parents)
    }
    beside = beside_plan(made, [(given, False)] if given else [], signers)
    allowed: Extra = {path: Staged(made.changed[path].after) for path in copies | beside}
    problems = check_commit(repository, commit, plan_changes(plan), allowed)
    if f"Plan-Digest: {digest}" not in made.message.splitlines():
        text = f"the commit message does not name this plan: it has no line Plan-Digest: {digest}"
        problems.append(Problem("invalid", f"{file} {wanted.commit}", text))
    if given and is_on_base(given, made.stored) and not is_sent(digest, repository.root):
        differs = other_people(given, made.stored)
        problems += [Problem("invalid", f"{commit} {at}", text) for at, text in differs.items()]
    return sorted(beside | copies), problems
