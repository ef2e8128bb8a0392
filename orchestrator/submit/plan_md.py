"""Write plan.md, the readable plan, from plan.json and the user's answers (PL-16).

Texts of the plan stay text in every viewer of Markdown: they add no elements or images, and a
fence or quote that they open ends with them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.criteria import judged_criteria
from shared import resources
from shared.builders import visible
from shared.contents import (
    ACCEPTED,
    ALTERNATIVES,
    DECISIONS,
    MILESTONE,
    PERSON,
    RISKS,
    STATED,
    lines_of,
)
from shared.reviewed import against_figures, beyond_limit, left_out, note_lines, reviewers_of
from shared.steps.slices import chosen, knowledge_lines
from shared.verified import facts_of
from state.changes import apart
from state.files import write_atomic
from state.milestones import changes_of
from state.statements import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shared.run import State
    from state.models import Change, Milestone, Plan, Remark, TaskItem


# What a viewer of Markdown would not show literally: a tag, a comment, an entity, an image.
_LIVE = re.compile(r"(\\*)(<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|(?<=!)\[)")


# Characters of a patch; who approves sees the rest with `plan diff`.
MOST_SHOWN = 200_000

_DECIDED = {
    "script": "decided by program",
    "reviewer": "decided by its reviewers",
    "host": "decided by the assistant",
    "person": "decided by a person",
}


def render_plan(plan: Plan, answers: Mapping[str, Sequence[str]]) -> str:
    """Return the text of plan.md; invisible characters of the plan are shown as escapes."""
    lines = [*_head(plan), *_task(plan), *_remarks(plan), *_questions(plan, answers)]
    for section in (decisions, _risks, _knowledge, _milestones, verified, reviews):
        lines += section(plan)
    lines += ["", "The commit names this plan by its digest, in a line `Plan-Digest:`."]
    return visible("\n".join(lines)) + "\n"


def _head(plan: Plan) -> Iterator[str]:
    state = f"frozen {plan.frozen_at}" if plan.frozen_at else "draft"
    yield f"# {one_line(plan.overview.title) or 'Plan'}"
    yield ""
    yield f"Revision {plan.revision}, {state}." + (
        f" Digest `{plan.digest}`." if plan.digest else ""
    )
    if not plan.self_contained:
        yield "Not self-contained: it needs its ref, which keeps what is too large for a patch."
    if plan.base:
        extra = " with uncommitted work on top" if plan.base.snapshot else ""
        yield f"Base: `{plan.base.commit}` on {code(plan.base.branch)}{extra}."
    for title, text in (
        ("Problem", plan.overview.problem),
        ("Approach", plan.overview.approach),
        ("Notes on this revision", "\n".join(plan.remarks)),
    ):
        if text:
            yield from ("", f"## {title}", "", *(f"> {live(line)}" for line in text.split("\n")))


def _task(plan: Plan) -> Iterator[str]:
    if plan.task_spec:
        yield from ("", "## Task", "")
        for task in plan.task_spec:
            outcome = "" if task.out_of_scope else _outcome(plan, task)
            yield f"- {task.id}: {one_line(task.text)}{outcome}"


def _remarks(plan: Plan) -> Iterator[str]:
    if plan.user_remarks:
        yield from ("", "## Remarks", "")
    for one in plan.user_remarks:
        outcome = _outcome(plan, one)
        yield f"- {one.id}, on revision {one.revision}: {one_line(one.text)}{outcome}"


def _outcome(plan: Plan, statement: TaskItem | Remark) -> str:
    return f" ({one_line(outcome_of(plan, statement)) or 'no milestone cites it'})"


def _questions(plan: Plan, answers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if plan.checkpoints:
        yield from ("", "## Questions", "")
    for asked in plan.checkpoints:
        labels = {option.key: option.label for option in asked.options}
        said = ", ".join(chosen(labels, answers.get(asked.id, ()))) or "not answered"
        yield f"- {asked.id}: {one_line(asked.question)} → {one_line(said)}"


def decisions(plan: Plan) -> Iterator[str]:
    """Yield the decisions with their reasons, and the alternatives that were not chosen."""
    context = plan.planning_context
    if context.decision_log or context.rejected_alternatives or plan.context.rejected_alternatives:
        yield from ("", "## Decisions", "")
        for content in (DECISIONS, ALTERNATIVES):
            yield from (f"- {line}" for line in lines_of(content, plan, one_line))
        yield from (f"- not chosen: {one_line(a)}" for a in plan.context.rejected_alternatives)


def _risks(plan: Plan) -> Iterator[str]:
    rows = [
        *plan.context.constraints,
        *(f"assumed: {text}" for text in plan.context.assumptions),
        *(f"{c.id}: {c.type} {c.description}" for c in plan.planning_context.constraints),
        *lines_of(RISKS, plan),
        *lines_of(STATED, plan),
    ]
    if rows:
        yield from ("", "## Constraints, assumptions, risks, invariants", "")
        yield from (f"- {one_line(row)}" for row in rows)


def _knowledge(plan: Plan) -> Iterator[str]:
    lines = knowledge_lines(plan)
    if lines:
        yield from ("", "## Architecture and data flow")
    for line in lines:
        fence = _fence(line)
        yield from ("", f"{fence}text", line, fence)


def _milestones(plan: Plan) -> Iterator[str]:
    for wave in plan.milestone_dependencies.waves:
        yield from ("", f"## Wave {wave.wave}")
        for milestone in plan.milestones:
            if milestone.id in wave.milestones:
                yield from _milestone(plan, milestone)


def _milestone(plan: Plan, milestone: Milestone) -> Iterator[str]:
    yield from ("", f"### {milestone.id} {one_line(milestone.name)}", "")
    if milestone.depends_on:
        yield f"After {', '.join(milestone.depends_on)}."
    criteria, together = judged_criteria(plan, milestone)
    for row, (_, evidence) in zip(ACCEPTED.rows(milestone), criteria, strict=True):
        shown = row._replace(why=evidence and f"shown by {evidence}")
        yield f"- {shown.line(ACCEPTED.label, one_line)}"
    if together:
        yield f"- all of it shown by {one_line(together)}"
    for content in (one for one in MILESTONE if one is not ACCEPTED and PERSON in one.shown):
        yield from (f"- {line}" for line in lines_of(content, milestone, one_line, code))
    for change in changes_of(milestone):
        yield from _change(change)


def _change(change: Change) -> Iterator[str]:
    what = "new" if change.before is None else "deleted" if change.after is None else "changed"
    if change.old_file:
        what = f"renamed from {code(change.old_file)}"
    if change.old_mode and change.mode and change.old_mode != change.mode:
        what += f", mode {change.old_mode} → {change.mode}"
    yield from ("", f"#### {change.id} {code(change.file)} ({what})", "")
    yield f"`{(change.before or 'absent')[:12]}` → `{(change.after or 'absent')[:12]}`"
    if change.patch and change.encoding is None:
        fence = _fence(change.patch)
        shown, left = folded(change.patch)
        yield from ("", f"{fence}diff", shown.rstrip("\n"), fence)
        if left:
            yield from ("", f"{left:,} more lines are not shown: `planner plan diff` prints them.")
    elif apart(change):
        yield from ("", "Too large for a patch: the content is a blob in the plan's ref.")
    elif change.patch:
        yield from ("", "The patch is not UTF-8; plan.json holds it.")


def folded(patch: str) -> tuple[str, int]:
    """Return the beginning of a long patch, and how many lines of it are left out."""
    end = patch.find("\n", MOST_SHOWN)
    return (patch, 0) if end < 0 else (patch[: end + 1], patch.count("\n", end + 1))


def _fence(text: str) -> str:
    """Return a Markdown code fence with more backticks than any run of backticks in `text`."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


