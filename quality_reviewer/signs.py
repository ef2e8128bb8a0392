"""What a program sees in a plan and its changes that decides which questions are asked (RV-2).

Each sign is read from the captured patches; where a file has none yet, from the words of its
intent. Words and patterns can miss a sign or see one too many: a question that is missed while
there are only intents is asked when the patch shows the sign.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.meaning import is_prose
from shared.patch import read_patch
from shared.test_files import is_test
from state.milestones import changes_of
from state.statements import task_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from quality_reviewer.questions import Per, Question, Sign
    from shared.patch import Line
    from state.models import Change, Intent, Milestone, Plan

# What each sign means, as the reason why a question is not asked where the sign is missing.
ABSENT: dict[Sign, str] = {
    "code": "no code is touched",
    "rewrite": "no existing code is changed",
    "added": "no file, function or class is added",
    "long": "no file gains more than 40 lines of code",
    "signature": "no public signature is changed",
    "removed": "no file is deleted or moved",
    "input": "no parser or outside input is touched",
    "concurrency": "no thread, lock, async call or process is touched",
    "errors": "no error path is touched",
    "choice": "no threshold or default is chosen",
    "comments": "no comment is written",
    "documents": "no documentation is touched",
    "criteria": "no acceptance criteria",
    "several": "one milestone",
    "alternatives": "no alternative is recorded",
    "knowledge": "no reason is recorded that code cannot show",
}
# Those that code alone shows, and why they are missing where all code that is touched is tests.
_OF_CODE: tuple[Sign, ...] = (
    "code", "rewrite", "added", "long", "signature", "input", "concurrency", "errors", "choice",
    "comments",
)  # fmt: skip
_ONLY_TESTS = "no code but tests is touched"
# Why a question is not asked where a plan has nothing of the kind that it is asked about.
_NOTHING: dict[Per, str] = {
    "milestone": "no milestone",
    "task": "no code is for an entry of the task",
    "intent": "no intent is about code",
}
# The signs that make a change risky, for the questions that lead a review.
RISKY: tuple[Sign, ...] = ("removed", "signature", "concurrency", "input", "errors", "choice")
_LONG = 40
_WORDS: dict[Sign, str] = {
    "input": "parse parser parsing decode decoder deserialize unmarshal json yaml toml xml csv "
    "html regex argv argparse stdin input environ getenv request header query body form upload "
    "payload token tokenizer lexer url",
    "concurrency": "thread threading threadpool lock mutex semaphore async await asyncio atomic "
    "concurrent concurrency parallel subprocess popen spawn fork goroutine chan promise worker "
    "multiprocessing synchronized volatile deadlock race",
    "errors": "raise except exception catch throw error err try finally panic rescue recover fail "
    "failure fallback rollback retry abort unwrap",
    "choice": "default timeout limit maximum minimum interval threshold capacity cache retry ttl "
    "batch pool backoff",
}
# Of an intent alone, what its words say about callers and files.
_INTENDED: dict[Sign, str] = {
    "signature": "rename signature parameter argument option return interface api public remove "
    "replace",
    "removed": "delete move remove rename",
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# A number of several digits or with a fraction: 0, 1 and 2 are rarely a choice.
_NUMBER = re.compile(r"(?<![\w.])(?:\d[\d_]*\.\d+|\d{2,})(?![\w.])")
_DEFINITION = re.compile(
    r"\s*(?:export\s|(?:async\s+)?def\s|class\s|(?:async\s+)?function\b|func\s|(?:pub\S*\s+)?"
    r"(?:fn|struct|enum|trait)\s|(?:public|private|protected)\s)"
)
_PUBLIC = re.compile(
    r"\s*(?:export\s|(?:async\s+)?def\s+(?:__|[^_\W])|class\s+[^_\W]|pub(?:\([^)]*\))?\s|"
    r"func\s+(?:\([^)]*\)\s*)?[A-Z]|public\s)"
)
_COMMENT = re.compile(r'\s*(?:#(?!!|include|define|if|end|pragma)|//|/\*|\*(?!\w)|--\s|""")')


class Signs(NamedTuple):
    """The signs of a plan: of the whole, and of each milestone by its id."""

    plan: frozenset[Sign]
    milestones: dict[str, frozenset[Sign]]
    # The milestones that touch tests.
    tested: frozenset[str] = frozenset()

    def of(self, scope: str) -> frozenset[Sign]:
        """Return the signs of a milestone; those of the whole plan for any other scope."""
        return self.milestones.get(scope, self.plan)

    def only_tests(self, scope: str) -> bool:
        """Return whether all code that a scope touches is tests, and it touches any."""
        touches = scope in self.tested or (scope not in self.milestones and bool(self.tested))
        return touches and "code" not in self.of(scope)


def signs_of(plan: Plan) -> Signs:
    """Return what a program sees in a plan and in its changes."""
    each = {m.id: frozenset(_of_milestone(m)) for m in plan.milestones}
    found = {sign for signs in each.values() for sign in signs}
    alternatives = plan.planning_context.rejected_alternatives or plan.context.rejected_alternatives
    unseen = plan.invisible_knowledge
    known = unseen.invariants or unseen.tradeoffs or plan.context.invisible_knowledge
    whole: dict[Sign, object] = {
        "several": len(plan.milestones) > 1, "alternatives": alternatives, "knowledge": known,
    }  # fmt: skip
    plain = frozenset(found | {sign for sign, holds in whole.items() if holds})
    return Signs(plain, each, frozenset(m.id for m in plan.milestones if _touches_tests(m)))


