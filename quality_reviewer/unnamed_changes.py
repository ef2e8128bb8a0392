"""Finds what a change alters and no words of the plan name: old expectations, old functions."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.enclosing import is_comment, names_by_line
from quality_reviewer.planned_lines import PlannedLines
from quality_reviewer.words import words_with_names
from shared.builders import first_of
from shared.patch import read_patch
from shared.test_files import is_test
from state.changes import plan_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shared.patch import Line
    from shared.run import State
    from state.models import Change, Milestone, Plan

_MOST_SHOWN = 5
_EXPECTS = re.compile(
    r"\b(?:assert\w*|self\.assert\w+|expect|pytest\.raises|EXPECT_\w+|ASSERT_\w+|require\.\w+"
    r"|t\.(?:Error|Fatal)f?)\b"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")


def texts_of(plan: Plan) -> list[str]:
    """Return all that a plan says about what its change does, and what was said to it."""
    asked = [part for c in plan.checkpoints for part in (c.question, c.answer) if part]
    return [*texts_beside_questions(plan), *asked]


def texts_beside_questions(plan: Plan) -> list[str]:
    """Return the same without the questions and their answers."""
    texts = [plan.overview.title, plan.overview.problem, plan.overview.approach]
    texts += [t.text for t in plan.task_spec if not t.out_of_scope]
    texts += [r.text for r in plan.user_remarks]
    said = plan.planning_context
    texts += [part for d in said.decision_log for part in (d.decision, d.reasoning_chain)]
    texts += [part for one in said.known_risks for part in (one.risk, one.mitigation)]
    texts += [*plan.context.constraints, *plan.context.assumptions]
    for milestone in plan.milestones:
        texts += [milestone.name, *milestone.acceptance_criteria]
        for intent in milestone.code_intents:
            texts += [intent.function or "", intent.behavior, str(intent.params or "")]
    return [text for text in texts if text]


def changed_expectations(_state: State, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield one sentence that counts the old assertions changed without a word about it."""
    tests = [name for m in plan.milestones for name in m.tests.files]
    known = words_with_names(texts_of(plan))
    changes = [c for c in plan_changes(plan) if c.before and is_test(c.old_file or c.file, tests)]
    kept = {
        _squeezed([line.text])
        for c in plan_changes(plan)
        for line in read_patch(c)
        if line.kind == "+"
    }
    found: list[str] = []
    for change in changes:
        file = change.old_file or change.file
        numbers = [n for run in _runs(read_patch(change)) for n in _altered(run, known, kept)]
        if numbers:
            found.append(f"{file}:{', '.join(map(str, numbers[:_MOST_SHOWN]))}")
            found += [""] * (len(numbers) - 1)
    named = "; ".join(first_of([*filter(None, found)], _MOST_SHOWN))
    if found:
        many = "assertion is" if len(found) == 1 else "assertions are"
        text = f"{len(found)} old {many} changed, and the plan does not say so: {named}"
        yield "tests", text


def green_without(_state: State, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield one sentence where the change's tests pass on the code of the base as well."""
    changed = [c.file for c in plan_changes(plan) if c.after]
    tests = [name for m in plan.milestones for name in m.tests.files]
    own = [name for name in changed if is_test(name, tests)]
    commands = [r.command for r in plan.verify if r.green_without]
    if own and commands:
        listed = ", ".join(first_of(own, _MOST_SHOWN))
        text = f"the change's tests ({listed}) pass without the change, so they show nothing of it"
        yield "tests", text


def _runs(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield the neighbouring lines of a patch that it removes and adds."""
    for is_changed, run in groupby(lines, key=lambda line: line.kind in "+-"):
        if is_changed:
            yield [*run]


def _altered(run: Sequence[Line], known: set[str], kept: set[str]) -> Iterator[int]:
    """Yield the old numbers of the assertions in a run that are lost, unless words tell of it."""
    old = [line for line in run if line.kind == "-"]
    new = [line.text for line in run if line.kind == "+"]
    if _squeezed(new) == _squeezed([line.text for line in old]):
        return
    told = words_with_names(new) - words_with_names(line.text for line in old)
    if told & known:
        return
    for line in old:
        lost = _EXPECTS.search(line.text) and not is_comment(line.text)
        if lost and line.old and _squeezed([line.text]) not in kept:
            yield line.old


def _squeezed(texts: Iterable[str]) -> str:
    return re.sub(r"[\s,;]+", "", "".join(texts)).replace("'", '"')


def unnamed_functions(state: State, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield one sentence for each file with old functions that the change alters unnamed."""
    lines, texts = PlannedLines.of(state, plan), texts_of(plan)
    names = {word for text in texts for word in re.findall(r"\w+", text)}
    tests = [name for m in plan.milestones for name in m.tests.files]
    for milestone in plan.milestones:
        for change in milestone.code_changes:
            aside = is_test(change.file, tests) or is_prose(change.file)
            if aside or not change.before or not change.after:
                continue
            altered = _functions(lines, change)
            unnamed = [name for name, own in altered.items() if not ({name} | own) & names]
            if unnamed and not _covers(milestone, change.file, altered.keys() - {*unnamed}):
                listed = ", ".join(first_of(unnamed, _MOST_SHOWN))
                text = f"{change.file} changes {listed}, which the plan does not name"
                yield milestone.id, text


def _covers(milestone: Milestone, file: str, named: set[str]) -> bool:
    """Return whether an intent is about a file as a whole: it names none of its functions."""
    own = [i for i in milestone.code_intents if i.file == file]
    said = {word for i in own for word in re.findall(r"\w+", f"{i.function or ''} {i.behavior}")}
    return any(i.function is None for i in own) and not said & named


def _functions(lines: PlannedLines, change: Change) -> dict[str, set[str]]:
    """Return the old functions that a change alters, each with the names that differ in it."""
    now, then = lines.planned(change.file), lines.at_base(change.old_file or change.file)
    if not now or not then:
        return {}
    names = {"+": names_by_line(now), "-": names_by_line(then)}
    heads = {*names["-"]}
    found: dict[str, list[set[str]]] = {}
    for line in read_patch(change):
        number = line.new if line.kind == "+" else line.old
        if line.kind not in "+-" or not number or not line.text.strip() or is_comment(line.text):
            continue
        of = names[line.kind]
        name = of[number - 1] if number <= len(of) else ""
        if name and name in heads:
            sides = found.setdefault(name, [set(), set()])
            sides[line.kind == "+"] |= {*_IDENTIFIER.findall(line.text)}
    return {name: before ^ after for name, (before, after) in found.items()}
