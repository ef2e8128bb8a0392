"""The task text of a workflow step in which an agent, or its host instead, works (PL-4, PL-9).

An agent has seen nothing of the run: its block holds all that its task needs of the plan.
"""

from __future__ import annotations

import os

from shared.candidates import read_chosen, read_found
from shared.resources import (
    answer_path,
    answer_word,
    command,
    fill,
    read_prompt,
    recalled_path,
    superseded_plan_path,
)
from shared.steps import slices
from shared.steps.slices import agent_slice, answer_lines, entity_lines, work_slice
from shared.steps.workflow import Step
from state import store
from state.beneath import Beneath
from state.files import read_json
from state.modes import MODES
from state.phases import CODE_PHASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from shared.builders import Block
    from shared.candidates import Found
    from shared.steps.workflow import Context
    from state.phases import Phase


# How an agent runs something on the files that it writes, here with a command that shows them.
TRY = ("tree", "run", "git status --short")
MODES_OF_MILESTONES = "`mode` of a milestone, code unless set"
_MOST_RECALLED = 1_200  # characters
_BATCHES = {"plan-design": "design", "plan-docs": "docs", "impl-docs": "docs"}
_OF_CODE = "code"  # edits of the design in the code's round


def variant_of(ctx: Context) -> str:
    """Return the suffix of a step's prompt file: '', '-fix' after a failed review, or '-revise'."""
    if ctx.iteration > 1:
        return "-fix"
    before = ctx.state.run.revision - 1
    if not before:
        return ""
    # If only intents were approved, there is no code yet that could be revised.
    kept = store.read_plan(superseded_plan_path(ctx.state.state_dir, before))
    written = any(m["code_changes"] for m in kept["milestones"])
    return "-revise" if written or ctx.phase == "plan-design" else ""


def work_task(ctx: Context, script: str, *, agent: bool) -> Block:
    """Return the output block of a step's task; after a failed review, with failing items only.

    An `agent` is given its slice of the plan and may ask questions through the host.
    """
    state, variant, failed = ctx.state, variant_of(ctx), _failed(ctx)
    text, words, edits = _assignment(ctx, script, agent=agent)
    found = None if _verified_by(ctx) else read_found(state.state_dir)
    if found is not None:
        text += "\n\n" + read_prompt("developer", "plan_code", _choosing(found))
    if agent and ctx.phase == "plan-design" and not variant:
        text += "\n\n" + read_prompt("architect", "plan_design", "plan-design-execute-knowledge")
    asks = agent and not variant  # in a later round the task is understood
    if asks:
        text += "\n\n" + _asking(ctx)
    block = with_commands(ctx, text, asks=ctx.phase in CODE_PHASES and not agent)
    if not variant:
        folder, _, module = script.partition(".")
        block.rules(read_prompt(folder, module, f"{ctx.phase}-execute-rules"))
    block.data("findings", "\n".join(item_line(item) for item in failed["items"]))
    block.data("reason of who decided", failed["reason"])
    if variant == "-revise" or (ctx.phase in CODE_PHASES and not variant):
        block.data("remarks", _program_notes(ctx))
    block.data("plan", _part_of_plan(ctx, failed["items"], agent=agent, edits=edits))
    if not variant and ctx.phase == "plan-design":
        block.data(MODES_OF_MILESTONES, modes_of(ctx))
    block.data("candidates", found.lines() if found else "")
    block.data("answers", answer_lines(ctx.plan, state.database.answers(state.run)))
    if ctx.phase == "plan-design" and not (agent or variant):
        block.data("earlier plans", earlier_plans(ctx))
    if asks:
        block.data("notes of an agent before you", notes_for(ctx))
    # The host changes the design of a small plan in the code's round, which no other role may.
    role = None if edits and ctx.phase == "plan-code" else ctx.step.agent
    block.next("done", state.command(*words, role=role))
    if asks:
        ask = ("context", "ask", "--file", answer_word("questions.json"))
        block.next("question", state.command(*ask, role=ctx.step.agent))
    return block


def _why(ctx: Context) -> str:
    """Return in words why the plan is revised: for the user, for a cause, or without a remark."""
    plan = ctx.plan
    said = {note.strip() for note in plan["remarks"]}
    asked = [task["id"] for task in plan["task_spec"] if task["text"] in said]  # of before RM-
    asked += [one["id"] for one in plan["user_remarks"] if one["revision"] == plan["revision"] - 1]
    if asked:
        text = read_prompt("orchestrator", "planner", "revise-for-user")
        return fill(text, {"remark": asked[-1]})
    name = "revise-for-cause" if _program_notes(ctx) else "revise"
    return read_prompt("orchestrator", "planner", name)


def _program_notes(ctx: Context) -> str:
    """Return the notes of the program on the revision, such as a moved base.

    A plan of before RM- has there what the user has remarked, and shows it as an entry of the task.
    """
    said = {task["text"] for task in ctx.plan["task_spec"]}
    return "\n".join(note for note in ctx.plan["remarks"] if note.strip() not in said)


def _verified_by(ctx: Context) -> bool:
    """Return whether it is settled what verifies the change, or the step changes no code.

    What nobody has chosen is not, while it shows nothing.
    """
    state = ctx.state
    chosen, results = read_chosen(state.state_dir), ctx.plan["verify"]
    shows = not chosen.unasked or any(r["outcome"] == "pass" for r in results)
    settled = state.config["config"]["verify"] or (chosen.commands and shows)
    return ctx.phase not in CODE_PHASES or bool(settled)


