"""Read and write plan.json, as plain JSON or as pydantic models.

Printed steps read the plan here, so the models are imported only where they are asked for.
"""

from __future__ import annotations

from state import plan_table
from state.errors import Refused
from state.files import parse_json, read_bytes, write_atomic
from state.shape import SCHEMA_VERSION, read

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any

    from state.models import Plan

# pydantic's own parser ends the process where it is refused memory, as CI may refuse it.
_LONGEST_LINE = 1 << 20

NEWER = "the plan was written by a newer planner"


def read_plan(path: str) -> plan_table.Plan:
    """Read plan.json with every field, without pydantic; raise Refused for what is wrong.

    Fields that an earlier planner did not write have their defaults.
    """
    data = read_bytes(path)
    try:
        plan, problems = read(check_version(parse_json(data, path), path), plan_table.Plan)
        if problems:
            raise Refused.of(problems)
    except Refused as refusal:
        raise with_repair(refusal) from None
    return plan


def with_repair(refusal: Refused) -> Refused:
    """Name the way out of a damaged plan.json; one of a newer planner is whole."""
    for problem in refusal.problems:
        if problem.kind == "invalid" and NEWER not in problem.problem:
            problem.allowed = "a person sets the damaged plan.json aside, or restores it"
            problem.retry = problem.retry or "planner repair"
    return refusal


def check_version(data: object, path: str) -> dict[str, Any]:
    """Return JSON data if it is a plan in the current schema version; else raise Refused."""
    if not isinstance(data, dict) or "schema_version" not in data:
        raise Refused("invalid", path, "the file is not a plan: it has no schema_version", "2")
    version = data["schema_version"]
    if type(version) is not int or version < SCHEMA_VERSION:
        raise Refused(
            "invalid", path, f"{version!r} is not a schema_version that any planner wrote", "2"
        )
    if version > SCHEMA_VERSION:
        text = f"{NEWER} (schema version {version}, known: 2)"
        raise Refused("invalid", path, text, "update the planner; the file was not changed")
    return data


def load_plan(path: str) -> Plan:
    """Read plan.json as a pydantic model; raise Refused with every field that breaks the schema."""
    data = read_bytes(path)
    try:
        return parse_plan(data, path)
    except Refused as refusal:
        raise with_repair(refusal) from None


def parse_plan(data: bytes, path: str) -> Plan:
    """Parse a plan from JSON bytes as a pydantic model; raise Refused with every wrong field."""
    from pydantic import ValidationError

    from state.invalid import problems_of
    from state.models import Plan

    if plan := _parse_line(data):
        return plan
    given = parse_json(data, path)
    try:
        return Plan.model_validate(given)
    except ValidationError as error:
        check_version(given, path)
        raise Refused.of(problems_of(error, "plan")) from None


def _parse_line(data: bytes) -> Plan | None:
    """Return the plan of JSON in one line, as frozen plans have it; None where that needs a look.

    pydantic takes the last of two members with one name. What it writes has each once, in no more
    letters than were read: the lengths are the same only where no name stands twice. Numbers in
    `params` alone may be written longer than they were.
    """
    from pydantic import ValidationError

    from state.models import Plan

    if b"\n" in data or len(data) > _LONGEST_LINE:
        return None
    try:
        plan = Plan.model_validate_json(data)
    except ValidationError:
        return None
    if any(intent.params for m in plan.milestones for intent in m.code_intents):
        return None
    written = Plan.__pydantic_serializer__.to_json(plan, exclude_unset=True)
    return plan if len(written) == len(data) else None


def save_plan(path: str, plan: Plan) -> None:
    """Write an unfrozen plan to plan.json as indented JSON, atomically."""
    write_atomic(path, plan.model_dump_json(indent=2).encode() + b"\n")
