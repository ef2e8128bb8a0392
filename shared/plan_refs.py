"""Keep plans and their approvals under refs of our own, so that a commit need not hold them (CM-1).

`refs/planner-drafts/DIGEST` has plan.json and plan.md from the freeze on and is never pushed.
`refs/planner/DIGEST` has approval.json too, is made at the proof and never changes. Other people's
are fetched to `refs/planner-fetched/`, where `git fetch --prune` takes none of ours.
"""

from __future__ import annotations

import calendar
import time
from typing import TYPE_CHECKING, NamedTuple

from shared import approval
from shared.git import refs
from shared.git.repository import head
from shared.resources import quote
from state.changes import apart, plan_changes
from state.errors import Refused
from state.files import read_bytes
from state.freeze import settled_digest

if TYPE_CHECKING:
    from shared.git.repository import Repository
    from shared.run import State
    from state.models import Plan

DRAFTS = "refs/planner-drafts/"
KEPT = "refs/planner/"
FETCHED = "refs/planner-fetched/"
REFSPEC = f"{KEPT}*:{FETCHED}*"
PLAN, TEXT, APPROVAL = "plan.json", "plan.md", approval.FILE


class Kept(NamedTuple):
    """A plan as a ref has it: its bytes, its approval if one is there, and the ref's name."""

    ref: str
    data: bytes
    approval: approval.Approval | None
    wrong: str = ""


def keep_draft(state: State, plan: Plan, text: str) -> None:
    """Store a frozen plan and its readable text under its own ref, which nothing pushes."""
    files = _files(state, plan, text)
    told = refs.Told(f"Frozen plan: {_title(plan)}\n", _seconds(plan.frozen_at or ""), _base(plan))
    refs.keep(state.repository, f"{DRAFTS}{plan.digest}", files, told)


def keep(state: State, plan: Plan, text: str) -> None:
    """Store a committed plan with its approval.json under a ref that never changes again.

    Refused if a ref of this name holds something else than the plan.
    """
    repository, digest = state.repository, plan.digest or ""
    files = _files(state, plan, text)
    files[APPROVAL] = read_bytes(approval.path_in(state.state_dir))
    seconds = int(repository.git.text("log", "-1", "--format=%ct", _commit_of(state)))
    told = refs.Told(f"Approved plan: {_title(plan)}\n", seconds, _base(plan))
    refs.keep(repository, KEPT + digest, files, told)
    wrong = read(repository, KEPT + digest, digest).wrong
    if wrong:
        allowed = "give that ref another name, then run the same command again"
        raise Refused("conflict", KEPT + digest, wrong, allowed)
    refs.drop(repository, DRAFTS + digest)


def _files(state: State, plan: Plan, text: str) -> dict[str, bytes | str]:
    """Return what a ref keeps of a plan: its bytes, its text, and the blobs that it has apart."""
    blobs = {f"blob-{c.after}": c.after for c in plan_changes(plan) if apart(c) and c.after}
    return {PLAN: read_bytes(state.plan_path), TEXT: text.encode(), **blobs}


def _commit_of(state: State) -> str:
    return approval.of_run(state.state_dir).commit or "HEAD"


def read(repository: Repository, ref: str, digest: str) -> Kept:
    """Return what a ref holds, and in `wrong` why that is not the plan that the ref names."""
    return parse_kept(ref, digest, *refs.files_in(repository, ref, PLAN, APPROVAL))


def parse_kept(ref: str, digest: str, data: bytes | None, said: bytes | None) -> Kept:
    """Return what a ref holds by the bytes of its two files, None for one that it does not have."""
    if data is None:
        return Kept(ref, b"", None, f"{ref} has no {PLAN}")
    if settled_digest(data) != digest:
        return Kept(ref, data, None, f"{ref} was rewritten: its {PLAN} is not the plan it names")
    try:
        found = None if said is None else approval.parse(said, f"{ref}:{APPROVAL}")
    except Refused as refusal:
        return Kept(ref, data, None, f"{ref} was rewritten: {refusal.problems[0].problem}")
    if found is not None and found.digest != digest:
        return Kept(ref, data, None, f"{ref} was rewritten: its {APPROVAL} is of another plan")
    return Kept(ref, data, found)


def remote_of(repository: Repository) -> str:
    """Return the remote that the current branch belongs to, else the first one, "" without any."""
    settings = repository.git.settings()
    keys = (key.split(".", 1)[1] for key in settings if key.startswith("remote."))
    names = sorted({key.rpartition(".")[0] for key in keys} - {""})
    if not names:
        return ""
    own = settings.get(f"branch.{head(repository).branch}.remote", "")
    return own if own in names else "origin" if "origin" in names else names[0]


def push_command(repository: Repository, digest: str) -> str:
    """Return the git command that pushes a committed plan, "" where there is no remote.

    It is a push of its own: a server that takes no such refs refuses the whole push that has one.
    """
    remote = remote_of(repository)
    return f"git push {quote(remote)} {KEPT}{digest}" if remote else ""


def fetch_command(repository: Repository) -> str:
    """Return the git command that fetches the plans of other people's commits."""
    return f"git fetch {quote(remote_of(repository) or 'origin')} '{REFSPEC}'"


def refspec_command(repository: Repository) -> str:
    """Return the git command after which each fetch brings other people's plans; "" if it does."""
    remote = remote_of(repository)
    key = f"remote.{remote}.fetch"
    known = repository.git.attempt("config", "--get-all", key).stdout.decode().splitlines()
    return f"git config --add {quote(key)} '{REFSPEC}'" if remote and REFSPEC not in known else ""


def committed(repository: Repository, most: int) -> dict[str, dict[str, str]]:
    """Return for the digest of every committed plan its refs, each with the object that it names.

    Refused if there are more than `most` of them.
    """
    words = (f"--count={most + 1}", "--format=%(refname) %(objectname)", KEPT, FETCHED)
    rows = repository.git.text("for-each-ref", *words).splitlines()
    if len(rows) > most:
        text = f"there are more than the {most:,} plans that are looked through"
        way = f"fetch into a clone of its own those that the commits name, as {KEPT}DIGEST"
        raise Refused("refused", f"{KEPT}*", text, way)
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        ref, _, at = row.partition(" ")
        found.setdefault(ref.rpartition("/")[2], {})[ref] = at
    return found


def frozen(repository: Repository) -> set[str]:
    """Return the digest of every plan that a ref names, drafts too."""
    names = refs.listed_refs(repository, DRAFTS, KEPT, FETCHED)
    return {name.rpartition("/")[2] for name in names}


def _title(plan: Plan) -> str:
    return " ".join(plan.overview.title.split()) or (plan.digest or "")[:12]


def _base(plan: Plan) -> str:
    return plan.base.commit if plan.base else "HEAD"


def _seconds(at: str) -> int:
    try:
        return calendar.timegm(time.strptime(at, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0
