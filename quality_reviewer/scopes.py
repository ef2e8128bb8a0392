"""Digests of what a review question is about, so that answers stay while it stays (RV-5, SD-4)."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.checks.meaning import tells_comments
from quality_reviewer.questions import BY_ID, CRITERIA, FIGURES, TRIED
from shared.contents import MILESTONE, PLAN
from shared.workspace import open_repository
from state.fields import Model
from state.milestones import changes_of, waited_for
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from quality_reviewer.questions import Question
    from shared.contents import Content
    from shared.git.change import Entry
    from shared.run import State
    from state.models import Change, Milestone, Plan

_LENGTH = 16  # hex digits, enough to tell versions of one plan apart
_BYTES = ("file", "old_file", "old_mode", "mode", "before", "after")
# Counted by every edit; gets every remark added; written later than the design.
_ASIDE = {"version", "number", "requirements", "code_changes", "documentation"}
# Fields newer than the answers of runs under way: left out while they are empty.
_LATER = {"overrules"}
# What something is called is what a single question is about.
_NAMES = {"name", "title"}


def owner_of(scope: str, plan: Plan) -> str | None:
    """Return the milestone that an item's scope is, or is a part of; None for the whole plan."""
    for milestone in plan.milestones:
        intents = [i.id for i in milestone.code_intents]
        if scope in (milestone.id, *intents, *milestone.files, *milestone.tests.files):
            return milestone.id
    return None


def is_same(old: str | None, new: str, *, documented: bool = False) -> bool:
    """Return whether two digests of a scope are of the same scope.

    Once the code is `documented`, it may differ in its comments: a check holds that nothing else
    does.
    """
    if documented and old is not None:
        return old.partition("-")[0] == new.partition("-")[0]
    return old == new


class Scopes:
    """The scopes of a plan's review questions, each as a digest of its entities and bytes."""

    def __init__(self, plan: Plan, state: State | None = None) -> None:
        """`state` is the run in whose repository the plan's base is read; without, none is."""
        self._state = state
        self._plan = plan

    def digest(self, check: str, scope: str) -> str:
        """Return the digest of what a question about a scope asks about, in two halves.

        The second one is of the code that documentation may only comment. A question about the
        design covers entries of the plan and the files at the base that they name; one about the
        code its intents, criteria and bytes; one about criteria and any other one also the files
        of the documentation; and each what the table of questions says that it is about.
        """
        question, owner = BY_ID.get(check), owner_of(scope, self._plan)
        own = [m for m in self._plan.milestones if owner in (None, m.id)]
        if check == TRIED:
            own = [m for m in own if scope in m.requirements] or own
        about: tuple[Content[Any], ...] = question.about if question is not None else ()
        said: list[Any] = [scope, _lines(about, PLAN, self._plan)]
        code: list[Any] = []
        if question is not None and question.phase == "plan-design":
            names = _ASIDE if question.of_names else _ASIDE | _NAMES
            said += [_plain(m, names) for m in own]
            said += [self._whole(names)] if owner is None else map(self._cited_and_touched, own)
            said += [self._plan.base.tree] if question.of_base and self._plan.base else []
        else:
            said += [_asked_of(milestone, about) for milestone in own]
            changes = [change for milestone in own for change in _judged(question, milestone)]
            commented = _commented(question, own)
            for change in changes:
                (code if change.id in commented else said).append(_bytes(change))
        return f"{_hashed(said)}-{_hashed(code)}"

    def _cited_and_touched(self, milestone: Milestone) -> list[Any]:
        """Return the decisions that a milestone cites and the files at the base that it names."""
        named = {*milestone.files, *milestone.tests.files}
        named.update(i.file for i in milestone.code_intents)
        cited = {ref for i in milestone.code_intents for ref in i.decision_refs}
        decisions = self._plan.planning_context.decision_log
        return [
            [_plain(d) for d in decisions if d.id in cited],
            [[name, *self._base[name]] for name in sorted(named) if name in self._base],
        ]

    def _whole(self, names: set[str]) -> list[Any]:
        """Return what the plan says beside its milestones, and what the user has answered."""
        plan = self._plan
        parts = [plan.task_spec, plan.user_remarks, plan.context, plan.overview]
        parts += [plan.planning_context, plan.invisible_knowledge]
        answers = self._state.database.answers(self._state.run) if self._state else {}
        # What milestones wait for is asked, and answered, once the design is approved.
        known = {name: said for name, said in answers.items() if name not in waited_for(plan)}
        return [*(_plain(part, names) for part in parts), known]

    @cached_property
    def _base(self) -> Mapping[str, Entry]:
        if self._plan.base is None or self._state is None:
            return {}
        return Objects(*open_repository(self._state)).entries(self._plan.base.tree)


def _lines(about: Iterable[Content[Any]], of: Iterable[Content[Any]], said_by: object) -> list[str]:
    """Return what a plan or a milestone says of what a question is about, as lines."""
    own = [content for content in about if content in of]
    return [row.line(content.title) for content in own for row in content.rows(said_by)]


def _asked_of(milestone: Milestone, about: Iterable[Content[Any]]) -> list[Any]:
    """Return what a milestone's change is to do, and what else a question is about."""
    intents = [_plain(i) for i in milestone.code_intents]
    asked = [milestone.id, intents, list(milestone.acceptance_criteria)]
    return [*asked, _lines(about, MILESTONE, milestone)]


def _judged(question: Question | None, milestone: Milestone) -> tuple[Change, ...]:
    """Return the changes of a milestone that a question not about the design is judged by."""
    with_documents = (CRITERIA, FIGURES)
    of_code = (
        question is not None and question.phase in CODE_PHASES and question.id not in with_documents
    )
    alone = of_code and not milestone.is_documentation_only
    return milestone.code_changes if alone else changes_of(milestone)


def _commented(question: Question | None, own: Iterable[Milestone]) -> set[str]:
    """Return the ids of changed code in which a program can tell that only comments were added.

    For a question about documentation that is no difference, so none is returned.
    """
    if question is None or question.phase not in CODE_PHASES:
        return set()
    return {c.id for m in own for c in m.code_changes if tells_comments(c.file)}


def _bytes(change: Change) -> dict[str, Any]:
    return {name: getattr(change, name) for name in _BYTES}


def _plain(value: Any, aside: set[str] = _ASIDE) -> Any:  # noqa: ANN401 – any part of a plan
    """Return a part of a plan as JSON without what changes although nothing is said differently."""
    if isinstance(value, Model):
        kept = {n: getattr(value, n) for n in type(value).model_fields if n not in aside}
        return {n: _plain(v, aside) for n, v in kept.items() if v or n not in _LATER}
    return [_plain(one, aside) for one in value] if isinstance(value, tuple) else value


def _hashed(parts: list[Any]) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
