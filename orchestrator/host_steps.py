"""The prompts for the main assistant's steps, made from the run's state and a prompt file.

Wording lies in the prompt files; tags, commands and what is shown are decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.open_questions import asks_first
from orchestrator.strategy_result import settled_lines
from orchestrator.summary import summary
from quality_reviewer.ask import answered_alone, items_of, questions
from quality_reviewer.items import count_items, for_user
from quality_reviewer.questions import is_own_list
from quality_reviewer.scale import designs_itself, review_of
from shared.candidates import read_found
from shared.git.kept import is_kept
from shared.qr.types import (
    AGENT,
    ASSISTANT,
    FAIL,
    NOT_CHECKED,
    SCRIPT,
    TODO,
    blocking,
    blocking_severities,
    computed_verdict,
)
from shared.requirements_record import lane_of
from shared.resources import answer_path, answer_word, command, fill, read_prompt
from shared.steps.brief import (
    MODES_OF_MILESTONES,
    earlier_plans,
    edits_file,
    item_line,
    modes_of,
    variant_of,
    with_commands,
)
from shared.steps.slices import answer_lines
from shared.steps.work import work_task
from shared.steps.workflow import Context, Step
from state.actors import HOST, WRITER
from state.phases import CODE_PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.builders import Block
    from shared.qr.types import Item
    from state.phases import Phase


def init(ctx: Context, prompt: str) -> Block:
    """Return the prompt that says that the run has started and names the next step."""
    block = ctx.block().task(read_prompt("orchestrator", "planner", prompt))
    return block.next("done", ctx.state.command("step", "planner", "2"))


def context(ctx: Context, prompt: str) -> Block:
    """Return the prompt that asks the main assistant to write down how it understands the task."""
    state = ctx.state
    whole = designs_itself(state.run)
    answer = "design.json" if whole else "context.json"
    slots = {"file": answer_path(state.state_dir, answer)}
    if whole:
        slots["schema"] = command("plan", "schema", "--kind", "risk")
    name = f"{prompt}-and-design" if whole else prompt
    text = fill(read_prompt("orchestrator", "planner", name), slots)
    if whole and state.run.review == "full":
        text += "\n\n" + read_prompt("architect", "plan_design", "plan-design-execute-knowledge")
    if not state.config["config"]["verify"] and not read_found(state.state_dir).lines():
        text += "\n\n" + read_prompt("orchestrator", "planner", "unverified")
    if is_kept(state.run.repository):
        text += "\n\n" + read_prompt("orchestrator", "planner", "no-git")
    if lane_of(state.state_dir):
        from orchestrator.requirements_text import entries_of

        count = str(len(entries_of(state.run.request)))
        lane = read_prompt("orchestrator", "planner", f"{prompt}-requirements")
        text += "\n\n" + fill(lane, {"count": count})
    settled = settled_lines(state)
    if settled:
        text += "\n\n" + read_prompt("orchestrator", "planner", f"{prompt}-strategy")
    block = with_commands(ctx, text, asks=True, first=True)
    rules = read_prompt("orchestrator", "planner", f"{prompt}-rules")
    if whole:
        rules += "\n" + read_prompt("architect", "plan_design", "plan-design-execute-rules")
    block.rules(rules)
    block.data("request", state.run.request)
    block.data("settled", "\n".join(settled))
    block.data("answers", answer_lines(ctx.plan.checkpoints, state.database.answers(state.run)))
    title = "submodules, empty in the worktree unless [worktree] setup fills them"
    block.data(title, "\n".join(state.config["submodules"]))
    if not whole:
        return block.next("done", state.command("context", "set", "--file", answer_word(answer)))
    block.data(MODES_OF_MILESTONES, modes_of(ctx))
    block.data("earlier plans", earlier_plans(ctx))
    words = ("plan", "done", "--phase", "plan-design", "--batch", answer_word(answer))
    return block.next("done", state.command(*words))


def work(ctx: Context, script: str) -> Block:
    """Return the prompt of a work step: for an agent in a full review, else for the assistant."""
    state, phase = ctx.state, ctx.phase
    if does_all_work(ctx):
        return work_task(ctx, script, agent=False)
    agents = script.partition(".")[2].replace("_", "-")
    words = ["step", agents, *(["2"] if variant_of(ctx) and phase == "plan-design" else [])]
    text = read_prompt("orchestrator", "planner", "dispatch")
    if ctx.iteration > 1 and phase == "plan-code":
        file = answer_word(edits_file(ctx))
        text += "\n\n" + fill(
            read_prompt("orchestrator", "planner", "dispatch-fix"),
            {
                "file": file,
                "batch": state.command("plan", "batch", "--file", file),
            },
        )
    block = with_commands(ctx, text, asks=phase in CODE_PHASES)
    _say_why(block, ctx)
    prose = all(m.is_documentation_only for m in ctx.plan.milestones)
    role = WRITER if phase in CODE_PHASES and prose else ctx.step.agent or ""
    block.dispatch(role, [state.command(*words)], model=state.model(role))
    return block.next("done", state.command("step", ctx.workflow.name))


def does_all_work(ctx: Context) -> bool:
    """Return whether the host designs and writes the change itself, without agents of the roles."""
    return bool(ctx.state.run.alone) or review_of(ctx.state, ctx.plan)[0] != "full"


def _say_why(block: Block, ctx: Context) -> None:
    """Add to the prompt of the first review round how much review the plan gets and why."""
    if ctx.iteration == 1:
        block.data("review", ": ".join(review_of(ctx.state, ctx.plan)))


def review(ctx: Context) -> Block:
    """Return the prompt that starts a reviewer for each group of unanswered review questions."""
    state, phase = ctx.state, ctx.phase
    groups = sorted({i.group or "1" for i in items_of(ctx) if i.status == TODO}, key=int)
    if not groups:  # the last answer was stored by a command that then died
        return gate(Context(ctx.workflow, ctx.number + 1, state))
    runs = [state.command("step", f"{phase}-qr", "--group", group) for group in groups]
    again = ctx.iteration > 1
    is_own = is_own_list(i.check for i in items_of(ctx))
    if state.run.alone or is_own or (again and answered_alone(items_of(ctx))):
        own = Context(ctx.workflow, ctx.number, state, {"group": groups[0], "by": HOST})
        return _with_found(questions(own), ctx)
    alone = state.command("qr", "own", "--phase", phase)
    name = "review-again" if again else "review" if len(runs) == 1 else "review-parallel"
    block = ctx.block().task(read_prompt("orchestrator", "planner", name))
    _say_why(block, ctx)
    model = state.model("quality-reviewer")
    block.dispatch("quality-reviewer", runs, parallel=len(runs) > 1, model=model)
    block.next("done", state.command("step", ctx.workflow.name))
    _with_found(block, ctx)
    return block if again else block.next("alone", alone)


def _with_found(block: Block, ctx: Context) -> Block:
    """Add what the program has found and what blocks whatever reviewers answer (SD-6, PL-24)."""
    found = [i for i in blocking(items_of(ctx), ctx.iteration) if i.by == SCRIPT]
    if found:
        lines = "\n".join(item_line(i._asdict()) for i in found)
        block.data("blocks already: fix it now, then `fixed`, or in a round of its own", lines)
        step = ctx.workflow.steps[ctx.workflow.number(ctx.phase, "execute")]
        agent = step.agent if does_all_work(ctx) else None
        block.next("fixed", ctx.state.command("plan", "done", "--phase", ctx.phase, role=agent))
    return block


def gate(ctx: Context) -> Block:
    """Return the prompt with a review's figures and computed verdict, to pass or fail the phase."""
    state, phase = ctx.state, ctx.phase
    if state.database.phase(state.run, phase)[0] == "COMPLETE":
        return freeze(ctx)
    items = items_of(ctx)
    verdict = computed_verdict(items, ctx.iteration)
    slots = {"verdict": verdict, "figures": _figures(items, ctx.iteration)}
    slots["reason"], rebase = answer_word("reason.md"), state.command("mode", "rebase")
    block = ctx.block().task(fill(read_prompt("orchestrator", "planner", "gate"), slots))
    rows = [i for i in items if i.status in ("FAIL", "NOT_CHECKED", "TODO")]
    blocks = {i.id for i in blocking(items, ctx.iteration)}
    marked = (f"{_weight(i, blocks)}: {item_line(i._asdict())}" for i in rows)
    block.data("answers", "\n".join(_answers_by(items, ctx.iteration)))
    block.data("items", "\n".join(marked).replace("planner mode rebase", rebase))
    _converge(block, ctx, items)
    for choice in ("pass", "fail"):
        words = ["qr", "gate", "--phase", phase, "--verdict", choice]
        if choice != verdict:
            words += ["--reason-file", answer_word("reason.md")]
        block.next(choice, state.command(*words))
    return block


