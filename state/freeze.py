"""Freeze a plan's revision as canonical JSON with a digest; detect later edits of it (PL-15)."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import rfc8785

from state.errors import Problem
from state.files import named_once
from state.frozen_bytes import NO_DIGEST, digest_of, stamped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from state.models import Plan

_SEAL_LENGTH = 16
_SPLIT = ("planning_context", "invisible_knowledge", "documentation", "milestone_dependencies")


def canonical(data: Mapping[str, Any]) -> bytes:
    """Return JSON values as the one text that RFC 8785 gives them."""
    return rfc8785.dumps({**data})


def freeze(plan: Plan, frozen_at: str) -> tuple[bytes, str]:
    """Freeze a plan: return its canonical JSON bytes (RFC 8785) and their SHA-256 digest."""
    data = plan.model_dump(mode="json")  # what is frozen is canonical JSON
    data.pop("digest")
    data["frozen_at"] = frozen_at
    data["seals"] = {}
    data["seals"] = seal(data)
    return stamped(rfc8785.dumps({**data, "digest": NO_DIGEST}))


def settled_digest(data: bytes) -> str | None:
    """Return the digest of a sound frozen plan, None for anything else.

    Spaces and the order of members do not count: a copy beside the code is indented.
    """
    stated, actual = digest_of(data)
    if stated is None or stated != actual:
        try:
            stated, actual = digest_of(
                rfc8785.dumps(json.loads(data, object_pairs_hook=named_once))
            )
        except (ValueError, RecursionError):
            return None
    return stated if stated == actual else None


def seal(data: dict[str, Any]) -> dict[str, str]:
    """Return a short hash for each entity and each top-level field of a plan as JSON.

    A part that RFC 8785 cannot write gets an empty hash; a frozen plan never holds one.
    """
    found = dict(parts(data, ""))
    for name in ("digest", "seals"):
        found.pop(name, None)
    return {name: _hash(part) for name, part in found.items()}


def check_seals(data: dict[str, Any]) -> list[Problem]:
    """Return a problem for each entity in which a frozen plan was edited, found by stored hashes.

    `data` is any JSON object, since an edit may have broken the schema too.
    """
    stored = data.get("seals")
    sealed = stored if isinstance(stored, dict) else {}
    try:
        now = seal(data)
    except RecursionError:
        text = "the plan is nested deeper than a frozen plan can be"
        return [Problem("invalid", "plan", text, "restore the file as `plan freeze` wrote it")]
    problems = []
    for name in sorted({*sealed, *now}):
        if sealed.get(name) != now.get(name):
            how = "was added" if name not in sealed else "is gone" if name not in now else "differs"
            text = f"{name} {how}: the plan was edited after it was frozen"
            problems.append(
                Problem("invalid", name, text, "restore the file as `plan freeze` wrote it")
            )
    if not problems:
        text = "the plan says the same, but its bytes changed (reformatted, or other seals)"
        problems.append(
            Problem("invalid", "digest", text, "restore the file as `plan freeze` wrote it")
        )
    return problems


def _hash(part: object) -> str:
    try:
        return sha256(rfc8785.dumps(part)).hexdigest()[:_SEAL_LENGTH]  # type: ignore[arg-type]  # JSON
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        return ""


def _is_entity(value: object) -> bool:
    return isinstance(value, dict) and "id" in value and "version" in value


def parts(value: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    """Yield (name, content) of each entity of a plan; nested entities are replaced by their ids."""
    rest: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, list) and item and all(_is_entity(i) for i in item):
            rest[key] = [entity["id"] for entity in item]
            for entity in item:
                yield from parts(entity, str(entity["id"]))
        elif _is_entity(item):
            rest[key] = item["id"]
            yield from parts(item, str(item["id"]))
        elif key in _SPLIT and isinstance(item, dict):
            yield from parts(item, f"{name}.{key}" if name else key)
        else:
            rest[key] = item
    if name:
        yield name, rest
    else:
        yield from rest.items()
