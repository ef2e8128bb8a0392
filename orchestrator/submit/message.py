"""What a plan's commit says, and the files that it has beside the plan's own changes (CM-1)."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from orchestrator.submit.plan_md import render_plan
from shared import archive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from state.models import Plan

SUBJECT_LENGTH = 72
_SIGN_OFF = re.compile(r"[A-Z][A-Za-z-]*-by: \S.*")


def message_of(plan: Plan) -> str:
    """Return the commit message: the plan's title, its approach, a trailer line with its digest."""
    return with_body(subject_of(plan), description_of(plan), [f"Plan-Digest: {plan.digest}"])


def with_body(subject: str, body: str, trailers: Sequence[str]) -> str:
    """Return a commit message; sign-offs that end the body are trailers, as the lines after it.

    Git takes for trailers only what is in the last paragraph.
    """
    rest, _, last = body.rpartition("\n\n")
    lines = last.split("\n")
    if all(map(is_sign_off, lines)):
        body, trailers = rest, [*lines, *trailers]
    return "\n\n".join(part for part in (subject, body, "\n".join(trailers)) if part) + "\n"


def is_sign_off(line: str) -> bool:
    """Return whether a line says who has signed, written or reviewed: `Signed-off-by: …`."""
    return _SIGN_OFF.fullmatch(line) is not None


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
    if all(map(is_sign_off, paragraph.strip().split("\n"))):
        return paragraph.strip()
    text = " ".join(paragraph.split())
    return textwrap.fill(text, SUBJECT_LENGTH, break_on_hyphens=False, break_long_words=False)


def files_beside(state: State, plan: Plan, data: bytes) -> dict[str, bytes]:
    """Return the copies of a frozen plan that its commit holds by path, if its project wants any.

    `data` are the bytes of its plan.json.
    """
    return archive.files(state, data, render_plan(plan, state.database.answers(state.run)))
