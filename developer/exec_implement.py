"""Prints the developer agent's task at depth intent: write one approved milestone (PL-4, PL-27)."""

from __future__ import annotations

import sys

from shared.execution.view import View
from shared.resources import answer_path, answer_word, fill, milestone_worktree_path, read_prompt
from shared.steps.brief import with_commands, work_task
from shared.steps.program import main
from shared.steps.slices import answer_lines, milestone_slice
from shared.steps.workflow import Step, Workflow
from state.errors import Refused
from state.execution import IN_PROGRESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shared.builders import Block
    from shared.steps.workflow import Context

SCRIPT = "developer.exec_implement"
AGENT = "developer"


def implement(ctx: Context) -> Block:
    """Return the task of writing a milestone; after a failed review, of fixing the findings."""
    if ctx.iteration > 1:
        return work_task(ctx, SCRIPT, agent=True)
    view = View(ctx.state)
    running, asked = view.with_status(IN_PROGRESS), ctx.selectors.get("milestone", "")
    if asked not in running:
        text = f"{asked or 'no milestone'} is not started, or it is handed in"
        known = ", ".join(running) or "none is in progress"
        here = ctx.state.command("step", ctx.state.run.workflow)
        raise Refused("conflict", "--milestone", text, f"stop here; in progress: {known}", here)
    return milestone_task(ctx, asked, agent=True)


def milestone_task(ctx: Context, name: str, *, agent: bool) -> Block:
    """Return the block with the task of writing one milestone in its own worktree."""
    state, view = ctx.state, View(ctx.state)
    row = view.progress[name]
    milestone = next(m for m in view.milestones if m["id"] == name)
    result = f"result-{name}-{row.attempts}.json"
    slots = {
        "milestone": name,
        "worktree": milestone_worktree_path(state.state_dir, name),
        "result": answer_path(state.state_dir, result),
    }
    text = fill(_prompt("impl-code-execute"), slots)
    questions = f"questions-{name}.json"
    if agent:
        file = answer_path(state.state_dir, questions)
        text += "\n\n" + fill(_prompt("impl-code-execute-ask"), {"questions": file})
    block = with_commands(ctx, text, asks=not agent)
    block.rules(_prompt("impl-code-execute-rules"))
    block.data("for this milestone", milestone["prompt_suffix"] or "")
    block.data("failed before", row.note)
    block.data("plan", milestone_slice(ctx.plan, name, whole=agent))
    answers = view.answers_for(name)
    asked = [{"id": c.id, "question": c.question, "options": c.options}
             for c in view.checkpoints.values() if c.milestone == name]  # fmt: skip
    block.data(
        "answers", answer_lines({"checkpoints": [*ctx.plan["checkpoints"], *asked]}, answers)
    )
    own = ("--milestone", name, "--attempt", str(row.attempts))
    role = AGENT if agent else None
    done = ("exec", "done", *own, "--file", answer_word(result))
    block.next("done", state.command(*done, role=role))
    if agent:
        ask = ("exec", "ask", *own, "--file", answer_word(questions))
        block.next("question", state.command(*ask, role=role))
    return block


def _prompt(name: str) -> str:
    return read_prompt("developer", "exec_implement", name)


STEPS = {1: Step("write", "work", implement, phase="impl-code", agent=AGENT)}
WORKFLOW = Workflow("exec-implement", "Write one approved milestone.", STEPS, serves="execute")

if __name__ == "__main__":
    sys.exit(main(WORKFLOW, sys.argv[1:]))
