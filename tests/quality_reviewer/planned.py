"""Plans over files that a table names, on a git tree of a real repository, without a replay."""

from __future__ import annotations

import difflib
import hashlib
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from quality_reviewer.questions import CRITERIA
from quality_reviewer.unproven import with_unproven
from shared.run import open_state
from state.models import Plan
from tests.journey import FILES, Journey
from tests.state.plans import UUID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from shared.run import State
    from tests.conftest import Repository


class Said(NamedTuple):
    """What a plan says beside its files."""

    task: Sequence[str] = ()
    # Each with the evidence that a reviewer named.
    criteria: Sequence[tuple[str, str]] = ()
    # Each with question, options, and the answer.
    asked: Sequence[tuple[str, Sequence[str], str]] = ()
    # Each with its outcome, '' where the milestone is for it.
    remarks: Sequence[tuple[str, str]] = ()
    # Each with its reasons.
    decisions: Sequence[tuple[str, str]] = ()
    request: str = "Do it"
    tests: Sequence[str] = ()
    # Of the milestone.
    name: str = "Change fetch"


def waiting(make_repo: Callable[..., Repository]) -> State:
    """Return a run that waits for its context, in whose repository trees can be made."""
    journey = Journey(make_repo(files=FILES)).to("context")
    return open_state(journey.state_dir, "/")


def named(
    state: State, before: Mapping[str, str], after: Mapping[str, str], said: Said
) -> list[str]:
    """Return the sentences about a plan that makes `before` into `after`."""
    state.run.request = said.request
    return [one.text for one in with_unproven(state, _plan(state, before, after, said)).unproven]


def _store(state: State, *trees: Mapping[str, str]) -> list[str]:
    """Store files in the run's repository; return the id of each git tree."""
    script = ""
    for number, files in enumerate(trees):
        script += f"commit refs/planned/{number}\ncommitter a <a@b> 0 +0000\ndata 0\ndeleteall\n"
        for name, text in sorted(files.items()):
            script += f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
    _git(state, "fast-import", "--quiet", "--force", given=script)
    names = [f"refs/planned/{number}^{{tree}}" for number in range(len(trees))]
    return _git(state, "rev-parse", *names).split()


def _git(state: State, *words: str, given: str = "") -> str:
    command = ["git", "-C", state.run.repository, *words]
    done = subprocess.run(command, input=given.encode(), capture_output=True, check=True)
    return done.stdout.decode()


def _blob(text: str) -> str:
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _plan(state: State, before: Mapping[str, str], after: Mapping[str, str], said: Said) -> Plan:
    base, tree = _store(state, before, {**before, **after})
    changes = [*_changes(before, after)]
    task = [{"id": f"T-{n}", "text": text} for n, text in enumerate(said.task, 1)]
    remarks = [{"id": f"RM-{n:03}", "text": text, "revision": 1, "outcome": outcome}
               for n, (text, outcome) in enumerate(said.remarks, 1)]  # fmt: skip
    cited = [*(one["id"] for one in task), *(one["id"] for one in remarks if not one["outcome"])]
    milestone = {
        "id": "M-001", "number": 1, "name": said.name, "files": [c["file"] for c in changes],
        "requirements": cited, "acceptance_criteria": [text for text, _ in said.criteria],
        "tests": {"files": said.tests, "type": "unit"}, "code_changes": changes,
    }  # fmt: skip
    answer = {
        "check": CRITERIA, "scope": "M-001", "severity": "MUST", "status": "PASS",
        "by": "assistant", "evidence": "\n".join(shown for _, shown in said.criteria),
    }  # fmt: skip
    review = {"phase": "plan-code", "iteration": 1, "by": "host", "answers": [answer]}
    asked = [{"id": f"CP-{n:03}", "question": question, "answer": answer, "options": [
        {"key": str(k), "label": label} for k, label in enumerate(options)]}
        for n, (question, options, answer) in enumerate(said.asked, 1)]  # fmt: skip
    log = [{"id": f"DL-{n:03}", "decision": text, "reasoning_chain": why}
           for n, (text, why) in enumerate(said.decisions, 1)]  # fmt: skip
    return Plan.model_validate({
        "schema_version": 2, "plan_id": UUID, "created_at": "2026-01-02T03:04:05Z",
        "base": {"commit": tree, "branch": "main", "tree": base}, "task_spec": task,
        "user_remarks": remarks, "checkpoints": asked, "milestones": [milestone],
        "planning_context": {"decision_log": log}, "reviews": [review] if said.criteria else [],
    })  # fmt: skip


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the changes that make files into others, as a capture stores them."""
    for number, (name, text) in enumerate(sorted(after.items()), 1):
        old = before.get(name)
        known = old is not None
        rows = difflib.unified_diff(
            (old or "").splitlines(), text.splitlines(),
            f"a/{name}" if known else "/dev/null", f"b/{name}", lineterm="",
        )  # fmt: skip
        yield {
            "id": f"CC-{number:03}", "file": name, "mode": "100644", "after": _blob(text),
            "old_mode": "100644" if known else None, "before": _blob(old) if old else None,
            "patch": "".join(f"{row}\n" for row in rows),
        }  # fmt: skip