def verified(plan: Plan) -> Iterator[str]:
    """Yield how each verify command ended on the change and on the base."""
    yield from ("", "## Verify", "")
    if not plan.verify:
        yield "NOT VERIFIED: planner.toml names no verify commands, and none was chosen."
    for result in plan.verify:
        ran = f"{result.outcome} (base: {result.baseline}) · {facts_of(result)}"
        yield f"- {code(result.command)}: {ran}"
    proof = {
        True: "With the changed code broken this fails, so some of it is run.",
        False: "With the changed code broken this still passes, so none of it is run.",
    }
    exercised = {proof[r.exercised] for r in plan.verify if r.exercised is not None}
    yield from ("", *exercised) if exercised else ()


def reviews(plan: Plan) -> Iterator[str]:
    """Yield how each phase passed its review, and what stayed open."""
    if plan.reviews:
        yield from ("", "## Reviews", "")
    for outcome in plan.reviews:
        reason = f": {one_line(outcome.reason)}" if outcome.reason else ""
        by = f"{_DECIDED[outcome.by]}; read by {reviewers_of([outcome])} ({outcome.review} review)"
        yield f"- {outcome.phase} passed in round {outcome.iteration}, {by}{reason}"
        over = {item.id for item in against_figures(outcome)}
        for item in outcome.open:
            kind = "accepted by a person" if item.accepted else "open"
            kind = "passed against the figures" if item.id in over else kind
            yield f"  - {kind}, {item.severity} {item.id}: {one_line(item.finding)}"
        yield from (f"  - note, {one_line(line)}" for line in note_lines(outcome))
    if beyond := beyond_limit(plan.reviews):
        yield f"- {beyond}"
    yield from (f"- not asked, {line}" for line in left_out(plan.reviews))


def one_line(text: str) -> str:
    """Return a text of the plan as one line that adds no element to Markdown."""
    return live(" ".join(text.split()))


def live(text: str) -> str:
    """Return text escaped so that a Markdown viewer shows it literally."""
    return _LIVE.sub(r"\1\1\\\2", text)


def code(text: str) -> str:
    """Return a name as inline Markdown code, even if the name holds backticks."""
    shown = " ".join(text.split())
    if "`" not in shown:
        return f"`{shown}`"
    fence = _fence(shown)
    return f"{fence} {shown} {fence}"


def rendered(state: State, plan: Plan) -> str:
    """Return the text of plan.md for a run's plan, with the user's answers."""
    return render_plan(plan, state.database.answers(state.run))


def write_rendered(state: State, plan: Plan) -> None:
    """Write the file plan.md for a plan."""
    write_atomic(resources.rendered_plan_path(state.state_dir), rendered(state, plan).encode())
