"""Store the strategic plan of a run and follow its route: out of the strategy, or to its next step.

The route is the model's decision; here it is only followed (ST-3).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.run.choices import leave_strategy
from orchestrator.run.start import Started, start_run
from orchestrator.strategy import after, number_of
from orchestrator.strategy_result import store
from orchestrator.strategy_route.answers import read_answer
from orchestrator.strategy_route.opening import (
    at_work,
    check_step,
    find_strategy,
    move,
    recalled,
)
from orchestrator.strategy_route.strategic_plan import check_plan
from orchestrator.strategy_route.tool_names import own_names
from shared.git.files import remove_tree
from shared.strategy_record import (
    CHAT,
    EXECUTOR,
    NONE,
    PASS,
    PENDING,
    SELF_EXTEND,
    WORKFLOW,
    read_strategy,
)
from state.actors import HOST
from state.errors import Refused
from state.stages import COMPLETED

if TYPE_CHECKING:
    from typing import Any

    from shared.run import State
    from shared.strategy_record import Strategy

    Json = dict[str, Any]


class Decided(NamedTuple):
    """What became of a run: it goes on at a step of the strategy, was started, or is direct."""

    state: State
    started: Started | None = None
    direct: bool = False


def set_plan(state_dir: str | None, file: str, agent: str | None) -> Decided:
    """Store a strategic plan and follow its route; repeated with the same plan, go on from there.

    Raises Refused with every fault of the plan.
    """
    state = find_strategy(state_dir)
    value = read_answer(state.state_dir, file)
    if state.run.workflow != WORKFLOW:
        _check_same(state, value)
        return _started(state, agent)
    with at_work(state, "set") as facts:
        waits = state.run.step == number_of("strategy")
        if waits or facts.plan is None:
            _check_passed(state, facts)
            check_step(state, ("strategy",), "set")
        plan = check_plan(value, facts, own_names(state))
        if not waits:
            if not _is_set(facts, plan):
                check_step(state, ("strategy",), "set")
            return Decided(state)
        if not _is_set(facts, plan):
            facts.plans.append({"attempt": facts.attempt, "plan": plan})
            facts.goals = {goal["id"]: PENDING for goal in plan["goals"]}
            known = {tuple(block["node_ids"]) for block in facts.gathered}
            missing = recalled(state, plan.get("refresh_context_request", []))
            facts.gathered += [b for b in missing if tuple(b["node_ids"]) not in known]
            store(state.state_dir, facts)
        if plan["route_to"] != EXECUTOR or facts.mode == CHAT:
            move(state, after(state.run.step, plan["route_to"]))
            return Decided(state)
        if plan.get("plan_type") == SELF_EXTEND:
            move(state, after(state.run.step, SELF_EXTEND))
            return Decided(state)
        if plan["depth"] == NONE:
            _close(state, plan)
            return Decided(state, direct=True)
        with state.database as database:
            database.set_run(state.run.run_id, depth=plan["depth"])
            database.audit(state.run, HOST, "strategy", after=plan["depth"], detail=_why(plan))
    leave_strategy(state)
    return _started(state, agent)


def _why(plan: Json) -> str:
    return str(plan.get("reason") or plan["success_criteria"])


def _close(state: State, plan: Json) -> None:
    """End the run without a plan: its row in the database stays, its files go."""
    with state.database:
        state.move("close", HOST, detail=_why(plan), depth=NONE)
    remove_files(state)


def remove_files(state: State) -> None:
    """Remove the files of a run that ended without a plan; a database among them stays."""
    if os.path.dirname(state.database.path) != state.state_dir:
        remove_tree(state.state_dir)  # nothing happens where it is gone
        return
    kept = os.path.basename(state.database.path)
    for name in os.listdir(state.state_dir):
        if not name.startswith(kept):
            remove_tree(os.path.join(state.state_dir, name))


def _started(state: State, agent: str | None) -> Decided:
    return Decided(state, start_run(os.getcwd(), None, state.state_dir, agent=agent))


def _is_set(facts: Strategy, plan: Json) -> bool:
    last = facts.plans[-1] if facts.plans else {}
    return bool(last) and (last["attempt"], last["plan"]) == (facts.attempt, plan)


def _check_same(state: State, value: object) -> None:
    facts = read_strategy(state.state_dir)
    checked = check_plan(value, facts, lambda _: True)  # the names were judged when it was set
    if state.run.status == COMPLETED or not _is_set(facts, checked):
        text = f"the strategy is chosen; the run is at {state.run.workflow}"
        here = state.command("step", state.run.workflow)
        raise Refused("conflict", "strategy set", text, "go on there", here)


def _check_passed(state: State, facts: Strategy) -> None:
    """Raise Refused while the query analysis, §1, has not passed."""
    if facts.status != PASS:
        text = f"the query analysis (§1) has the status {facts.status}: {facts.why}"
        more = state.command("strategy", "context", "--file", "answers/gathered.json")
        raise Refused("refused", "§1", text, 'gather what is missing, with "status": "pass"', more)
