"""Reviews to render: a realistic plan in its second revision, hostile text, many changes."""

from __future__ import annotations

import difflib
import sqlite3
from hashlib import sha256
from typing import Any

from shared.page.facts import Review
from state.database import Run
from state.models import Plan
from state.waves import compute_waves

TREE, OLD_TREE = "5e0c" * 10, "77ab" * 10
DIGEST = "3f0c9a51" * 8
NOW = "2026-01-02T03:04:05Z"

BEFORE = '''\
"""Dates as the importer reads them."""

from __future__ import annotations

import time

FORMATS = ["%d.%m.%Y"]


def parse(text):
    for format in FORMATS:
        try:
            return time.strptime(text, format)
        except ValueError:
            pass
    return None
'''
AFTER = '''\
"""Dates as the importer reads them: days, without time and zone."""

from __future__ import annotations

from datetime import date, datetime

FORMATS = ("%Y-%m-%d", "%d.%m.%Y")


class NoDate(ValueError):
    """A text is no date in any known form."""


def parse(text: str) -> date:
    """Return the day that `text` names; raises NoDate."""
    for format in FORMATS:
        try:
            return datetime.strptime(text.strip(), format).date()
        except ValueError:
            continue
    raise NoDate(text)
'''


def blob(text: str | None) -> str | None:
    """Return an id for a content, as git would, though not git's own."""
    return None if text is None else sha256(text.encode()).hexdigest()[:40]


def change(number: int, file: str, before: str | None, after: str | None, **values: Any) -> dict[str, Any]:  # noqa: ANN401, E501
    """Return a change from one text to another, with a patch as git prints it."""
    old_file = values.get("old_file") or file
    old, new = (None if text is None else "100644" for text in (before, after))
    old, new = values.get("old_mode", old), values.get("mode", new)
    head = [f"diff --git a/{old_file} b/{file}"]
    if before is None:
        head.append(f"new file mode {new}")
    if after is None:
        head.append(f"deleted file mode {old}")
    if old and new and old != new:
        head += [f"old mode {old}", f"new mode {new}"]
    if values.get("old_file"):
        head += ["similarity index 90%", f"rename from {old_file}", f"rename to {file}"]
    names = (
        "/dev/null" if before is None else f"a/{old_file}",
        "/dev/null" if after is None else f"b/{file}",
    )
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True), *names
    )
    body = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    same = {"file": file, "old_mode": old, "mode": new, "patch": "\n".join(head) + "\n" + body}
    return {"id": f"CC-{number:03d}", "before": blob(before), "after": blob(after), **same, **values}


def long_text(lines: int, word: str = "value") -> str:
    """Return a module of many lines."""
    return "".join(f'{word}_{n} = "{n * n:x}"\n' for n in range(lines))


