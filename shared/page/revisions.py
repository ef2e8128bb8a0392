"""What differs from the last revision, field by field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.page.design import named
from shared.page.diff import compare
from shared.page.html import Markup, items, joined, section, tag
from state.freeze import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shared.page.facts import Review

# What every revision has anew, or what tells nothing without the rest.
_ASIDE = frozenset({
    "counters", "created_at", "digest", "frozen_at", "last_operation", "plan_id", "remarks",
    "revision", "reviews", "schema_version", "seals", "verify",
})  # fmt: skip
_PATCH = frozenset({"patch", "before", "after", "diff", "encoding"})


class Difference(NamedTuple):
    """An entity that differs: its old and its new fields, None where it is not there."""

    name: str
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None


def differences(review: Review) -> Markup:
    """Return what was added, what is gone, and what reads otherwise than in the last revision."""
    if review.previous is None:
        return Markup()
    old = _entities(review.previous.model_dump(mode="json"))
    new = _entities(review.plan.model_dump(mode="json"))
    found = [
        Difference(name, old.get(name), new.get(name))
        for name in (*new, *(n for n in old if n not in new))
        if old.get(name) != new.get(name)
    ]
    rows = [tag("article", *_shown(difference)) for difference in found]
    title = f"Since revision {review.previous.revision}"
    if not rows:
        return section("differences", title, tag("p", "Nothing of the plan differs."))
    remarks = items(review.plan.remarks, class_="text rows")
    asked = joined([tag("h3", "You remarked"), remarks]) if remarks else None
    return section("differences", title, asked, *rows)


def _entities(plan: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return each entity and each top-level field of a plan by name."""
    found = {}
    for name, value in parts(dict(plan), ""):
        if name not in _ASIDE:
            found[name] = value if isinstance(value, dict) else {name: value}
    return found


def _shown(difference: Difference) -> Iterator[Markup | None]:
    name, old, new = difference
    known = new or old or {}
    title = next((str(known[key]) for key in _TITLES if known.get(key)), "")
    if new is None:
        yield tag("h3", named(name, title, tag("span", " is gone", class_="no")))
        return
    link = tag("a", name, href=f"#{name}") if _has_anchor(name) else name
    yield tag("h3", named(name, tag("span", link), " ", title,
                          tag("span", " is new", class_="no") if old is None else None))  # fmt: skip
    if old is not None:
        yield items(_fields(old, new), class_="rows")


_TITLES = ("decision", "risk", "name", "file", "question", "alternative", "title")


def _has_anchor(name: str) -> bool:
    return name.startswith(("DL-", "M-", "CC-"))


def _fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Markup]:
    if any(old.get(key) != new.get(key) for key in _PATCH):
        yield joined(["another patch: ", f"{_short(old)} became {_short(new)}"])
    for key in new:
        if key in _PATCH or key == "version" or old.get(key) == new[key]:
            continue
        before, after = compare(_text(old.get(key)), _text(new[key]))
        yield joined([
            f"{key}: ", tag("del", before, class_="text"), " ", tag("ins", after, class_="text"),
        ])  # fmt: skip


def _short(change: Mapping[str, Any]) -> str:
    return str(change.get("after") or "absent")[:12]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ", ".join(value) or "none"
    return "none" if value is None else json.dumps(value, ensure_ascii=False, indent=1)
