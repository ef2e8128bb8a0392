"""What was checked and what was found, in one shape for plan files and commits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.validate_range import (
    EDITED,
    EXACT,
    NO_PLAN,
    NOT_HERE,
    SAME_BYTES,
    SAME_CHANGE,
)
from shared.builders import problem_text, visible_line
from shared.digests import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.ci.validate import Report
    from orchestrator.ci.validate_range import Judged, Verdict
    from state.errors import Problem, Refused

FILE, APPROVAL, REFUSED = "plan-file", "approval", "not-validated"
# What a finding may be about, with what each means.
RULES = {
    EXACT: "The commit is the approved plan's own.",
    SAME_BYTES: "The commit has the approved bytes, but was rebased, squashed or cherry-picked.",
    SAME_CHANGE: "The commit makes the approved change on files that differ elsewhere.",
    EDITED: "The commit differs from the plan that was approved.",
    NO_PLAN: "No approved plan belongs to the commit.",
    NOT_HERE: "The commit names a plan that this clone does not have.",
    FILE: "The plan file is not sound, or does not fit its repository or commit.",
    APPROVAL: "The approval does not prove what it says, or what the project asks for.",
    REFUSED: "Nothing could be compared.",
}


class Finding(NamedTuple):
    """One thing that is wrong: the rule of RULES that it breaks, and what is wrong in words."""

    rule: str
    text: str


class Checked(NamedTuple):
    """One plan file or commit that was checked, and what was found."""

    # Its name for people.
    title: str
    # What is known of it in words.
    said: str
    # The paths that findings are about.
    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    # One of the six for a commit, else "".
    verdict: str = ""
    plans: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    approval: str = ""


def of_reports(
    reports: Iterable[Report], approval: str | None = None, said: str = ""
) -> list[Checked]:
    """Return what was found in plan files, and in the file `approval`; `said` is what it proves."""
    found = []
    for report in reports:
        is_approval = report.file == approval
        rule = APPROVAL if is_approval else FILE
        words = said if is_approval else f"digest {report.digest}" if report.digest else ""
        findings = _findings(report.problems, rule, report.file)
        found.append(Checked(visible_line(report.file), words, (report.file,), findings))
    return found


def of_verdicts(judged: Judged) -> list[Checked]:
    """Return what was found in the commits of a range, oldest first."""
    return [_of_verdict(verdict) for verdict in judged.verdicts]


def of_refusal(refusal: Refused, name: str) -> list[Checked]:
    """Return a finding for each reason why nothing could be compared."""
    return [Checked(visible_line(name), "", (), _findings(refusal.problems, REFUSED, name))]


def _of_verdict(verdict: Verdict) -> Checked:
    findings = [
        Finding(verdict.word if p.at == verdict.commit else APPROVAL, _text(p, verdict.commit))
        for p in verdict.problems
    ]
    parts = [
        verdict.word,
        *([f"edited: {', '.join(verdict.edited)}"] if verdict.edited else []),
        *([f"additional: {', '.join(verdict.additional)}"] if verdict.additional else []),
        verdict.why,
    ]
    return Checked(
        visible_line(f"{verdict.commit[:SHORTEST]} {verdict.subject}"),
        " · ".join(visible_line(part) for part in parts if part),
        (*verdict.edited, *verdict.additional) or verdict.changed,
        tuple(findings),
        verdict.word,
        verdict.plans,
        verdict.titles,
        verdict.approval,
    )


def _findings(problems: Sequence[Problem], rule: str, name: str) -> tuple[Finding, ...]:
    return tuple(Finding(rule, _text(problem, name)) for problem in problems)


def _text(problem: Problem, name: str) -> str:
    """Return a problem in words, on one line, with its place where that is more than its name."""
    text = problem_text(problem) if problem.at == name else f"{problem.at}: {problem_text(problem)}"
    return visible_line(text)
