"""Record that a person approves the plan with exactly one digest (PL-19, PL-26, PM-13)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from developer.move_base import files_behind
from orchestrator.execute.to_come import commit_to_come
from orchestrator.submit.readable import refresh
from orchestrator.upkeep.adopt import adopt
from shared import approval, digests, plan_refs, resources, ssh_signature
from shared.drift import check_run
from shared.execution.deeds import Execution
from shared.git.rebuilt import refuse_other_patches
from shared.git.repository import repository_at
from shared.guard.consent import (
    Consent,
    check_consent,
    check_demand,
    check_person,
    check_second_act,
)
from shared.mode.guarded import is_guarded
from shared.mode.sessions import repository_root
from shared.mode.where import database_path
from shared.plan_file import check_named
from shared.run import State, open_state
from state.changes import plan_changes
from state.channels import COMMAND
from state.database import Database
from state.errors import Problem, Refused
from state.files import read_bytes
from state.frozen_bytes import digest_of
from state.stages import ACTIVE

if TYPE_CHECKING:
    from shared.approval import Approval
    from shared.git.repository import Repository
    from state.database import Planning
    from state.models import Plan


class Given(NamedTuple):
    """How a person gives an approval besides typing it: by a signature, a file, or a second act."""

    sign: bool = False
    key: str | None = None
    file: str | None = None
    # Where nothing shows that a person gives it: the second act.
    unproven: bool = False

    @property
    def is_signed(self) -> bool:
        """Return whether a signature is what shows who approves."""
        return self.sign or self.key is not None or self.file is not None


TYPED = Given()


def open_or_adopt(state_dir: str | None, folder: str) -> State:
    """Return the run of a state directory; make a run for a frozen plan without one (PL-19)."""
    try:
        return open_state(state_dir, folder)
    except Refused as refusal:
        if any(p.kind != "not_found" for p in refusal.problems):
            raise  # such as a symbolic link in place of a folder of ours
        if state_dir is None or not os.path.isfile(resources.plan_path(state_dir)):
            raise
    return adopt(state_dir, folder)


def waiting_with(folder: str, digest: str) -> str | None:
    """Return the folder of the only active run whose plan has this digest, else None."""
    path = resources.repository_database(folder)
    runs = Database(path).runs(ACTIVE) if path else []
    found = [r.state_dir for r in runs if r.digest == digest and os.path.isdir(r.state_dir)]
    return found[0] if len(found) == 1 else None


def approve(state: State, digest: str, now: float, given: Given = TYPED) -> None:
    """Record that a person approves the plan with this digest, so that it may be applied."""
    with state.lock("approve"):
        plan = check_named(state, digest)
        if state.run.stage == "submitted":
            refuse_other_patches(state.repository.git, plan_changes(plan))
            found, consent = _consent(state, commit_to_come(state, plan), now, given)
            check_demand(consent, state.config["config"].get("require", ""), digest)
            check_run(state)
            _refuse_overtaken_design(state, plan)
            rows, what = _rows(state), ("approve", digest)
            check_second_act(state.database, rows, consent, what, again=given.unproven)
            approval.save(state.state_dir, found)
            with state.database as database:
                database.approve(state.run, digest, consent.who, consent.channel)
                state.move("approve", consent.who, detail=consent.detail, step=2)
                Execution(state).begin()
            refresh(state)


def _refuse_overtaken_design(state: State, plan: Plan) -> None:
    """Raise Refused for intents whose files the user has changed since: they were not designed so.

    Of a plan with changes, the apply says more precisely what is in the way.
    """
    if state.run.depth != "intent":
        return
    text = "was changed since the design was made for it"
    allowed = "a new revision of the design takes up the file as it is now"
    again = state.command("plan", "revise")
    if found := files_behind(state, plan):
        raise Refused.of(Problem("conflict", file, text, allowed, again) for file in found)


def _consent(state: State, asked: Approval, now: float, given: Given) -> tuple[Approval, Consent]:
    """Return the approval to be kept and how strong it is; Refused if it is not given."""
    guarded = is_guarded(state.database, _rows(state))
    if not given.is_signed:
        consent = check_consent(asked.digest, guarded=guarded, now=now)
        proof = {"kind": approval.TYPED} if consent.channel == COMMAND else None
        return asked._replace(word=consent.channel, who=consent.who, proof=proof), consent
    check_person(asked.digest)
    repository = state.repository
    if given.file is not None:
        found = approval.load(given.file)
        _check_same(given.file, found, asked)
    else:
        key = given.key or repository.git.attempt("config", "user.signingkey").stdout.decode()
        if not key.strip():
            text = "git names no key for you (user.signingkey)"
            raise Refused("not_found", "--key", text, "name the file of your key by --key FILE")
        signed = ssh_signature.sign(key.strip(), asked.message)
        found = asked.with_signature(signed.armored)
    signers = approval.allowed_signers(repository.git, asked.base)
    channel, who = approval.signed_by(found, signers)
    why = approval.SENT if given.file else ""
    return found._replace(word=channel, who=who), Consent(channel, why, who)


def _rows(state: State) -> list[Planning]:
    """Return the agents that plan the run."""
    return state.database.planning_of(state.run.run_id)


def _check_same(file: str, found: Approval, asked: Approval) -> None:
    """Raise Refused if a colleague's approval is of another plan, or of another commit to come.

    Who commits, and with which key, is not the same on the colleague's machine.
    """
    if (found.digest, found.base) != (asked.digest, asked.base):
        text = f"is an approval of {found.digest} on {found.base}"
        allowed = f"an approval of {asked.digest} on {asked.base}"
        raise Refused("invalid", file, text, allowed)
    if found.form == approval.FORM and (found.tree, found.beside) != (asked.tree, asked.beside):
        text = (
            f"approves the tree {found.tree} with {', '.join(found.beside) or 'nothing'} beside it"
        )
        allowed = f"an approval of the tree {asked.tree}"
        if asked.beside:
            allowed += f" with {', '.join(asked.beside)} beside it"
        raise Refused("invalid", file, text, allowed)


def full_digest(
    given: str, folder: str, state_dir: str | None, opened: dict[str, Repository] | None = None
) -> str:
    """Return the digest that begins with the digits `given`; Refused if they are of none, or many.

    Whatever else is given is returned as it is, and no plan will have it. `opened` keeps the
    repository that is opened for it.
    """
    if not digests.is_digits(given) or len(given) >= digests.LENGTH:
        return given
    if len(given) < digests.SHORTEST:
        text = f"{len(given)} digits are too few to name a plan"
        raise Refused("invalid", given, text, f"give at least {digests.SHORTEST} digits")
    real = os.path.realpath(state_dir or "")
    path = resources.database_path(real) if state_dir else database_path(folder)
    known = digests.known([path])
    if os.path.lexists(os.path.join(repository_root(folder), ".git")):
        known |= plan_refs.frozen(repository_at(repository_root(folder), opened))
    if state_dir and os.path.isfile(resources.plan_path(real)):
        known |= {digest_of(read_bytes(resources.plan_path(real)))[0] or ""}
    found = digests.matching(given, known)
    if len(found) == 1:
        return found[0]
    where = os.path.dirname(os.path.dirname(path))
    text = f"in {where} no plan was ever frozen with a digest that begins so"
    if found:
        text = f"in {where} several plans were frozen with digests that begin so"
    allowed = "; ".join(found) or (
        "the digest that the summary and the review page show, in the repository of its plan"
    )
    raise Refused("conflict" if found else "not_found", given, text, allowed)
