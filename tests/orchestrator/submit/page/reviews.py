"""Reviews to render: a realistic plan in its second revision, hostile text, many changes."""

from __future__ import annotations

import difflib
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from orchestrator.submit.page.facts import Facts
from orchestrator.submit.since import Cause, Part, Since
from quality_reviewer.questions import CRITERIA
from state.database import Run
from state.models import Change, Plan
from state.waves import compute_waves

if TYPE_CHECKING:
    import sqlite3

DATA = Path(__file__).parent / "plan.json"
DIGEST = "3f0c9a51" * 8
STATE_DIR = "/project/.planner/runs/20260102-abcdef"


def blob(text: str) -> str:
    """Return an id for a content, as git would, though not git's own."""
    return sha256(text.encode()).hexdigest()[:40]


def change(number: int, file: str, before: str, after: str) -> dict[str, Any]:
    """Return a change from one text to another, with a patch as git prints it."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{file}", f"b/{file}"
    )
    ids = f"index {blob(before)}..{blob(after)} 100644"
    return {
        "id": f"CC-{number:03d}", "file": file, "old_mode": "100644", "mode": "100644",
        "before": blob(before), "after": blob(after),
        "patch": "".join([f"diff --git a/{file} b/{file}\n{ids}\n", *lines]),
    }  # fmt: skip


def long_text(lines: int, word: str = "value") -> str:
    """Return a module of many lines."""
    return "".join(f'{word}_{n} = "{n * n:x}"\n' for n in range(lines))


def plan_data() -> dict[str, Any]:
    """Return a plan with every kind of entity and change that the page tells apart."""
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return data


def plan_of(data: dict[str, Any]) -> Plan:
    """Return the plan with its waves computed."""
    plan = Plan.model_validate(data)
    waves = [{"wave": n, "milestones": w} for n, w in enumerate(compute_waves(plan.milestones), 1)]
    return Plan.model_validate({**plan.model_dump(), "milestone_dependencies": {"waves": waves}})


def run_row(**values: object) -> Run:
    """Return a run that waits for approval, as the database would."""
    row = {
        "run_id": "20260102-abcdef", "repository": "/project", "state_dir": STATE_DIR, "lane": "",
        "request": "Read ISO dates in the importer; report rows without one.",
        "depth": "full", "status": "ACTIVE", "stage": "submitted", "workflow": "executor",
        "step": 1, "review": "auto", "alone": 0, "revision": 2, "digest": DIGEST, "commit_id": None,
        "created_at": "2026-01-02T03:04:05Z", **values,
    }  # fmt: skip
    return Run(cast("sqlite3.Row", row))


def previous_data() -> dict[str, Any]:
    """Return the revision before `plan_data`."""
    data = plan_data()
    data.update(revision=1, remarks=[], user_remarks=[], digest="11" * 32)
    data["milestones"][1]["requirements"].remove("RM-001")
    data["planning_context"]["decision_log"][2].update(
        decision="Stop at the first row without a date",
        reasoning_chain="half an import is hard to repeat -> stop at once",
    )
    data["planning_context"]["known_risks"].pop()
    data["milestones"][2]["code_changes"][0]["patch"] += "\n"
    data["milestones"][2]["acceptance_criteria"] = ["the report names the row"]
    return data


def since(text: str = "") -> Since:
    """Return how the code differs from the revision before, with `text` behind what is free."""
    old, new = ("".join(f"{n * step}\n" for n in range(9)) for step in (1, 2))
    made = [change(1, "importer/dates.py", old, new), change(2, "importer/rows.py", "", new)]
    changes = [Change.model_validate(with_text(one, text)) for one in made]
    remark = Cause("RM-001", f"Report all rows, not only the first.{text}", f"done: M-002{text}")
    unmet = Cause("CP-001", f"May an import stop?{text}", f"declined: no{text}")
    parts = (Part((remark,), (changes[0],)), Part((), (changes[1],)))
    return Since(1, parts, (unmet,), base_moved=True)


def sample_review(data: dict[str, Any] | None = None, **values: Any) -> Facts:  # noqa: ANN401
    """Return a review of the realistic plan, or of other data."""
    program, named = "/opt/planner/bin/planner", f"--state-dir {STATE_DIR}"
    said = "parse returned None for an empty text; the caller takes that for today"
    finding = {
        "id": "qa-003", "check": "errors", "scope": "M-001", "severity": "MUST", "status": "FAIL",
        "finding": said,
    }  # fmt: skip
    failed = {
        "phase": "plan-code", "iteration": 1, "verdict": "fail", "computed": "fail",
        "decided_by": "host", "reason": "", "items": [finding],
    }  # fmt: skip
    given: dict[str, Any] = {
        "previous": plan_of(previous_data()),
        "since": since(),
        "answers": {"CP-001": ["all"]},
        "outcomes": [failed],
        "accepted": [("plan-code", "file-length", "importer/forms.json", "a table, not code")],
        "commands": {
            "approve typed": f"/planner:approve {DIGEST}",
            "approve": f"{program} approve {DIGEST} {named}",
            "remark": f"{program} mode edit 'what should be different' {named}",
            "reject": f"{program} mode reject {DIGEST} {named}",
        },
    }
    return Facts(plan_of(data or plan_data()), run_row(), **{**given, **values})


def cited() -> dict[str, Any]:
    """Return the realistic plan with a line of its code named for each criterion of M-001."""
    data = plan_data()
    criteria = data["milestones"][0]["acceptance_criteria"]
    data["reviews"][1]["answers"] = [{
        "check": CRITERIA, "scope": "M-001", "severity": "MUST", "status": "PASS", "by": "agent",
        "evidence": "\n".join("importer/dates.py:1" for _ in criteria),
    }]  # fmt: skip
    return data


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


HOSTILE = (
    "</p></td></table></details><script>window.hacked=1;console.log('x')</script>"
    "<img src=x onerror='window.hacked=1'><svg onload=alert(1)><style>*{display:none}</style>"
    "<a href='javascript:window.hacked=1'>a</a><iframe srcdoc='<script>1</script>'></iframe>"
    "<meta http-equiv=refresh content='0;url=about:blank'><!-- {{content}} &#x3c;b&#x3e;"
    "\x1b[31mred\x1b[0m\x07\x00\u202e\u2066txt.exe\u2069\u200b\ufeff\U000e0041"
)
_FREE = frozenset({
    "acceptance_criteria", "alternative", "anchor", "approach", "assumptions", "behavior", "branch",
    "command", "constraints", "decision", "description", "edge", "error", "file", "files",
    "finding", "flags", "function", "label", "mitigation", "name", "normal", "note", "owner",
    "problem", "question", "reason", "reasoning_chain", "rejected_alternatives", "old_file",
    "rejection_reason", "remarks", "request", "risk", "skip_reason", "source", "text", "title",
    "tradeoffs", "type", "user_quotes",
})  # fmt: skip

_ADDED = re.compile(r"^\+(?!\+\+ ).*$", re.MULTILINE)


def with_text(value: Any, text: str, *, free: bool = False) -> Any:  # noqa: ANN401 – any JSON value
    """Return a plan with `text` behind every text that somebody may have written freely."""
    if isinstance(value, dict):
        changed = {k: with_text(v, text, free=k in _FREE) for k, v in value.items()}
        if "patch" in changed:
            changed["patch"] = _ADDED.sub(lambda match: match[0] + text, changed["patch"])
        return changed
    if isinstance(value, list):
        return [with_text(v, text, free=free) for v in value]
    return value + text if free and isinstance(value, str) else value


def hostile_review(text: str = HOSTILE) -> Facts:
    """Return the realistic review with `text` behind every free text of it."""
    plain = sample_review()
    return sample_review(
        with_text(plan_data(), text),
        previous=plan_of(with_text(previous_data(), text[:-1])),
        since=since(text),
        outcomes=with_text([dict(o) for o in plain.outcomes], text),
        accepted=[with_text(list(row), text, free=True) for row in plain.accepted],
        answers={"CP-001": [text]},
    )
