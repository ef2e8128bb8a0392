"""What each kind of step prints: a block from the run's state and a prompt file.

Wording lies in the prompt files; tags, commands and what is shown are decided here.
"""

from __future__ import annotations

import os

from shared import sessions
from shared.agents import HOST, item_line, items_of, variant_of, with_commands, work_task
from shared.qr.items import count_items, needs_user
from shared.qr.types import (
    AUTHORS,
    TODO,
    blocking_severities,
    computed_verdict,
    is_blocking,
)
from shared.resources import (
    answer_path,
    answer_word,
    archived_plan,
    fill,
    read_prompt,
    superseded_plan_path,
)
from state import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from shared.builders import Block
    from shared.qr.types import Item
    from shared.run import State
    from shared.workflow import Context


def init(ctx: Context, prompt: str) -> Block:
    """Say that the run has begun and pass on."""
    block = ctx.block().task(read_prompt("orchestrator", "planner", prompt))
    return block.next("done", ctx.state.command("step", "planner", "2"))


def context(ctx: Context, prompt: str) -> Block:
    """Ask the host to write down the task as it has understood it."""
    state = ctx.state
    file = answer_path(state.state_dir, "context.json")
    text = fill(read_prompt("orchestrator", "planner", prompt), {"file": file})
    block = with_commands(ctx, text, asks=True)
    block.rules(read_prompt("orchestrator", "planner", f"{prompt}-rules"))
    block.data("request", state.run.request)
    block.data("guard", unguarded(state))
    block.data(
        "submodules, empty in the worktree unless [worktree] setup fills them",
        "\n".join(state.config["submodules"]),
    )
    return block.next(
        "done", state.command("context", "set", "--file", answer_word("context.json"))
    )


def unguarded(state: State) -> str:
    """Return that no hook can hold the mode of this session; empty where one can, or none is on."""
    agent = state.database.agent
    if state.database.planning(agent) is None or sessions.is_published(agent):
        return ""
    return f"{sessions.folder()} cannot be written, so no hook holds this session"


def work(ctx: Context, script: str) -> Block:
    """Give a work step to the host, in full to an agent; open questions come first."""
    state, phase = ctx.state, ctx.phase
    answers = state.database.answers(state.run)
    waiting = [c for c in state.plan["checkpoints"] if c["id"] not in answers]
    if waiting:
        return _questions(ctx, waiting)
    if state.review[0] != "full":
        return work_task(ctx, script, agent=False)
    words = ["step", phase, "2"] if variant_of(ctx) and phase == "plan-design" else ["step", phase]
    block = with_commands(ctx, read_prompt("orchestrator", "planner", "dispatch"), asks=True)
    block.data("review", ": ".join(state.review))
    block.dispatch(ctx.step.agent or "", [state.command(*words)])
    return block.next("done", state.command("step", "planner"))


def _questions(ctx: Context, waiting: list[dict[str, Any]]) -> Block:
    """Relay to the user what an agent has asked."""
    state = ctx.state
    folder = answer_path(state.state_dir, "")
    text = fill(read_prompt("orchestrator", "planner", "ask"), {"folder": folder})
    block = ctx.block().task(text)
    for asked in waiting:
        options = [(o["key"], o["label"]) for o in asked["options"]]
        block.ask(asked["id"], asked["question"], options, multi=asked["multi"])
    for asked in waiting:
        name = asked["id"]
        for option in asked["options"]:
            key = option["key"]
            block.next(f"{name} {key}", state.command("context", "answer", name, key))
        words = ("context", "answer", name, "--file", answer_word(f"{name}.md"))
        block.next(f"{name} other", state.command(*words))
    return block


