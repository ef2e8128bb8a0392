"""Finds what a plan or its change claims: words of the user, numbers, figures, names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.named.bearing import amounts_of, holds, numbers_of, same_number
from quality_reviewer.named.statements import own_requirements
from quality_reviewer.named.things import digits, identifiers, in_short, sentences
from shared.tree_runs import recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from shared.run import State
    from state.models import Plan

    Found = Iterator[tuple[str, str]]

_LIMITS = re.compile(
    r"limit|max|most|min|least|timeout|ttl|retr|attempt|size|count|depth|length|width|delay|"
    r"interval|threshold|capacity|window|age|seconds|days|rate|quota|budget|default|cap\b|expir",
    re.IGNORECASE,
)
_VALUE = r"(\d[\d_]*(?:\.\d+)?)(?![\w.%])"
_SET = re.compile(rf"\b([A-Za-z_]\w*)\s*(?::[^=,()]{{1,40}})?:?=\s*{_VALUE}")
_COMPARED = re.compile(r"[<>]=?\s*(\d{2}[\d_]*)(?![\w.])|\[:(\d{2,})\]")
_DEFINES = re.compile(r"^\s*(?:async def|def|func|fn|function|pub fn|export function)\b|=>\s*\{?$")
_CONSTANT = re.compile(r"^\s*(?:export |pub |static |private |public )*(?:const|final|static)\b")
_COMMENT = re.compile(r"(?<!\S)(?:#|//).*$")
_STRING = re.compile(r'"[^"]*"|\'[^\']*\'')
# Nobody has to be asked for these.
_PLAIN = frozenset({"0", "1", "2", "10", "100"})
_FACTS = frozenset({"24", "60", "3600", "86400", "1000", "1024", "7", "12", "365"})
_FIGURE = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)?) ?(?:ms|µs|us|ns|s|seconds?|minutes?|[kKMG]i?B|%|x|×|times)(?!\w)"
)
_CLAIMS = re.compile(
    r"\b(?:measured (?!in\b)|measurements?|benchmark(?:s|ed)?|profiled|faster|slower|times as|"
    r"x as|speed-?up|speeds? up|took|takes|reduces|saves|cuts)\b|\bmeasured[.,;:]",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|nobody|unmeasured|without)\b|n't\b", re.IGNORECASE)
_MARKS = re.compile(r"[^\w]+")
_GAP = re.compile(r"…|\.\.\.|\[[^\]]*\]")


def quotes(state: State, bearing: Bearing) -> Found:
    """Yield each of the user's words that stand in nothing that the user is known to have said."""
    plan = bearing.plan
    said = [state.run.request, *_users(plan), own_requirements(state)]
    known = [_plain(text) for text in said]
    for quote in plan.context.user_quotes if state.run.request.strip() else ():
        parts = [part for one in _GAP.split(quote) if (part := _plain(one))]
        if not all(any(f" {part} " in f" {text} " for text in known) for part in parts):
            lacks = "and neither request, answer nor remark has them"
            words = f"the assistant says that these are your words, {lacks}: {in_short(quote)!r}"
            yield "user_quotes", words


def promised(_state: State, bearing: Bearing) -> Found:
    """Yield each identifier that the plan promises and that no touched file holds."""
    plan = bearing.plan
    told = [("overview", "the overview", f"{plan.overview.title}\n{plan.overview.approach}")]
    told += [(i.id, i.id, i.behavior) for m in plan.milestones for i in m.code_intents]
    told += [(m.id, m.id, text) for m in plan.milestones for text in m.acceptance_criteria]
    told += [(d.id, d.id, d.decision) for d in plan.planning_context.decision_log]
    for name, shown, text in told if bearing.is_whole else ():
        for thing in identifiers(text, bearing.files):
            if not holds(bearing.touched, thing):
                yield name, f"{shown} promises {thing.shown}, which no touched file holds"


