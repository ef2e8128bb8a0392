"""Prints the developer agent's task at depth intent: write one approved milestone (PL-4, PL-27)."""

from __future__ import annotations

import sys
from os.path import dirname, realpath
from typing import TYPE_CHECKING

if not __package__:  # started by its path, from any folder
    sys.path[0] = dirname(dirname(realpath(__file__)))

from shared.execution.costs import RESULT
from shared.execution.progress import View
from shared.resources import answer_path, answer_word, fill, milestone_worktree_path, read_prompt
from shared.steps.brief import TRY, late_in, with_commands
from shared.steps.program import main
from shared.steps.slices import answer_lines, milestone_slice
from shared.steps.work import work_task
from shared.steps.workflow import Step, Workflow
from state.errors import Refused
from state.execution import IN_PROGRESS
from state.modes import MODES, tools_of

if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context
    from state.plan_table import Milestone

SCRIPT = "developer.exec_implement"
AGENT = "developer"


def implement(ctx: Context) -> Block:
    """Return the task of writing a milestone; later of fixing findings, or of what came late."""
    if ctx.iteration > 1 or late_in(ctx):
        return work_task(ctx, SCRIPT, agent=True)
    view = View(ctx.state)
    running, asked = view.with_status(IN_PROGRESS), ctx.selectors.get("milestone", "")
    if asked not in running:
        text = f"{asked} is not being written" if asked else "this command names no milestone"
        known = ", ".join(running) or "none is in progress"
        here = ctx.state.command("step", ctx.state.run.workflow)
        raise Refused("conflict", "--milestone", text, f"stop here; in progress: {known}", here)
    return milestone_task(ctx, asked, agent=True)


def milestone_task(ctx: Context, name: str, *, agent: bool) -> Block:
    """Return the block with the task of writing one milestone in its own worktree."""
    state, view = ctx.state, View(ctx.state)
    row = view.progress[name]
    milestone = next(m for m in view.milestones if m.id == name)
    result = f"result-{name}-{row.attempts}.json"
    slots = {
        "milestone": name,
        "worktree": milestone_worktree_path(state.state_dir, name),
        "result": answer_path(state.state_dir, result),
        "run": state.command(*TRY, "--milestone", name),
    }
    text = fill(_prompt("impl-code-execute"), slots)
    questions = f"questions-{name}.json"
    if agent:
        file = answer_path(state.state_dir, questions)
        text += "\n\n" + fill(_prompt("impl-code-execute-ask"), {"questions": file})
    block = with_commands(ctx, text, asks=not agent)
    block.rules(_prompt("milestone-rules"))
    block.data("your part", guidance(milestone))
    block.data("for this milestone", milestone.prompt_suffix or "")
    block.data("found before", "\n".join(_found_before(view, milestone)))
    block.data("failed before", row.note)
    block.data("plan", milestone_slice(ctx.plan, name, whole=agent))
    block.data("answers", answer_lines(ctx.plan.checkpoints, view.answers_for(name)))
    own = ("--milestone", name, "--attempt", str(row.attempts))
    role = AGENT if agent else None
    done = ("exec", "done", *own, "--file", answer_word(result))
    block.next("done", state.command(*done, role=role))
    if agent:
        ask = ("exec", "ask", *own, "--file", answer_word(questions))
        block.next("question", state.command(*ask, role=role))
    return block


def guidance(milestone: Milestone) -> str:
    """Return what the agent of a milestone is told of its mode, its tools and its budget."""
    mode = MODES[milestone.mode]
    allowed, denied = tools_of(milestone)
    limits = {
        "tools": ", ".join(sorted(allowed)), "not": ", ".join(sorted(denied)),
        "tokens at most": milestone.max_tokens, "turns at most": milestone.max_turns,
    }  # fmt: skip
    lines = [f"{name}: {value}" for name, value in limits.items() if value]
    return "\n".join([f"{mode.title}: {mode.guidance}", *lines])


def _found_before(view: View, milestone: Milestone) -> list[str]:
    """Return what agents handed in that wrote no files, of the milestones that this one needs."""
    needed = [
        m.id for m in view.milestones
        if m.id in milestone.depends_on and not MODES[m.mode].writes
    ]  # fmt: skip
    rows = view.state.database.event_rows(view.state.run) if needed else []
    told = [r["payload"] for r in rows if r["kind"] == RESULT]
    found = {r["subagent_step_id"]: r["output"] for r in told}  # the last one counts
    return [f"{name}: {found[name]}" for name in needed if found.get(name)]


def _prompt(name: str) -> str:
    return read_prompt("developer", "exec_implement", name)


STEPS = {1: Step("write", "work", implement, phase="impl-code", agent=AGENT)}
WORKFLOW = Workflow("exec-implement", "Write one approved milestone.", STEPS, serves="execute")

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
