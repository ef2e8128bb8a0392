"""Looks up again what the answers of a review have named as evidence (SD-4)."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from quality_reviewer.evidence import Evidence
from quality_reviewer.questions import BY_ID
from quality_reviewer.scopes import owner_of
from shared.qr.types import MUST, PASS, REVIEWER, Item
from state.milestones import changes_of, files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quality_reviewer.citations import Citation
    from shared.run import State
    from state.models import Milestone, Plan

_MOST_KEPT = 200  # characters of a line


def cited(evidence: Evidence, item: Item) -> dict[str, str] | None:
    """Return what stands where the evidence of an answer says: lines and runs, by their names.

    None where it needs no evidence.
    """
    if not _is_shown(item):
        return None
    found = {}
    for named in _named(evidence, item):
        lines = evidence.lines(item, named.file) if named.kind == "line" else {}
        if numbers := named.among(lines):
            found[named.name] = f"{numbers[0]}: {lines[numbers[0]][-1][:_MOST_KEPT]}"
        elif named.kind in ("run", "verify"):
            found[named.name] = evidence.ran.came_out()[named.name]
    return found


def look_up(evidence: Evidence, item: Item) -> tuple[Item, str]:
    """Return an answer with what it names where that is now, and what of it is gone, or ''."""
    if not _is_shown(item):
        return item, ""
    known = item.cited or {}
    now = {name: _place(evidence, item, name, text) for name, text in known.items()}
    for name, place in now.items():
        if not place:
            text = known[name].partition(": ")[2]
            return item, f"{name} was named for `{text}`, which is not there any more"
    text = item.evidence or ""
    if any(name != place for name, place in now.items()):
        names = "|".join(re.escape(name) for name in sorted(now, key=len, reverse=True))
        text = re.sub(rf"(?<![\w./-])({names})(?![\d-])", lambda m: now[m[1]], text)
    item = item._replace(evidence=text)
    problem = evidence.problem(item._replace(severity=MUST), text, "")
    return item._replace(cited=cited(evidence, item)), problem.problem if problem else ""


def with_evidence_now(state: State, plan: Plan) -> Plan:
    """Return a plan whose reviews name lines and runs as they are called now."""
    passed = state.database.passed_reviews(state.run)
    reviews = []
    for outcome in plan.reviews:
        evidence = Evidence(state, outcome.phase, plan, documented=True)
        items = [Item(**row) for row in passed.get(outcome.phase, [])]
        now = {(i.check, i.scope, i.evidence): look_up(evidence, i)[0].evidence for i in items}
        texts = [now.get((a.check, a.scope, a.evidence)) or a.evidence for a in outcome.answers]
        answers = tuple(
            a.model_copy(update={"evidence": evidence.ran.with_commands(text)})
            for a, text in zip(outcome.answers, texts, strict=True)
        )
        reviews.append(outcome.model_copy(update={"answers": answers}))
    return plan.model_copy(update={"reviews": tuple(reviews)})


def misplaced(evidence: Evidence, items: Iterable[Item]) -> Iterator[tuple[Item, str, str]]:
    """Yield each answer that names the same as another one and is about something else.

    With it, why, and what may be named instead. What one thing shows for several questions lies
    within what each of them is about.
    """
    uses: dict[tuple[str, ...], list[tuple[Item, Citation]]] = {}
    for item in filter(_is_shown, items):
        for named in _named(evidence, item):
            where = (named.file, f"{named.first}-{named.last}") if named.kind == "line" else ()
            key = (named.kind, *(where or (named.name or named.rest.strip(),)))
            uses.setdefault(key, []).append((item, named))
    for found in uses.values():
        names = list(dict.fromkeys(item.id for item, _ in found))
        for item, named in found:
            if len(names) > 1 and not _lies_in(evidence, item, named):
                others = ", ".join(name for name in names if name != item.id)
                what = named.name or named.file
                why = f"{others} names {what} too, and that is no part of {item.scope}"
                within = partial(_is_within, evidence, item)
                yield item, why, evidence.allowed(item, within)


def needs_evidence(item: Item) -> bool:
    """Return whether a reviewer passes an item only with evidence, whatever it calls the item."""
    question = BY_ID.get(item.check)
    severity = question.severity if question is not None else item.severity
    return (item.by, severity) == (REVIEWER, MUST)


def _is_shown(item: Item) -> bool:
    return item.status == PASS and needs_evidence(item)


def _named(evidence: Evidence, item: Item) -> Iterator[Citation]:
    """Yield what the evidence of an answer names rightly."""
    for part in evidence.parts(item, item.evidence or ""):
        named = evidence.read(item, part)
        if not evidence.wrong(item, named):
            yield named


def _place(evidence: Evidence, item: Item, name: str, text: str) -> str:
    """Return what a line or a run that an answer names is called now; '' where it is gone."""
    named = evidence.read(item, name)
    if named.kind in ("run", "verify"):
        same = [known for known, result in evidence.ran.came_out().items() if result == text]
        return name if name in same else same[-1] if same else ""
    number, _, reads = text.partition(": ")
    lines = evidence.lines(item, named.file)
    there = [n for n, texts in lines.items() if reads in (t[:_MOST_KEPT] for t in texts)]
    if not there:
        return ""
    moved = min(there, key=lambda n: abs(n - int(number))) - int(number)
    if not moved:
        return name
    first, last = named.first + moved, named.last + moved
    return f"{named.file}:{first}-{last}" if last > first else f"{named.file}:{first}"


def _lies_in(evidence: Evidence, item: Item, named: Citation) -> bool:
    """Return whether what an answer names lies within what its question is about."""
    if named.kind == "id":
        own = _milestones(evidence, item)
        is_task = named.name.startswith(("T-", "RM-"))
        asked = {item.scope, *(name for m in own for name in m.requirements)}
        return not (is_task and own) or named.name in asked
    return named.kind not in ("line", "file") or _is_within(evidence, item, named.file)


def _is_within(evidence: Evidence, item: Item, file: str) -> bool:
    """Return whether a file is one that a question is about: for an intent its own, or a test.

    What a milestone without files has found is shown by any line that it has led to.
    """
    own, question = _milestones(evidence, item), BY_ID.get(item.check)
    files = {f for m in own for f in files_of(m)}
    of_base = question is not None and question.of_base
    if not files or of_base or evidence.is_test(file):
        return True
    intended = {i.file for m in own for i in m.code_intents if i.id == item.scope}
    changes = (c for m in own for c in changes_of(m))
    renamed = {c.file for c in changes if c.old_file in intended}
    return file in (intended | renamed or files)


def _milestones(evidence: Evidence, item: Item) -> list[Milestone]:
    """Return the milestones that a question is about, or that are for what it is about."""
    owner, milestones = owner_of(item.scope, evidence.plan), evidence.plan.milestones
    return [m for m in milestones if m.id == owner or item.scope in m.requirements]
