"""List every check that a program decides, and run checks to make review items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from quality_reviewer.checks.code import (
    check_exercised,
    check_intents,
    check_listed,
    check_rebuild,
    check_verify,
)
from quality_reviewer.checks.definitions import check_docstrings, check_sizes
from quality_reviewer.checks.design import (
    check_acyclic,
    check_decisions,
    check_milestones,
    check_mitigations,
    check_overview,
    check_reasoning,
    check_references,
    check_requirements,
    check_tests,
    check_waves,
)
from quality_reviewer.checks.docs import check_links, check_no_code
from quality_reviewer.checks.files import check_intents_listed, check_named, check_spelling
from quality_reviewer.checks.lines import check_leftovers, check_merge_markers, check_secrets
from quality_reviewer.checks.parsing import check_parsing
from quality_reviewer.checks.promises import check_documents, check_promises, check_written
from quality_reviewer.checks.subject import Finding, Subject, Trees
from quality_reviewer.checks.wording import check_comments, check_documentation
from quality_reviewer.questions import QUESTIONS, TEXTS
from quality_reviewer.signs import why_left_out
from shared.qr.types import EVERYTHING, MUST, PASS, SHOULD, numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from shared.qr.types import Item, Severity
    from state.phases import Phase

__all__ = ["CHECKS", "Check", "Finding", "Subject", "Trees", "render_table", "run_checks"]


class Check(NamedTuple):
    """One check of a plan by program."""

    id: str
    phase: Phase
    severity: Severity
    run: Callable[[Subject], Iterator[Finding]]
    # Whether it needs the captured tree of changes.
    reads_tree: bool = False
    # Its findings can be mistaken, so a person may accept one, with a reason.
    acceptable: bool = False
    # Not for what agents wrote after the approval, where a reviewer judges it.
    full_only: bool = False

    @property
    def doc(self) -> str:
        """Return what a check demands, which is the first line of its function's docstring."""
        return (self.run.__doc__ or "").splitlines()[0]


CHECKS: tuple[Check, ...] = (
    Check("design-references-hold", "plan-design", MUST, check_references),
    Check("design-requirements-covered", "plan-design", MUST, check_requirements),
    Check("design-dependencies-acyclic", "plan-design", MUST, check_acyclic),
    Check("design-waves-follow", "plan-design", MUST, check_waves),
    Check("design-milestones-complete", "plan-design", MUST, check_milestones),
    Check("design-decisions-exist", "plan-design", MUST, check_decisions),
    Check("design-tests-planned", "plan-design", MUST, check_tests),
    Check("design-overview-written", "plan-design", MUST, check_overview),
    Check(
        "design-decisions-reasoned",
        "plan-design",
        SHOULD,
        check_reasoning,
        acceptable=True,
    ),
    Check(
        "design-risks-mitigated",
        "plan-design",
        SHOULD,
        check_mitigations,
        acceptable=True,
    ),
    Check(
        "design-files-intended",
        "plan-design",
        SHOULD,
        check_named,
        acceptable=True,
    ),
    Check(
        "design-intents-listed",
        "plan-design",
        SHOULD,
        check_intents_listed,
        acceptable=True,
    ),
    Check(
        "design-files-spelled",
        "plan-design",
        SHOULD,
        check_spelling,
        acceptable=True,
    ),
    Check("code-intents-changed", "plan-code", MUST, check_intents),
    Check("code-files-written", "plan-code", MUST, check_written, reads_tree=True, full_only=True),
    Check("code-changes-rebuild", "plan-code", MUST, check_rebuild),
    Check("code-parses", "plan-code", MUST, check_parsing, reads_tree=True, acceptable=True),
    Check("code-only-listed-files", "plan-code", MUST, check_listed, reads_tree=True),
    Check("code-verify-passes", "plan-code", MUST, check_verify, reads_tree=True, acceptable=True),
    Check("code-no-secrets", "plan-code", MUST, check_secrets, reads_tree=True, acceptable=True),
    Check(
        "code-no-merge-markers",
        "plan-code",
        MUST,
        check_merge_markers,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "code-no-debug-leftovers",
        "plan-code",
        MUST,
        check_leftovers,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "code-verify-exercises",
        "plan-code",
        SHOULD,
        check_exercised,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "code-comments-timeless",
        "plan-code",
        SHOULD,
        check_comments,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "code-sizes-bounded",
        "plan-code",
        SHOULD,
        check_sizes,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "docs-change-no-code",
        "plan-docs",
        MUST,
        check_no_code,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "docs-files-written", "plan-docs", MUST, check_documents, reads_tree=True, full_only=True
    ),
    Check(
        "docs-promises-kept",
        "plan-docs",
        MUST,
        check_promises,
        reads_tree=True,
        acceptable=True,
    ),
    Check("docs-links-exist", "plan-docs", MUST, check_links, reads_tree=True, acceptable=True),
    Check("docs-changes-rebuild", "plan-docs", MUST, check_rebuild),
    Check("docs-only-listed-files", "plan-docs", MUST, check_listed, reads_tree=True),
    Check("docs-no-secrets", "plan-docs", MUST, check_secrets, reads_tree=True, acceptable=True),
    Check(
        "docs-docstrings-written",
        "plan-docs",
        SHOULD,
        check_docstrings,
        reads_tree=True,
        acceptable=True,
    ),
    Check(
        "docs-wording-timeless",
        "plan-docs",
        SHOULD,
        check_documentation,
        reads_tree=True,
        acceptable=True,
    ),
)


