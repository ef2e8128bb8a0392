"""The one list of what a plan says: what it is called, where it stands, and who is shown it (SD-5).

The review page, plan.md and the slices of printed steps show this list, so that what is new in a
plan is added here once. They take plans as models and as steps read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from state.milestones import kinds_of_docs, promise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from state.milestones import AnyMilestone, AnyPlan

    Form = Callable[[str], str]

# Who is shown something: a person who decides, on the page and in plan.md; who changes code or
# documents in a phase; who carries out one milestone; who judges the design, or what is written.
PERSON, AUTHOR, CARRIER = "person", "author", "carrier"
DESIGN_REVIEWER, REVIEWER = "design reviewer", "reviewer"
READERS = (PERSON, AUTHOR, CARRIER, DESIGN_REVIEWER, REVIEWER)
ALL = frozenset(READERS)


class Row(NamedTuple):
    """One thing that a plan says."""

    text: str = ""
    id: str = ""
    # The files that it is about, or which it is where it has no text.
    files: tuple[str, ...] = ()
    # What else it is about, in words.
    place: str = ""
    # A reason, a remedy, or what shows it.
    why: str = ""
    # The decisions that it cites.
    refs: tuple[str, ...] = ()
    # What kind of its kind it is: a `normal` test.
    kind: str = ""

    def line(self, label: str, text: Form = str, file: Form = str) -> str:
        """Return the row as a line; `text` and `file` put words and names into a format."""
        files = ", ".join(map(file, self.files))
        named = " ".join(filter(None, [self.id, files if self.id else "", text(self.place)]))
        head = ", ".join(filter(None, [named, label, self.kind]))
        said = text(self.text) if self.text else files
        cited = f" ({', '.join(self.refs)})" if self.refs else ""
        return f"{head}{head and ': '}{said}{cited}{self.why and ' – '}{text(self.why)}"


class Content(NamedTuple):
    """A kind of what a plan or a milestone says."""

    # Its heading where it has a part of its own, and what stands before each row in a text.
    title: str
    label: str
    # From a plan, or from a milestone of it.
    rows: Callable[[Any], Iterable[Row]]
    shown: frozenset[str] = ALL


def _tests(milestone: AnyMilestone) -> Iterator[Row]:
    if milestone.tests.files:
        yield Row(files=milestone.tests.files)


def _scenarios(milestone: AnyMilestone) -> Iterator[Row]:
    for kind in ("normal", "edge", "error"):
        yield from (Row(text, kind=kind) for text in getattr(milestone.tests.scenarios, kind))


def _untested(milestone: AnyMilestone) -> Iterator[Row]:
    if milestone.tests.skip_reason:
        yield Row(milestone.tests.skip_reason)


def _intents(milestone: AnyMilestone) -> Iterator[Row]:
    for intent in milestone.code_intents:
        yield Row(intent.behavior, intent.id, (intent.file,), refs=intent.decision_refs)


def _documents(milestone: AnyMilestone) -> Iterator[Row]:
    for kind, doc in kinds_of_docs(milestone):
        yield Row(doc.text, doc.id, place=promise(kind, doc))


def _decisions(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.planning_context.decision_log:
        yield Row(one.decision, one.id, why=one.reasoning_chain)


def _alternatives(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.planning_context.rejected_alternatives:
        yield Row(one.alternative, one.id, why=one.rejection_reason)


def _risks(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.planning_context.known_risks:
        yield Row(one.risk, one.id, why=one.mitigation)


def _stated(plan: AnyPlan) -> Iterator[Row]:
    known = plan.invisible_knowledge
    for one in (*known.invariants, *known.tradeoffs):
        yield Row(one) if isinstance(one, str) else Row(one.text, one.id)


DECISIONS = Content("decisions", "", _decisions)
ALTERNATIVES = Content("alternatives", "not chosen", _alternatives)
RISKS = Content("risks", "", _risks)
STATED = Content("invariants and tradeoffs", "", _stated)

ACCEPTED = Content(
    "accepted when", "accepted when", lambda m: map(Row, m.acceptance_criteria), ALL - {AUTHOR}
)
INTENTS = Content("intents", "", _intents)
_OF_TESTS = frozenset({PERSON, CARRIER, DESIGN_REVIEWER})
MILESTONE = (
    ACCEPTED,
    INTENTS,
    Content("tests", "tests", _tests),
    Content("scenarios", "test", _scenarios, _OF_TESTS),
    Content("no tests", "no tests", _untested, _OF_TESTS),
    Content("documentation", "", _documents),
    Content("waits for", "waits for", lambda m: map(Row, m.waits_for), frozenset({PERSON})),
    Content("flags", "flag", lambda m: map(Row, m.flags), frozenset({PERSON})),
)


def lines_of(
    content: Content, part: AnyPlan | AnyMilestone, text: Form = str, file: Form = str
) -> list[str]:
    """Return one kind of what a plan or milestone says as lines of text."""
    return [row.line(content.label, text, file) for row in content.rows(part)]


def milestone_lines(milestone: AnyMilestone, reader: str) -> list[str]:
    """Return what a milestone says to one of its readers, as lines of text."""
    shown = [content for content in MILESTONE if reader in content.shown]
    return [line for content in shown for line in lines_of(content, milestone)]
