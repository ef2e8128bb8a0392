"""Make plans to measure with: 10 milestones with changes, about 66 kB each."""

from __future__ import annotations

import random
import uuid
from typing import TYPE_CHECKING, Any

from state.edits import finish, parsed
from state.freeze import freeze

if TYPE_CHECKING:
    from state.models import Plan

MILESTONES = 10
CHANGES = 2
PATCH_LINES = 34
MOMENT = "2026-01-02T03:04:05Z"
_WORDS = [
    "the",
    "parser",
    "reads",
    "a",
    "date",
    "and",
    "gives",
    "back",
    "what",
    "the",
    "caller",
    "may",
    "compare",
    "with",
    "another",
]


def make_plan(seed: int, base: dict[str, Any] | None = None) -> Plan:
    """Return a plan of random words; each seed gives a different one."""
    chance = random.Random(seed)  # noqa: S311 – nothing secret about it
    decisions = [
        {"id": f"DL-{n:03d}", "decision": _text(chance, 12), "reasoning_chain": _text(chance, 40)}
        for n in range(1, MILESTONES + 1)
    ]
    return finish(
        parsed(
            {
                "schema_version": 2,
                "plan_id": str(uuid.UUID(int=chance.getrandbits(128))),
                "created_at": MOMENT,
                "base": base or {"commit": _id(chance), "branch": "main", "tree": _id(chance)},
                "task_spec": [{"id": "T-1", "text": _text(chance, 12)}],
                "overview": {
                    "title": _text(chance, 6),
                    "problem": _text(chance, 30),
                    "approach": "A",
                },
                "planning_context": {"decision_log": decisions},
                "milestones": [_milestone(chance, n) for n in range(1, MILESTONES + 1)],
            }
        )
    )


def frozen_plan(seed: int) -> bytes:
    """Return a frozen plan of random words as the bytes of its file."""
    return freeze(make_plan(seed), MOMENT)[0]


def _milestone(chance: random.Random, number: int) -> dict[str, Any]:
    files = [f"src/part{number}/file{n}.py" for n in range(CHANGES)]
    first = (number - 1) * CHANGES
    intents = [
        {"id": f"CI-{first + n + 1:03d}", "file": file, "behavior": _text(chance, 25),
         "decision_refs": [f"DL-{number:03d}"]}
        for n, file in enumerate(files)
    ]  # fmt: skip
    changes = [
        {"id": f"CC-{first + n + 1:03d}", "intent_ref": f"CI-{first + n + 1:03d}", "file": file,
         "old_mode": "100644", "mode": "100644", "before": _id(chance), "after": _id(chance),
         "patch": _patch(chance, file)}
        for n, file in enumerate(files)
    ]  # fmt: skip
    return {
        "id": f"M-{number:03d}", "number": number, "name": _text(chance, 5), "files": files,
        "requirements": ["T-1"], "acceptance_criteria": [_text(chance, 12), _text(chance, 12)],
        "tests": {"skip_reason": _text(chance, 6)}, "code_intents": intents,
        "code_changes": changes, "depends_on": [f"M-{number - 1:03d}"] if number > 1 else [],
    }  # fmt: skip


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))


def _id(chance: random.Random) -> str:
    return f"{chance.getrandbits(160):040x}"


def _patch(chance: random.Random, file: str) -> str:
    lines = [f"{chance.choice('+- ')}    {_text(chance, 9)}" for _ in range(PATCH_LINES)]
    head = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1,30 +1,30 @@\n"
    return head + "\n".join(lines) + "\n"