# What only the results of the verify commands tell, and what the documentation's own step writes.
OF_VERIFY = ("code-verify-passes", "code-verify-exercises")
OF_DOCUMENTS = ("docs-files-written", "docs-promises-kept")
# What only the changes of all milestones together tell.
OF_WHOLE = (
    "code-changes-rebuild",
    "code-only-listed-files",
    "docs-changes-rebuild",
    "docs-only-listed-files",
)

# At depth intent the code and its documentation are written, and so checked, in these phases.
_CHECKED_AS: dict[Phase, Phase] = {"impl-code": "plan-code", "impl-docs": "plan-docs"}


def run_checks(
    phase: Phase,
    subject: Subject,
    start: int = 1,
    only: Severity | None = None,
    without: Collection[str] = (),
) -> list[Item]:
    """Run a phase's checks, or only those of a severity; return the results as review items.

    Those named in `without` do not run.

    A check that finds nothing makes one item, PASS, on everything; else each finding makes one.
    """
    answers: list[tuple[Check, Finding | None]] = []
    planned = _CHECKED_AS.get(phase, phase)
    due = [c for c in CHECKS if c.phase == planned and not (c.full_only and planned != phase)]
    for check in due:
        if only in (None, check.severity) and check.id not in without:
            findings = [(check, finding) for finding in _findings(check, subject)]
            answers += findings or [(check, None)]
    return numbered([_fields(*answer) for answer in answers], start)


def _findings(check: Check, subject: Subject) -> Iterator[Finding]:
    if check.reads_tree and subject.tree is None:
        text = "no changes are captured, so there is nothing to check"
        yield Finding(EVERYTHING, text, "NOT_CHECKED")
    else:
        yield from check.run(subject)


def _fields(check: Check, finding: Finding | None) -> dict[str, Any]:
    scope, text, status = finding or (EVERYTHING, None, PASS)
    return {
        "scope": _storable(scope),
        "check": check.id,
        "severity": check.severity,
        "status": status,
        "finding": None if text is None else _storable(text),
    }


def _storable(text: str) -> str:
    """Return a text with characters that UTF-8 cannot encode replaced by backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def render_table() -> str:
    """Return the text of docs/checks.md: each check's severity and demand, and the questions."""
    parts = [_HEAD]
    for phase in dict.fromkeys(check.phase for check in CHECKS):
        parts.append(f"\n## {phase}\n\n| check | severity | what must hold |\n|---|---|---|\n")
        parts += [f"| `{c.id}` | {c.severity} | {c.doc} |\n" for c in CHECKS if c.phase == phase]
    parts.append(_QUESTIONS)
    for q in QUESTIONS:
        text = TEXTS[q.id] + _ASKED_PER[q.per] + _ASKED_OF[q.who]
        parts.append(f"| `{q.id}` | {q.phase} | {q.severity} | {text} | {why_left_out(q)} |\n")
    return "".join(parts)


_HEAD = """\
# Checks that the program decides

They run when a work step ends, before a reviewer is asked. A failing MUST sends the step back at
once; other findings go into the review and block by its iteration. What the program cannot decide
is NOT CHECKED, which blocks nothing and is shown. The table is made from
`quality_reviewer/checks/registry.py`, and a test holds it.
"""

_QUESTIONS = """
## Questions that reviewers answer

A small plan is asked at most 7 of them, in order of severity, or every MUST that is not left out.
An assistant that reviews its own change is asked only what is for the author: to try to break it.

| question | phase | severity | what must hold | left out where |
|---|---|---|---|---|
"""
_ASKED_PER = {
    "plan": "",
    "milestone": " (each milestone)",
    "task": " (the two riskiest entries of the task)",
    "intent": " (the two riskiest intents)",
}
_ASKED_OF = {"others": "", "author": " (of the author alone)", "all": " (also of the author)"}
