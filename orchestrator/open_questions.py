"""Hold a run while a question waits for its user: print it first, refuse to go on (SD-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.contents import option_text
from shared.resources import answer_path, answer_word, fill, read_prompt
from state.errors import Problem, Refused
from state.milestones import unanswered
from state.rows import OF_THE_PLAN, Asked
from state.shape import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.builders import Block
    from shared.run import State
    from shared.steps.workflow import Context
    from state import models, plan_table
    from state.milestones import AnyPlan

    AnyCheckpoint = models.Checkpoint | plan_table.Checkpoint
    Handler = Callable[[Context], Block]


def open_questions(state: State, plan: AnyPlan) -> Sequence[AnyCheckpoint]:
    """Return the questions of a plan without which its host may not go on.

    Not those that a milestone waits for: they hold this milestone alone.
    """
    database, run = state.database, state.run
    if state.is_writing:
        return unanswered(plan, database.answers(run), "intent", database.checkpoints(run))
    return unanswered(plan, database.answers(run), run.depth)


def asks_first(handler: Handler) -> Handler:
    """Return the handler of a step that prints the open questions in place of its own block."""

    def ask_or_print(ctx: Context) -> Block:
        waiting = open_questions(ctx.state, ctx.plan)
        return _block(ctx, waiting) if waiting else handler(ctx)

    return ask_or_print


def _block(ctx: Context, waiting: Sequence[AnyCheckpoint]) -> Block:
    asked = [Asked({**as_json(one), **OF_THE_PLAN}) for one in waiting]
    return add_questions(ctx.block().task(how_to_ask(ctx.state)), ctx.state, asked)


def how_to_ask(state: State) -> str:
    """Return what a host is told to do with the questions of a block."""
    folder = answer_path(state.state_dir, "")
    return fill(read_prompt("orchestrator", "planner", "ask"), {"folder": folder})


def add_questions(block: Block, state: State, waiting: Sequence[Asked]) -> Block:
    """Add questions to a block, with a command for each option and one for the user's own words."""
    for asked in waiting:
        options = [
            (o["key"], option_text(o["label"], o.get("description", ""))) for o in asked.options
        ]
        block.ask(asked.id, asked.question, options, multi=asked.multi)
    for asked in waiting:
        name = asked.id
        for key in asked.keys:
            block.next(f"{name} {key}", state.command("decide", name, key))
        block.next(f"{name} other", state.command("decide", name, *_in_words(name)))
    return block


def _in_words(name: str) -> tuple[str, ...]:
    return ("--file", answer_word(f"{name}.md"))


def _options(asked: AnyCheckpoint) -> str:
    return ", ".join(f"{o.key} ({o.label})" for o in asked.options)


def refuse_while_asked(state: State, plan: AnyPlan, *, by_agent: bool = False) -> None:
    """Raise Refused with each open question, its options and how the user's answer is handed in.

    What is to be run as it stands is the step that asks: no command that would answer for the user.
    An agent that was started for its work is told to end: its host asks the user.
    """
    problems = []
    for asked in open_questions(state, plan):
        text = f"the question is not answered: {asked.question}"
        if by_agent:
            text = f"{text} – end here: you are started again with the answer"
            problems.append(Problem("refused", asked.id, text, _options(asked)))
            continue
        words = ("KEY",) if asked.options else _in_words(asked.id)
        answer = state.command("decide", asked.id, *words)
        allowed = f"{_options(asked)}: ask the user, then `{answer}`".removeprefix(": ")
        step = state.command("step", state.run.workflow)
        problems.append(Problem("refused", asked.id, text, allowed, step))
    if problems:
        raise Refused.of(problems)
