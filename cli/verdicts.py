"""The verdicts of `planner validate --range` as a block and as JSON (CM-2)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from orchestrator.ci.judged import BY_CLAIM, BY_SIGNATURE, VERDICTS
from shared.builders import Block, json_text, problem_text
from shared.digests import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.ci.judged import Judged, Verdict, Whole
    from state.errors import Problem

_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how Python keeps such bytes in a text


def as_json(value: object) -> str:
    r"""Return a value as JSON; bytes of names that are no UTF-8 are shown as `\\xff`.

    Many programs refuse the escape of half a character that would stand for such a byte.
    """
    text = json.dumps(value, ensure_ascii=False)
    whole = _NOT_UTF8.sub(lambda one: rf"\\x{ord(one[0]) - 0xDC00:02x}", text)
    return json_text(json.loads(whole)) + "\n"


def verdicts_as_json(judged: Judged, require: str | None) -> str:
    """Return the verdicts as JSON, oldest commit first."""
    rows = [_row(verdict) for verdict in judged.verdicts]
    found = {
        "commits": rows, "merges": judged.merges, "require": require,
        "approved": judged.count(BY_SIGNATURE), "claimed": judged.count(BY_CLAIM),
    }  # fmt: skip
    if judged.whole is not None:
        found["whole"] = _whole(judged.whole)
    return as_json(found)


def _whole(whole: Whole) -> dict[str, Any]:
    return {
        "range": whole.name, "files": whole.files, "not_held": list(whole.unheld),
        "why": whole.why, "problems": _problems(whole.problems),
    }  # fmt: skip


def _problems(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [
        {"kind": p.kind, "at": p.at, "problem": p.problem, "allowed": p.allowed} for p in problems
    ]


def _row(verdict: Verdict) -> dict[str, Any]:
    return {
        "commit": verdict.commit,
        "subject": verdict.subject,
        "verdict": verdict.word,
        "plans": list(verdict.plans),
        "titles": list(verdict.titles),
        "edited": list(verdict.edited),
        "additional": list(verdict.additional),
        "beside": list(verdict.beside),
        "approval": verdict.approval,
        "approved": verdict.approved,
        "why": verdict.why,
        "problems": _problems(verdict.problems),
    }


def verdicts_as_text(judged: Judged) -> str:
    """Return the block with a line for each commit, and its problems."""
    found = judged.verdicts
    invalid = sum(bool(verdict.problems) for verdict in found)
    block = Block(
        "result", commits=len(found), invalid=invalid, merges=judged.merges,
        approved=judged.count(BY_SIGNATURE), claimed=judged.count(BY_CLAIM),
    )  # fmt: skip
    counts = {word: sum(v.word == word for v in found) for word in VERDICTS}
    block.data("verdicts", "\n".join(f"{n} {word}" for word, n in counts.items() if n))
    block.data("commits", "\n".join(_line(verdict) for verdict in found))
    for one in judged.all:
        for problem in one.problems:
            block.element("problem", problem_text(problem), kind=problem.kind, at=problem.at)
    return block.render()


def _line(verdict: Verdict) -> str:
    parts = [
        f"{verdict.commit[:SHORTEST]} {verdict.word}",
        verdict.subject,
        f"plan {', '.join(digest[:SHORTEST] for digest in verdict.plans)}" if verdict.plans else "",
        f"edited: {', '.join(verdict.edited)}" if verdict.edited else "",
        f"additional: {', '.join(verdict.additional)}" if verdict.additional else "",
        f"beside the plan: {', '.join(verdict.beside)}" if verdict.beside else "",
        verdict.why,
        f"approval: {verdict.approval}" if verdict.approval else "",
    ]
    return " · ".join(" ".join(part.split()) for part in parts if part)