def review(ctx: Context) -> Block:
    """Send out a reviewer for each group that has questions left."""
    state, phase = ctx.state, ctx.phase
    groups = sorted({i.group or "1" for i in items_of(ctx) if i.status == TODO})
    groups.sort(key=len)  # "10" after "9"
    if not groups:  # the last answer was stored by a command that then died
        return gate(ctx)
    runs = [state.command("step", f"{phase}-qr", "--group", group) for group in groups]
    name = "review" if len(runs) == 1 else "review-parallel"
    block = ctx.block().task(read_prompt("orchestrator", "planner", name))
    block.data("review", ": ".join(state.review))
    block.dispatch("quality-reviewer", runs, parallel=len(runs) > 1)
    block.next("done", state.command("step", "planner"))
    alone = state.command("step", f"{phase}-qr", "--group", groups[0], "--by", HOST)
    return block.next("alone", alone)


def gate(ctx: Context) -> Block:
    """Show figures and the verdict that follows; deciding otherwise needs a reason."""
    state, phase = ctx.state, ctx.phase
    if state.database.phase(state.run, phase)[0] == "COMPLETE":
        block = ctx.block().task(read_prompt("orchestrator", "planner", "freeze"))
        return block.next("done", state.command("plan", "freeze"))
    items = items_of(ctx)
    verdict = computed_verdict(items, ctx.iteration)
    reason = answer_path(state.state_dir, "reason.md")
    slots = {"verdict": verdict, "figures": _figures(items, ctx.iteration), "reason": reason}
    block = ctx.block().task(fill(read_prompt("orchestrator", "planner", "gate"), slots))
    rows = [i for i in items if i.status in ("FAIL", "NOT_CHECKED", "TODO")]
    marked = (
        f"{'blocks' if is_blocking(i, ctx.iteration) else 'open'}: {item_line(i.to_json())}"
        for i in rows
    )
    for by in AUTHORS:
        figures = count_items([i for i in items if i.by == by], ctx.iteration)
        counted = ", ".join(f"{n} {name}" for name, n in figures.items() if n)
        block.data(f"answered by {by}", counted)
    block.data("items", "\n".join(marked))
    _converge(block, ctx, items)
    for choice in ("pass", "fail"):
        words = ["qr", "gate", "--phase", phase, "--verdict", choice]
        if choice != verdict:
            words += ["--reason-file", answer_word("reason.md")]
        block.next(choice, state.command(*words))
    return block


def _figures(items: list[Item], iteration: int) -> str:
    blocking = sum(is_blocking(i, iteration) for i in items)
    which = ", ".join(blocking_severities(iteration))
    if not blocking:
        return f"Nothing blocks (in this round {which} would)."
    return f"{blocking} of {len(items)} items block (in this round {which} do)."


def _converge(block: Block, ctx: Context, items: list[Item]) -> None:
    """Turn to the user where items have blocked for three rounds (PL-25)."""
    stuck = [i.id for i in items if needs_user(i, ctx.iteration)]
    if not stuck:
        return
    state = ctx.state
    options = [
        ("fail", "Go on: another round."),
        ("accept", "Let it stand, for a reason that the plan shows (the person's command)."),
        ("cancel", "Give the run up (the person's command)."),
    ]
    block.ask("stuck", f"{', '.join(stuck)} came back for the third time. What now?", options)
    for name in stuck:
        words = ("qr", "accept", name, "--phase", ctx.phase)
        block.person(state.command(*words, "--reason-file", answer_word("reason.md")))
    block.person(state.command("cancel"))


def approval(ctx: Context, prompt: str) -> Block:
    """Show what waits for approval and the command that only a person types."""
    state = ctx.state
    block = ctx.block().task(read_prompt("orchestrator", "executor", prompt))
    block.rules(read_prompt("orchestrator", "executor", f"{prompt}-rules"))
    block.data("summary", _summary(state))
    block.next("approved", state.command("exec", "apply"))
    block.next("remarks", state.command("plan", "revise", "--file", answer_word("remarks.md")))
    digest = state.run.digest or ""
    return block.person(state.command("mode", "approve", digest))


