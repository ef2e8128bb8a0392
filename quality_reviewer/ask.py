"""Build the printed prompt that asks a reviewer its share of the questions (PL-4, PL-9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.questions import BY_ID, TEXTS, basis_of, is_own_list
from quality_reviewer.review_slice import review_slice
from shared.place.level import level
from shared.qr.kept_review import read_kept_review
from shared.qr.types import ASSISTANT, EVERYTHING, REVIEWER, SEVERITIES, TODO, blocking_severities
from shared.resources import answer_path, answer_word, fill, read_prompt
from shared.steps import slices
from shared.steps.slices import answer_lines
from shared.steps.workflow import Step
from shared.tree_runs import captured_tree, runs_on_change
from shared.verified import lines_for_review
from state.actors import HOST
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.builders import Block
    from shared.qr.types import Item
    from shared.run import State
    from shared.steps.workflow import Context
    from state.phases import Phase
    from state.plan_table import Plan


SHOWN_PLAN = 12_000  # characters of a plan, beyond which a block may have to cut it
SHOWN_CHANGE = 8_000  # characters of a change that a reviewer is shown at once
MOST_RUNS = 6
DECLINED = "declined by the author: a FAIL with the same id insists and makes it a SHOULD"
RAN = "ran on these files (verify: by planner)"


def questions(ctx: Context) -> Block:
    """Return the prompt that gives a reviewer open questions and the milestones they concern."""
    state, phase, group = ctx.state, ctx.phase, ctx.selectors.get("group", "1")
    items = [i for i in items_of(ctx) if i.by == REVIEWER]
    todo = [i for i in items if i.status == TODO and i.group == group]
    if not todo:
        if group not in (known := {i.group or "1" for i in items}):
            allowed = ", ".join(sorted(known))
            raise Refused("not_found", "--group", f"the questions have no group {group}", allowed)
        return ctx.block().task("Every question of this group is answered: end here.")
    plan = ctx.plan
    file = f"verdicts-{phase}-{group}.json"
    again, alone = ctx.iteration > 1, ctx.selectors.get("by") == HOST
    designed = phase == "plan-design"
    ran = "" if designed else _ran(state, plan)
    own_list = is_own_list(i.check for i in items)
    text = _instructions(
        ctx, file, _evidence(state, ran, designed=designed, own=own_list), own_list
    )
    own = slices.concerned(plan, [i._asdict() for i in todo])
    change = "" if designed else slices.patches(plan, own, in_order=alone)
    if len(change) > SHOWN_CHANGE:
        diff = state.command("plan", "diff", "--format", "xml", *own)
        text += "\n\n" + fill(read_prompt("quality_reviewer", "review", "change"), {"diff": diff})
        change = ""
    # In a fix round and in a revision few are asked: the reasons of those. What agents have written
    # of intents is a revision too, and judged for the first time.
    few = again or (state.run.revision > 1 and not state.is_writing)
    found = "\n".join(i.finding or "" for i in todo) if few else None
    # The host has written context, overview and reasons itself, a moment ago.
    checks = {i.check for i in todo}
    shown = review_slice(plan, phase, own, about=basis_of(checks), known=alone, found=found)
    if len(shown) > SHOWN_PLAN:
        rest = read_prompt("quality_reviewer", "review", "plan")
        text += "\n\n" + fill(rest, {"show": state.command("plan", "show", *own)})
    block = ctx.block().task(text).data("change", change)
    block.data("questions", "\n".join(_question_lines(todo)))
    declined = [i for i in items if i.declined and i.group == group and i not in todo]
    block.data(DECLINED, "\n".join(_declined_lines(declined)))
    asks_scope = any(check in BY_ID and BY_ID[check].by_request for check in checks)
    block.data("request", state.run.request if asks_scope and not alone else "")
    block.data("plan", shown)
    answers = answer_lines(plan.checkpoints, state.database.answers(state.run))
    block.data("answers", "" if again and alone else answers)
    block.data(RAN, ran)
    words = ("qr", "set", "--phase", phase, "--group", group, "--file", answer_word(file))
    role = None if alone else "quality-reviewer"
    return block.next("done", state.command(*words, role=role))


def _instructions(ctx: Context, file: str, evidence: str, own: bool) -> str:
    """Return the text that says how to answer, into a file, by what evidence."""
    state, again = ctx.state, ctx.iteration > 1
    name = "questions-again" if again else "questions-own" if own else "questions"
    text = read_prompt("quality_reviewer", "review", name)
    slots = {
        "worktree": state.worktree,
        "file": answer_path(state.state_dir, file),
        "evidence": read_prompt("quality_reviewer", "review", evidence),
        "example": "CI-…" if ctx.phase == "plan-design" else "FILE:LINE",
        "blocking": _blocking(ctx.iteration),
    }
    return fill(text, {k: v for k, v in slots.items() if f"{{{{{k}}}}}" in text})


def answered_alone(items: Iterable[Item]) -> bool:
    """Return whether the main assistant, not an agent, answered questions of a review."""
    return any(item.answered_by == ASSISTANT for item in items)


def _ran(state: State, plan: Plan) -> str:
    """Return how the change was verified, then the last of what the assistant ran on it (VR-3)."""
    tree = captured_tree(state.state_dir)
    verified = lines_for_review([r for r in plan.verify if r.tree == tree])
    runs = runs_on_change(state.state_dir)[-MOST_RUNS:]
    return "\n".join([*verified, *(run.line() for run in runs)])


def _blocking(iteration: int) -> str:
    """Return in words which answers block in a round."""
    names = blocking_severities(iteration)
    return "any is FAIL" if names == SEVERITIES else f"any {' or '.join(names)} is FAIL"


def _evidence(state: State, ran: str, *, designed: bool, own: bool) -> str:
    """Return the name of the prompt that says what counts as evidence."""
    if own:
        return "evidence-own" if level(state.run.repository).holds else "evidence-own-no-place"
    if designed:
        return "evidence-design"
    return "evidence-change-and-runs" if ran else "evidence-change"


def _question_lines(items: list[Item]) -> Iterator[str]:
    """Yield a line for each question; what is asked in the same words again names the first."""
    first: dict[str, str] = {}
    for item in items:
        asked = item.asked or TEXTS.get(item.check, item.check)
        known = first.setdefault(asked, item.id)
        if known != item.id:
            asked = f"as {known}"
        before = f" – found before: {item.finding}" if item.finding else ""
        before += f" – its author declines: {item.declined}" if item.declined else ""
        scope = "" if item.scope == EVERYTHING else f" {item.scope}"
        yield f"{item.id} {item.severity}{scope}: {asked}{before}"


def _declined_lines(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        yield f"{item.id} {item.scope}: {item.finding} – declined: {item.declined}"


def items_of(ctx: Context) -> list[Item]:
    """Return the items of the current phase's review; an empty list if none is open."""
    review = read_kept_review(ctx.state, ctx.phase)
    return list(review.items) if review else []


def review_step(name: str, *, phase: Phase) -> Step:
    """Return the workflow step in which a reviewer answers its share of a phase's questions."""
    return Step(name, "review", questions, phase=phase, agent="quality-reviewer")
