"""Plans to test with: one with only the older fields, an empty one, one with every kind in it."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, TypeVar

from state.edits import apply_edits
from state.errors import Refused
from state.kinds import KINDS
from state.models import Plan
from state.shape import PARTS, as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.errors import Problem

T = TypeVar("T")

UUID = "0b6f2a1e-4c5d-4e6f-8a9b-0c1d2e3f4a5b"
TREE = "a" * 40
BLOB = "b" * 40

# Every field that the schema had before ours were added, and none of ours.
OLDER_PLAN: dict[str, Any] = {
    "schema_version": 2,
    "plan_id": UUID,
    "created_at": "2026-01-02T03:04:05Z",
    "frozen_at": None,
    "overview": {"title": "Dates", "problem": "They are text.", "approach": "Parse them."},
    "planning_context": {
        "decision_log": [
            {
                "id": "DL-001",
                "decision": "Use the standard library",
                "reasoning_chain": "no dependency -> less to update -> stdlib",
                "timestamp": "2026-01-02T03:05:00Z",
            }
        ],
        "rejected_alternatives": [
            {
                "id": "RA-001",
                "alternative": "dateutil",
                "rejection_reason": "guesses",
                "decision_ref": "DL-001",
            }
        ],
        "constraints": [
            {"id": "C-001", "type": "MUST", "description": "Python 3.11", "source": "user"}
        ],
        "known_risks": [
            {
                "id": "R-001",
                "risk": "two formats",
                "mitigation": "a test for each",
                "anchor": "src/dates.py:parse",
                "decision_ref": "DL-001",
            }
        ],
    },
    "invisible_knowledge": {
        "architecture": {"diagram_ascii": "a -> b", "description": "one way"},
        "data_flow": {"diagram_ascii": "in -> out", "description": "as it comes"},
        "structure_rationale": "one module",
        "invariants": ["UTC inside"],
        "tradeoffs": ["speed for clarity"],
    },
    "milestones": [
        {
            "id": "M-001",
            "number": 1,
            "name": "Parse dates",
            "files": ["src/dates.py"],
            "flags": ["conformance"],
            "requirements": ["dates are read"],
            "acceptance_criteria": ["2026-01-02 is read"],
            "tests": {
                "files": ["tests/test_dates.py"],
                "type": "unit",
                "backing": "user",
                "scenarios": {"normal": ["a date"], "edge": ["leap day"], "error": ["no date"]},
                "skip_reason": None,
            },
            "code_intents": [
                {
                    "id": "CI-001",
                    "file": "src/dates.py",
                    "function": "parse",
                    "behavior": "reads ISO dates",
                    "decision_refs": ["DL-001"],
                    "params": {"strict": True, "formats": ["%Y-%m-%d"]},
                }
            ],
            "code_changes": [
                {
                    "id": "CC-001",
                    "intent_ref": "CI-001",
                    "file": "src/dates.py",
                    "diff": "--- a\n+++ b\n",
                    "context_lines": 3,
                    "why_comments": ["strict, since guesses were wrong"],
                }
            ],
            "documentation": {
                "module_comment": "Dates in and out.",
                "docstrings": ["parse: reads a date"],
                "algorithm_blocks": ["first the year"],
                "inline_comments": ["UTC"],
            },
            "is_documentation_only": False,
            "delegated_to": None,
        }
    ],
    "milestone_dependencies": {
        "diagram_ascii": "M-001",
        "waves": [{"wave": 1, "milestones": ["M-001"]}],
    },
}

EVERY_KIND: list[dict[str, Any]] = [
    {"op": "set", "id": "overview", "version": 1, "fields": {"title": "T", "problem": "P"}},
    {"op": "set", "id": "knowledge", "version": 1, "fields": {"structure_rationale": "S"}},
    {"op": "add", "kind": "decision", "as": "$d", "fields": {"decision": "D"}},
    {
        "op": "add",
        "kind": "alternative",
        "fields": {"alternative": "A", "rejection_reason": "R", "decision_ref": "$d"},
    },
    {"op": "add", "kind": "constraint", "fields": {"description": "C"}},
    {"op": "add", "kind": "risk", "fields": {"risk": "R", "decision_ref": "$d"}},
    {"op": "add", "kind": "invariant", "fields": {"text": "I"}},
    {"op": "add", "kind": "tradeoff", "fields": {"text": "T"}},
    {"op": "add", "kind": "milestone", "as": "$m", "fields": {"name": "One", "files": ["a.py"]}},
    {
        "op": "add",
        "kind": "milestone",
        "fields": {"name": "Two", "files": ["b.py"], "depends_on": ["$m"], "waits_for": ["$c"]},
    },
    {
        "op": "add",
        "kind": "intent",
        "fields": {
            "milestone": "$m",
            "file": "a.py",
            "behavior": "B",
            "decision_refs": ["$d"],
            "params": {"limit": 3, "deep": [{"x": None}, 1.5]},
        },
    },
    *(
        {
            "op": "add",
            "kind": "doc",
            "fields": {"milestone": "$m", "kind": kind, "file": "a.py", "text": kind},
        }
        for kind in ("module-comment", "docstring", "algorithm-block", "inline-comment")
    ),
    {
        "op": "add",
        "kind": "diagram",
        "fields": {
            "title": "G",
            "nodes": [{"id": "x"}, {"id": "y"}],
            "edges": [{"source": "x", "target": "y"}],
        },
    },
    {
        "op": "add",
        "kind": "checkpoint",
        "as": "$c",
        "fields": {
            "question": "Q?",
            "options": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}],
        },
    },
]
CHANGE: dict[str, Any] = {
    "id": "CC-001",
    "intent_ref": "CI-001",
    "file": "a.py",
    "old_mode": "100644",
    "mode": "100644",
    "before": "c" * 40,
    "after": BLOB,
    "patch": "diff --git a/a.py b/a.py\n",
    "why_comments": [{"text": "why", "decision_ref": "DL-001"}],
}
# An edit that sets one field, for each kind of the sample plan.
SETS: dict[str, dict[str, Any]] = {
    "overview": {"title": "N"},
    "knowledge": {"structure_rationale": "N"},
    "DL-001": {"decision": "N"},
    "RA-001": {"alternative": "N"},
    "C-001": {"description": "N"},
    "R-001": {"risk": "N"},
    "INV-001": {"text": "N"},
    "TO-001": {"text": "N"},
    "M-001": {"name": "N"},
    "CI-001": {"behavior": "N"},
    "DOC-001": {"text": "N"},
    "DG-001": {"title": "N"},
    "CP-001": {"outcome": "declined: N"},
    "CC-001": {"why_comments": ["N"]},
    "RM-001": {"outcome": "declined: N"},
}


def older_plan() -> dict[str, Any]:
    """Return a plan with only the older fields, to be changed at will."""
    return copy.deepcopy(OLDER_PLAN)


def empty_plan(**values: Any) -> Plan:  # noqa: ANN401 – fields of any type
    """Return the plan that a run begins with."""
    return Plan(schema_version=2, plan_id=UUID, created_at="2026-01-02T03:04:05Z", **values)


def sample_plan() -> Plan:
    """Return a plan with every kind of entity, a change included."""
    plan, _ = apply_edits(empty_plan(), EVERY_KIND, None)
    data = plain(plan)
    data["milestones"][0]["code_changes"] = [copy.deepcopy(CHANGE)]
    data["base"] = {"commit": TREE, "branch": "main", "tree": TREE}
    data["task_spec"] = [{"id": "T-1", "text": "dates"}, {"id": "T-2", "text": "x"}]
    data["user_remarks"] = [{"id": "RM-001", "text": "say why", "revision": 1}]
    data["context"]["user_quotes"] = ["as it is"]
    data["verify"] = [{"command": "true", "baseline": "pass", "outcome": "pass", "tree": TREE}]
    data["reviews"] = [
        {
            "phase": "plan-code",
            "iteration": 1,
            "by": "script",
            "tree": TREE,
            "open": [{"id": "qa-001", "check": "c", "severity": "COULD", "finding": "f"}],
        }
    ]
    data["unproven"] = [{"id": "T-2", "text": "T-2 names the guide"}]
    data["counters"] |= {"CC": 1, "RM": 1}
    for decision in data["planning_context"]["decision_log"]:
        decision["timestamp"] = "2026-01-01T00:00:00Z"  # two of these plans are compared
    return Plan.model_validate(data)


def plain(plan: Plan) -> dict[str, Any]:
    """Return a plan as the JSON that is stored."""
    data: dict[str, Any] = json.loads(plan.model_dump_json())
    return data


def add(kind: str, alias: str | None = None, /, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an edit that adds an entity."""
    edit = {"op": "add", "kind": kind, "fields": fields}
    return edit if alias is None else {**edit, "as": alias}


