"""Check that planned files are changed and promised documentation is written (RV-6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from quality_reviewer.checks.code import CAPTURE
from quality_reviewer.checks.documented import find_part
from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.checks.subject import Finding, Subject
from shared.builders import first_of
from shared.workspace import open_repository
from state.milestones import kinds_of_docs, promise, promised_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.run import State
    from state.models import Doc, Milestone, Plan

_NAMES_MAX = 12


def check_written(subject: Subject) -> Iterator[Finding]:
    """Every file that a milestone or its tests list has a change, or the milestone drops it."""
    for milestone in subject.plan.milestones:
        if not milestone.is_documentation_only:
            yield from _untouched(subject, milestone)


def check_documents(subject: Subject) -> Iterator[Finding]:
    """Every file that a milestone of documentation alone lists has a change, or it drops it."""
    for milestone in subject.plan.milestones:
        if milestone.is_documentation_only:
            yield from _untouched(subject, milestone)


def _untouched(subject: Subject, milestone: Milestone) -> Iterator[Finding]:
    """Yield a finding for each file without a change.

    Not where an intent or promised documentation names it, since other checks look at these.
    """
    listed = {*milestone.files, *milestone.tests.files} - {i.file for i in milestone.code_intents}
    for file in sorted(listed - promised_files(milestone) - subject.touched):
        text = f"{milestone.id} lists {file}, and nothing changes it; change it in the worktree"
        drop = f"if nothing has to change there, take it off the plan: {_edit(milestone, file)}"
        yield Finding(file, f"{text} and {CAPTURE}, or, {drop}")


def _edit(milestone: Milestone, file: str) -> str:
    """Return the edit that takes a file off what a milestone lists, as JSON."""
    fields: dict[str, object] = {}
    if file in milestone.files:
        fields["files"] = [name for name in milestone.files if name != file]
    if file in milestone.tests.files:
        # Not a plan's part but an edit, which is JSON that its reader runs.
        tests = milestone.tests.model_dump(mode="json", exclude_defaults=True)
        fields["tests"] = {**tests, "files": [n for n in milestone.tests.files if n != file]}
    edit = {"op": "set", "id": milestone.id, "version": milestone.version, "fields": fields}
    return json.dumps(edit, ensure_ascii=False)


def check_promises(subject: Subject) -> Iterator[Finding]:
    """Every promised documentation is written: the definition has its docstring, the heading is.

    What stands where it is promised must differ from what stood there at the base.
    """
    for milestone in subject.plan.milestones:
        for kind, doc in kinds_of_docs(milestone):
            entry = f"{doc.id} of {milestone.id} promises {promise(kind, doc)}"
            is_known, why = _unwritten(subject, kind, doc)
            if not is_known:
                yield Finding(doc.file, f"{entry}, {why}; look at the change", "NOT_CHECKED")
            elif why:
                way = f"write it in the worktree and {CAPTURE}, or remove {doc.id} from the plan"
                yield Finding(doc.file, f"{entry}, {why}; {way}")


def _unwritten(subject: Subject, kind: str, doc: Doc) -> tuple[bool, str]:
    """Return why a promised entry is not written, '' if it is, and whether the program can tell."""
    change = next((c for c in subject.files if doc.file in (c.file, c.old_file)), None)
    if change is None:
        return True, "which has no change"
    name = (doc.function or "").partition("(")[0].strip().strip("`")
    now = find_part(change.file, subject.after(change), kind, name)
    if not now.is_known:
        return False, "where the program cannot tell code from comment"
    if now.text is None:
        there = ", ".join(first_of(now.names, _NAMES_MAX)) or "none"
        return True, f"which has no such definition or heading (there: {there})"
    if not now.text.strip():
        return True, "and there is none"
    then = find_part(change.old_file or change.file, subject.before(change), kind, name)
    return True, "and it is as it was at the base" if then.text == now.text else ""


def unwritten_documents(state: State, plan: Plan) -> set[str]:
    """Return the ids of the promised documentation that the program sees is not written yet."""
    docs = [entry for m in plan.milestones for entry in kinds_of_docs(m)]
    if not docs:
        return set()
    subject = Subject(plan, trees=Objects(*open_repository(state)))
    return {doc.id for kind, doc in docs if all(_unwritten(subject, kind, doc))}


def documents_are_written(state: State, plan: Plan) -> bool:
    """Return whether nothing is left for the step in which documentation is written."""
    promising = (m for m in plan.milestones if promised_files(m) or m.is_documentation_only)
    if next(promising, None) is None:
        return True
    subject = Subject(plan, trees=Objects(*open_repository(state)))
    findings = (*check_promises(subject), *check_documents(subject))
    return all(finding.status != "FAIL" for finding in findings)
