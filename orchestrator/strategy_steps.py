"""The prompts for the steps of the strategy workflow, made from what the strategy remembers.

Wording lies in the prompt files; questions, commands and what is shown are decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.strategy_budget import (
    fitted_answer,
    fitted_gathered,
    fitted_progress,
    found_out,
)
from shared.resources import answer_path, answer_word, fill, read_prompt
from shared.steps.workflow import Step
from shared.strategy_record import (
    ANSWER_FILE,
    BUNDLE_FILE,
    CHAT,
    CONTEXT_FILE,
    PLAN_FILE,
    PROGRESS_FILE,
    REFRESH,
    USER_FILE,
    VERDICT_FILE,
    read_strategy,
)
from shared.strategy_text import render_plan, render_query, render_verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.builders import Block
    from shared.run import State
    from shared.steps.workflow import Context
    from shared.strategy_record import Strategy

# Tokens that a run of a small change prints, as the budgets of the tests have measured it.
COSTS = {"intent": "3,500", "full": "2,900"}
# What a retry may change, by the word of the verdict that asked for it.
REPLANS = {
    "local": "Keep the goals; change the approach.",
    "partial": "Change only the goals that failed.",
    "full": "Choose goals and approach anew.",
    "clarify": "Ask the user first: route to clarify.",
}


# How to research, by whether current prices are needed and what to look for is known.
RESEARCH = {
    (True, False): "Current prices, what to look for is open: compare what is on offer in several "
    "sources, then open the page of each offer; note price, date and address.",
    (True, True): "Current prices, §2 says what to look for: open the pages of offers alone; note "
    "price, date and address.",
    (False, False): "No prices: read several sources that do not depend on one another.",
}


def state_step(name: str, handler: Callable[[Context, Strategy], Block]) -> Step:
    """Make a step of the strategy; its kind is its name."""
    return Step(name, name, lambda ctx: handler(ctx, read_strategy(ctx.state.state_dir)))


def _prompt(name: str, **slots: str) -> str:
    return fill(read_prompt("orchestrator", "strategy", name), slots)


def _answer(state: State, name: str) -> str:
    return answer_path(state.state_dir, name)


def shown_by(state: State, section: int) -> str:
    """Return the command that shows a section of a strategy as a whole."""
    return state.command("strategy", "show", "--section", str(section))


def research_of(facts: Strategy) -> str:
    """Return how to research, as the data requirements choose it; '' if they name no prices."""
    prices = facts.requirements.get("needs_current_prices")
    if prices is None:
        return ""
    known = any(block["source_type"] == "research_cache" for block in facts.gathered)
    return RESEARCH[bool(prices), bool(prices) and known]


def choose(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt in which the model chooses the route; a retry is shown what failed first.

    The sections of a retry stand in the order in which they are to be read: why it failed, what
    was tried, what the user wants, what is known (ST-5).
    """
    state = ctx.state
    file = _answer(state, PLAN_FILE)
    if facts.mode == CHAT:
        text = _prompt("choose-chat", file=file)
    else:
        text = _prompt("choose", file=file, **COSTS)
    if facts.gathered:
        text += "\n\n" + _prompt("choose-known")
    if facts.attempt > 1:
        last = facts.verdicts[-1]
        slots = {"attempt": str(facts.attempt), "replan": REPLANS.get(last.get("replan", ""), "")}
        text = _prompt("choose-again", **slots) + "\n\n" + text
    block = ctx.block().task(text)
    if facts.attempt > 1:
        block.data("§7 validation", render_verdicts(facts))
        block.data("§4 execution progress", fitted_progress(facts))
        block.data("§6 synthesis", fitted_answer(facts, shown_by(state, 6)))
        block.data("§0 user query", render_query(facts))
    elif facts.purpose or facts.requirements:
        block.data("§0 user query", render_query(facts))
    else:
        block.data("request", facts.query)
    if facts.mode != CHAT:
        block.data("plans here so far", "\n".join(facts.costs))
    block.data("§2 gathered context", fitted_gathered(facts, shown_by(state, 2)))
    words = ("strategy", "set", "--file", answer_word(PLAN_FILE))
    return block.next("done", state.command(*words))


