"""Store the verdict on an answer: accept it, have it written again, choose anew, or give up (ST-5).

At most two revisions of answers and one retry of the strategy; one more of them gives the run up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.strategy import after, number_of
from orchestrator.strategy_result import store
from orchestrator.strategy_route.answers import read_answer
from orchestrator.strategy_route.bundles import find_bundles
from orchestrator.strategy_route.opening import at_work, check_step, find_strategy, move
from orchestrator.strategy_route.strategic_plan import CREATE_WORKFLOW
from shared.bounded_toml import MOST_BYTES, parse
from shared.config import own_config
from shared.strategy_record import DONE, FAILED, WORKFLOW
from shared.strategy_text import render_entry, render_verdict
from state.actors import HOST
from state.beneath import Beneath
from state.errors import Problem, Refused
from state.stages import IDLE
from state.written_json import TEXT, TEXTS, an_object, problems_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from shared.strategy_record import Strategy

    Json = dict[str, Any]

APPROVE, REVISE, RETRY, FAIL = "APPROVE", "REVISE", "RETRY", "FAIL"
VERDICTS = (APPROVE, REVISE, RETRY, FAIL)
MOST = {REVISE: 2, RETRY: 1}
_FIELDS: Json = {
    "reason": TEXT, "issues": TEXTS, "instruction": TEXT,
    "replan": {"enum": ("local", "partial", "full", "clarify")},
}  # fmt: skip
_FORM = '{"reason": "…", "issues": ["…"], "instruction": "…"}'
MOST_CHARACTERS = 2_000


def judge(state_dir: str | None, verdict: str, file: str | None) -> State:
    """Store a verdict in §7 and go on from there; repeated, change nothing.

    Beyond the limit of revisions or retries, FAIL is stored instead.
    """
    state = find_strategy(state_dir)
    given = _checked(verdict, file, state)
    if state.run.status != IDLE and _is_last(state, verdict, given):
        return state
    with at_work(state, "verdict") as facts:
        at_validation = state.run.step in (number_of("validation"), number_of("extend"))
        if not at_validation and facts.verdicts and _same(facts.verdicts[-1], verdict, given):
            return state
        ends = verdict in (APPROVE, FAIL)
        check_step(state, ("validation", "extend") if ends else ("validation",), "verdict")
        if state.run.step == number_of("extend"):
            _end_extension(state, facts, verdict)
        entry = {"attempt": facts.attempt, "verdict": verdict, **given}
        used = sum(one["verdict"] == verdict for one in facts.verdicts)
        if used >= MOST.get(verdict, used + 1):
            times = "once" if MOST[verdict] == 1 else f"{MOST[verdict]} times"
            limit = f"{verdict} was used {times} already, which is the limit"
            entry |= {"verdict": FAIL, "asked": verdict}
            entry["issues"] = [*given.get("issues", []), limit]
        facts.verdicts.append(entry)
        if entry["verdict"] == RETRY:
            facts.attempt += 1
        store(state.state_dir, facts)
        _follow(state, entry)
    return state


def _end_extension(state: State, facts: Strategy, verdict: str) -> None:
    """End the goals of a self-extension; Refused while what it wanted is not made.

    That is a workflow of that name, or the command among the verify commands of planner.toml.
    """
    wanted = (facts.plan or {})["self_extension"]
    root, text = state.run.repository, ""
    if wanted["action"] == CREATE_WORKFLOW:
        name = wanted["workflow_name"]
        text = "" if name in find_bundles(root) else f"the workflow {name} is not made"
    elif wanted["command"] not in _verify_commands(root):
        text = f"planner.toml has no `{wanted['command']}` among [verify] commands"
    if verdict == APPROVE and text:
        allowed = f"make it first; {FAIL}, with the reason, where it cannot be made"
        raise Refused("refused", "verdict", text, allowed, state.command("step", WORKFLOW))
    facts.goals = dict.fromkeys(facts.goals, DONE if verdict == APPROVE else FAILED)


def _verify_commands(root: str) -> Sequence[object]:
    """Return the verify commands in the planner.toml of a working tree, committed or not."""
    try:
        text = Beneath(root).read(own_config(root), MOST_BYTES) or b""
        found = parse(text).get("verify", {}).get("commands", [])
    except (
        ValueError,
        AttributeError,
        Refused,
    ):  # it is refused, with its fault, when a plan begins
        return []
    return found if isinstance(found, list) else []


def _follow(state: State, entry: Json) -> None:
    verdict = entry["verdict"]
    if verdict in (REVISE, RETRY):
        move(state, after(state.run.step, verdict))
        return
    action = "close" if verdict == APPROVE else "cancel"
    with state.database:
        state.move(action, HOST, detail=entry.get("reason", ""))


def _is_last(state: State, verdict: str, given: Json) -> bool:
    """Return whether a run that has ended did so by this verdict."""
    from shared.strategy_record import read_strategy

    verdicts = read_strategy(state.state_dir).verdicts
    return bool(verdicts) and _same(verdicts[-1], verdict, given)


def _same(stored: Json, verdict: str, given: Json) -> bool:
    asked = stored.get("asked", stored["verdict"])
    known = {name: stored[name] for name in _FIELDS if name in stored}
    if "asked" in stored:
        known["issues"] = known["issues"][:-1]
        known = known if known["issues"] or "issues" in given else _without(known, "issues")
    return (asked, known) == (verdict, given)


def _without(values: Json, name: str) -> Json:
    return {key: value for key, value in values.items() if key != name}


def _checked(verdict: str, file: str | None, state: State) -> Json:
    """Return what a verdict says, from its file; Refused with every fault."""
    if file is None:
        if verdict == APPROVE:
            return {}
        command = state.command("strategy", "verdict", verdict, "--file", "answers/verdict.json")
        text = f"{verdict} says why, in a file"
        raise Refused("usage", "--file", text, f"write {_FORM} into answers/verdict.json", command)
    value = read_answer(state.state_dir, file)
    needed = [] if verdict == APPROVE else ["reason"]
    needed += ["instruction"] if verdict in (REVISE, RETRY) else []
    problems = problems_in(value, an_object(_FIELDS, needed, _FORM), "verdict")
    size = len(str(value))
    if not problems and size > MOST_CHARACTERS:
        text = f"it has {size} characters"
        problems.append(Problem("invalid", "verdict", text, f"at most {MOST_CHARACTERS}"))
    if problems:
        raise Refused.of(problems)
    return dict(value)


def has_failed(facts: Strategy) -> bool:
    """Return whether the last verdict gave the run up."""
    return bool(facts.verdicts) and facts.verdicts[-1]["verdict"] == FAIL


def tried(facts: Strategy) -> str:
    """Return what was tried: the plan of each attempt, what was done for it, the verdicts on it."""
    parts = []
    for entry in facts.plans:
        attempt, plan = entry["attempt"], entry["plan"]
        parts.append(f"Attempt {attempt}: {plan['route_to']} – {plan.get('approach', '')}".strip())
        own = [one for one in facts.progress if one["attempt"] == attempt]
        parts += [render_entry(one, number) for number, one in enumerate(own, 1)]
        parts += [render_verdict(one) for one in facts.verdicts if one["attempt"] == attempt]
    return "\n\n".join(parts)
