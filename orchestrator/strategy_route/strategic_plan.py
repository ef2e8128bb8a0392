"""Check a STRATEGIC_PLAN, the JSON in which a model answers; every fault is told at once (ST-2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orchestrator.strategy_route.bundles import name_problems
from orchestrator.strategy_route.tool_names import named_tools
from shared.strategy_record import (
    CHAT,
    CLARIFY,
    DEPTHS,
    EXECUTOR,
    FULL,
    NONE,
    REFRESH,
    ROUTES,
    SELF_EXTEND,
)
from state.errors import Problem, Refused
from state.written_json import TEXT, TEXTS, an_object, list_of, problems_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shared.strategy_record import Strategy

    Json = dict[str, Any]

TYPE = "STRATEGIC_PLAN"
CREATE_WORKFLOW, CREATE_TOOL = "CREATE_WORKFLOW", "CREATE_TOOL"
MOST_CHARACTERS = 8_000  # 2,000 tokens, the part of the budget that is for output
MOST_GOALS = 50
_EXAMPLE = '{"id": "GOAL_1", "description": "…"}'
_GOAL: Json = {
    **an_object(
        {
            "id": TEXT, "description": TEXT, "priority": {"enum": ("high", "medium", "low")},
            "depends_on": {**TEXT, "type": ["string", "array"], "items": TEXT,
                           "allowed": "the id of a goal, or a list of ids"},
        },
        ("id", "description"),
        _EXAMPLE,
    ),
    "why": "a goal says what, not how",
}  # fmt: skip
_FAILURE = an_object(
    {"reason": TEXT, "failed_sources": TEXTS, "instruction": TEXT, "lesson_learned": TEXT},
    (),
    '{"reason": "…", "instruction": "…"}',
)
_REFRESH = {**TEXTS, "allowed": 'what to gather: ["…"]'}
_MADE: Json = {
    "action": {"enum": (CREATE_WORKFLOW, CREATE_TOOL)}, "workflow_name": TEXT, "tool_name": TEXT,
    "command": TEXT, "required_tools": TEXTS, "reason": TEXT,
}  # fmt: skip
# What each thing that is made must say.
_NEEDED = {CREATE_WORKFLOW: ("workflow_name",), CREATE_TOOL: ("tool_name", "command")}
_FIELDS: Json = {
    "_type": {"enum": (TYPE,)}, "route_to": {"enum": ROUTES}, "depth": {"enum": DEPTHS},
    "goals": list_of(_GOAL, f"[{_EXAMPLE}]", maxItems=MOST_GOALS),
    "approach": TEXT, "success_criteria": TEXT, "reason": TEXT, "context_summary": TEXT,
    "constraints": {"type": "object", "allowed": '{"avoid_sources": ["…"]}'},
    "refresh_context_request": _REFRESH,
    "clarification_question": {**TEXT, "allowed": "the question that the user is asked"},
    "is_retry": {}, "attempt": {}, "previous_failure": _FAILURE,
    "plan_type": {"enum": (SELF_EXTEND,)},
}  # fmt: skip


def check_plan(
    value: object, facts: Strategy, is_own: Callable[[str], bool] = lambda _: False
) -> Json:
    """Return a strategic plan with its defaults filled in; Refused with every fault and its place.

    `is_own` says of a name whether it is of the user's code, which goals may be about.
    What the program knows itself is filled in as well: which attempt this is, and why the one
    before it failed.
    """
    given = value if isinstance(value, dict) else {}
    problems = problems_in(value, _schema(given), "plan")
    size = 0 if problems else len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    if size > MOST_CHARACTERS:
        allowed = f"at most {MOST_CHARACTERS}; say less in each text"
        problems.append(Problem("invalid", "plan", f"the plan has {size} characters", allowed))
    problems += _goal_problems(given, is_own)
    problems += _route_problems(given, facts)
    problems += _retry_problems(given, facts)
    problems += _extension_problems(given, facts)
    if problems:
        raise Refused.of(problems)
    return _completed(given, facts)


def _schema(given: Json) -> Json:
    """Return the schema of a plan, with what its route and type need."""
    route, extends = given.get("route_to"), given.get("plan_type") == SELF_EXTEND
    needed = ["_type", "route_to", "goals", "success_criteria"]
    needed += ["self_extension"] if extends else ["approach", "reason"]
    needed += ["refresh_context_request"] if route == REFRESH else []
    needed += ["clarification_question"] if route == CLARIFY else []
    made = given.get("self_extension")
    action = made.get("action") if isinstance(made, dict) else ""
    form = f'{{"action": "{CREATE_WORKFLOW}", "workflow_name": "…"}}'
    extension = an_object(_MADE, ("action", *_NEEDED.get(str(action), ())), form) if extends else {}
    known = {**_FIELDS, "self_extension": extension}
    return an_object(known, needed, f'{{"_type": "{TYPE}", …}}')


# goals


def _goal_problems(value: Json, is_own: Callable[[str], bool]) -> Iterator[Problem]:
    """Yield what no schema says of goals: none is there, they name tools, their ids do not fit."""
    goals = value.get("goals")
    if goals == [] and value.get("route_to") != CLARIFY:
        allowed = f"{_FIELDS['goals']['allowed']}; none only for {CLARIFY}"
        yield Problem("invalid", "goals", "there is no goal", allowed)
    if not isinstance(goals, list) or len(goals) > MOST_GOALS:
        return
    for number, goal in enumerate(goals):
        if isinstance(goal, dict) and (tools := named_tools(goal.get("description"), is_own)):
            text = f"the goal names a tool: {', '.join(tools)}"
            allowed = "say what is to be reached; how comes later"
            yield Problem("invalid", f"goals[{number}].description", text, allowed)
    yield from _id_problems(goals)


def ids_of(goal: Json) -> list[str]:
    """Return the goals that a goal depends on, each once; written as one id or as a list."""
    given = goal.get("depends_on", [])
    listed = given if isinstance(given, list) else [given]
    return list(dict.fromkeys(one.strip() for one in listed if isinstance(one, str)))


def _id_problems(goals: list[Any]) -> Iterator[Problem]:
    """Yield ids that two goals have, dependencies that are no goal, and cycles."""
    first: dict[str, int] = {}
    needs: dict[str, list[str]] = {}
    for number, goal in enumerate(goals):
        name = goal.get("id") if isinstance(goal, dict) else None
        if not isinstance(name, str) or not name.strip():
            continue
        if name.strip() in first:
            text = f"goals[{first[name.strip()]}] has this id as well"
            yield Problem("invalid", f"goals[{number}].id", text, "an id of its own for each goal")
            continue
        first[name.strip()] = number
        needs[name.strip()] = ids_of(goal)
    known = ", ".join(first) or "no goal has an id"
    for number, goal in enumerate(goals):
        for one in ids_of(goal) if isinstance(goal, dict) else ():
            if one and one not in first:
                at = f"goals[{number}].depends_on"
                yield Problem("invalid", at, f"there is no goal {one}", known)
    for name in _in_cycles(needs):
        at = f"goals[{first[name]}].depends_on"
        yield Problem("invalid", at, f"{name} depends on itself in a circle", "leave one out")


def _in_cycles(needs: dict[str, list[str]]) -> list[str]:
    """Return the names that lie on a cycle, in order."""
    found = []
    for name, direct in needs.items():
        reached: set[str] = set()
        left = list(direct)
        while left:
            one = left.pop()
            if one not in reached:
                reached.add(one)
                left += needs.get(one, [])
        if name in reached:
            found.append(name)
    return found


# what routes and retries need


def _route_problems(value: Json, facts: Strategy) -> Iterator[Problem]:
    route, depth = value.get("route_to"), value.get("depth")
    if route == REFRESH and value.get("refresh_context_request") == []:
        allowed = _REFRESH["allowed"]
        yield Problem("invalid", "refresh_context_request", "this is empty", allowed)
    if "depth" in value and facts.mode == CHAT:
        allowed = "leave it out, or start without --chat"
        yield Problem("invalid", "depth", "a chat changes no code", allowed)
    elif route != EXECUTOR and depth in DEPTHS and depth != NONE:
        text = f"the route {route} has no depth"
        yield Problem("invalid", "depth", text, f"only {EXECUTOR} has one")


def _retry_problems(value: Json, facts: Strategy) -> Iterator[Problem]:
    again = facts.attempt > 1
    told = f"this is attempt {facts.attempt}"
    if "is_retry" in value and value["is_retry"] is not again:
        allowed = "true" if again else "false, or leave it out"
        yield Problem("invalid", "is_retry", told, allowed)
    given = value.get("attempt", facts.attempt)
    if type(given) is not int or given != facts.attempt:
        yield Problem("invalid", "attempt", told, str(facts.attempt))
    if "previous_failure" in value and not again:
        text = f"{told}: nothing has failed yet"
        yield Problem("invalid", "previous_failure", text, "leave it out")


def _extension_problems(value: Json, facts: Strategy) -> Iterator[Problem]:
    extension, at = value.get("self_extension"), "self_extension"
    if value.get("plan_type") != SELF_EXTEND:
        if at in value:
            text = "the plan is not one of self-extension"
            yield Problem("invalid", at, text, f'"plan_type": "{SELF_EXTEND}"')
        return
    if "depth" in value:
        yield Problem("invalid", "depth", "nothing is planned here", "leave it out")
    if facts.mode == CHAT:
        yield Problem("invalid", "plan_type", "a chat makes no workflow", "start without --chat")
    if value.get("route_to") in ROUTES and value["route_to"] != EXECUTOR:
        yield Problem("invalid", "route_to", "what is made has to be carried out", EXECUTOR)
    name = extension.get("workflow_name") if isinstance(extension, dict) else None
    if isinstance(name, str) and name.strip():
        for problem, allowed in name_problems(name):
            yield Problem("invalid", f"{at}.workflow_name", problem, allowed)


def _completed(value: Json, facts: Strategy) -> Json:
    goals = [
        {"id": goal["id"].strip(), "description": goal["description"].strip(),
         "priority": goal.get("priority", "medium"), "depends_on": ids_of(goal)}
        for goal in value["goals"]
    ]  # fmt: skip
    plan: Json = {**value, "goals": goals}
    extends = plan.get("plan_type") == SELF_EXTEND
    if plan["route_to"] == EXECUTOR and facts.mode != CHAT and not extends:
        plan.setdefault("depth", FULL)
    if facts.attempt > 1:
        last = facts.verdicts[-1]
        known = {name: last[name] for name in ("reason", "instruction") if last.get(name)}
        failure = {**known, **plan.get("previous_failure", {})}
        plan |= {"is_retry": True, "attempt": facts.attempt, "previous_failure": failure}
    return plan
