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

    given = parse_json(data, path)  # pydantic takes the last of two members with one name
    try:
        return Plan.model_validate(given)
    except ValidationError as error:
        check_version(given, path)
        raise Refused.of(problems_of(error, "plan")) from None


def save_plan(path: str, plan: Plan) -> None:
    """Write an unfrozen plan to plan.json as indented JSON, atomically."""
    write_atomic(path, plan.model_dump_json(indent=2).encode() + b"\n")