def plan_data() -> dict[str, Any]:
    """Return a plan with every kind of entity and change that the page tells apart."""
    binary = (
        "diff --git a/docs/import.png b/docs/import.png\nnew file mode 100644\n"
        f"index {'0' * 40}..{'9' * 40}\nGIT binary patch\nliteral 5120\n"
        + "zcmZQzU|?i`U|?Wi00cl000000\n" * 40
        + "\nliteral 0\nHcmV?d00001\n\n"
    )
    milestones: list[dict[str, Any]] = [
        {
            "id": "M-001", "number": 1, "name": "Read ISO dates",
            "files": ["importer/dates.py"], "requirements": ["T-1"],
            "acceptance_criteria": ["2026-01-02 and 02.01.2026 are the same day", "31.02.2026 raises NoDate"],
            "tests": {"files": ["tests/test_dates.py"], "type": "unit", "scenarios": {
                "normal": ["both forms"], "edge": ["29 February"], "error": ["a text that is no date"]}},
            "code_intents": [{"id": "CI-001", "file": "importer/dates.py", "function": "parse",
                              "behavior": "reads days in both forms and raises NoDate for anything else",
                              "decision_refs": ["DL-001", "DL-002"]}],
            "code_changes": [
                change(1, "importer/dates.py", BEFORE, AFTER, intent_ref="CI-001",
                       why_comments=[{"text": "a day has no zone", "decision_ref": "DL-001"}]),
                change(2, "tests/test_dates.py", "from importer.dates import parse\n",
                       "from importer.dates import parse\n\n\ndef test_both_forms():\n"
                       '    assert parse("2026-01-02") == parse("02.01.2026")\n'),
            ],
        },
        {
            "id": "M-002", "number": 2, "name": "Keep the table of known forms in its own file",
            "files": ["importer/forms.json", "docs/import.png"], "requirements": ["T-1", "T-2"],
            "tests": {"skip_reason": "data only; the tests of M-001 read it"},
            "code_intents": [{"id": "CI-002", "file": "importer/forms.json",
                              "behavior": "lists every form that was ever exported", "decision_refs": ["DL-002"]}],
            "code_changes": [
                change(3, "importer/forms.json", None, long_text(160), intent_ref="CI-002"),
                {**change(4, "docs/import.png", None, ""), "patch": binary, "after": "9" * 40},
            ],
        },
        {
            "id": "M-003", "number": 3, "name": "Use days everywhere, and say which row has none",
            "files": ["importer/rows.py", "importer/legacy.py"], "flags": ["high-risk"],
            "requirements": ["T-2"], "depends_on": ["M-001", "M-002"],
            "acceptance_criteria": ["the report names row and text"],
            "code_intents": [{"id": "CI-003", "file": "importer/rows.py",
                              "behavior": "collects rows without a date instead of skipping them",
                              "decision_refs": ["DL-003"]}],
            "code_changes": [
                change(5, "importer/rows.py", "def rows(file):\n    return [r for r in file if r.date]\n",
                       "def rows(file):\n    return list(file)  \n", old_file="importer/lines.py",
                       intent_ref="CI-003"),
                change(6, "importer/legacy.py", "def old(text):\n    return text[:10]\n", None),
                change(7, "bin/import", "#!/bin/sh\n", "#!/bin/sh\n", old_mode="100644", mode="100755"),
            ],
        },
        {
            "id": "M-004", "number": 4, "name": "Tell users", "files": ["docs/importing.md"],
            "requirements": ["T-3"], "depends_on": ["M-001"], "is_documentation_only": True,
            "documentation": {"changes": [
                change(8, "docs/importing.md", "# Importing\n\nDates are written 02.01.2026.\n",
                       "# Importing\n\nDates are written 2026-01-02 or 02.01.2026. Anything else is "
                       "reported with its row, and nothing is imported until all rows have one.\n")]},
        },
    ]  # fmt: skip
    return {
        "schema_version": 2,
        "plan_id": "0b6f2a1e-4c5d-4e6f-8a9b-0c1d2e3f4a5b",
        "created_at": NOW, "frozen_at": NOW, "revision": 2, "digest": DIGEST,
        "base": {"commit": "c96c0079" * 5, "branch": "main", "tree": OLD_TREE},
        "task_spec": [
            {"id": "T-1", "text": "the importer reads ISO dates"},
            {"id": "T-2", "text": "rows without a date are reported, not skipped"},
            {"id": "T-3", "text": "the manual says which forms are read"},
            {"id": "T-4", "text": "times of day", "out_of_scope": True},
        ],
        "context": {
            "constraints": ["what is imported today must be imported tomorrow"],
            "assumptions": ["no export of the last five years has another form (medium)"],
            "user_quotes": ["It must never again drop a row and stay silent."],
            "rejected_alternatives": ["asking the exporting side to change"],
        },
        "overview": {
            "title": "Read ISO dates in the importer and report rows without one",
            "problem": "Exports since last month write 2026-01-02. The importer knows only 02.01.2026, "
            "takes every other row for one without a date, and skips it without a word.",
            "approach": "One parser for both forms that raises where it finds none; rows that raise are "
            "collected and reported, and nothing is imported while there are any.",
        },
        "planning_context": {
            "decision_log": [
                {"id": "DL-001", "decision": "Days, not points in time",
                 "reasoning_chain": "exports hold no zone -> a time would be a guess -> datetime.date"},
                {"id": "DL-002", "decision": "A closed list of forms",
                 "reasoning_chain": "01.02. and 02.01. look alike -> guessing swaps days and months -> list"},
                {"id": "DL-003", "decision": "All rows or none",
                 "reasoning_chain": "half an import is hard to repeat -> collect first -> then write"},
            ],
            "rejected_alternatives": [
                {"id": "RA-001", "alternative": "A library that guesses the form", "decision_ref": "DL-002",
                 "rejection_reason": "it reads 03.04. as March in one row and April in the next"},
                {"id": "RA-002", "alternative": "Import what can be read, report the rest",
                 "decision_ref": "DL-003", "rejection_reason": "the second import would double rows"},
            ],
            "constraints": [{"id": "C-001", "type": "MUST", "description": "no new dependency", "source": "user"}],
            "known_risks": [
                {"id": "R-001", "risk": "A third form exists in old exports",
                 "mitigation": "the report names it, and nothing is imported", "anchor": "importer/dates.py:parse"},
                {"id": "R-002", "risk": "Callers that relied on None now see NoDate",
                 "mitigation": "both callers are part of M-003", "decision_ref": "DL-001"},
            ],
        },
        "invisible_knowledge": {
            "invariants": [{"id": "INV-001", "text": "parse never returns a day that the text does not name"}],
            "tradeoffs": ["strictness before convenience"],
        },
        "milestones": milestones,
        "checkpoints": [
            {"id": "CP-001", "question": "May an import stop at the first row without a date?", "options": [
                {"key": "stop", "label": "Yes, stop"},
                {"key": "all", "label": "No, collect all of them", "description": "one report, one repair"}]},
        ],
        "verify": [
            {"command": "python3 -m pytest -q", "baseline": "pass", "outcome": "pass", "tree": TREE, "exercised": True},
            {"command": "ruff check .", "baseline": "pass", "outcome": "pass", "tree": TREE, "exercised": True},
        ],
        "reviews": [
            {"phase": "plan-design", "iteration": 1, "by": "script", "review": "full", "judged": ["goal", "risk"]},
            {"phase": "plan-code", "iteration": 2, "by": "host", "review": "full", "tree": TREE,
             "judged": ["diff", "tests", "errors"], "open": [
                 {"id": "qa-007", "check": "naming", "severity": "COULD", "finding": "`format` hides a builtin"}]},
            {"phase": "plan-docs", "iteration": 1, "by": "script", "review": "full", "tree": TREE, "judged": ["docs"]},
        ],
        "remarks": ["Report all rows, not only the first."],
    }  # fmt: skip


