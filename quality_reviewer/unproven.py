"""Collects what is said in a plan and not borne out by its change, for who approves it (SD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.criterion_evidence import claimed_criteria
from quality_reviewer.named import claims, places, statements
from quality_reviewer.named.bearing import Bearing
from quality_reviewer.unheard import unheard_answers
from quality_reviewer.unnamed_changes import changed_expectations, green_without, unnamed_functions
from state.results import Unproven

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shared.run import State
    from state.models import Plan

    Finder = Callable[[State, Plan], Iterable[tuple[str, str]]]
    # Of what is said by what it names.
    NamedFinder = Callable[[State, Bearing], Iterable[tuple[str, str]]]

# Each yields ids of what is said, with a sentence about it that can be read alone. An id is that of
# a statement or an entry, else the name of the plan's field, or `request`.
FINDERS: tuple[Finder, ...] = (
    claimed_criteria, green_without, changed_expectations, unnamed_functions,
)  # fmt: skip
NAMED: tuple[NamedFinder, ...] = (
    statements.task,
    statements.answers,
    statements.remarks,
    places.lines,
    places.documents,
    places.tests,
    statements.request,
    statements.forgotten,
    statements.reviewed,
    statements.left_out,
    statements.milestones,
    claims.quotes,
    claims.promised,
    claims.numbers,
    claims.figures,
)


def with_unproven(state: State, plan: Plan) -> Plan:
    """Return a plan to freeze that lists what its change does not bear out, each sentence once."""
    found = {text: name for find in FINDERS for name, text in find(state, plan)}
    bearing = Bearing(state, plan)
    found |= {text: name for find in NAMED for name, text in find(state, bearing)}
    known = {*found.values()}  # an answer of which more is said already is not listed twice
    found |= {text: name for name, text in unheard_answers(state, plan) if name not in known}
    rows = tuple(Unproven(id=name, text=text) for text, name in found.items())
    return plan.model_copy(update={"unproven": rows})
