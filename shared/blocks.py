"""What each kind of step prints: a block from the run's state and a prompt file.

Wording lies in the prompt files; tags, commands and what is shown are decided here.
"""

from __future__ import annotations

import os

from shared.qr.schema import read_review
from shared.qr.types import blocking_severities, computed_verdict, is_blocking
from shared.resources import (
    answer_path,
    answer_word,
    archived_plan,
    command,
    fill,
    read_prompt,
    review_path,
    run_config_path,
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

_SINGLES = (("overview", "overview"), ("knowledge", "invisible_knowledge"))
_BATCHES = {"plan-design": "design.json", "plan-docs": "docs.json"}


def init(ctx: Context, prompt: str) -> Block:
    """Say that the run has begun and pass on."""
    block = ctx.block().task(read_prompt("orchestrator", "planner", prompt))
    return block.next("done", ctx.state.command("step", "planner", "2"))


def context(ctx: Context, prompt: str) -> Block:
    """Ask the host to write down the task as it has understood it."""
    state = ctx.state
    file = answer_path(state.state_dir, "context.json")
    text = fill(read_prompt("orchestrator", "planner", prompt), {"file": file})
    block = _task(ctx, text, asks=True)
    block.rules(read_prompt("orchestrator", "planner", f"{prompt}-rules"))
    block.data("request", state.run.request)
    block.data("submodules, left alone", "\n".join(_run_config(state).get("submodules", [])))
    return block.next(
        "done", state.command("context", "set", "--file", answer_word("context.json"))
    )


def work(ctx: Context, script: str) -> Block:
    """Give the role of a work step its task; after a failed gate, the failing items alone."""
    folder, _, module = script.partition(".")
    state, phase = ctx.state, ctx.phase
    revised = state.run.revision > 1
    variant = "-fix" if ctx.iteration > 1 else "-revise" if revised else ""
    name = f"{ctx.step.name}{variant}"
    slots = {"worktree": state.worktree, "schema": command("plan", "schema", "--kind", "risk")}
    slots["show"] = state.command("plan", "show")
    words = ["plan", "done", "--phase", phase]
    if phase in _BATCHES:
        slots["file"] = answer_path(state.state_dir, _BATCHES[phase])
        words += ["--batch", answer_word(_BATCHES[phase])]
    text = read_prompt(folder, module, name)
    text = fill(text, {k: v for k, v in slots.items() if f"{{{{{k}}}}}" in text})
    block = _task(ctx, text, asks=phase == "plan-code")
    if not variant:
        block.rules(read_prompt(folder, module, f"{ctx.step.name}-rules"))
    plan = state.plan
    if ctx.iteration > 1:
        failed = state.database.outcomes(state.run, phase)[-1]["items"]
        block.data("findings", "\n".join(_item_line(item) for item in failed))
    block.data("remarks", "\n".join(plan.get("remarks", [])))
    block.data("plan", _entities(plan) if variant and phase != "plan-code" else _slice(plan, phase))
    return block.next("done", state.command(*words, role=ctx.step.agent))


def review(ctx: Context) -> Block:
    """Say what the scripts found; nothing waits for a reviewer."""
    items = _items(ctx)
    passed = sum(item.status == "PASS" for item in items)
    block = ctx.block().task(
        f"{len(items)} items, {passed} passed, all decided by script: no reviewer is needed."
    )
    return block.next("done", ctx.state.command("step", ctx.workflow.name, str(ctx.number + 1)))


def gate(ctx: Context) -> Block:
    """Show figures and the verdict that follows; deciding otherwise needs a reason."""
    state, phase = ctx.state, ctx.phase
    if state.database.phase(state.run, phase)[0] == "COMPLETE":
        block = ctx.block().task(read_prompt("orchestrator", "planner", "freeze"))
        return block.next("done", state.command("plan", "freeze"))
    items = _items(ctx)
    verdict = computed_verdict(items, ctx.iteration)
    reason = answer_path(state.state_dir, "reason.md")
    slots = {
        "verdict": verdict,
        "severities": ", ".join(blocking_severities(ctx.iteration)),
        "reason": reason,
    }
    block = ctx.block().task(fill(read_prompt("orchestrator", "planner", "gate"), slots))
    rows = [i for i in items if i.status in ("FAIL", "NOT_CHECKED", "TODO")]
    marked = (
        f"{'blocks' if is_blocking(i, ctx.iteration) else 'open'}: {_item_line(i.to_json())}"
        for i in rows
    )
    block.data("items", "\n".join(marked))
    for choice in ("pass", "fail"):
        words = ["qr", "gate", "--phase", phase, "--verdict", choice]
        if choice != verdict:
            words += ["--reason-file", answer_word("reason.md")]
        block.next(choice, state.command(*words))
    return block


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


def done(ctx: Context, here: str) -> Block:
    """Say that the step's work is complete and pass on."""
    run = ctx.state.run
    if run.status in ("COMPLETED", "CANCELLED"):
        how = run.status.lower()
        if run.commit_id:
            back = " and then taken back" if run.status == "CANCELLED" else ""
            how = f"completed as commit {run.commit_id}{back}"
        return ctx.block().task(f"The run is {how}. Nothing is left to do.")
    return ctx.block().task("This step is done; go on.").next("done", here)


def _task(ctx: Context, text: str, *, asks: bool) -> Block:
    """Return the block with its task; with the project's commands until a person confirms them."""
    config = _run_config(ctx.state)
    digest = config.get("hash")
    if not asks or not digest or ctx.state.database.is_confirmed(digest):
        return ctx.block().task(text)
    note = read_prompt("orchestrator", "planner", "confirm")
    block = ctx.block().task(f"{text}\n\n{note}")
    block.data("commands to confirm", config["text"])
    return block.person(ctx.state.command("config", "confirm", digest))


def _run_config(state: State) -> dict[str, Any]:
    """Return the project's configuration at the base, as `start` stored it."""
    path = run_config_path(state.state_dir)
    found: dict[str, Any] = store.read_json(path) if os.path.exists(path) else {}
    return found


def _items(ctx: Context) -> list[Item]:
    path = review_path(ctx.state.state_dir, ctx.phase)
    return list(read_review(path).items) if os.path.exists(path) else []


def _item_line(item: dict[str, Any]) -> str:
    finding = item["finding"] or item["check"]
    return f"{item['id']} {item['severity']} {item['status']} {item['scope']}: {finding}"


def _slice(plan: dict[str, Any], phase: str) -> str:
    """Return the part of the plan that a phase's work is about, a line for each thing."""
    lines: list[str] = []
    if phase == "plan-design":
        lines = [f"{task['id']}: {task['text']}" for task in plan.get("task_spec", [])]
    for milestone in plan.get("milestones", []):
        lines.append(f"{milestone['id']} v{milestone['version']} {milestone['name']}")
        if phase == "plan-design":
            continue
        lines += [f"  {i['id']} {i['file']}: {i['behavior']}" for i in milestone["code_intents"]]
        if tests := milestone["tests"]["files"]:
            lines.append(f"  tests: {', '.join(tests)}")
        lines += [f"  {d['id']} {d['file']}: {d['text']}" for d in promised_docs(milestone)]
    return "\n".join(lines)


def _entities(plan: dict[str, Any]) -> str:
    """Return every entity with the version that an edit of it must name, a line each."""
    lines = [f"{t['id']}: {t['text']}" for t in plan["task_spec"]]
    lines += [f"{name} v{plan[key]['version']}" for name, key in _SINGLES]
    lines += [f"{e['id']} v{e['version']} {e.get('file', '')} {_title(e)}" for e in _walk(plan)]
    return "\n".join(lines)


def _walk(value: object) -> list[dict[str, Any]]:
    """Return what has an id and a version, in order; changes are not edited and left out."""
    if isinstance(value, list):
        return [e for item in value for e in _walk(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if "id" in value and "version" in value else []
    return own + [e for k, item in value.items() if not k.endswith("changes") for e in _walk(item)]


def _title(entity: dict[str, Any]) -> str:
    names = ("title", "name", "decision", "alternative", "description", "risk", "text", "behavior")
    return next((str(entity[n]) for n in names if entity.get(n)), "")


def promised_docs(milestone: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the documentation entries of a milestone as JSON."""
    documentation = milestone["documentation"]
    found = [documentation["module_comment"]]
    for key in ("docstrings", "algorithm_blocks", "inline_comments"):
        found += documentation[key]
    return [d for d in found if isinstance(d, dict)]


def _verified(result: dict[str, Any]) -> str:
    proof = {
        True: "; it fails when the changed files are made unparsable, so it runs some of them",
        False: "; it stays green when the changed files are made unparsable: it does not use them",
    }
    return f"{result['command']}: {result['outcome']}{proof.get(result['exercised'], '')}"


def _revised(state: State, plan: dict[str, Any]) -> list[str]:
    """Return what differs from the revision before, by the seals of both."""
    path = superseded_plan_path(state.state_dir, plan["revision"] - 1)
    if not os.path.exists(path):
        return []
    old, new = store.read_plan(path)["seals"], plan["seals"]
    changed = [n for n in sorted({*old, *new}) if old.get(n) != new.get(n) and "-" in n]
    return [f"changed since revision {plan['revision'] - 1}: {', '.join(changed) or 'nothing'}"]


def _summary(state: State) -> str:
    plan, run = state.plan, state.run
    overview = plan["overview"]
    files = [
        c["file"]
        for m in plan["milestones"]
        for c in (*m["code_changes"], *m["documentation"]["changes"])
    ]
    verify = plan["verify"]
    lines = [
        f"{overview['title']} (revision {run.revision}, digest {run.digest})",
        overview["approach"],
        *(f"{d['id']}: {d['decision']}" for d in plan["planning_context"]["decision_log"]),
        *(f"assumed: {text}" for text in plan["context"]["assumptions"]),
        f"files: {', '.join(files)}; the commit adds this plan as {archived_plan(run.run_id)}",
        f"verify: {'; '.join(map(_verified, verify)) or 'NOT VERIFIED'}",
        *_revised(state, plan),
    ]
    lines += [
        f"open: {item['id']} {item['severity']} {item['finding']}"
        for outcome in plan["reviews"]
        for item in outcome["open"]
    ]
    return "\n".join(lines)
