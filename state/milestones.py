"""Read a milestone of a plan: its file changes, promised documentation, touched files, titles.

Each function takes a milestone as commands have it, a model, or as printed steps have read it
without pydantic, so that both agree. Only the standard library.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, overload

    from state import models, plan_table

    AnyPlan = models.Plan | plan_table.Plan
    AnyMilestone = models.Milestone | plan_table.Milestone
    AnyDoc = models.Doc | plan_table.Doc

DOC_LISTS = {
    "docstring": "docstrings",
    "algorithm-block": "algorithm_blocks",
    "inline-comment": "inline_comments",
}

# What tells of an entity of a plan what it is, in the field that it has.
_TITLES = (
    "title", "name", "decision", "alternative", "description", "risk", "text", "behavior",
    "question",
)  # fmt: skip


def title_of(entity: Any) -> str:  # noqa: ANN401 – any entity
    """Return the text that describes a plan entity in a printed list: its title, after its file."""
    title = next((text for n in _TITLES if (text := getattr(entity, n, ""))), "")
    return ": ".join(filter(None, [getattr(entity, "file", ""), title]))


if TYPE_CHECKING:

    @overload
    def changes_of(milestone: models.Milestone) -> tuple[models.Change, ...]: ...
    @overload
    def changes_of(milestone: plan_table.Milestone) -> tuple[plan_table.Change, ...]: ...


def changes_of(milestone: AnyMilestone) -> tuple[Any, ...]:
    """Return the file changes of a milestone: those of code first, then those of documentation."""
    return (*milestone.code_changes, *milestone.documentation.changes)


if TYPE_CHECKING:

    @overload
    def docs_of(milestone: models.Milestone) -> list[models.Doc]: ...
    @overload
    def docs_of(milestone: plan_table.Milestone) -> list[plan_table.Doc]: ...


def docs_of(milestone: AnyMilestone) -> list[Any]:
    """Return a milestone's promised documentation entries, except plain-text ones."""
    return [doc for _, doc in kinds_of_docs(milestone)]


if TYPE_CHECKING:

    @overload
    def kinds_of_docs(milestone: models.Milestone) -> list[tuple[str, models.Doc]]: ...
    @overload
    def kinds_of_docs(milestone: plan_table.Milestone) -> list[tuple[str, plan_table.Doc]]: ...


def kinds_of_docs(milestone: AnyMilestone) -> list[tuple[str, Any]]:
    """Return a milestone's promised documentation entries, each with its kind (`docstring` …)."""
    promised = milestone.documentation
    docs = [("module-comment", promised.module_comment)]
    docs += [(kind, doc) for kind, name in DOC_LISTS.items() for doc in getattr(promised, name)]
    return [(kind, doc) for kind, doc in docs if doc and not isinstance(doc, str)]


def promise(kind: str, doc: AnyDoc) -> str:
    """Return in words what an entry promises: kind, definition or heading, file."""
    return f"{kind}{f' of {doc.function}' if doc.function else ''} in {doc.file}"


def waited_for(plan: AnyPlan) -> set[str]:
    """Return the ids of the questions that milestones wait for, asked while they are written."""
    return {name for milestone in plan.milestones for name in milestone.waits_for}


if TYPE_CHECKING:

    @overload
    def unanswered(
        plan: models.Plan, answers: Collection[str], depth: str, asked: Collection[str] = ...
    ) -> list[models.Checkpoint]: ...
    @overload
    def unanswered(
        plan: plan_table.Plan, answers: Collection[str], depth: str, asked: Collection[str] = ...
    ) -> list[plan_table.Checkpoint]: ...


def unanswered(
    plan: AnyPlan, answers: Collection[str], depth: str, asked: Collection[str] = ()
) -> list[Any]:
    """Return the plan's questions that have to be answered before its host goes on.

    `asked` are those that hold a milestone alone, because its agent has asked them.
    """
    later = {*waited_for(plan), *asked} if depth == "intent" else set()
    return [c for c in plan.checkpoints if c.id not in answers and c.id not in later]


def promised_files(milestone: AnyMilestone) -> set[str]:
    """Return the files in which a milestone promises documentation."""
    return {doc.file for doc in docs_of(milestone)}


def untouched(plan: AnyPlan) -> list[str]:
    """Return what the plan names and no change touches, each as `M-001 path`."""
    changed = {
        name for m in plan.milestones for c in changes_of(m) for name in (c.file, c.old_file)
    }
    return [
        f"{m.id} {file}"
        for m in plan.milestones
        for file in sorted({*m.files, *m.tests.files} - changed)
    ]


def files_of(milestone: AnyMilestone) -> set[str]:
    """Return every path a milestone names: in files, intents, tests, documentation and changes."""
    files = {*milestone.files, *milestone.tests.files, *promised_files(milestone)}
    files.update(intent.file for intent in milestone.code_intents)
    for change in changes_of(milestone):
        files.add(change.file)
        if change.old_file:
            files.add(change.old_file)
    return files
