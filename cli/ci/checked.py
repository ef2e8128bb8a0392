"""What was checked and what was found, in one shape for plan files and commits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.judged import (
    BY_CLAIM,
    BY_SIGNATURE,
    EDITED,
    EXACT,
    NO_PLAN,
    NOT_APPROVED,
    NOT_HERE,
    SAME_BYTES,
    SAME_CHANGE,
    TAKEN_BACK,
)
from shared.builders import problem_text, visible_line
from shared.digests import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.ci.judged import Judged, Verdict, Whole
    from orchestrator.ci.validate import Report
    from state.errors import Problem, Refused

FILE, APPROVAL, REFUSED = "plan-file", "approval", "not-validated"
NOT_COMPARED = "patches not compared"
PLAN, RANGE = "unsound-plan", "whole-range"
# What a finding may be about, with what each means.
RULES = {
    EXACT: "The commit is the approved plan's own.",
    SAME_BYTES: "The commit has the approved bytes, but was rebased, squashed or cherry-picked.",
    SAME_CHANGE: "The commit makes the approved change on files that differ elsewhere.",
    EDITED: "The commit differs from the plan that was approved.",
    NO_PLAN: "No approved plan belongs to the commit.",
    NOT_HERE: "The commit names a plan that this clone does not have.",
    TAKEN_BACK: "The commit takes an approved plan back.",
    NOT_APPROVED: "The commit holds a plan that nobody approved.",
    PLAN: "The plan of the commit is not sound: its patches are not its contents, for example.",
    RANGE: "The range as one difference has more than its approved commits made.",
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
    # One of the eight for a commit, else "".
    verdict: str = ""
    plans: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    approval: str = ""
    # Whether the commit is what was approved: by a signature, by a claim, or "".
    counts_as: str = ""
    # Files that the commit has beside its plan.
    beside: tuple[str, ...] = ()
    # In words, all that no plan holds.
    unheld: str = ""


def count_approved(checked: Iterable[Checked]) -> dict[str, int]:
    """Return how many commits are what was approved, by a signature and by a claim alone."""
    found = [one.counts_as for one in checked]
    return {"approved": found.count(BY_SIGNATURE), "claimed": found.count(BY_CLAIM)}


def of_reports(
    reports: Iterable[Report], approval: str | None = None, said: str = ""
) -> list[Checked]:
    """Return what was found in plan files, and in the file `approval`; `said` is what it proves."""
    found = []
    for report in reports:
        is_approval = report.file == approval
        rule = APPROVAL if is_approval else FILE
        words = [said] if is_approval else [f"digest {report.digest}"] if report.digest else []
        for name, paths in (("beside the plan", report.beside), (NOT_COMPARED, report.unproved)):
            words += [f"{name}: {', '.join(paths)}"] if paths else []
        findings = _findings(report.problems, rule, report.file)
        named = visible_line(" · ".join(words))
        beside = tuple(report.beside)
        one = Checked(visible_line(report.file), named, (report.file,), findings, beside=beside)
        found.append(one)
    return found


def of_verdicts(judged: Judged) -> list[Checked]:
    """Return what was found in the commits of a range, oldest first, and in all of it as one."""
    whole = [_of_whole(judged.whole)] if judged.whole and judged.whole.problems else []
    return [*map(_of_verdict, judged.verdicts), *whole]


def of_refusal(refusal: Refused, name: str) -> list[Checked]:
    """Return a finding for each reason why nothing could be compared."""
    return [Checked(visible_line(name), "", (), _findings(refusal.problems, REFUSED, name))]


def _of_verdict(verdict: Verdict) -> Checked:
    findings = [Finding(_rule(p, verdict), _text(p, verdict.commit)) for p in verdict.problems]
    lists = {"edited": verdict.edited, "additional": verdict.additional,
             "beside the plan": verdict.beside}  # fmt: skip
    named = {name: f"{name}: {', '.join(paths)}" for name, paths in lists.items() if paths}
    parts = [verdict.word, *named.values(), verdict.why]
    named.pop("edited", None)
    return Checked(
        visible_line(f"{verdict.commit[:SHORTEST]} {verdict.subject}"),
        " · ".join(visible_line(part) for part in parts if part),
        (*verdict.edited, *verdict.additional) or verdict.changed,
        tuple(findings),
        verdict.word,
        verdict.plans,
        verdict.titles,
        visible_line(verdict.approval),
        verdict.counts_as,
        verdict.beside,
        visible_line("; ".join(named.values())),
    )


def _rule(problem: Problem, verdict: Verdict) -> str:
    """Return what a problem of a commit is about: its verdict, an approval, or a plan in itself."""
    if problem.at == verdict.commit:
        return verdict.word
    return APPROVAL if verdict.approved or verdict.approval else PLAN


def _of_whole(whole: Whole) -> Checked:
    findings = tuple(Finding(RANGE, _text(problem, whole.name)) for problem in whole.problems)
    return Checked(f"{whole.name} as one", "", whole.unheld, findings)


def _findings(problems: Sequence[Problem], rule: str, name: str) -> tuple[Finding, ...]:
    return tuple(Finding(rule, _text(problem, name)) for problem in problems)


def _text(problem: Problem, name: str) -> str:
    """Return a problem in words, on one line, with its place where that is more than its name."""
    text = problem_text(problem) if problem.at == name else f"{problem.at}: {problem_text(problem)}"
    return visible_line(text)