def freeze(ctx: Context) -> Block:
    """Return the prompt to freeze the plan, all gates being passed."""
    block = ctx.block("freeze").task(read_prompt("orchestrator", "planner", "freeze"))
    return block.next("done", ctx.state.command("plan", "freeze"))


def _weight(item: Item, blocks: set[str]) -> str:
    if item.status == NOT_CHECKED:
        return "never blocks"
    return "blocks" if item.id in blocks else "open"


def _answers_by(items: list[Item], iteration: int) -> Iterator[str]:
    """Yield the figures of the program's answers, of agents', of the assistant's own."""
    whose = {SCRIPT: "script", AGENT: "agents", ASSISTANT: "the assistant itself", None: "nobody"}
    for key, name in whose.items():
        own = [i for i in items if (SCRIPT if i.by == SCRIPT else i.answered_by) == key]
        figures = count_items(own, iteration)
        if own:
            yield f"{name}: " + ", ".join(f"{n} {word}" for word, n in figures.items() if n)


def _figures(items: list[Item], iteration: int) -> str:
    number = len(blocking(items, iteration))
    which = ", ".join(blocking_severities(iteration))
    if not any(i.status == FAIL for i in items):
        return "Nothing blocks."
    if not number:
        return f"Nothing blocks (in this round {which} would)."
    return f"{number} of {len(items)} items block (in this round {which} do)."


