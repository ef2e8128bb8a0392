"""The one list of what a plan says: what it is called, where it stands, and who is shown it (SD-5).

The review page, plan.md and the slices of printed steps show this list, so that what is new in a
plan is added here once. They take plans as models and as steps read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from state.milestones import kinds_of_docs, promise, promised_files
from state.statements import place_of, quoted, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from state import models, plan_table, reasons
    from state.milestones import AnyMilestone, AnyPlan

    AnyCheckpoint = models.Checkpoint | plan_table.Checkpoint
    AnyStated = (
        plan_table.Invariant | plan_table.Tradeoff | reasons.Invariant | reasons.Tradeoff | str
    )

# A plan, or a milestone of it.
Part_contra = TypeVar("Part_contra", contravariant=True)

PERSON = "person"  # who decides, on the page and in plan.md
# An agent that has seen nothing of the run, in whichever round: it designs or changes a design,
# writes the code or the documentation of a plan, carries out one milestone, or judges design, code
# or documentation.
DESIGNER, REDESIGNER, DEVELOPER = "designer", "redesigner", "developer"
WRITER, CARRIER = "writer", "carrier"
DESIGN_REVIEWER, REVIEWER, DOCS_REVIEWER = "design reviewer", "reviewer", "docs reviewer"
# The host, which has written the context and the plan itself: it designs, writes, judges.
PLANNER, AUTHOR = "planner", "author"
# Who is asked a few questions: of reasons it is shown what these are about, and what milestones or
# findings name.
AGAIN = "reviewer again"
_REVIEWERS = frozenset({DESIGN_REVIEWER, REVIEWER, DOCS_REVIEWER})
_NEW = _REVIEWERS | {DESIGNER, REDESIGNER, DEVELOPER, WRITER, CARRIER}

# Where a person reads it.
FIRST, GOAL, DECIDED = "Why and what", "Goal", "Decisions"
NOT_BORNE_OUT = "Said, and not borne out by the change"
LIMITS, DRAWN = "Risks, assumptions, constraints", "Architecture and data flow"
PARTS = (FIRST, NOT_BORNE_OUT, GOAL, DECIDED, LIMITS, DRAWN)


class Row(NamedTuple):
    """One thing that a plan says."""

    text: str = ""
    id: str = ""
    # The files or definitions that it is about, or which it is where it has no text.
    files: tuple[str, ...] = ()
    # What else it is about, in words.
    place: str = ""
    # A reason, a remedy, or what shows it.
    why: str = ""
    # The decisions that it cites.
    refs: tuple[str, ...] = ()
    # What kind of its kind it is: a `normal` test.
    kind: str = ""
    # The row that it belongs to, by its id.
    under: str = ""
    # What has become of it.
    outcome: str = ""
    # Which version of it an edit has to name; 0 where nobody edits it.
    version: int = 0

    def line(self, label: str) -> str:
        """Return the row as a line of text."""
        files = ", ".join(self.files)
        named = " ".join(filter(None, [self.id, files if self.id else "", self.place]))
        head = ", ".join(filter(None, [named, label, self.kind]))
        cited = f" ({', '.join(self.refs)})" if self.refs else ""
        ends = f"{self.why and ' – '}{self.why}{self.outcome and ' → '}{self.outcome}"
        return f"{head}{head and ': '}{self.text or files}{cited}{ends}"


class Content(NamedTuple, Generic[Part_contra]):
    """A kind of what a plan or a milestone says."""

    # Its heading where it has a part of its own, and what stands before each row in a text.
    title: str
    label: str
    rows: Callable[[Part_contra], Iterable[Row]]
    shown: frozenset[str]
    # Of a plan's contents, the part of page and plan.md in which it stands.
    part: str = ""


def _remarks(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.user_remarks:
        row = Row(one.text, one.id, outcome=one.outcome, version=one.version)
        if one.anchor and one.anchor.entity:
            row = row._replace(refs=(one.anchor.entity,))
        elif one.anchor:
            row = row._replace(files=(place_of(one.anchor),), place=quoted(one.anchor))
        yield row


def _constraints(plan: AnyPlan) -> Iterator[Row]:
    yield from map(Row, plan.context.constraints)
    for one in plan.planning_context.constraints:
        source = f"({one.source})" if one.source else ""
        text = " ".join(filter(None, [one.type, one.description, source]))
        yield Row(text, one.id, version=one.version)


def _decisions(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.planning_context.decision_log:
        yield Row(one.decision, one.id, why=one.reasoning_chain, version=one.version)


def _alternatives(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.planning_context.rejected_alternatives:
        under = one.decision_ref or ""
        row = Row(one.alternative, one.id, why=one.rejection_reason, under=under)
        yield row._replace(version=one.version)


def _risks(plan: AnyPlan) -> Iterator[Row]:
    for one in plan.planning_context.known_risks:
        place = (one.anchor,) if one.anchor else ()
        yield Row(one.risk, one.id, place, why=one.mitigation, version=one.version)


def _stated(stated: Iterable[AnyStated]) -> Iterator[Row]:
    for one in stated:
        yield Row(one) if isinstance(one, str) else Row(one.text, one.id, version=one.version)


def _figure(figure: plan_table.Figure | reasons.Figure) -> list[Row]:
    return _text("\n".join(t for t in (figure.description, figure.diagram_ascii) if t.strip()))


def _text(text: str) -> list[Row]:
    return [Row(text)] if text.strip() else []


_DECIDES = frozenset({PERSON})
_ANY = _DECIDES | _NEW
_TOLD = _ANY | {PLANNER, AGAIN}
_DESIGNED = _ANY - {DESIGNER}
_REASONS = _DESIGNED | {AGAIN}
_JUDGE_DESIGN = _REVIEWERS | {REDESIGNER}
_FOUND = _DECIDES | {DESIGNER}  # what is not to be found out again, or by oneself

TASK: Content[AnyPlan] = Content(
    "Task",
    "",
    lambda plan: (Row(one.text, one.id) for one in task_of(plan)),
    _TOLD,
    GOAL,
)
REMARKS: Content[AnyPlan] = Content("Your remarks", "", _remarks, _TOLD, GOAL)
UNPROVEN: Content[AnyPlan] = Content(
    NOT_BORNE_OUT,
    "not borne out",
    lambda plan: (Row(one.text) for one in plan.unproven),
    _DECIDES,
    NOT_BORNE_OUT,
)
STATEMENTS: tuple[Content[AnyPlan], ...] = (
    TASK,
    Content(
        "Out of scope",
        "",
        lambda plan: (Row(one.text, one.id) for one in task_of(plan, out_of_scope=True)),
        _TOLD,
        GOAL,
    ),
    REMARKS,
    UNPROVEN,
    Content("Notes on this revision", "note", lambda p: map(Row, p.remarks), _DECIDES, GOAL),
)
ASSUMED: Content[AnyPlan] = Content(
    "Assumptions",
    "assumed",
    lambda plan: map(Row, plan.context.assumptions),
    _ANY - {DOCS_REVIEWER},
    LIMITS,
)
DECISIONS: Content[AnyPlan] = Content("Decisions", "", _decisions, _REASONS, DECIDED)
ALTERNATIVES: Content[AnyPlan] = Content(
    "Not chosen", "not chosen", _alternatives, _REASONS, DECIDED
)
RISKS: Content[AnyPlan] = Content("Risks", "", _risks, _REASONS, LIMITS)
INVARIANTS: Content[AnyPlan] = Content(
    "Stays true", "", lambda plan: _stated(plan.invisible_knowledge.invariants), _REASONS, LIMITS
)
TRADEOFFS: Content[AnyPlan] = Content(
    "Given up", "", lambda plan: _stated(plan.invisible_knowledge.tradeoffs), _REASONS, LIMITS
)
CONSTRAINTS: Content[AnyPlan] = Content("Constraints", "constraint", _constraints, _ANY, LIMITS)
QUOTES: Content[AnyPlan] = Content(
    "In your words", "the user said", lambda plan: map(Row, plan.context.user_quotes), _ANY, GOAL
)
NOT_WANTED: Content[AnyPlan] = Content(
    "Not wanted",
    "not wanted",
    lambda plan: map(Row, plan.context.rejected_alternatives),
    _ANY - {DOCS_REVIEWER},
    LIMITS,
)
UNSEEN: Content[AnyPlan] = Content(
    "Not in the code",
    "not in the code",
    lambda plan: map(Row, plan.context.invisible_knowledge),
    _ANY,
    LIMITS,
)
REASONS: tuple[Content[AnyPlan], ...] = (
    CONSTRAINTS,
    ASSUMED,
    QUOTES,
    NOT_WANTED,
    UNSEEN,
    Content("Entry points", "entry point", lambda p: map(Row, p.context.entry_points), _FOUND,
            GOAL),
    Content("As understood", "known", lambda p: map(Row, p.context.current_understanding), _FOUND,
            GOAL),
    Content("Why", "", lambda p: _text(p.overview.problem), _DECIDES | _JUDGE_DESIGN, FIRST),
    Content("What", "", lambda p: _text(p.overview.approach), _DESIGNED, FIRST),
    DECISIONS,
    ALTERNATIVES,
    RISKS,
    INVARIANTS,
    TRADEOFFS,
    Content("Architecture", "architecture", lambda p: _figure(p.invisible_knowledge.architecture),
            _DESIGNED, DRAWN),
    Content("Data flow", "data flow", lambda p: _figure(p.invisible_knowledge.data_flow),
            _DESIGNED, DRAWN),
    Content("Built so because", "built so because",
            lambda p: _text(p.invisible_knowledge.structure_rationale), _DESIGNED, DRAWN),
)  # fmt: skip
PLAN = (*STATEMENTS, *REASONS)


def _intents(milestone: AnyMilestone) -> Iterator[Row]:
    for one in milestone.code_intents:
        where = f"{one.file}:{one.function}" if one.function else one.file
        params = ", ".join(f"{name}: {value}" for name, value in one.params.items())
        row = Row(one.behavior, one.id, (where,), params and f"({params})", refs=one.decision_refs)
        yield row._replace(version=one.version)


def _tests(milestone: AnyMilestone) -> Iterator[Row]:
    tests = milestone.tests
    if tests.files:
        yield Row(files=tests.files, kind=tests.type or "", why=tests.backing or "")


def _scenarios(milestone: AnyMilestone) -> Iterator[Row]:
    found = milestone.tests.scenarios
    for kind, texts in (("normal", found.normal), ("edge", found.edge), ("error", found.error)):
        yield from (Row(text, kind=kind) for text in texts)


def _documents(milestone: AnyMilestone) -> Iterator[Row]:
    for kind, doc in kinds_of_docs(milestone):
        yield Row(doc.text, doc.id, place=promise(kind, doc), version=doc.version)


def _files(milestone: AnyMilestone) -> Iterator[Row]:
    """Yield the files that no intent, test or promise names, such as those of documentation."""
    named = {*milestone.tests.files, *promised_files(milestone)}
    named.update(intent.file for intent in milestone.code_intents)
    left = tuple(file for file in milestone.files if file not in named)
    if left:
        yield Row(files=left)


def _owners(milestone: AnyMilestone) -> Iterator[Row]:
    return (Row(name) for name in (milestone.delegated_to, milestone.owner) if name)


def _why_comments(milestone: AnyMilestone) -> Iterator[Row]:
    for change in milestone.code_changes:
        for one in change.why_comments:
            if isinstance(one, str):
                yield Row(one, change.id, (change.file,))
            else:
                refs = (one.decision_ref,) if one.decision_ref else ()
                yield Row(one.text, change.id, (change.file,), refs=refs)


_WORKED_ON = _DESIGNED | {AUTHOR}
_TESTED = _DESIGNED - {WRITER, DOCS_REVIEWER}

ACCEPTED: Content[AnyMilestone] = Content(
    "accepted when", "accepted when", lambda m: map(Row, m.acceptance_criteria), _DESIGNED
)
INTENTS: Content[AnyMilestone] = Content("intents", "", _intents, _WORKED_ON)
FILES: Content[AnyMilestone] = Content("files", "files", _files, _WORKED_ON)
TESTS: Content[AnyMilestone] = Content("tests", "tests", _tests, _WORKED_ON)
SCENARIOS: Content[AnyMilestone] = Content("scenarios", "test", _scenarios, _TESTED)
DOCUMENTS: Content[AnyMilestone] = Content("documentation", "", _documents, _WORKED_ON)
MILESTONE: tuple[Content[AnyMilestone], ...] = (
    ACCEPTED,
    INTENTS,
    FILES,
    TESTS,
    SCENARIOS,
    Content("no tests", "no tests", lambda m: _text(m.tests.skip_reason or ""), _TESTED),
    DOCUMENTS,
    Content("carried out by", "carried out by", _owners, _DECIDES),
    Content("reasons given in the code", "reason given in the code", _why_comments, _DECIDES),
    Content("waits for", "waits for", lambda m: map(Row, m.waits_for), _DECIDES),
    Content("flags", "flag", lambda m: map(Row, m.flags), _DECIDES),
)


def option_text(label: str, description: str) -> str:
    """Return an option of a question as its user reads it."""
    return f"{label} – {description}" if description else label


def answer_of(asked: AnyCheckpoint, answers: Mapping[str, Sequence[str]]) -> str:
    """Return a question's answer as the user read it, labels in place of keys; '' without one.

    With it, whether the user has left it to the assistant, and what was answered before.
    """
    labels = {option.key: option.label for option in asked.options}
    given = answers.get(asked.id, ())
    before = [", ".join(labels.get(key, key) for key in one) for one in _earlier(given)]
    said = ", ".join(labels.get(choice, choice) for choice in given)
    chosen = " (left to the assistant)" if getattr(given, "by_assistant", False) else ""
    return f"{said}{chosen}" + (f" (before: {'; '.join(before)})" if before else "")


def _earlier(given: Sequence[str]) -> Sequence[Sequence[str]]:
    return getattr(given, "earlier", ())


def rows_for(
    reader: str,
    contents: Iterable[Content[Part_contra]],
    said_by: Part_contra,
    also: Collection[Content[Any]] = (),
) -> list[tuple[Content[Part_contra], Row]]:
    """Return what a plan or milestone says of some contents to a reader, in the list's order.

    `also` are contents that its task is about, whatever the list says of the reader.
    """
    shown = [content for content in contents if reader in content.shown or content in also]
    return [(content, row) for content in shown for row in content.rows(said_by)]


def lines_for(
    reader: str,
    contents: Iterable[Content[Part_contra]],
    said_by: Part_contra,
    also: Collection[Content[Any]] = (),
) -> list[str]:
    """Return what a plan or milestone says of some contents to a reader, as lines of text."""
    return [row.line(content.label) for content, row in rows_for(reader, contents, said_by, also)]
