"""Digests of what a review question is about, so that answers stay while it stays (RV-5)."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.questions import BY_ID
from shared.workspace import open_repository
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.change import Entry
    from shared.run import State
    from state.fields import Model
    from state.models import Change, Milestone, Plan

_LENGTH = 16  # hex digits, enough to tell versions of one plan apart
_BYTES = {"file", "old_file", "old_mode", "mode", "before", "after"}
# Counted by every edit; gets every remark added; written later than the design.
_ASIDE = ("version", "number", "requirements", "code_changes", "documentation")


def owner_of(scope: str, plan: Plan) -> str | None:
    """Return the milestone that an item's scope is, or is a part of; None for the whole plan."""
    for milestone in plan.milestones:
        intents = [i.id for i in milestone.code_intents]
        if scope in (milestone.id, *intents, *milestone.files, *milestone.tests.files):
            return milestone.id
    return None


class Scopes:
    """The scopes of a plan's review questions, each as a digest of its entities and bytes."""

    def __init__(self, plan: Plan, state: State | None = None) -> None:
        """`state` is the run in whose repository the plan's base is read; without, none is."""
        self._state = state
        self._plan = plan

    def digest(self, check: str, scope: str) -> str:
        """Return the digest of what a question about a scope asks about.

        A question about the design covers entries of the plan and the files at the base that they
        name; one about the code its intents, criteria and bytes; any other one also the files of
        the documentation.
        """
        question, owner = BY_ID.get(check), owner_of(scope, self._plan)
        own = [m for m in self._plan.milestones if owner in (None, m.id)]
        parts: list[Any] = [scope]
        if question is not None and question.phase == "plan-design":
            parts += [_dumped(m) for m in own]
            parts += [self._whole] if owner is None else [self._cited_and_touched(m) for m in own]
            parts += [self._plan.base.tree] if question.of_base and self._plan.base else []
        else:
            code = question is not None and question.phase == "plan-code"
            parts += [_written(m, [*m.code_changes] if code else changes_of(m)) for m in own]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]

    def _cited_and_touched(self, milestone: Milestone) -> list[Any]:
        """Return the decisions that a milestone cites and the files at the base that it names."""
        named = {*milestone.files, *milestone.tests.files}
        named.update(i.file for i in milestone.code_intents)
        cited = {ref for i in milestone.code_intents for ref in i.decision_refs}
        decisions = self._plan.planning_context.decision_log
        return [
            [_dumped(d) for d in decisions if d.id in cited],
            [[name, *self._base[name]] for name in sorted(named) if name in self._base],
        ]

    @property
    def _whole(self) -> list[Any]:
        names = ["task_spec", "context", "overview", "planning_context", "invisible_knowledge"]
        # Only where there are some, so that answers of before remarks were entries stay.
        names += ["user_remarks"] if self._plan.user_remarks else []
        said = _dumped(self._plan, {*names})
        return [said[name] for name in names]

    @cached_property
    def _base(self) -> Mapping[str, Entry]:
        if self._plan.base is None or self._state is None:
            return {}
        return Objects(*open_repository(self._state)).entries(self._plan.base.tree)


def _written(milestone: Milestone, changes: Sequence[Change]) -> list[Any]:
    """Return what a milestone's change is to do, and the bytes that it changes."""
    written = [_dumped(c, _BYTES) for c in changes]
    intents = [_dumped(i) for i in milestone.code_intents]
    return [milestone.id, intents, list(milestone.acceptance_criteria), written]


def _dumped(part: Model, include: set[str] | None = None) -> dict[str, Any]:
    """Return a part of a plan as JSON without what changes although nothing is said differently.

    A digest needs bytes, and those of JSON are what the answers of runs under way were given for.
    """
    plain: dict[str, Any] = _plain(part.model_dump(mode="json", include=include))
    return plain


def _plain(value: Any) -> Any:  # noqa: ANN401 – any JSON value
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in _ASIDE}
    return [_plain(v) for v in value] if isinstance(value, list) else value