def _converge(block: Block, ctx: Context, items: list[Item]) -> None:
    """Add a question to the user about review items that block for the third round (PL-25)."""
    stuck = [i.id for i in for_user(items, ctx.iteration)]
    if not stuck:
        return
    state = ctx.state
    options = [
        ("fail", "Go on: another round."),
        ("accept", "Accept it, for a reason that the plan shows (only a person may run it)."),
        ("cancel", "Give the run up (only a person may run it)."),
    ]
    block.ask("stuck", f"{', '.join(stuck)} came back for the third time. What now?", options)
    for name in stuck:
        words = ("qr", "accept", name, "--phase", ctx.phase)
        block.person(state.typed(*words, "--reason-file", answer_word("reason.md")))
    block.person(state.typed("cancel"))


def approval(ctx: Context, prompt: str) -> Block:
    """Return the prompt with the plan's summary and the approval command only a person may run."""
    state = ctx.state
    state.check_unedited()
    name = f"{prompt}-again" if state.run.revision > 1 else prompt
    block = ctx.block().task(read_prompt("orchestrator", "executor", name))
    block.rules(read_prompt("orchestrator", "executor", f"{prompt}-rules"))
    block.data("summary", summary(state))
    if (auto := state.database.auto(state.run)) is not None:
        from quality_reviewer.risk import beyond

        reasons = beyond(ctx.plan, state.config["config"], auto)
        block.data("beyond the approval in advance", "\n".join(reasons))
    block.next("approved", state.command("exec", "run"))
    block.next("remarks", state.command("plan", "revise", "--file", answer_word("remarks.md")))
    return block.person(state.approving)


# pattern functions


def init_step(name: str, prompt: str) -> Step:
    """Make the first step of a workflow."""
    return Step(name, "init", lambda ctx: init(ctx, prompt))


def verify_step(name: str, prompt: str) -> Step:
    """Make the step in which the main assistant writes down how it understands the task."""
    return Step(name, "verify", asks_first(lambda ctx: context(ctx, prompt)))


def execute_dispatch_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Make a step that an agent works on; `script` (`folder.module`) names its prompt module."""
    handler = asks_first(lambda ctx: work(ctx, script))
    return Step(name, "execute", handler, phase=phase, agent=agent)


def qr_dispatch_step(name: str, *, phase: Phase) -> Step:
    """Make the workflow step that starts the reviewers of a phase."""
    return Step(name, "qr", asks_first(review), phase=phase)


def qr_gate_step(name: str, *, phase: Phase, on_fail: int) -> Step:
    """Make the step that decides a phase: a pass goes on, a fail goes back to step `on_fail`."""
    return Step(name, "gate", asks_first(gate), phase=phase, on_fail=on_fail)


def person_step(name: str, prompt: str) -> Step:
    """Make a workflow step that waits for a command that only a person may run."""
    return Step(name, "person", lambda ctx: approval(ctx, prompt))
