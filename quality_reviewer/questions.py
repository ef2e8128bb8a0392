"""List the review questions of each planning phase and choose which ones to ask (PL-23).

Only the standard library, and little of it: printed
steps import this module.
"""

from __future__ import annotations

from quality_reviewer.items import next_number
from shared.qr.types import COULD, EVERYTHING, MUST, SHOULD, TODO, Item, item_id
from state.phases import PHASES, PLANNING_PHASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.qr.types import Severity
    from state.phases import Phase

# How many milestones one reviewer takes.
SHARE = 3


class Question:
    """One review question.

    - `each`: a reviewer is asked it once for every milestone
    - `always`: it applies to every change, so that "none" is never its evidence
    """

    __slots__ = ("always", "each", "id", "phase", "severity", "text")

    def __init__(
        self,
        id: str,  # noqa: A002 – as in the review file
        severity: Severity,
        text: str,
        *,
        phase: Phase,
        each: bool = False,
        always: bool = False,
    ) -> None:
        self.id = id
        self.phase: Phase = phase
        self.severity: Severity = severity
        self.text = text
        self.each = each
        self.always = always


def _design(id: str, severity: Severity, text: str, **flags: bool) -> Question:  # noqa: A002
    return Question(id, severity, text, phase="plan-design", **flags)


def _code(id: str, severity: Severity, text: str, **flags: bool) -> Question:  # noqa: A002
    return Question(id, severity, text, phase="plan-code", **flags)


def _docs(id: str, severity: Severity, text: str) -> Question:  # noqa: A002
    return Question(id, severity, text, phase="plan-docs")


def _impl(id: str, severity: Severity, text: str, **flags: bool) -> Question:  # noqa: A002
    return Question(id, severity, text, phase="impl-code", **flags)


# Which phases' questions a phase asks, as far as no earlier one has.
_ASKED: dict[str, tuple[Phase, ...]] = {
    **{phase: PLANNING_PHASES[: n + 1] for n, phase in enumerate(PLANNING_PHASES)},
    "impl-code": ("plan-design", "plan-code", "impl-code"),
    "impl-docs": PHASES,
}
QUESTIONS = (
    _design("choices-trace", MUST, "Each threshold, default, concurrency and data-structure choice "
            "follows from a decision or the user's words. If not, who is hurt when it is wrong?"),
    _design("scope-kept", MUST, "All that was asked is planned, and nothing that is out of scope.",
            always=True),
    _design("callers-covered", MUST, "Every caller and test of a changed interface is in the plan.",
            each=True),
    _design("invariants-stated", MUST, "What the touched code relies on is stated and stays true.",
            each=True),
    _design("alternatives-real", SHOULD, "Alternatives and the reasons against them were real."),
    _design("slices-vertical", SHOULD, "Each milestone works and can be tested alone."),
    _design("old-behaviour-chosen", SHOULD, "Each old behaviour is kept or dropped on purpose."),
    _design("design-clear", COULD, "Names, order and wording are clear."),
    _code("intent-done", MUST, "The change does what its intents say, also for empty, huge, "
          "concurrent and failing input.", each=True, always=True),
    _code("nothing-else", MUST, "No behaviour changes that no intent names.", each=True),
    _code("errors-alike", MUST, "Errors are handled as in the code around it."),
    _code("nothing-twice", SHOULD, "It repeats nothing that the project already has."),
    _code("simple", SHOULD, "Nothing is more complex than it needs to be."),
    _code("right-layer", SHOULD, "Each part is in the layer where it belongs."),
    _code("style", COULD, "It reads like the code around it."),
    _docs("comments-say-why", SHOULD, "Comments give reasons, they do not restate code."),
    _docs("knowledge-near", SHOULD, "Reasons that code cannot show are next to that code."),
    _docs("rules-kept", SHOULD, "The project's own rules (README, AGENTS.md …) are kept."),
    _docs("docs-clear", COULD, "The documentation is clear."),
    _impl("criteria-met", MUST, "Each acceptance criterion holds. First write down what you "
          "expect, then read, then compare.", each=True, always=True),
    _impl("milestones-agree", SHOULD, "The milestones fit together: errors, logging, names, "
          "shared state."),
    Question("docs-agree", SHOULD, "The documentation says what the code now does.",
             phase="impl-docs"),
)  # fmt: skip
BY_ID = {question.id: question for question in QUESTIONS}
TEXTS = {question.id: question.text for question in QUESTIONS}


def due_questions(
    phase: Phase, mode: str, judged: Iterable[str], *, documented: bool
) -> list[Question]:
    """Return the review questions to ask at the end of a phase, except those judged earlier.

    In mode `full` each phase asks its own questions and those that earlier ones left open. In mode
    `small` everything is asked once, when there is code; the questions about documentation then
    too, if all of it is written (`documented`).
    """
    upto = _ASKED[phase]
    if mode == "none" or (mode == "small" and phase == "plan-design"):
        return []
    if mode == "small" and documented:
        upto = PLANNING_PHASES if phase in PLANNING_PHASES else PHASES
    known = set(judged)
    return [q for q in QUESTIONS if q.phase in upto and q.id not in known]


def make_items(
    questions: Iterable[Question], milestones: Sequence[str], previous: Sequence[Item], mode: str
) -> list[Item]:
    """Return a review item per question and milestone; items asked before keep their answers.

    Each item has a group, the share of one reviewer: about three milestones, and for the first
    reviewer also the questions about the whole plan.
    """
    known = {(item.check, item.scope): item for item in previous}
    number = next_number(previous)
    items = []
    for question in questions:
        for scope in milestones if question.each else [EVERYTHING]:
            group = "1" if mode == "small" else group_of(scope, milestones)
            item = known.get((question.id, scope))
            if item is None:
                item = Item(
                    id=item_id(number),
                    scope=scope,
                    check=question.id,
                    severity=question.severity,
                    status=TODO,
                )
                number += 1
            items.append(item.changed(group=group))
    return items


def group_of(scope: str, milestones: Sequence[str]) -> str:
    """Return the number of the reviewer's group that answers the questions about a milestone."""
    if scope not in milestones:
        return "1"
    shares = -(-len(milestones) // SHARE)
    return str(milestones.index(scope) * shares // len(milestones) + 1)


def milestones_of(items: Iterable[Item], milestones: Sequence[str]) -> list[str]:
    """Return the milestones that review items concern; all if one concerns the whole plan."""
    scopes = {item.scope for item in items}
    return [m for m in milestones if m in scopes or not scopes.issubset(milestones)]
