"""Say what an approval.json proves by itself, in any clone that has its base (PP-7)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.as_approved import is_on_base, is_other_tree, other_people
from orchestrator.ci.judged import BY_CLAIM, BY_SIGNATURE
from orchestrator.ci.limits import MOST_APPROVAL_BYTES
from shared import approval, resources
from shared.config import load_config
from shared.config_keys import PROVEN_ONLY
from shared.git.history import read_stored
from shared.git.reader import Reader
from shared.git.repository import find_repository
from state.channels import PROVEN, SIGNED, SIGNED_OPEN, approval_text, label
from state.database import Database
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from shared.approval import Approval
    from shared.git.history import Stored
    from shared.git.repository import Repository
    from state.database import Run


class Judged(NamedTuple):
    """What is known of an approval: file, what it proves, that in words, what is wrong with it."""

    file: str
    channel: str
    text: str
    problems: list[Problem]


class Approvals(NamedTuple):
    """What the approvals of a commit's plans show, that in words, and what is wrong with them."""

    # BY_SIGNATURE or BY_CLAIM; "" where one is missing or its signature does not count.
    standing: str
    said: str
    problems: tuple[Problem, ...]


class Asked(NamedTuple):
    """What an approval is judged by: repository, the plans' digests, commits."""

    repository: str
    digests: Collection[str] = ()
    commit: str | None = None
    # What alone says who may sign, and what has to be proven.
    target: str | None = None
    # Of the commit that is judged: without a target it has to say the same as the plan's base.
    parent: str | None = None


def judge(file: str, asked: Asked) -> Judged:
    """Return what the approval in `file` proves; Refused if the file does not have the form."""
    if os.path.isfile(file) and os.path.getsize(file) > MOST_APPROVAL_BYTES:
        text = f"has more than the {MOST_APPROVAL_BYTES:,} bytes that are read of an approval"
        raise Refused("refused", file, text, "name the approval.json of a run")
    found = approval.load(file)
    return judge_approval(find_repository(asked.repository), found, file, asked)


def judge_approval(repository: Repository, found: Approval, file: str, asked: Asked) -> Judged:
    """Return what an approval proves that was read from `file`, a path or the name of a ref."""
    problems = _about(file, found, repository, asked)
    channel = ""
    text = f"it says {label(found.word)}; only a signature can prove that, and it has none"
    if found.signature is not None:
        try:
            channel, text = _signature(found, repository, asked)
        except Refused as refusal:
            problems += refusal.problems
            text = "its signature does not count"
        else:
            if found.word != channel:
                said = f"it says {label(found.word)}, and its signature proves {label(channel)}"
                problems.append(Problem("invalid", f"{file} word", said, channel))
    for at in _who_says(found, asked):
        problems += _demand(file, channel, repository, at)
    return Judged(file, channel, text, problems)


def judge_approvals(
    repository: Repository, given: Iterable[tuple[str, str, Approval | None]], asked: Asked
) -> Approvals:
    """Return what the approvals of several plans show: place, digest and approval of each."""
    standing, said, problems = set[str](), list[str](), list[Problem]()
    for place, digest, found in given:
        if found is None:
            standing.add("")
            said.append(f"{place} has no approval")
            continue
        judged = judge_approval(repository, found, place, asked._replace(digests=[digest]))
        claimed = BY_CLAIM if found.signature is None else ""
        standing.add(BY_SIGNATURE if judged.channel else claimed)
        said.append(judged.text)
        problems += judged.problems
    weakest = next(one for one in ("", BY_CLAIM, BY_SIGNATURE) if one in standing)
    return Approvals(weakest, "; ".join(dict.fromkeys(said)), tuple(problems))


def _about(file: str, found: Approval, repository: Repository, asked: Asked) -> list[Problem]:
    """Return a problem for each plan or commit that the approval is not about."""
    problems = [
        Problem("invalid", f"{file} digest", f"approves {found.digest}, not the plan {digest}")
        for digest in asked.digests
        if digest != found.digest
    ]
    if asked.commit is not None:
        commit = repository.git.text("rev-parse", f"{asked.commit}^{{commit}}")
        if found.commit not in (None, commit):
            text = f"is of the commit {found.commit}, not {commit}"
            problems.append(Problem("invalid", f"{file} commit", text))
        if commit == found.base and asked.target is None:
            text = "the commit that is judged cannot say who may sign"
            problems.append(Problem("invalid", f"{file} base", text, "name the branch by --target"))
        with Reader(repository.git) as reader:
            problems += _commit(file, found, read_stored(reader, commit))
    return problems


