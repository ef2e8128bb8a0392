"""Larger tasks for a Journey: several milestones, each with files of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def larger(
    make_repo: Repositories, name: str, shares: Sequence[int], extra: dict[str, str | bytes]
) -> Journey:
    """Return a run that is not started yet; each number is a milestone with so many files."""
    modules = [[f"src/m{n}_{k}.py" for k in range(1, count + 1)] for n, count in
               enumerate(shares, 1)]  # fmt: skip
    files = {file: "def f(x):\n    return x + 1\n" for share in modules for file in share}
    journey = Journey(make_repo(name, files={**FILES, **files, **extra}))
    journey.answers["design.json"] = design_of(modules)
    journey.edits = dict.fromkeys(files, "def f(x):\n    return x + 2\n")
    return journey


def design_of(modules: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return the edits of a plan whose milestones follow one another."""
    overview = {
        "title": "Add two everywhere",
        "problem": "Every f adds one, while the callers of this release rely on two.",
        "approach": "Change the constant in each module, the inner ones first.",
    }
    decision = {
        "decision": "Change the constant in place",
        "reasoning_chain": "no caller needs one -> a parameter would be dead -> the constant",
    }
    edits: list[dict[str, Any]] = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview},
        {"op": "add", "kind": "decision", "as": "$d1", "fields": decision},
    ]
    for n, files in enumerate(modules, 1):
        milestone = {
            "name": f"Add two in layer {n}",
            "files": list(files),
            "requirements": ["T-1"],
            "acceptance_criteria": [f"f(1) is 3 in every module of layer {n}"],
            "tests": {"skip_reason": "the suite of the caller covers it"},
            "depends_on": [f"$m{n - 1}"] if n > 1 else [],
        }
        edits.append({"op": "add", "kind": "milestone", "as": f"$m{n}", "fields": milestone})
        edits += [
            {"op": "add", "kind": "intent", "fields": {
                "milestone": f"$m{n}", "file": file, "decision_refs": ["$d1"],
                "behavior": "f adds two; other arguments and errors stay as they are"}}
            for file in files
        ]  # fmt: skip
    return edits
