"""Lists what was said of a plan, as far as its change is to bear it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from state.statements import DECLINED, WITHDRAWN, is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from state.models import Checkpoint, Plan

_BEFORE = re.compile(r" \(before: .*\)$", re.DOTALL)


def statements(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Yield id and text of what is to be done: task, remarks, answers, these with their question.

    What is out of scope, declined, withdrawn or left out by a person is not.
    """
    for one in plan.task_spec:
        if not one.out_of_scope and not is_left_out(plan, one):
            yield one.id, one.text, ""
    for remark in plan.user_remarks:
        if not remark.outcome.startswith(DECLINED) and not is_left_out(plan, remark):
            yield remark.id, remark.text, ""
    for asked in plan.checkpoints:
        if said := answer_of(asked):
            yield asked.id, said, asked.question


def answer_of(asked: Checkpoint) -> str:
    """Return the answer that counts; '' where the question is open, declined or withdrawn."""
    gone = asked.answer.startswith(WITHDRAWN) or asked.outcome.startswith(DECLINED)
    return "" if gone else _BEFORE.sub("", asked.answer)
