"""Finds answers of the user that have changed nothing, and that nothing in the plan shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.unnamed_changes import texts_beside_questions
from quality_reviewer.words import words_with_names
from shared.patch import read_patch
from state.changes import bytes_of, plan_changes
from state.statements import DECLINED, WITHDRAWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.run import State
    from state.models import Checkpoint, Plan

# An answer that keeps things as they are asks for nothing that a plan could show.
_KEEPS = re.compile(
    r"\b(?:keep|keeps|kept|leave|stays?|unchanged|as (?:it|they|before)|not|no|never|nothing|none"
    r"|without|neither|later)\b|n't\b",
    re.IGNORECASE,
)
_AGREES = frozenset(words_with_names(["yes ok okay please sure right correct agreed go ahead do"]))


def unheard_answers(state: State, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield each answer that came after the change and altered no byte, or that nothing shows."""
    answered = state.database.changes_at_answers(state.run)
    known = state.database.answers(state.run)
    now = bytes_of(plan)
    shown = _shown(plan)
    for asked in plan.checkpoints:
        said = asked.answer
        if not said or said.startswith(WITHDRAWN) or asked.outcome.startswith(DECLINED):
            continue
        choices = known.get(asked.id)
        is_other = choices is not None and bool(choices.earlier) and choices not in choices.earlier
        if is_other and now and answered.get(asked.id) == now:
            text = f"{asked.id} was answered otherwise (“{said}”) once the change was written"
            yield asked.id, f"{text}, and the change is byte for byte what it was"
        elif not asked.outcome and not _is_shown(plan, asked, shown):
            yield asked.id, f"{asked.id} is answered “{said}”, and nothing in the plan shows it"


def _shown(plan: Plan) -> set[str]:
    added = [n.text for c in plan_changes(plan) for n in read_patch(c) if n.kind == "+"]
    return words_with_names([*texts_beside_questions(plan), *added])


def _is_shown(plan: Plan, asked: Checkpoint, shown: set[str]) -> bool:
    """Return whether something cites an answer by its id, or holds one of its own words."""
    cited = any(asked.id in text for text in texts_beside_questions(plan))
    waited = any(asked.id in (*m.waits_for, *m.requirements) for m in plan.milestones)
    if cited or waited or _KEEPS.search(asked.answer):
        return True
    words, question = (
        words_with_names([asked.answer]) - _AGREES,
        words_with_names([asked.question]),
    )
    own = words - question or words | question
    return not own or bool(own & shown)
