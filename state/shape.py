"""Check without pydantic that a plan's JSON holds the fields that workflow steps read.

Importing pydantic takes longer than a printed step may; damaged plans must be refused all the same.
"""

from __future__ import annotations

from state.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

SCHEMA_VERSION: Literal[2] = 2

# {…}: an object with these fields · […]: a list of this · (…): one of these.
_ENTITY = {"id": str, "version": int}
_DOC = ({**_ENTITY, "file": str, "text": str}, str)
_CHANGE = {
    **_ENTITY,
    "file": str,
    "old_file": (str, None),
    "patch": (str, None),
    "encoding": (str, None),
}
_OPTION = {"key": str, "label": str}
_MILESTONE = {
    **_ENTITY,
    "name": str,
    "files": [str],
    "flags": [str],
    "depends_on": [str],
    "waits_for": [str],
    "mode": str,
    "max_tokens": (int, None),
    "acceptance_criteria": [str],
    "tests": {
        "files": [str],
        "scenarios": {"normal": [str], "edge": [str], "error": [str]},
        "skip_reason": (str, None),
    },
    "code_intents": [{**_ENTITY, "file": str, "behavior": str, "decision_refs": [str]}],
    "code_changes": [_CHANGE],
    "documentation": {
        "module_comment": (*_DOC, None),
        "docstrings": [_DOC],
        "algorithm_blocks": [_DOC],
        "inline_comments": [_DOC],
        "changes": [_CHANGE],
    },
}
_PLAN = {
    "plan_id": str,
    "counters": {},
    "overview": {"version": int, "title": str, "problem": str, "approach": str},
    "task_spec": [{"id": str, "text": str, "out_of_scope": bool}],
    "context": {
        "constraints": [str],
        "entry_points": [str],
        "rejected_alternatives": [str],
        "current_understanding": [str],
        "assumptions": [str],
        "invisible_knowledge": [str],
        "user_quotes": [str],
    },
    "planning_context": {
        "decision_log": [{**_ENTITY, "decision": str, "reasoning_chain": str}],
        "rejected_alternatives": [{**_ENTITY, "alternative": str, "rejection_reason": str}],
        "constraints": [_ENTITY],
        "known_risks": [{**_ENTITY, "risk": str, "mitigation": str}],
    },
    "invisible_knowledge": {
        "version": int,
        "invariants": [({**_ENTITY, "text": str}, str)],
        "tradeoffs": [(_ENTITY, str)],
    },
    "milestones": [_MILESTONE],
    "diagrams": [_ENTITY],
    "checkpoints": [
        {**_ENTITY, "header": str, "question": str, "multi": bool, "options": [_OPTION]}
    ],
    "verify": [{"command": str, "outcome": str, "baseline": str, "tree": str}],
    "reviews": [
        {
            "phase": str,
            "iteration": int,
            "reason": str,
            "judged": [str],
            "alone": bool,
            "answers": [{"by": str}],
            "open": [{"id": str, "severity": str, "finding": str, "accepted": str}],
        }
    ],
    "remarks": [str],
}
_NAMES: dict[object, str] = {str: "text", int: "a number", bool: "true or false", None: "null"}


def check_shape(value: object) -> list[Problem]:
    """Return a problem for each field of a plan that is missing or has the wrong type."""
    return list(_misfits("plan", value, _PLAN))


def _misfits(at: str, value: object, shape: object) -> Iterator[Problem]:
    if isinstance(shape, dict):
        yield from _in_object(at, value, shape)
    elif isinstance(shape, list):
        if isinstance(value, list):
            for n, item in enumerate(value):
                yield from _misfits(f"{at}[{n}]", item, shape[0])
        else:
            yield _wrong(at, "a list")
    elif isinstance(shape, tuple):
        yield from min((list(_misfits(at, value, one)) for one in shape), key=len)
    elif not (value is None if shape is None else isinstance(value, shape)):  # type: ignore[arg-type]  # a type
        yield _wrong(at, _NAMES[shape])


def _in_object(at: str, value: object, shape: dict[str, object]) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _wrong(at, "an object")
        return
    for name, inner in shape.items():
        if name in value:
            yield from _misfits(f"{at}.{name}", value[name], inner)
        else:
            yield Problem(
                "invalid", f"{at}.{name}", "the field is missing; the file was not changed"
            )


def _wrong(at: str, wanted: str) -> Problem:
    return Problem("invalid", at, f"the value is not {wanted}; the file was not changed", wanted)
