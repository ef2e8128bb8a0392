"""Decide by one quick pass over a plan whether the slower full validation is needed.

CI validates many plans at once, nearly all of them sound; this pass costs a third of the checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from state.milestones import changes_of, kinds_of_docs
from state.waves import is_ordered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from state.models import Milestone, Plan

# Parts of a path that is not in the repository, written as /path/ in lower case.
_ODD = ("//", "/./", "/../", "/.git/", "\n/.planner/", "\0")


def glance(plan: Plan) -> list[set[str]] | None:
    """Return each milestone's files if the plan is surely valid; None if it needs full validation.

    Covers ids, references, paths, order, ownership and what is kept beside the plan. None does not
    mean that a problem exists.
    """
    context, knowledge = plan.planning_context, plan.invisible_knowledge
    ids = [d.id for d in context.decision_log]
    decisions = {None, *ids}
    refs = [a.decision_ref for a in context.rejected_alternatives]
    refs += [r.decision_ref for r in context.known_risks]
    ids += [a.id for a in context.rejected_alternatives]
    ids += [c.id for c in context.constraints] + [r.id for r in context.known_risks]
    for texts in (knowledge.invariants, knowledge.tradeoffs):
        ids += [text.id for text in texts if not isinstance(text, str)]
    ids += [d.id for d in plan.diagrams] + [c.id for c in plan.checkpoints]
    ids += [r.id for r in plan.user_remarks]
    files = [_look(m, decisions, ids) for m in plan.milestones]
    found = [paths for paths in files if paths is not None]
    union: set[str] = set().union(*found)
    sound = (
        plan.self_contained
        and len(found) == len(files)
        and len(set(ids)) == len(ids)
        and sum(map(len, found)) == len(union)
        and is_ordered(plan.milestones)
        and _are_cited(plan)
        and decisions.issuperset(refs)
        and not any(one.outcome for one in plan.user_remarks)
        and not _may_be_outside(union)
    )
    return found if sound else None


def _look(milestone: Milestone, decisions: set[str | None], ids: list[str]) -> set[str] | None:
    """Return a milestone's files, add its ids to `ids`; None if a reference may be wrong."""
    files = {*milestone.files, *milestone.tests.files}
    names: list[str] = []
    refs: list[str | None] = []
    for intent in milestone.code_intents:
        names.append(intent.id)
        files.add(intent.file)
        refs += intent.decision_refs
        if intent.params:
            return None
    ids.append(milestone.id)
    ids += names
    intents = {None, *names}
    for change in changes_of(milestone):
        ids.append(change.id)
        files.add(change.file)
        if change.old_file is not None:
            files.add(change.old_file)
        if change.intent_ref not in intents or change.encoding == "blob":
            return None
        # Most changes have neither; looking first is cheaper.
        if change.more_intent_refs and not intents.issuperset(change.more_intent_refs):
            return None
        if change.why_comments:
            refs += [w.decision_ref for w in change.why_comments if not isinstance(w, str)]
    for _, doc in kinds_of_docs(milestone):
        ids.append(doc.id)
        files.add(doc.file)
    return files if decisions.issuperset(refs) else None


def _are_cited(plan: Plan) -> bool:
    """Return whether task ids are unique and all cited entries, remarks and questions exist."""
    tasks = {task.id for task in plan.task_spec}
    if len(tasks) != len(plan.task_spec):
        return False
    known = tasks.union(r.id for r in plan.user_remarks)
    cited = {r for m in plan.milestones for r in m.requirements if r.startswith(("T-", "RM-"))}
    waited = {c for m in plan.milestones for c in m.waits_for}
    return known.issuperset(cited) and waited.issubset(c.id for c in plan.checkpoints)


def _may_be_outside(paths: Iterable[str]) -> bool:
    text = "\n".join(["", *(f"/{path}/" for path in paths)]).lower()
    return any(sign in text for sign in _ODD)
