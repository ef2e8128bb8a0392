"""The part of a plan that a reviewer is shown: what its questions are about (SD-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.contents import (
    AGAIN,
    DESIGN_REVIEWER,
    DOCS_REVIEWER,
    REASONS,
    REVIEWER,
    STATEMENTS,
    lines_for,
    rows_for,
)
from shared.steps.slices import milestone_lines, row_lines, titled
from state.phases import DOCS_PHASES

if TYPE_CHECKING:
    from collections.abc import Collection

    from shared.contents import Content
    from state.plan_table import Plan


def review_slice(
    plan: Plan,
    phase: str,
    own: Collection[str],
    *,
    about: Collection[Content[Any]] = (),
    known: bool = False,
    found: str | None = None,
) -> str:
    """Return the plan's text for a reviewer: milestones in `own` in full, others by name.

    They stand first, since a block cuts what is too long. What the questions are `about` is always
    shown, unless the plan is `known`: who has written it is only reminded of its statements and
    decisions. Who looks again, at what was `found`, is shown besides no reasons but those that
    milestones or findings name; of decisions why only where a finding names them.
    """
    reader = DOCS_REVIEWER if phase in DOCS_PHASES else REVIEWER
    reader = DESIGN_REVIEWER if phase == "plan-design" else reader
    lines: list[str] = []
    for milestone in (m for m in plan.milestones if m.id in own):
        after = f", after {', '.join(milestone.depends_on)}" if milestone.depends_on else ""
        lines.append(f"{milestone.id} {titled(milestone)}{after}")
        lines += milestone_lines(milestone, reader, about)
    others = [f"{m.id} {m.name} (not asked about)" for m in plan.milestones if m.id not in own]
    if found is None and not known:
        lines += [*lines_for(reader, STATEMENTS, plan), *others]
        return "\n".join([*lines, *lines_for(reader, REASONS, plan, about)])
    lines += [*lines_for(AGAIN, STATEMENTS, plan), *([] if known else others)]
    asked = () if known else about
    named = "\n".join([*lines, found or ""])
    rows = [
        (content, row)
        for content, row in rows_for(AGAIN, REASONS, plan, asked)
        if content in asked or (row.id and row.id in named)
    ]
    why = " ".join([found or "", *(row.id for content, row in rows if content in asked)])
    return "\n".join([*lines, *row_lines(rows, why)])