def why_left_out(question: Question, *, only_tests: bool = False) -> str:
    """Return why a question is not asked: none of its signs shows, or nothing to ask about."""
    absent = [_ONLY_TESTS if only_tests and s in _OF_CODE else ABSENT[s] for s in question.when]
    return "; ".join(dict.fromkeys(absent)) or _NOTHING.get(question.per, "")


def riskiest_intents(plan: Plan, most: int) -> list[str]:
    """Return the ids of the intents of code that are the likeliest to be wrong, at most so many.

    A milestone flagged high-risk comes first, then the intent whose file shows the most signs of
    RISKY, then the one with the most changed lines, then the plan's order.
    """
    ranked = [(risk_of(m, i), i.id) for m in plan.milestones for i in m.code_intents]
    found = [(risk, name) for risk, name in ranked if risk is not None]
    return [name for _, name in sorted(found, key=lambda row: row[0], reverse=True)[:most]]


def riskiest_tasks(plan: Plan, most: int) -> list[str]:
    """Return the entries of the task and the remarks that the riskiest intents are for, by id."""
    ranked = []
    asked = [task.id for task in task_of(plan)]
    for name in (*asked, *(remark.id for remark in plan.user_remarks)):
        own = [m for m in plan.milestones if name in m.requirements]
        risks = [risk for m in own for i in m.code_intents if (risk := risk_of(m, i))]
        if risks:
            ranked.append((max(risks), name))
    return [name for _, name in sorted(ranked, key=lambda row: row[0], reverse=True)[:most]]


def risk_of(milestone: Milestone, intent: Intent) -> tuple[bool, int, int] | None:
    """Return how risky an intent is, to compare with others; None if it touches no code."""
    changes = [c for c in changes_of(milestone) if intent.file in (c.file, c.old_file)]
    tests = milestone.tests.files
    signs = {s for c in changes for s in _of_change(c, tests)} or _of_intent(intent, tests)
    if "code" not in signs:
        return None
    lines = sum(line.kind in "+-" for c in changes for line in read_patch(c))
    return "high-risk" in milestone.flags, len(signs.intersection(RISKY)), lines


def _touches_tests(milestone: Milestone) -> bool:
    changed = {name for c in changes_of(milestone) for name in (c.file, c.old_file) if name}
    files = changed or {intent.file for intent in milestone.code_intents}
    tests = milestone.tests.files
    return any(is_test(file, tests) and not is_prose(file) for file in files)


def _of_milestone(milestone: Milestone) -> set[Sign]:
    changes = changes_of(milestone)
    captured = {name for c in changes for name in (c.file, c.old_file)}
    tests = milestone.tests.files
    found: set[Sign] = {s for c in changes for s in _of_change(c, tests)}
    for intent in milestone.code_intents:
        if intent.file not in captured:
            found |= _of_intent(intent, tests)
    return found | ({"criteria"} if milestone.acceptance_criteria else set())


def _of_change(change: Change, tests: Collection[str]) -> set[Sign]:
    lines = read_patch(change)
    found: set[Sign] = {"removed"} if change.after is None or change.old_file else set()
    if is_prose(change.file):
        return {*found, "documents"}
    if is_test(change.file, tests):
        return found
    touched = [n for n in lines if n.kind in "+-" and n.text.strip()]
    bare = [n for n in touched if not _COMMENT.match(n.text)]
    added = [n.text for n in bare if n.kind == "+"]
    if len(bare) < len(touched):
        found.add("comments")
    if touched and not bare:
        return found
    found.add("code")
    marks: dict[Sign, bool] = {
        "rewrite": change.before is not None and any(n.kind == "-" for n in bare),
        "added": change.before is None or _defined(bare, "+") > _defined(bare, "-"),
        "long": len(added) > _LONG,
        "signature": _changes_signature(lines),
        "choice": any(map(_NUMBER.search, added)),
    }
    found |= {sign for sign, shows in marks.items() if shows}
    return found | _spoken(_WORDS, [change.file, *(n.text for n in bare)])


def _defined(lines: Iterable[Line], kind: str) -> int:
    return sum(n.kind == kind and _DEFINITION.match(n.text) is not None for n in lines)


def _of_intent(intent: Intent, tests: Collection[str]) -> set[Sign]:
    """Return the signs of an intent that no change carries out yet, by its words alone.

    Whether its file exists is not known then, so that it counts as existing code and as new.
    """
    if is_prose(intent.file):
        return {"documents"}
    if is_test(intent.file, tests):
        return set()
    texts = [intent.file, intent.function or "", intent.behavior]
    found: set[Sign] = {"code", "rewrite", "added"}
    found |= {"choice"} if _NUMBER.search(intent.behavior) else set()
    return found | _spoken({**_WORDS, **_INTENDED}, texts)


def _spoken(table: dict[Sign, str], texts: Iterable[str]) -> set[Sign]:
    """Return the signs whose words are in some texts, also in the plural or within a name."""
    words = {word.lower() for text in texts for word in _WORD.findall(text)}
    words |= {word[:end] for word in words for end in (-1, -2) if word.endswith(("s", "d"))}
    return {sign for sign, own in table.items() if not words.isdisjoint(own.split())}


def _changes_signature(lines: Iterable[Line]) -> bool:
    """Return whether a patch changes or removes the head of a public definition.

    A head may go over several lines: then it ends where its brackets do.
    """
    depth = 0
    for line in lines:
        head = bool(_PUBLIC.match(line.text)) and line.kind in " -@"
        if line.kind == "@":
            depth = 0
        if (head and line.kind == "-") or (depth > 0 and line.kind in "+-"):
            return True
        if head or (depth > 0 and line.kind == " "):
            depth += line.text.count("(") - line.text.count(")")
    return False
