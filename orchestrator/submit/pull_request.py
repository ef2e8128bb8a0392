"""Writes what a pull request says of a committed plan: what was approved, why, and the proof."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orchestrator.submit import plan_md
from orchestrator.submit.markdown import code, live, one_line
from orchestrator.submit.message import description_of
from shared import plan_refs
from shared.builders import counted, visible
from shared.git.published import is_pushed
from shared.resources import quote
from state.changes import plan_changes
from state.channels import approval_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.git.repository import Repository
    from shared.run import State
    from state.models import Change, Plan

_ISSUE = re.compile(r"Issue #(\d{1,9}): ")  # as a start with --issue begins the request
_MOST_FILES = 100


def body_of(state: State, plan: Plan) -> str:
    """Return the text of a pull request for a run whose plan is committed, as Markdown."""
    approach = live(description_of(plan))
    lines = [approach, *_closes(state), *_approved(state, plan)]
    for section in (plan_md.decisions, plan_md.verified, plan_md.reviews):
        lines += section(plan)
    lines += _proof(state, plan)
    return visible("\n".join(lines)).strip() + "\n"


def push_commands(repository: Repository, plan: Plan, branch: str, commit: str) -> list[str]:
    """Return the git commands by which the user pushes branch and plan; none where that is done."""
    remote = plan_refs.remote_of(repository)
    if not remote or is_pushed(repository, branch, commit):
        return []
    push = f"git push -u {quote(remote)} {quote(branch)}"
    return [push, plan_refs.push_command(repository, plan.digest or "")]


def _closes(state: State) -> Iterator[str]:
    if found := _ISSUE.match(state.run.request):
        yield from ("", f"Closes #{found[1]}")


def _approved(state: State, plan: Plan) -> Iterator[str]:
    digest = plan.digest or ""
    yield from ("", "## Approved", "")
    yield f"Plan `{digest}`: {approval_text(state.database.approved_by(state.run, digest))}."
    for milestone in plan.milestones:
        yield f"- {milestone.id} {one_line(milestone.name)}"


def _proof(state: State, plan: Plan) -> Iterator[str]:
    changes = plan_changes(plan)
    yield from ("", "## Proof", "")
    files = counted(len(changes), "file")
    yield f"Commit {state.run.commit_id} holds exactly what was approved, in {files}."
    yield "To check it, whatever becomes of the commit's history: `planner validate --range A..B`,"
    yield "once `refs/planner/*` is pushed."
    yield from ("", "| file | before | after |", "|---|---|---|")
    yield from map(_row, changes[:_MOST_FILES])
    if (more := len(changes) - _MOST_FILES) > 0:
        yield f"| {more} more | | |"


def _row(change: Change) -> str:
    moved = f"{code(change.old_file)} → " if change.old_file else ""
    before, after = (f"`{blob[:12]}`" if blob else "–" for blob in (change.before, change.after))
    return f"| {moved}{code(change.file)} | {before} | {after} |".replace("\n", " ")
