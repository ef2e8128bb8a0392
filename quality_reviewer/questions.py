"""List the review questions of each planning phase, each with what makes it due (PL-23, RV-2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from shared import contents
from shared.qr.types import COULD, MUST, SHOULD
from state.phases import PHASES, PLANNING_PHASES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from shared.contents import Content
    from shared.qr.types import Severity
    from state.phases import Phase

# What a program sees in plan and change; quality_reviewer/signs.py says how.
Sign = Literal[
    "code",
    "rewrite",
    "added",
    "long",
    "signature",
    "removed",
    "input",
    "concurrency",
    "errors",
    "choice",
    "comments",
    "documents",
    "criteria",
    "several",
    "alternatives",
    "knowledge",
]
Per = Literal["plan", "milestone", "task", "intent"]
Who = Literal["others", "author", "all"]


class Question(NamedTuple):
    """One review question."""

    phase: Phase
    id: str
    severity: Severity
    text: str
    # It is asked where the plan shows one of these signs; always where there are none.
    when: tuple[Sign, ...] = ()
    # What it is asked about: once about the plan, once about each milestone, or about each of the
    # riskiest entries of the task or intents.
    per: Per = "plan"
    # Where it is asked it applies, so that "none" is never its evidence.
    always: bool = False
    # Its answer is also about files that no milestone names.
    of_base: bool = False
    # What of plan and milestones its answer is judged by, beside the task: whoever is asked is
    # shown it, in each round (SD-5).
    about: tuple[Content[Any], ...] = ()
    # It is judged by the user's request too.
    by_request: bool = False
    # A line of a test that the change leaves as it is may show its answer.
    by_test: bool = False
    # It is about what milestones and plan are called, so that a new name makes it due again.
    of_names: bool = False
    # Who is asked it: who has not made the change, who has and reviews it, or both (RV-9).
    who: Who = "others"


def _design(*row: Any, **marks: Any) -> Question:  # noqa: ANN401 – as Question has them
    return Question("plan-design", *row, **marks)


def _code(*row: Any, **marks: Any) -> Question:  # noqa: ANN401 – the same
    return Question("plan-code", *row, **marks)


def _docs(*row: Any, **marks: Any) -> Question:  # noqa: ANN401 – the same
    return Question("plan-docs", *row, **marks)


# Which phases' questions a phase asks, as far as no earlier one has.
ASKED: dict[str, tuple[Phase, ...]] = {
    **{phase: PLANNING_PHASES[: n + 1] for n, phase in enumerate(PLANNING_PHASES)},
    "impl-code": ("plan-design", "plan-code", "impl-code"),
    "impl-docs": PHASES,
}
# What the user has said beside the task.
_SAID = (contents.CONSTRAINTS, contents.ASSUMED, contents.QUOTES, contents.NOT_WANTED)
_ACCEPTED = (contents.ACCEPTED, contents.TESTS, contents.SCENARIOS)
_INTENDED = (contents.INTENTS, contents.FILES)
QUESTIONS = (
    _design("task-holds", MUST, "Which input makes this false? FAIL with it where there is one.",
            per="task", always=True, about=(*_INTENDED, *_ACCEPTED)),
    _design("scope-kept", MUST, "All that was asked is planned, nothing that is out of scope.",
            always=True, about=(*_INTENDED, *_SAID), by_request=True),
    _design("choices-trace", MUST, "Each threshold, default, concurrency and data-structure choice "
            "follows from a decision or the user's words. If not, who is hurt when it is wrong?",
            when=("choice", "concurrency"), about=(*_INTENDED, contents.DECISIONS, *_SAID)),
    _design("callers-covered", MUST, "Every caller and test of a changed interface is in the plan.",
            per="milestone", when=("signature", "removed"), of_base=True,
            about=(*_INTENDED, contents.TESTS)),
    _design("invariants-stated", MUST, "What the touched code relies on is stated and stays true.",
            per="milestone", when=("rewrite", "concurrency"),
            about=(*_INTENDED, contents.INVARIANTS, contents.UNSEEN)),
    _design("old-behaviour-chosen", SHOULD, "Each old behaviour is kept or dropped on purpose.",
            when=("removed", "signature"),
            about=(*_INTENDED, contents.DECISIONS, contents.TRADEOFFS)),
    _design("alternatives-real", SHOULD, "Alternatives and the reasons against them were real.",
            when=("alternatives",),
            about=(contents.DECISIONS, contents.ALTERNATIVES, contents.NOT_WANTED)),
    _design("slices-vertical", SHOULD, "Each milestone works and can be tested alone.",
            when=("several",), about=(*_INTENDED, *_ACCEPTED)),
    _design("design-clear", COULD, "Names, order and wording are clear.", when=("several",),
            about=_INTENDED, of_names=True),
    _code("tried-to-break", MUST, "Try to break what must always hold of it.", per="task",
          always=True, who="author", about=(*_INTENDED, *_ACCEPTED)),
    _code("figures-shown", MUST, "A run shows this, or it goes{claims}.", always=True,
          who="author", about=(contents.DECISIONS, contents.DOCUMENTS)),
    _code("words-true", SHOULD, "Overview, decisions, intents and message are true of the "
          "code{unknown}.", who="author", about=(*_INTENDED, contents.DECISIONS)),
    _code("intent-holds", MUST, "Which input makes this false? FAIL with it where there is one.",
          per="intent", always=True, by_test=True, about=(*_INTENDED, contents.SCENARIOS)),
    _code("criteria-met", MUST, "Each acceptance criterion holds. Write what you expect, "
          "then read, then compare. `evidence`: the test or line for each{later}, `;` between.",
          per="milestone", when=("criteria",), always=True, by_test=True, about=_ACCEPTED,
          who="all"),
    _code("intent-done", MUST, "The change does what its intents say{edges}.",
          per="milestone", always=True, about=_INTENDED),
    _code("nothing-else", MUST, "No behaviour changes that no intent names.",
          per="milestone", when=("code", "removed"), about=_INTENDED),
    _code("errors-alike", MUST, "Errors are handled as in the code around it.", when=("errors",)),
    _code("nothing-twice", SHOULD, "It repeats nothing that the project already has.",
          when=("added",)),
    _code("simple", SHOULD, "Nothing is more complex than it needs to be.",
          when=("added", "long")),
    _code("right-layer", SHOULD, "Each part is in the layer where it belongs.", when=("added",)),
    _code("style", COULD, "It reads like the code around it.", when=("code",)),
    _docs("comments-say-why", SHOULD, "Comments give reasons, they do not restate code.",
          when=("comments",), about=(contents.DECISIONS,)),
    _docs("knowledge-near", SHOULD, "Reasons that code cannot show are next to that code.",
          when=("knowledge",), about=(contents.DECISIONS, contents.UNSEEN, contents.INVARIANTS,
                                      contents.TRADEOFFS, contents.DOCUMENTS)),
    _docs("rules-kept", SHOULD, "The project's own rules (README, AGENTS.md …) are kept.",
          when=("code", "documents")),
    _docs("docs-clear", COULD, "The documentation is clear.", when=("documents",),
          about=(contents.DOCUMENTS,)),
    Question("impl-code", "milestones-agree", SHOULD, "The milestones fit together: errors, "
             "logging, names, shared state.", when=("several",), about=_INTENDED),
    Question("impl-docs", "docs-agree", SHOULD, "The documentation says what the code now does.",
             when=("documents", "signature"), about=(contents.INTENTS, contents.DOCUMENTS)),
)  # fmt: skip
BY_ID = {question.id: question for question in QUESTIONS}
# As they are asked where nothing of the plan belongs into them.
TEXTS = {q.id: re.sub(r"\{\w+\}", "", q.text) for q in QUESTIONS}
MOST_LEADING = 2
# Why a question that applies is not asked of the author.
FOR_OTHERS = "for somebody else"
CRITERIA, TRIED, FIGURES = "criteria-met", "tried-to-break", "figures-shown"
# At which edges a change is judged, by the signs that show them.
EDGES: Mapping[Sign, str] = {
    "input": "empty, huge and malformed input",
    "concurrency": "concurrent use",
    "errors": "failing calls",
}


def basis_of(checks: Collection[str]) -> tuple[Content[Any], ...]:
    """Return what of a plan the answers to some questions are judged by, in no order."""
    about = [one for check in checks if check in BY_ID for one in BY_ID[check].about]
    return tuple(dict.fromkeys(about))


def may_ask(phase: Phase, mode: str, *, documented: bool) -> list[Question]:
    """Return the review questions that the end of a phase may ask, in order of asking.

    In mode `full` each phase asks its own questions and those that earlier ones left open. In mode
    `small` everything is asked once, when there is code; the questions about documentation then
    too, if all of it is written (`documented`). Once there is code, its intents lead the review
    and not the task.
    """
    upto = ASKED[phase]
    if mode == "none" or (mode == "small" and phase == "plan-design"):
        return []
    if mode == "small" and documented:
        upto = PLANNING_PHASES if phase in PLANNING_PHASES else PHASES
    leading = "task" if phase == "plan-design" else "intent"
    return [
        q
        for q in QUESTIONS
        if q.phase in upto and (q.who == "author" or q.per in ("plan", "milestone", leading))
    ]


def is_own_list(checks: Iterable[str]) -> bool:
    """Return whether some questions are of the list that is asked of the change's author."""
    return any(check in BY_ID and BY_ID[check].who == "author" for check in checks)
