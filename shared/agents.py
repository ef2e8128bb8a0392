"""What a role is told, as the host that does its work or as an agent started for it (PL-4, PL-9).

An agent has seen nothing of the run: its block holds all it needs, sliced to its task.
"""

from __future__ import annotations

import os

from shared import slices
from shared.qr.questions import QUESTIONS, TEXTS, milestones_of
from shared.qr.schema import read_review
from shared.qr.types import EVERYTHING, REVIEWER, TODO
from shared.resources import (
    answer_path,
    answer_word,
    command,
    fill,
    read_prompt,
    review_path,
    superseded_plan_path,
)
from state import store
from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from shared.builders import Block
    from shared.qr.types import Item
    from shared.run import State
    from shared.workflow import Context

# Who answers where the host can start no agents; its answers carry no role.
HOST = "host"
SHOWN_CHANGE = 8_000  # characters of a change that a reviewer is shown at once

DESIGN = {q.id for q in QUESTIONS if q.phase == "plan-design"}
_BATCHES = {"plan-design": "design.json", "plan-docs": "docs.json"}


def variant_of(ctx: Context) -> str:
    """Return which text a work step has: the first, after a failed gate, in a later revision."""
    if ctx.iteration > 1:
        return "-fix"
    before = ctx.state.run.revision - 1
    if not before:
        return ""
    # Where only intents were approved, nothing is written yet that could be revised.
    kept = store.read_plan(superseded_plan_path(ctx.state.state_dir, before))
    written = any(m["code_changes"] for m in kept["milestones"])
    return "-revise" if written or ctx.phase == "plan-design" else ""


def work_task(ctx: Context, script: str, *, agent: bool) -> Block:
    """Give a role its task; after a failed gate, the failing items alone.

    An agent has seen nothing of the run: it is given its slice, and may ask through the host.
    """
    state, variant, failed = ctx.state, variant_of(ctx), _failed(ctx)
    text, words, edits = _assignment(ctx, script, failed["items"], agent=agent)
    asks = agent and not variant  # what came back was understood once
    if asks:
        text += "\n\n" + _asking(ctx)
    block = with_commands(ctx, text, asks=ctx.phase == "plan-code" and not agent)
    if not variant:
        folder, _, module = script.partition(".")
        block.rules(read_prompt(folder, module, f"{ctx.phase}-execute-rules"))
    block.data("findings", "\n".join(item_line(item) for item in failed["items"]))
    block.data("reason of who decided", failed["reason"])
    block.data("remarks", "\n".join(ctx.plan["remarks"]))
    block.data("plan", _part_of_plan(ctx, failed["items"], agent=agent, edits=edits))
    block.data("answers", slices.answer_lines(ctx.plan, state.database.answers(state.run)))
    if asks:
        block.data("notes of an agent before you", _notes(ctx))
    # The host changes the design of a small plan in the code's round, which no other role may.
    role = None if edits and ctx.phase == "plan-code" else ctx.step.agent
    block.next("done", state.command(*words, role=role))
    if asks:
        ask = ("context", "ask", "--file", answer_word("questions.json"))
        block.next("question", state.command(*ask, role=ctx.step.agent))
    return block


def _assignment(
    ctx: Context, script: str, failed: list[dict[str, Any]], *, agent: bool
) -> tuple[str, list[str], bool]:
    """Return the task, the words of the command that ends it, whether edits of the plan go in."""
    folder, _, module = script.partition(".")
    state, phase = ctx.state, ctx.phase
    text = read_prompt(folder, module, f"{phase}-execute{variant_of(ctx)}")
    batch = _BATCHES.get(phase)
    if not agent and phase == "plan-code" and any(i["check"] in DESIGN for i in failed):
        # A small plan's design is judged with its code; its host may change both.
        text += "\n\n" + read_prompt(folder, module, "plan-code-execute-fix-design")
        batch = _BATCHES["plan-design"]
    slots = {"worktree": state.worktree, "schema": command("plan", "schema", "--kind", "risk")}
    slots["show"] = state.command("plan", "show")
    words = ["plan", "done", "--phase", phase]
    if batch:
        slots["file"] = answer_path(state.state_dir, batch)
        words += ["--batch", answer_word(batch)]
    text = fill(text, {k: v for k, v in slots.items() if f"{{{{{k}}}}}" in text})
    return text, words, batch is not None


def _part_of_plan(ctx: Context, failed: list[dict[str, Any]], *, agent: bool, edits: bool) -> str:
    """Return the lines of the plan that the work is about; with versions where it is edited."""
    variant, own = variant_of(ctx), slices.concerned(ctx.plan, failed)
    if variant and edits:
        return slices.entity_lines(ctx.plan, own)
    # The architect has read the user's context in the step before; who mends has the findings.
    if agent and ctx.phase != "plan-design" and variant != "-fix":
        return slices.agent_slice(ctx.plan, ctx.phase)
    return slices.work_slice(ctx.plan, ctx.phase, own)


