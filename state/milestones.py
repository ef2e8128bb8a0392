"""Read a milestone of a plan: its file changes, promised documentation and touched files.

Each function takes a milestone as a model or as plain JSON, so that printed steps, which load no
pydantic, agree with the rest. Only the standard library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, overload

    from state.models import Change, Doc, Milestone

    Json = dict[str, Any]

DOC_LISTS = {
    "docstring": "docstrings",
    "algorithm-block": "algorithm_blocks",
    "inline-comment": "inline_comments",
}


if TYPE_CHECKING:

    @overload
    def changes_of(milestone: Milestone) -> tuple[Change, ...]: ...
    @overload
    def changes_of(milestone: Json) -> tuple[Json, ...]: ...


def changes_of(milestone: Milestone | Json) -> tuple[Any, ...]:
    """Return the file changes of a milestone: those of code first, then those of documentation."""
    if isinstance(milestone, dict):
        return (*milestone["code_changes"], *milestone["documentation"]["changes"])
    return (*milestone.code_changes, *milestone.documentation.changes)


if TYPE_CHECKING:

    @overload
    def docs_of(milestone: Milestone) -> list[Doc]: ...
    @overload
    def docs_of(milestone: Json) -> list[Json]: ...


def docs_of(milestone: Milestone | Json) -> list[Any]:
    """Return a milestone's promised documentation entries, except plain-text ones."""
    return [doc for _, doc in kinds_of_docs(milestone)]


if TYPE_CHECKING:

    @overload
    def kinds_of_docs(milestone: Milestone) -> list[tuple[str, Doc]]: ...
    @overload
    def kinds_of_docs(milestone: Json) -> list[tuple[str, Json]]: ...


def kinds_of_docs(milestone: Milestone | Json) -> list[tuple[str, Any]]:
    """Return a milestone's promised documentation entries, each with its kind (`docstring` …)."""
    promised = _field(milestone, "documentation")
    fields = promised if isinstance(promised, dict) else vars(promised)
    if not any(fields.values()):
        return []  # as most: looking first is cheaper
    kinds = {"module-comment": (fields["module_comment"],)}
    kinds |= {kind: fields[name] for kind, name in DOC_LISTS.items()}
    return [(k, d) for k, docs in kinds.items() for d in docs if d and not isinstance(d, str)]


def promise(kind: str, doc: Doc | Json) -> str:
    """Return in words what an entry promises: kind, definition or heading, file."""
    function = _field(doc, "function")
    return f"{kind}{f' of {function}' if function else ''} in {_field(doc, 'file')}"


def waited_for(plan: Json) -> set[str]:
    """Return the ids of the questions that milestones wait for, asked while they are written."""
    return {name for milestone in plan["milestones"] for name in milestone["waits_for"]}


def unanswered(plan: Json, answers: Collection[str], depth: str) -> list[Json]:
    """Return the plan's questions that have to be answered before planning goes on."""
    later = waited_for(plan) if depth == "intent" else set()
    return [c for c in plan["checkpoints"] if c["id"] not in answers and c["id"] not in later]


def promised_files(milestone: Milestone | Json) -> set[str]:
    """Return the files in which a milestone promises documentation."""
    return {_field(doc, "file") for doc in docs_of(milestone)}


def untouched(plan: Json) -> list[str]:
    """Return what the plan names and no change touches, each as `M-001 path`."""
    changed = {
        name
        for m in plan["milestones"]
        for c in changes_of(m)
        for name in (c["file"], c["old_file"])
    }
    return [
        f"{m['id']} {file}"
        for m in plan["milestones"]
        for file in sorted({*m["files"], *m["tests"]["files"]} - changed)
    ]


def files_of(milestone: Milestone | Json) -> set[str]:
    """Return every path a milestone names: in files, intents, tests, documentation and changes."""
    files = {*_field(milestone, "files"), *_field(_field(milestone, "tests"), "files")}
    files |= promised_files(milestone)
    files.update(_field(intent, "file") for intent in _field(milestone, "code_intents"))
    for change in changes_of(milestone):
        files.add(_field(change, "file"))
        if old_file := _field(change, "old_file"):
            files.add(old_file)
    return files


def _field(entity: Any, name: str) -> Any:  # noqa: ANN401 – a model or plain JSON
    return entity[name] if isinstance(entity, dict) else getattr(entity, name)