def program(ctx: Context, prompt: str, words: tuple[str, ...]) -> Block:
    """Name the one command that does the step."""
    block = ctx.block().task(read_prompt("orchestrator", "executor", prompt))
    return block.next("done", ctx.state.command(*words))


def paused(ctx: Context) -> Block:
    """Say that nothing new begins, why, and what goes on."""
    block = ctx.block().task(read_prompt("orchestrator", "planner", "paused"))
    block.data("why", ctx.state.halted)
    return block.next("resume", ctx.state.command("resume"))


def done(ctx: Context, here: str) -> Block:
    """Say that the step's work is complete and pass on."""
    run = ctx.state.run
    if run.status in ("COMPLETED", "CANCELLED"):
        how = run.status.lower()
        if run.commit_id:
            back = " and then taken back" if run.status == "CANCELLED" else ""
            how = f"completed as commit {run.commit_id}{back}"
        block = ctx.block().task(f"The run is {how}. Nothing is left to do.")
        return block.data("why", "" if run.commit_id else ctx.state.halted)
    return ctx.block().task("This step is done; go on.").next("done", here)


def _verified(results: list[dict[str, Any]]) -> str:
    """Return what the project's commands said; the canary asked all of them together."""
    if not results:
        return "NOT VERIFIED"
    proof = {
        True: "; with the changed code broken this fails, so some of it is run",
        False: "; with the changed code broken this still passes, so none of it is run",
    }
    known = "fails on the base as well, so it tells NOTHING of the change"
    said = "; ".join(
        f"{r['command']}: {known if r['outcome'] == 'known-failure' else r['outcome']}"
        for r in results
    )
    return said + proof.get(results[0]["exercised"], "")


def _revised(state: State, plan: dict[str, Any]) -> list[str]:
    """Return what differs from the revision before, by the seals of both."""
    path = superseded_plan_path(state.state_dir, plan["revision"] - 1)
    if not os.path.exists(path):
        return []
    old, new = store.read_plan(path)["seals"], plan["seals"]
    changed = [n for n in sorted({*old, *new}) if old.get(n) != new.get(n) and "-" in n]
    return [f"changed since revision {plan['revision'] - 1}: {', '.join(changed) or 'nothing'}"]


def _reviewed(plan: dict[str, Any]) -> str:
    count = sum(len(outcome["judged"]) for outcome in plan["reviews"])
    if not count:
        return "review: no reviewer has read this plan"
    who = "the assistant itself" if any(o["alone"] for o in plan["reviews"]) else "reviewers"
    rounds = max(outcome["iteration"] for outcome in plan["reviews"])
    return f"review: {count} questions answered by {who}" + (
        f"; a gate took {rounds} rounds" if rounds > 1 else ""
    )


def _summary(state: State) -> str:
    plan, run = state.plan, state.run
    overview = plan["overview"]
    files = [
        c["file"]
        for m in plan["milestones"]
        for c in (*m["code_changes"], *m["documentation"]["changes"])
    ]
    lines = [
        f"{overview['title']} (revision {run.revision}, digest {run.digest})",
        overview["approach"],
        *(f"{d['id']}: {d['decision']}" for d in plan["planning_context"]["decision_log"]),
        *(f"assumed: {text}" for text in plan["context"]["assumptions"]),
        *(f"risk: {r['risk']}" for r in plan["planning_context"]["known_risks"]),
        f"files: {', '.join(files)}; the commit adds this plan as {archived_plan(run.run_id)}",
        f"verify: {_verified(plan['verify'])}",
        *_revised(state, plan),
        *(f"remark: {text}" for text in plan["remarks"]),
        _reviewed(plan),
        *(
            f"passed against the figures, {o['phase']}: {o['reason']}"
            for o in plan["reviews"]
            if o["reason"]
        ),
    ]
    lines += [
        f"open: {item['id']} {item['severity']} {item['finding']}"
        for outcome in plan["reviews"]
        for item in outcome["open"]
    ]
    return "\n".join(lines)
