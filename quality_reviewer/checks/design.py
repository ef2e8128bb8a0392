"""Checks of a plan's design: references, cited tasks, tests, decisions' reasons and risks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.checks.subject import Finding
from shared.builders import problem_text
from state.modes import MODES
from state.statements import WAYS
from state.validator import check_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.checks.subject import Subject
    from state.errors import Problem
    from state.models import Milestone, Plan

_MILESTONE = re.compile(r"milestones\[([0-9]+)\]")
_DECISION = re.compile(r"decision_ref(s\[[0-9]+\])?$|why_comments$")
_CYCLE = "milestones"
_STEP_END = re.compile(r"->|→|\n")
_STEPS_LEAST = 2
_WAVES = "milestone_dependencies.waves"


def check_references(subject: Subject) -> Iterator[Finding]:
    """Every id is unique, every reference leads somewhere, every path lies in the repository."""
    for problem in check_plan(subject.plan):
        if problem.at not in (_CYCLE, _WAVES) and not _DECISION.search(problem.at):
            yield _finding(subject.plan, problem)


def check_decisions(subject: Subject) -> Iterator[Finding]:
    """Every decision that something refers to is in the decision log."""
    for problem in check_plan(subject.plan):
        if _DECISION.search(problem.at):
            yield _finding(subject.plan, problem)


def check_acyclic(subject: Subject) -> Iterator[Finding]:
    """No milestone depends on itself, directly or through others."""
    for problem in check_plan(subject.plan):
        if problem.at == _CYCLE:
            yield _finding(subject.plan, problem)


def check_waves(subject: Subject) -> Iterator[Finding]:
    """The waves hold each milestone once, after its dependencies; no two in a wave share a file."""
    for problem in check_plan(subject.plan):
        if problem.at == _WAVES:
            yield _finding(subject.plan, problem)
    if subject.plan.milestones and not subject.plan.milestone_dependencies.waves:
        yield Finding("*", f"{_WAVES} is empty; edit a milestone, which computes the waves")


def _finding(plan: Plan, problem: Problem) -> Finding:
    found = _MILESTONE.match(problem.at)
    scope = plan.milestones[int(found[1])].id if found else "*"
    return Finding(scope, f"{problem.at}: {problem_text(problem)}")


def check_overview(subject: Subject) -> Iterator[Finding]:
    """The plan has at least one milestone, and its overview gives title, problem and approach."""
    plan = subject.plan
    for name in ("title", "problem", "approach"):
        if not getattr(plan.overview, name).strip():
            yield Finding(
                "*", f"overview.{name} is empty; write it for a reader who is new to the request"
            )
    if not plan.milestones:
        yield Finding("*", "the plan has no milestone; add one for each part that can be tested")


def check_requirements(subject: Subject) -> Iterator[Finding]:
    """A milestone cites each entry of the task in scope, and each remark without an outcome.

    Not one that a remark overrules, or of which a person has left out the milestones that did.
    """
    plan = subject.plan
    if not plan.task_spec:
        text = "there is no task_spec, so nothing tells what the plan must cover"
        yield Finding("*", text, "NOT_CHECKED")
    cited = {r for m in plan.milestones for r in m.requirements}
    asked = {task.id: task.text for task in plan.task_spec if not task.out_of_scope}
    remarks = {remark.id: remark.text for remark in plan.user_remarks if not remark.outcome}
    left = {task.id for task in plan.task_spec if task.left_out}
    left |= {remark.id for remark in plan.user_remarks if remark.left_out}
    left |= {name for remark in plan.user_remarks for name in remark.overrules}
    for name, text in (asked | remarks).items():
        if name not in cited | left:
            what = f"{name} is cited by no milestone: {_excerpt(text)!r}"
            how = WAYS if name in remarks else WAYS.partition(",")[0]
            yield Finding(name, f"{what}; {how}")


def _excerpt(text: str, length: int = 120) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def check_milestones(subject: Subject) -> Iterator[Finding]:
    """Every milestone has acceptance criteria, and intents or tests unless it is documentation."""
    for milestone in subject.plan.milestones:
        if not any(c.strip() for c in milestone.acceptance_criteria):
            text = f"{milestone.id} has no acceptance criteria; say how to see that it is done"
            yield Finding(milestone.id, text)
        works = milestone.code_intents or milestone.tests.files
        if not works and not milestone.is_documentation_only and _writes(milestone):
            text = f"{milestone.id} has neither intent nor test file; add one for each of its files"
            yield Finding(milestone.id, text)


def check_tests(subject: Subject) -> Iterator[Finding]:
    """Every milestone with code names its tests – files, type, a scenario – or says why none."""
    for milestone in subject.plan.milestones:
        reason = milestone.tests.skip_reason
        exempt = milestone.is_documentation_only or not _writes(milestone)
        if exempt or (reason and reason.strip()):
            continue
        missing = _missing_of_tests(milestone)
        if missing:
            text = f"{milestone.id} plans no {' and no '.join(missing)} for its tests"
            yield Finding(milestone.id, f"{text}; add it under `tests`, or give tests.skip_reason")


def _writes(milestone: Milestone) -> bool:
    """Return whether a milestone writes files; research and runs of commands may plan none."""
    return MODES[milestone.mode].writes or bool(milestone.files)


def _missing_of_tests(milestone: Milestone) -> list[str]:
    tests = milestone.tests
    scenarios = (*tests.scenarios.normal, *tests.scenarios.edge, *tests.scenarios.error)
    parts = {
        "files": any(tests.files),
        "type": (tests.type or "").strip(),
        "scenario": any(s.strip() for s in scenarios),
    }
    return [name for name, there in parts.items() if not there]


def check_reasoning(subject: Subject) -> Iterator[Finding]:
    """Every decision has a chain of reasons with two steps or more, joined by -> or line breaks."""
    for decision in subject.plan.planning_context.decision_log:
        steps = [s for s in _STEP_END.split(decision.reasoning_chain) if s.strip(" \t\r-*•>")]
        if len(steps) < _STEPS_LEAST:
            text = f"{decision.id} has {len(steps) or 'no'} step of reasoning"
            what = "write `reasoning_chain` as premise -> what follows from it -> the choice"
            yield Finding(decision.id, f"{text}: {_excerpt(decision.decision)!r}; {what}")


def check_mitigations(subject: Subject) -> Iterator[Finding]:
    """Every known risk has a mitigation."""
    for risk in subject.plan.planning_context.known_risks:
        if not risk.mitigation.strip():
            text = f"{risk.id} has no mitigation: {_excerpt(risk.risk)!r}"
            yield Finding(
                risk.id, f"{text}; say what the plan does about it, or why it is accepted"
            )