def _choosing(found: Found) -> str:
    return f"plan-code-execute-{'choose' if found.candidates else 'name'}"


def edits_file(ctx: Context, stem: str = _OF_CODE) -> str:
    """Return the name of the answer file for a step's edits of the plan, another in each round.

    What is left of an earlier round is not read again by whoever forgets to write it anew.
    """
    revision, iteration = ctx.state.run.revision, ctx.iteration
    first = (revision, iteration) == (1, 1)
    return f"{stem}.json" if first else f"{stem}-{revision}-{iteration}.json"


def modes_of(ctx: Context) -> str:
    """Return the modes that milestones may have, one a line, if they are carried out as intents."""
    if ctx.state.run.depth != "intent":
        return ""
    return "\n".join(f"{name}: {mode.planner_guidance}" for name, mode in MODES.items())


def _assignment(ctx: Context, script: str, *, agent: bool) -> tuple[str, list[str], bool]:
    """Return a step's task text, the words of its final command, and whether it may edit the plan.

    Who planned a change alone and wrote it may mend both where a review fails.
    """
    folder, _, module = script.partition(".")
    state, phase = ctx.state, ctx.phase
    text = read_prompt(folder, module, f"{phase}-execute{variant_of(ctx)}")
    batch, mends = _BATCHES.get(phase), False
    if phase == "plan-code" and variant_of(ctx) == "-fix":
        mends = not agent
        how = "plan" if mends else "report"
        text += "\n\n" + read_prompt(folder, module, f"plan-code-execute-fix-{how}")
    slots = {"worktree": state.worktree, "schema": command("plan", "schema", "--kind", "risk")}
    slots["show"] = state.command("plan", "show")
    if "{{why}}" in text:
        slots["why"] = _why(ctx)
    slots["run"] = state.command(*TRY)
    words = ["plan", "done", "--phase", phase]
    file = edits_file(ctx, batch or _OF_CODE)
    slots |= {"file": answer_path(state.state_dir, file), "batch": answer_word(file)}
    if batch:
        words += ["--batch", answer_word(file)]
    text = fill(text, {k: v for k, v in slots.items() if f"{{{{{k}}}}}" in text})
    return text, words, mends or batch is not None


def _part_of_plan(ctx: Context, failed: list[dict[str, Any]], *, agent: bool, edits: bool) -> str:
    """Return the plan's lines that a step's task needs, with versions if it may edit the plan."""
    variant, own = variant_of(ctx), slices.concerned(ctx.plan, failed)
    if variant and edits:
        return entity_lines(ctx.plan, own)
    # The architect has just read the user's context; a fix needs only the findings.
    if agent and ctx.phase != "plan-design" and variant != "-fix":
        return agent_slice(ctx.plan, ctx.phase)
    return work_slice(ctx.plan, ctx.phase, own)


def _failed(ctx: Context) -> dict[str, Any]:
    """Return the failed review that made this phase run again; without items in the first round."""
    if ctx.iteration == 1:
        return {"items": [], "reason": ""}
    return ctx.state.database.outcomes(ctx.state.run, ctx.phase)[-1]


def _asking(ctx: Context) -> str:
    state = ctx.state
    slots = {
        "notes": answer_path(state.state_dir, f"notes-{ctx.step.agent}.md"),
        "questions": answer_path(state.state_dir, "questions.json"),
    }
    return fill(read_prompt("orchestrator", "planner", "ask-host"), slots)


def notes_for(ctx: Context) -> str:
    """Return the notes that an earlier agent of this step's role left for the next, or ''."""
    path = answer_path(ctx.state.state_dir, f"notes-{ctx.step.agent}.md")
    notes = Beneath(ctx.state.state_dir).read(path)
    return notes.decode("utf-8", "replace") if notes else ""


def earlier_plans(ctx: Context) -> str:
    """Return what earlier plans say to the request, as far as about 300 tokens reach, or ''."""
    path = recalled_path(ctx.state.state_dir)
    lines: list[str] = read_json(path) if os.path.exists(path) else []
    kept, left = [], _MOST_RECALLED
    for line in lines:
        shown = line if len(line) <= _MOST_RECALLED // 2 else line[: _MOST_RECALLED // 2] + "…"
        if len(shown) > left:
            break
        kept.append(shown)
        left -= len(shown) + 1
    return "\n".join(kept)


def with_commands(ctx: Context, text: str, *, asks: bool, first: bool = False) -> Block:
    """Return an output block with a task, and the commands a person must still confirm, if any.

    They are shown and explained where the run asks `first`; later blocks only remind of them.
    """
    config = ctx.state.config
    digest = config["hash"] if config.get("consent", True) else ""
    if not asks or not digest or ctx.state.database.is_confirmed(digest):
        return ctx.block().task(text)
    note = read_prompt("orchestrator", "planner", "confirm" if first else "confirm-again")
    block = ctx.block().task(f"{text}\n\n{note}")
    block.data("commands to confirm", config["text"] if first else "")
    return block.person(ctx.state.typed("config", "confirm", digest))


def item_line(item: dict[str, Any]) -> str:
    """Return a review item as one line: its id, severity, status, scope and finding."""
    finding = item["finding"] or item["check"]
    return f"{item['id']} {item['severity']} {item['status']} {item['scope']}: {finding}"


def work_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Return the workflow step in which an agent does the work of a phase."""
    return Step(
        name,
        "work",
        lambda ctx: work_task(ctx, script, agent=True),
        phase=phase,
        agent=agent,
    )