def _failed(ctx: Context) -> dict[str, Any]:
    """Return the decision that sent this phase back; no items where it is in its first round."""
    if ctx.iteration == 1:
        return {"items": [], "reason": ""}
    return ctx.state.database.outcomes(ctx.state.run, ctx.phase)[-1]


def explore(ctx: Context, script: str) -> Block:
    """Have the architect look round before it decides."""
    folder, _, module = script.partition(".")
    state = ctx.state
    text = fill(read_prompt(folder, module, ctx.step.name), {"worktree": state.worktree})
    block = ctx.block().task(text)
    block.data("request", state.run.request)
    block.data("task", slices.agent_slice(ctx.plan, ctx.phase))
    block.data("answers", slices.answer_lines(ctx.plan, state.database.answers(state.run)))
    block.data("notes of an agent before you", _notes(ctx))
    return block.next("done", state.command("step", ctx.workflow.name, str(ctx.number + 1)))


def _asking(ctx: Context) -> str:
    state = ctx.state
    slots = {
        "notes": answer_path(state.state_dir, f"notes-{ctx.step.agent}.md"),
        "questions": answer_path(state.state_dir, "questions.json"),
    }
    return fill(read_prompt("orchestrator", "planner", "ask-host"), slots)


def _notes(ctx: Context) -> str:
    path = answer_path(ctx.state.state_dir, f"notes-{ctx.step.agent}.md")
    return store.read_text(path) if os.path.exists(path) else ""


def questions(ctx: Context) -> Block:
    """Put a group's questions to its reviewer, with the part of the plan that they are about."""
    state, phase, group = ctx.state, ctx.phase, ctx.selectors.get("group", "1")
    items = [i for i in items_of(ctx) if i.by == REVIEWER]
    todo = [i for i in items if i.status == TODO and i.group == group]
    if not todo:
        if group not in (known := {i.group or "1" for i in items}):
            allowed = ", ".join(sorted(known))
            raise Refused("not_found", "--group", f"there is no group {group}", allowed)
        return ctx.block().task("Every question of this group is answered: end here.")
    plan = ctx.plan
    file = f"verdicts-{group}.json"
    again = all(i.rounds for i in todo)
    text = read_prompt("quality_reviewer", "review", "questions-again" if again else "questions")
    slots = {"worktree": state.worktree, "file": answer_path(state.state_dir, file)}
    text = fill(text, slots)
    if again:
        own = slices.concerned(plan, [i.to_json() for i in todo])
    else:
        own = milestones_of(todo, [m["id"] for m in plan["milestones"]])
    alone = ctx.selectors.get("by") == HOST
    change = "" if phase == "plan-design" else slices.patches(plan, own)
    if change and (alone or len(change) > SHOWN_CHANGE):  # who made it need not read it again
        diff = read_prompt("quality_reviewer", "review", "change")
        text += "\n\n" + fill(diff, {"diff": state.command("plan", "diff", *own)})
        change = ""
    block = ctx.block().task(text).data("change", change)
    block.data("questions", "\n".join(_question_line(item) for item in todo))
    found = "\n".join(i.finding or "" for i in todo)
    block.data("plan", slices.review_slice(plan, phase, own, again=again, found=found))
    answers = slices.answer_lines(plan, state.database.answers(state.run))
    block.data("answers", "" if again else answers)
    words = ("qr", "set", "--phase", phase, "--group", group, "--file", answer_word(file))
    role = None if alone else "quality-reviewer"
    return block.next("done", state.command(*words, role=role))


def answered_alone(state: State, phase: str) -> bool:
    """Return whether the host has answered questions of this revision's phase itself."""
    rows = state.database.audit_rows(state.run)
    mark = f"revision {state.run.revision}, {phase}"
    return any(r["action"] == "qr set" and r["who"] == HOST and r["detail"] == mark for r in rows)


def _question_line(item: Item) -> str:
    before = f" – found before: {item.finding}" if item.finding else ""
    scope = "" if item.scope == EVERYTHING else f" {item.scope}"
    return f"{item.id} {item.severity}{scope}: {TEXTS.get(item.check, item.check)}{before}"


def with_commands(ctx: Context, text: str, *, asks: bool) -> Block:
    """Return the block with its task; with the project's commands until a person confirms them."""
    config = ctx.state.config
    digest = config["hash"]
    if not asks or not digest or ctx.state.database.is_confirmed(digest):
        return ctx.block().task(text)
    note = read_prompt("orchestrator", "planner", "confirm")
    block = ctx.block().task(f"{text}\n\n{note}")
    block.data("commands to confirm", config["text"])
    return block.person(ctx.state.command("config", "confirm", digest))


def items_of(ctx: Context) -> list[Item]:
    """Return the items of the phase's review; none where no review is open."""
    path = review_path(ctx.state.state_dir, ctx.phase)
    return list(read_review(path).items) if os.path.exists(path) else []


def item_line(item: dict[str, Any]) -> str:
    """Return an item in a line."""
    finding = item["finding"] or item["check"]
    return f"{item['id']} {item['severity']} {item['status']} {item['scope']}: {finding}"
