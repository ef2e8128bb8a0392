"""What a plan's commit says, and the files that it has beside the plan's own changes (CM-1)."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from orchestrator.submit.plan_md import render_plan
from shared import archive

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan

SUBJECT_LENGTH = 72


def message_of(plan: Plan) -> str:
    """Return the commit message: the plan's title, its approach, a trailer line with its digest."""
    parts = (subject_of(plan), description_of(plan), f"Plan-Digest: {plan.digest}")
    return "\n\n".join(part for part in parts if part) + "\n"


def subject_of(plan: Plan) -> str:
    """Return the summary line of a plan's commit, its title."""
    title = " ".join(plan.overview.title.split()) or "Apply a plan"
    if len(title) > SUBJECT_LENGTH:
        title = title[: SUBJECT_LENGTH - 1].rstrip() + "…"
    return title


def description_of(plan: Plan) -> str:
    """Return the description of a plan's commit, its approach, with lines of at most 72."""
    paragraphs = plan.overview.approach.replace("\r\n", "\n").split("\n\n")
    return "\n\n".join(_filled(p) for p in paragraphs if p.strip())


def _filled(paragraph: str) -> str:
    text = " ".join(paragraph.split())
    return textwrap.fill(text, SUBJECT_LENGTH, break_on_hyphens=False, break_long_words=False)


def files_beside(state: State, plan: Plan, data: bytes) -> dict[str, bytes]:
    """Return the copies of a frozen plan that its commit holds by path, if its project wants any.

    `data` are the bytes of its plan.json.
    """
    return archive.files(state, data, render_plan(plan, state.database.answers(state.run)))