def _commit(file: str, found: Approval, stored: Stored) -> list[Problem]:
    """Return a problem for each way in which a commit on the approved base is not as approved."""
    if not is_on_base(found, stored):
        return []
    differs = {
        field: f"{stored.commit} {text}" for field, text in other_people(found, stored).items()
    }
    if is_other_tree(found, stored):
        text = f"approves the tree {found.tree}, and {stored.commit} has the tree {stored.tree}"
        differs = {"tree": text, **differs}
    return [Problem("invalid", f"{file} {field}", text) for field, text in differs.items()]


def _who_says(found: Approval, asked: Asked) -> list[str]:
    """Return the commits that say who may sign; each of them has to.

    Without a target the judged could bring the parent, or name the base.
    """
    if asked.target:
        return [asked.target]
    return list(dict.fromkeys((found.base, asked.parent or found.base)))


def _signature(found: Approval, repository: Repository, asked: Asked) -> tuple[str, str]:
    commits = [_known(repository, at) for at in _who_says(found, asked)]
    lists = [approval.allowed_signers(repository.git, commit) for commit in commits]
    (channel, who), *_ = [approval.signed_by(found, signers) for signers in lists]
    listed = " and ".join(dict.fromkeys(place for one in lists for place in one.places))
    text = f"{label(channel)}, by {who}, whom {listed} allows to sign"
    if asked.target is None:
        text += "; that base is named by the approval itself, so name your branch by --target"
    if found.form == 1:
        text += f"; a signature of form 1, which does not cover {approval.NOT_COVERED}"
    return channel, text


def _known(repository: Repository, revision: str) -> str:
    """Return the id of a commit; Refused if this clone does not have it."""
    words = ("rev-parse", "--verify", "-q", f"{revision}^{{commit}}")
    try:
        return repository.git.lasting(*words, of=[revision]).decode().strip()
    except Refused:
        text = "this clone does not have this commit, which says who may sign"
        way = "fetch it, or name a branch by --target"
        raise Refused("not_found", revision, text, way) from None


def _demand(file: str, channel: str, repository: Repository, at: str) -> list[Problem]:
    """Return a problem if the project asks for a proven approval and the file proves none."""
    try:
        require = load_config(repository.git, _known(repository, at)).require
    except Refused as refusal:
        # Without a signature nobody need have the commit that a file names as its base.
        is_gone = all(problem.kind == "not_found" for problem in refusal.problems)
        return [] if is_gone and not channel else list(refusal.problems)
    if require != PROVEN_ONLY or channel in PROVEN:
        return []
    text = f"proves no person, and [approval] require is proven at {at[:12]}"
    return [Problem("refused", file, text, "planner approve DIGEST --sign, with a key to touch")]


def recorded(file: str, digest: str | None, folder: str) -> tuple[Approval | None, str]:
    """Return a plan's approval as this machine has it recorded, and in words how it was given."""
    near = approval.path_in(os.path.dirname(os.path.abspath(file)))
    for path in (near, _of_run(digest, folder)):
        if path and os.path.isfile(path):
            found = approval.load(path)
            if found.digest == digest:
                signed = found.word in (SIGNED, SIGNED_OPEN)
                check = "; check it by --approval" if signed else ""
                return found, f"{approval_text((found.word, found.who))}, as {path} says{check}"
    return None, "not known here; name its approval.json by --approval"


def _of_run(digest: str | None, folder: str) -> str:
    """Return the path of the approval.json of the run with this digest, "" if there is none."""
    return next((approval.path_in(r.state_dir) for _, r in _runs(digest, folder)), "")


def is_sent(digest: str, folder: str) -> bool:
    """Return whether this machine's run of a plan was approved on another machine."""
    return any(approval.is_sent(database, run) for database, run in _runs(digest, folder))


def _runs(digest: str | None, folder: str) -> list[tuple[Database, Run]]:
    path = os.path.join(find_repository(folder).root, resources.PLANNER_FOLDER, resources.DATABASE)
    if not resources.is_database(path):
        return []
    database = Database(path)
    return [(database, run) for run in database.runs() if run.digest == digest]
