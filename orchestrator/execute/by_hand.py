"""Complete a run whose applied files the user has committed by hand, all or some (PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.message import subject_of
from shared.builders import first_of
from shared.git.by_hand import find_part, is_whole, prove_part, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.git.by_hand import ByHand
    from shared.git.change import FileChange
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.run import State
    from state.models import Change, Plan

_MADE = "committed by hand up to "
_REST_OF = "Rest-Of-Plan:"
_AND_REST = ", and the rest by the program"
_SHOWN = 10


class Rest(NamedTuple):
    """What the user has not committed of an applied plan, with the message of its commit."""

    changes: Sequence[FileChange]
    message: str
    # The commit before the first of the user's that holds a part of the plan.
    parent: str


def find(repository: Repository, tip: str, plan: Plan, changes: Sequence[Change]) -> ByHand | None:
    """Return how the user, up to the commit `tip`, has committed all of the plan.

    None for the planner's own commit.
    """
    made = find_some(repository, tip, plan, changes)
    return made if made is not None and is_whole(made, changes) else None


def find_some(
    repository: Repository, tip: str, plan: Plan, changes: Sequence[Change]
) -> ByHand | None:
    """Return the same of a part of the plan or all of it."""
    made = find_part(repository, tip, changes, _base(plan))
    return None if made and _line_in(repository, made, f"Plan-Digest: {plan.digest}") else made


def rest(
    repository: Repository, tip: str, vault: Vault, plan: Plan, changes: Sequence[Change]
) -> Rest | None:
    """Return what is left to commit after `tip` where the user has committed a part, else None.

    The program commits it without the line `Plan-Digest`, as this commit alone is not the plan;
    it is proved together with the user's. Asked again after a crash, the answer is the same.
    """
    line = f"{_REST_OF} {plan.digest}"
    part = find_part(repository, tip, changes, _base(plan))
    if part and (ours := _line_in(repository, part, line)):
        part = find_part(repository, f"{ours}^", changes, _base(plan))
    if part is None or is_whole(part, changes):
        return None
    said = f"The rest of a plan: commits since {part.parent[:12]} hold its other files."
    left = without(vault, changes, part.paths, repository.zero)
    return Rest(left, f"{subject_of(plan)}\n\n{said}\n\n{line}\n", part.parent)


def remember(commit: str, parent: str, *, with_rest: bool = False) -> str:
    """Return what the audit says of a plan that was committed by hand, all or a part of it."""
    return f"{_MADE}{commit}, after {parent}{_AND_REST if with_rest else ''}"


def is_proved(state: State, repository: Repository, changes: Sequence[Change]) -> bool:
    """Return whether the run was completed by commits of the user's that hold all of the plan."""
    return _made(state, repository, changes) is not None


def proof_text(state: State, repository: Repository, changes: Sequence[Change]) -> str:
    """Return what is proved if the user has committed the plan by hand, else an empty text."""
    made = _made(state, repository, changes)
    if made is None:
        return ""
    beside = ", ".join(first_of(made.beside, _SHOWN))
    also = (
        f" They also hold what is not of the plan, as you committed it: {beside}." if beside else ""
    )
    between = f"{made.parent[:12]}..{made.commit[:12]}"
    if _detail(state).endswith(_AND_REST):
        return (
            f"{between}, your own commits and one that holds the rest, hold all approved "
            f"changes, blob by blob.{also}"
        )
    return (
        f"your own commits, {between}, hold all approved "
        f"changes, blob by blob, so nothing more is committed.{also}"
    )


def commits_of(state: State, repository: Repository, changes: Sequence[Change]) -> list[str]:
    """Return the commits that hold the plan of a completed run: its own, or those by hand."""
    made = _made(state, repository, changes)
    if made is None:
        return [state.run.commit_id or ""]
    words = ("--first-parent", f"{made.parent}..{made.commit}", "--", *sorted(made.paths))
    return repository.git.having(GIT_LITERAL_PATHSPECS="1").text("rev-list", *words).split()


def _line_in(repository: Repository, made: ByHand, line: str) -> str:
    """Return the newest of these commits whose message has a line, an empty text without one."""
    log = repository.git.text(
        "log", "--first-parent", "--format=%H%n%B%x00", f"{made.parent}..{made.commit}", "--"
    )
    for part in log.split("\0"):
        commit, _, body = part.strip().partition("\n")
        if line in body.split("\n"):
            return commit
    return ""


def _made(state: State, repository: Repository, changes: Sequence[Change]) -> ByHand | None:
    """Return the proof of a run that was completed by hand, None for any other."""
    if not (detail := _detail(state)):
        return None
    parent = detail.removesuffix(_AND_REST).rpartition(" after ")[2]
    made = prove_part(repository, parent, state.run.commit_id or "", changes)
    return made if made is not None and is_whole(made, changes) else None


def _detail(state: State) -> str:
    """Return what the audit says of how the run was completed by hand, else an empty text."""
    rows = state.database.audit_rows(state.run)
    found = (r["detail"] for r in rows if r["action"] == "finish")
    return next((detail for detail in found if detail.startswith(_MADE)), "")


def _base(plan: Plan) -> str:
    return plan.base.commit if plan.base else ""