def plan_of(data: dict[str, Any]) -> Plan:
    """Return the plan with its waves computed."""
    plan = Plan.model_validate(data)
    waves = [{"wave": n, "milestones": w} for n, w in enumerate(compute_waves(plan.milestones), 1)]
    return Plan.model_validate({**plan.model_dump(), "milestone_dependencies": {"waves": waves}})


def run_row(**values: object) -> Run:
    """Return a run that waits for approval, as the database would."""
    row = {
        "run_id": "20260102-abcdef", "request": "Read ISO dates in the importer; report rows without one.",
        "repository": "/project", "state_dir": "/project/.planner/runs/20260102-abcdef", "lane": "",
        "depth": "full", "status": "ACTIVE", "stage": "submitted", "workflow": "executor", "step": 1,
        "review": "auto", "revision": 2, "digest": DIGEST, "commit_id": None, "created_at": NOW, **values,
    }  # fmt: skip
    names = ", ".join(f"? AS {name}" for name in row)
    with sqlite3.connect(":memory:") as connection:
        connection.row_factory = sqlite3.Row
        return Run(connection.execute(f"SELECT {names}", list(row.values())).fetchone())  # noqa: S608


def previous_data() -> dict[str, Any]:
    """Return the revision before `plan_data`."""
    data = plan_data()
    data.update(revision=1, remarks=[], digest="11" * 32)
    data["planning_context"]["decision_log"][2].update(
        decision="Stop at the first row without a date",
        reasoning_chain="half an import is hard to repeat -> stop at once",
    )
    data["planning_context"]["known_risks"].pop()
    data["milestones"][2]["code_changes"][0]["patch"] += "\n"
    data["milestones"][2]["acceptance_criteria"] = ["the report names the row"]
    return data


def sample_review(data: dict[str, Any] | None = None, **values: Any) -> Review:  # noqa: ANN401
    """Return a review of the realistic plan, or of other data."""
    program = "/opt/planner/bin/planner"
    state_dir = "--state-dir /project/.planner/runs/20260102-abcdef"
    finding = {"id": "qa-003", "check": "errors", "scope": "M-001", "severity": "MUST", "status": "FAIL",
               "finding": "parse returned None for an empty text; the caller takes that for today"}  # fmt: skip
    outcomes = [
        {"phase": "plan-code", "iteration": 1, "verdict": "fail", "computed": "fail",
         "decided_by": "host", "reason": "", "items": [finding], "at": NOW},
    ]  # fmt: skip
    given: dict[str, Any] = {
        "previous": plan_of(previous_data()),
        "answers": {"CP-001": ["all"]},
        "outcomes": outcomes,
        "accepted": [("plan-code", "file-length", "importer/forms.json", "a table, not code")],
        "commands": {
            "approve typed": f"/planner:approve {DIGEST}",
            "approve": f"{program} mode approve {DIGEST} {state_dir}",
            "remark": f"{program} mode edit 'what should be different' {state_dir}",
            "reject": f"{program} cancel {state_dir}",
        },
    }
    return Review(plan_of(data or plan_data()), run_row(), **{**given, **values})


def many_changes(number: int) -> dict[str, Any]:
    """Return a plan with that many changed files in ten milestones."""
    data = plan_data()
    data["milestones"] = [
        {"id": f"M-{m:03d}", "number": m, "name": f"Part {m}", "files": [],
         "depends_on": [f"M-{m - 3:03d}"] if m > 3 else [], "code_changes": []}
        for m in range(1, 11)
    ]  # fmt: skip
    for n in range(number):
        old, new = long_text(40, f"a{n}"), long_text(40, f"a{n}").replace("1", "one")
        made = change(n + 1, f"package/part_{n % 10}/module_{n:03d}.py", old, new)
        data["milestones"][n % 10]["code_changes"].append(made)
        data["milestones"][n % 10]["files"].append(made["file"])
    for milestone in data["milestones"]:
        milestone["requirements"] = ["T-1"]
    return data