def change(entity: str, version: object, /, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an edit that sets fields."""
    return {"op": "set", "id": entity, "version": version, "fields": fields}


def remove(entity: str, version: object = 1) -> dict[str, Any]:
    """Return an edit that removes an entity."""
    return {"op": "remove", "id": entity, "version": version}


def outcome(action: Callable[..., T], *arguments: object) -> tuple[T | None, list[Problem]]:
    """Return what `action` gave, and the problems with which it was refused, none if it was not."""
    try:
        return action(*arguments), []
    except Refused as refused:
        problems = list(refused.problems)
    assert problems, "refused without a reason"
    assert all(p.at and p.problem for p in problems)
    return None, problems


def refusal(action: Callable[..., object], *arguments: object) -> list[Problem]:
    """Return the problems with which `action` is refused."""
    given, problems = outcome(action, *arguments)
    assert problems, f"was not refused: {given!r}"
    return problems


def kind_of(entity: str) -> str:
    """Return the kind of an id of the sample plan."""
    prefix = entity.partition("-")[0]
    return next(n for n, k in KINDS.items() if prefix == k.prefix or entity == n)


def without_defaults(value: Any, model: str) -> Any:  # noqa: ANN401 – any JSON value
    """Return a plan's JSON without the fields that hold what they hold by default."""
    if isinstance(value, list):
        return [without_defaults(one, model) for one in value]
    if not isinstance(value, dict) or model not in PARTS:
        return value
    kept = {}
    for name, kind in PARTS[model].__annotations__.items():
        inner = without_defaults(value[name], kind.removeprefix("tuple[").split(" ")[0].strip(",]"))
        default = as_json(getattr(PARTS[model], name, ...))
        if inner != without_defaults(default, kind):
            kept[name] = inner
    return kept