def gather(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt to gather what the strategy misses, or why the query has not passed."""
    state, plan = ctx.state, facts.plan or {}
    block = ctx.block().task(_prompt("gather", file=_answer(state, CONTEXT_FILE)))
    asked = plan.get("route_to") == REFRESH
    missing = plan.get("refresh_context_request", []) if asked else []
    block.data("missing", "\n".join(filter(None, [facts.why, *missing])))
    block.data("§2 gathered context", fitted_gathered(facts, shown_by(state, 2)))
    block.data("request", facts.query)
    words = ("strategy", "context", "--file", answer_word(CONTEXT_FILE))
    return block.next("done", state.command(*words))


def clarify(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt to ask the user the one question that the strategy needs answered."""
    state = ctx.state
    block = ctx.block().task(_prompt("clarify", file=_answer(state, USER_FILE)))
    block.ask("clarify", (facts.plan or {}).get("clarification_question", ""), [])
    words = ("strategy", "context", "--answer", answer_word(USER_FILE))
    return block.next("done", state.command(*words))


def execute(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt to work on the goals that are due, one at a time where the web is used."""
    state, plan = ctx.state, facts.plan or {}
    due = facts.due()
    block = ctx.block().task(_prompt("execute", file=_answer(state, PROGRESS_FILE)))
    block.data("goals", "\n".join(f"{goal['id']}: {goal['description']}" for goal in due))
    block.data("approach", plan.get("approach", ""))
    block.data("how to research", research_of(facts))
    waiting = [name for name, status in facts.goals.items() if status in ("pending", "in_progress")]
    now = {goal["id"] for goal in due}
    block.data("later", ", ".join(name for name in waiting if name not in now))
    words = ("strategy", "context", "--file", answer_word(PROGRESS_FILE))
    return block.next("done", state.command(*words))


def synthesise(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt to write the answer from what is known; a revision is told why."""
    state = ctx.state
    block = ctx.block().task(_prompt("synthesise", file=_answer(state, ANSWER_FILE)))
    block.data("request", facts.query)
    if facts.verdicts and facts.verdicts[-1]["verdict"] == "REVISE":
        block.data("§7 validation", render_verdicts(facts))
    block.data("§3 strategic plan", render_plan(facts.plan) if facts.plan else "")
    block.data("§4 execution progress", found_out(facts, shown_by(state, 4)))
    block.data("§2 gathered context", fitted_gathered(facts, shown_by(state, 2)))
    words = ("strategy", "context", "--synthesis", answer_word(ANSWER_FILE))
    return block.next("done", state.command(*words))


def extend(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt to make a workflow bundle, or to propose a command that a person confirms.

    The commands of a project run only from planner.toml, and only once a person has confirmed them.
    """
    state, wanted = ctx.state, (facts.plan or {}).get("self_extension", {})
    slots = {"verdict": _answer(state, VERDICT_FILE)}
    if wanted.get("action") == "CREATE_TOOL":
        block = ctx.block().task(_prompt("extend-tool", **slots))
        block.data("tool", wanted["tool_name"]).data("command", wanted["command"])
    else:
        slots["file"] = _answer(state, BUNDLE_FILE)
        block = ctx.block().task(_prompt("extend", **slots))
        goals = (facts.plan or {}).get("goals", [])
        block.data("goals", "\n".join(f"{goal['id']}: {goal['description']}" for goal in goals))
        words = ("workflow", "new", wanted["workflow_name"], "--file", answer_word(BUNDLE_FILE))
        block.next("written", state.command(*words))
    block.next("done", state.command("strategy", "verdict", "APPROVE"))
    words = ("strategy", "verdict", "FAIL", "--file", answer_word(VERDICT_FILE))
    return block.next("fail", state.command(*words))


def validate(ctx: Context, facts: Strategy) -> Block:
    """Return the prompt to judge the answer that was written, with the four verdicts."""
    state = ctx.state
    slots = {"file": _answer(state, VERDICT_FILE)}
    block = ctx.block().task(_prompt("validate", **slots))
    block.data("request", facts.query)
    block.data("success criteria", (facts.plan or {}).get("success_criteria", ""))
    block.next("approve", state.command("strategy", "verdict", "APPROVE"))
    for verdict in ("REVISE", "RETRY", "FAIL"):
        words = ("strategy", "verdict", verdict, "--file", answer_word(VERDICT_FILE))
        block.next(verdict.lower(), state.command(*words))
    return block
