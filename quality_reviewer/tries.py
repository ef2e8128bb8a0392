"""Says which trials the program has to make before a reviewer's evidence can be judged (RV-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.answer_rows import read_rows
from quality_reviewer.citations import lines_named, read_citation
from quality_reviewer.evidence import Evidence
from quality_reviewer.questions import TRIED
from shared.plan_file import open_plan
from shared.qr.kept_review import read_kept_review
from shared.qr.types import PASS
from shared.tree_runs import Wanted, tries_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.citations import Citation
    from shared.run import State
    from state.phases import Phase


def wanted_trials(state: State, phase: Phase, value: object) -> list[Wanted]:
    """Return what answers to a phase's questions name that the program executes, each once."""
    review = read_kept_review(state, phase)
    items = {item.id: item for item in review.items} if review else {}
    rows = [row for row in read_rows(value).sound.values() if row.get("id") in items]
    passes = [row for row in rows if row.get("status") == PASS and row.get("evidence")]
    asked = [(items[row["id"]], row["evidence"]) for row in passes]
    if not any("without:" in text or item.check == TRIED for item, text in asked):
        return []
    evidence = Evidence(state, phase, open_plan(state))
    found = [
        wanted
        for item, text in asked
        for part in evidence.parts(item, text)
        for wanted in _of(evidence, read_citation(part, ids=False, runs=item.check == TRIED))
    ]
    return list(dict.fromkeys(found))


def _of(evidence: Evidence, named: Citation) -> Iterator[Wanted]:
    if named.kind == "line" and named.test:
        yield Wanted(named.file, named.first, named.last, lines_named(named), named.test)
    run = evidence.ran.runs.get(named.first) if named.kind == "run" else None
    if run and not run.code and not tries_nothing(run.command, run.said):
        yield Wanted("", 0, 0, "", run.command)