def numbers(state: State, bearing: Bearing) -> Found:
    """Yield each constant, default or limit that the change adds and that nobody has said."""
    plan = bearing.plan
    said = "\n".join([state.run.request, *_texts(plan)])
    known, amounts = numbers_of(said), amounts_of(said)
    for change in bearing.changes if bearing.is_whole else ():
        if not bearing.is_code(change.file) or change.file in bearing.tests:
            continue
        before = numbers_of("\n".join(bearing.lines.at_base(change.old_file or change.file) or ()))
        for at, line in bearing.numbered(change):
            for number, shown in _chosen(line):
                is_said = number in known or not same_number(number).isdisjoint(amounts)
                if number not in before and not is_said:
                    yield change.id, f"{shown} ({change.file}:{at}): nobody was asked"


def _chosen(line: str) -> Iterator[tuple[str, str]]:
    """Yield the numbers that a line sets as a constant, a default or a limit, as it shows them."""
    code = _STRING.sub('""', _COMMENT.sub("", line))
    if "version" in code.lower():
        return
    for match in _SET.finditer(code):
        name, number = match[1], digits(match[2])
        is_limit = _LIMITS.search(name) is not None
        is_set = is_limit or name.isupper() or _CONSTANT.match(code) or _DEFINES.search(code)
        if is_set and number not in _PLAIN and (is_limit or number not in _FACTS):
            yield number, f"{name} = {match[2]}"
    for match in _COMPARED.finditer(code):
        if digits(match[1] or match[2]) not in _PLAIN | _FACTS:
            yield digits(match[1] or match[2]), code.strip()


def _texts(plan: Plan) -> Iterator[str]:
    """Yield all that the plan says where a number may have been agreed."""
    yield from (one.text for one in plan.task_spec)
    yield from _users(plan)
    yield from (f"{c.question} {c.answer}" for c in plan.checkpoints)
    yield from (plan.overview.title, plan.overview.problem, plan.overview.approach)
    yield plan.context.model_dump_json()
    yield plan.planning_context.model_dump_json(exclude={"rejected_alternatives"})
    yield plan.invisible_knowledge.model_dump_json()
    for one in plan.milestones:
        yield from (one.name, *one.acceptance_criteria, one.tests.scenarios.model_dump_json())
        yield from (f"{i.behavior} {i.params}" for i in one.code_intents)


def figures(state: State, bearing: Bearing) -> Found:
    """Yield each claim of speed or size whose figure no recorded run has printed."""
    plan = bearing.plan
    runs = recorded(state.state_dir)
    printed = numbers_of("\n".join(run.said for run in runs))
    asked = numbers_of("\n".join([state.run.request, *_users(plan), own_requirements(state)]))
    asked |= numbers_of(bearing.added_code) if bearing.is_whole else set()
    for name, shown, text in _claiming(bearing):
        for sentence in sentences(text):
            if not _CLAIMS.search(f"{sentence} ") or _DENIED.search(sentence):
                continue
            stated = [*_FIGURE.finditer(sentence)]
            missing = [m[0] for m in stated if digits(m[1]) not in printed | asked]
            if missing or (
                not stated and not runs and re.search("measur|bench", sentence, re.IGNORECASE)
            ):
                what = f" prints {missing[0]}" if missing else " is recorded"
                yield name, f"{shown} claims {in_short(sentence)!r}, and no recorded run{what}"


def _users(plan: Plan) -> Iterator[str]:
    """Yield the answers and remarks of the user."""
    yield from (c.answer for c in plan.checkpoints)
    yield from (one.text for one in plan.user_remarks)


def _claiming(bearing: Bearing) -> Iterator[tuple[str, str, str]]:
    """Yield the texts that may claim a figure: decisions, overview and documentation."""
    plan = bearing.plan
    for one in plan.planning_context.decision_log:
        steps = one.reasoning_chain.split("->")
        yield one.id, one.id, "\n".join([one.decision, *steps])
    yield "overview", "the overview", f"{plan.overview.title}\n{plan.overview.approach}"
    for change in bearing.changes:
        if is_prose(change.file):
            yield change.id, change.file, "\n".join(bearing.added_lines([change]))


def _plain(text: str) -> str:
    return _MARKS.sub(" ", text).strip().casefold()
