"""Check a STRATEGIC_PLAN, the JSON in which a model answers; every fault is told at once (ST-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.strategy_route import shape
from orchestrator.strategy_route.bundles import name_problems
from orchestrator.strategy_route.shape import Shape
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.strategy_record import Strategy

    Json = dict[str, Any]

TYPE = "STRATEGIC_PLAN"
FIELDS = (
    "_type", "route_to", "depth", "goals", "approach", "success_criteria", "reason",
    "context_summary", "constraints", "refresh_context_request", "clarification_question",
    "is_retry", "attempt", "previous_failure", "plan_type", "self_extension",
)  # fmt: skip
GOAL_FIELDS = ("id", "description", "priority", "depends_on")
FAILURE_FIELDS = ("reason", "failed_sources", "instruction", "lesson_learned")
EXTENSION_FIELDS = (
    "action", "workflow_name", "tool_name", "command", "required_tools", "reason",
)  # fmt: skip
PRIORITIES = ("high", "medium", "low")
CREATE_WORKFLOW, CREATE_TOOL = "CREATE_WORKFLOW", "CREATE_TOOL"
MOST_CHARACTERS = 8_000  # 2,000 tokens, the part of the budget that is for output
MOST_GOALS = 50


def check_plan(value: object, facts: Strategy) -> Json:
    """Return a strategic plan with its defaults filled in; Refused with every fault and its place.

    What the program knows itself is filled in as well: which attempt this is, and why the one
    before it failed.
    """
    found = Shape("plan")
    found.storable(value)
    if not isinstance(value, dict):
        found.wrong("plan", value, f'an object: {{"_type": "{TYPE}", …}}')
    else:
        _check_head(found, value)
        found.only(value, FIELDS, "")
        _check_texts(found, value)
        found.problems += _goal_problems(value)
        _check_route(found, value, facts)
        _check_retry(found, value, facts)
        _check_extension(found, value, facts)
    if found.problems or not isinstance(value, dict):
        raise Refused.of(found.problems)
    return _completed(value, facts)


def _check_head(found: Shape, value: Json) -> None:
    found.one_of(value, "_type", (TYPE,), "")
    found.one_of(value, "route_to", ROUTES, "")
    size = 0 if found.problems else shape.size_of(value)
    if size > MOST_CHARACTERS:
        text = f"the plan has {size} characters"
        found.add("plan", text, f"at most {MOST_CHARACTERS}; say less in each text")


def _check_texts(found: Shape, value: Json) -> None:
    extends = value.get("plan_type") == SELF_EXTEND
    for name in ("approach", "reason"):
        found.text(value, name, "", needed=not extends)
    found.text(value, "success_criteria", "")
    for name in ("context_summary", "clarification_question"):
        found.text(value, name, "", needed=False)
    found.texts(value, "refresh_context_request", "", needed=False)
    if not isinstance(value.get("constraints", {}), dict):
        found.wrong("constraints", value["constraints"], 'an object: {"avoid_sources": ["…"]}')


# goals


def _goal_problems(value: Json) -> Iterator[Problem]:
    goals = value.get("goals")
    example = '[{"id": "GOAL_1", "description": "…"}]'
    if not isinstance(goals, list):
        found = Shape("plan")
        found.wrong("goals", goals, f"a list: {example}", missing="goals" not in value)
        yield from found.problems
        return
    if not goals and value.get("route_to") != CLARIFY:
        yield Problem("invalid", "goals", "there is no goal", f"{example}; none only for clarify")
    if len(goals) > MOST_GOALS:
        yield Problem("invalid", "goals", f"{len(goals)} goals", f"at most {MOST_GOALS}")
        return
    for number, goal in enumerate(goals):
        yield from _one_goal(goal, f"goals[{number}]")
    yield from _id_problems(goals)


def _one_goal(goal: object, at: str) -> Iterable[Problem]:
    found = Shape("plan")
    if not isinstance(goal, dict):
        found.wrong(at, goal, 'an object: {"id": "GOAL_1", "description": "…"}')
        return found.problems
    found.only(goal, GOAL_FIELDS, f"{at}.", why="a goal says what, not how")
    for name in ("id", "description"):
        found.text(goal, name, f"{at}.")
    if "priority" in goal:
        found.one_of(goal, "priority", PRIORITIES, f"{at}.")
    if not _is_ids(goal.get("depends_on", [])):
        found.wrong(f"{at}.depends_on", goal["depends_on"], "the id of a goal, or a list of ids")
    if tools := named_tools(goal.get("description")):
        text = f"the goal names a tool: {', '.join(tools)}"
        found.add(f"{at}.description", text, "say what is to be reached; how comes later")
    return found.problems


def _is_ids(value: object) -> bool:
    listed = value if isinstance(value, list) else [value]
    return all(isinstance(one, str) and one.strip() for one in listed)


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


def _check_route(found: Shape, value: Json, facts: Strategy) -> None:
    route, depth = value.get("route_to"), value.get("depth")
    if route == REFRESH and not value.get("refresh_context_request"):
        found.add("refresh_context_request", "it is missing", 'what to gather: ["…"]')
    if route == CLARIFY and not value.get("clarification_question"):
        found.add("clarification_question", "it is missing", "the question that the user is asked")
    if "depth" not in value:
        return
    found.one_of(value, "depth", DEPTHS, "")
    if facts.mode == CHAT:
        found.add("depth", "a chat changes no code", "leave it out, or start without --chat")
    elif route != EXECUTOR and depth in DEPTHS and depth != NONE:
        found.add("depth", f"the route {route} has no depth", f"only {EXECUTOR} has one")


def _check_retry(found: Shape, value: Json, facts: Strategy) -> None:
    again = facts.attempt > 1
    told = f"this is attempt {facts.attempt}"
    if "is_retry" in value and value["is_retry"] is not again:
        found.add("is_retry", told, "true" if again else "false, or leave it out")
    given = value.get("attempt", facts.attempt)
    if type(given) is not int or given != facts.attempt:
        found.add("attempt", told, str(facts.attempt))
    failure = value.get("previous_failure")
    if failure is None and "previous_failure" not in value:
        return
    if not isinstance(failure, dict):
        found.wrong("previous_failure", failure, 'an object: {"reason": "…", "instruction": "…"}')
        return
    if not again:
        found.add("previous_failure", f"{told}: nothing has failed yet", "leave it out")
    found.only(failure, FAILURE_FIELDS, "previous_failure.")
    for name in ("reason", "instruction", "lesson_learned"):
        found.text(failure, name, "previous_failure.", needed=False)
    found.texts(failure, "failed_sources", "previous_failure.", needed=False)


def _check_extension(found: Shape, value: Json, facts: Strategy) -> None:
    extension, at = value.get("self_extension"), "self_extension"
    if "plan_type" in value:
        found.one_of(value, "plan_type", (SELF_EXTEND,), "")
    if value.get("plan_type") != SELF_EXTEND:
        if at in value:
            found.add(at, "the plan is not one of self-extension", f'"plan_type": "{SELF_EXTEND}"')
        return
    if "depth" in value:
        found.add("depth", "nothing is planned here", "leave it out")
    if facts.mode == CHAT:
        found.add("plan_type", "a chat makes no workflow", "start without --chat")
    if value.get("route_to") in ROUTES and value["route_to"] != EXECUTOR:
        found.add("route_to", "what is made has to be carried out", EXECUTOR)
    if not isinstance(extension, dict):
        form = f'an object: {{"action": "{CREATE_WORKFLOW}", "workflow_name": "…"}}'
        found.wrong(at, extension, form, missing=at not in value)
        return
    _check_what_is_made(found, extension, f"{at}.")


def _check_what_is_made(found: Shape, extension: Json, at: str) -> None:
    found.only(extension, EXTENSION_FIELDS, at)
    found.one_of(extension, "action", (CREATE_WORKFLOW, CREATE_TOOL), at)
    named = {CREATE_WORKFLOW: "workflow_name", CREATE_TOOL: "tool_name"}
    for action, name in named.items():
        found.text(extension, name, at, needed=extension.get("action") == action)
    if isinstance(extension.get("workflow_name"), str) and extension["workflow_name"].strip():
        for problem, allowed in name_problems(extension["workflow_name"]):
            found.add(f"{at}workflow_name", problem, allowed)
    found.text(extension, "command", at, needed=extension.get("action") == CREATE_TOOL)
    found.text(extension, "reason", at, needed=False)
    found.texts(extension, "required_tools", at, needed=False)


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
