"""Finds statements that name what the change does not bear: task, answers, remarks, request."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from quality_reviewer.named.bearing import holds
from quality_reviewer.named.things import (
    clauses,
    in_short,
    is_english,
    sentences,
    subject,
    things,
)
from quality_reviewer.words import words
from shared.patch import read_patch
from shared.requirements_record import IN_WORK, ORIGINAL, lane_of, read_lane
from shared.resources import superseded_plan_path
from state import store
from state.milestones import changes_of
from state.statements import DECLINED, WITHDRAWN, cited_by, is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from quality_reviewer.named.bearing import Bearing
    from quality_reviewer.named.things import Thing
    from shared.run import State
    from state.models import Checkpoint, Plan, Remark

    Found = Iterator[tuple[str, str]]

_LEAST_WORDS = 2
_LEAST_ALL = 4  # words, where a change that has none of them is not about them
_BEFORE = re.compile(r" \(before: .*\)$", re.DOTALL)
_ASKS = re.compile(
    r"^(?:(?:and|also|then|please|finally)\b[, ]*)*(?:add|make|use|write|log|document|update|"
    r"rename|print|show|return|raise|support|allow|accept|send|store|validate|check|sort|describe|explain|"
    r"mention|translate|count|limit|retry|warn|report|include|provide|implement|create|build)\b",
    re.IGNORECASE,
)
# In a sentence without any of these a number tells how things are, not how they shall be.
_WANTS = re.compile(
    r"\b(?:must|shall|should|want|need|may|can|at (?:most|least)|up to|limit|default|every|after|"
    r"within|per|than|max\w*|min\w*|only|instead|not|never)\b",
    re.IGNORECASE,
)
_OUT = re.compile(r"^\W*(?:out[ -]of[ -]scope|not in scope)\W*", re.IGNORECASE)
_FURTHER = re.compile(
    r"\b(?:other|further|any|else|more|rest|beyond|refactor\w*|rewrit\w*)\b", re.IGNORECASE
)


def task(_state: State, bearing: Bearing) -> Found:
    """Yield each entry of the task that names what the change does not bear."""
    for one in bearing.plan.task_spec:
        if not one.out_of_scope and not is_left_out(bearing.plan, one):
            yield from _not_borne(bearing, one.id, one.text)


def answers(_state: State, bearing: Bearing) -> Found:
    """Yield each answer that names what the change does not bear, or another option bears."""
    for asked in bearing.plan.checkpoints:
        said = _BEFORE.sub("", asked.answer)
        gone = said.startswith(WITHDRAWN) or asked.outcome.startswith(DECLINED)
        if not said or gone:
            continue
        missing = [*_not_borne(bearing, asked.id, said, "the answer to ")]
        yield from missing or _other_option(bearing, asked, said)


def _other_option(bearing: Bearing, asked: Checkpoint, said: str) -> Found:
    """Yield that the change adds what a refused option is told by, and not what the chosen is."""
    chosen = [o for o in asked.options if o.label in said]
    if len(chosen) != 1 or asked.multi or not bearing.is_whole:
        return
    own, added = f"{chosen[0].label} {chosen[0].description}", bearing.added_code
    mine, there = words(chosen[0].label), words(added)
    for other in asked.options:
        if other is chosen[0]:
            continue
        only = [t for t in things(other.label, bearing.files) if not holds(own, t)]
        wanted = [t for t in things(chosen[0].label, bearing.files) if not holds(other.label, t)]
        theirs = words(other.label) - words(own) - words(asked.question)
        if wanted and any(holds(added, t) for t in only):
            if not any(holds(added, t) for t in wanted):
                name = next(t.shown for t in only if holds(added, t))
                yield asked.id, _refused(asked, said, name)
        elif not wanted and (mine - theirs) and not mine & there and theirs & there:
            yield asked.id, _refused(asked, said, min(theirs & there))


def _refused(asked: Checkpoint, said: str, name: str) -> str:
    return (f"{asked.id} was answered {in_short(said)!r}, and the change adds {name}, "
            "which is of an option that was not chosen")  # fmt: skip


def remarks(state: State, bearing: Bearing) -> Found:
    """Yield each remark that is said to be done, and that no line changed since then bears."""
    plan = bearing.plan
    for one in plan.user_remarks:
        if one.outcome or is_left_out(plan, one):
            continue  # where it holds already is looked up by `places`
        old = _frozen(state, one.revision)
        if old is None or not old.milestones or not any(map(changes_of, old.milestones)):
            yield from _not_borne(bearing, one.id, one.text)
            continue
        cited = ", ".join(cited_by(plan, one.id))
        if cited and _contents(old) == _contents(plan):
            same = (
                f"no byte of the change differs from revision {one.revision}, of which it was said"
            )
            yield one.id, f"{one.id} is said to be done by {cited}, and {same}"
        elif cited:
            yield from _since(bearing, one, old)


def _since(bearing: Bearing, one: Remark, old: Plan) -> Found:
    """Yield what a remark names that none of the lines bears that differ since it was made."""
    then = {(c.file, n.kind, n.text) for m in old.milestones for c in changes_of(m)
            for n in read_patch(c)}  # fmt: skip
    now = {(c.file, n.kind, n.text) for c in bearing.changes for n in read_patch(c)}
    rows = sorted(then ^ now, key=str)
    text = "\n".join(line for _, kind, line in rows if kind != "!")
    files = {file for file, _, _ in rows}
    for thing in things(one.text, bearing.files):
        if thing.kind in ("path", "document"):
            is_new = any(f == form or f.endswith(f"/{form}") for f in files for form in thing.forms)
            is_new = is_new or thing.forms[0] in text
        else:
            is_new = thing.kind == "tests" or holds(text, thing)
        if not is_new:
            yield one.id, (f"{one.id} names {thing.shown}, which no line bears that has changed "
                           f"since revision {one.revision}")  # fmt: skip


def _frozen(state: State, revision: int) -> Plan | None:
    """Return a revision that a person had before them; None if the remark came before a freeze."""
    path = superseded_plan_path(state.state_dir, revision)
    return store.load_plan(path) if os.path.exists(path) else None


def _contents(plan: Plan) -> set[tuple[Any, ...]]:
    return {(c.file, c.mode, c.after) for m in plan.milestones for c in changes_of(m)}


def request(state: State, bearing: Bearing) -> Found:
    """Yield what the request names and neither the task, what is left out nor the change holds."""
    plan = bearing.plan
    told = [t.text for t in plan.task_spec] + [*plan.context.constraints, *_rest_of(plan)]
    text = "\n".join(told)
    for part in sentences(_wanted(state)):
        wants = _WANTS.search(part) or _ASKS.search(part)
        for thing in things(part, bearing.files) if bearing.is_whole else ():
            if thing.kind == "number" and not wants:
                continue  # it tells how things are
            is_told = any(
                thing.forms == t.forms for one in told for t in things(one, bearing.files)
            )
            known = is_told or holds(text, thing) or thing.shown.lower() in text.lower()
            if not known and not bearing.bears(thing):
                lacks = "which neither the task, what is out of scope nor the change holds"
                yield "request", f"the request names {thing.shown} ({in_short(part)}), {lacks}"


def _wanted(state: State) -> str:
    """Return the request without what stands under a line that begins what is out of scope."""
    kept, is_out = [], False
    for line in state.run.request.splitlines():
        is_out = _OUT.match(line) is not None or (is_out and not line.startswith("#"))
        kept += [] if is_out else [line]
    return "\n".join(kept)


def _rest_of(plan: Plan) -> Iterable[str]:
    yield from plan.context.rejected_alternatives
    yield from (f"{c.question} {c.answer}" for c in plan.checkpoints)
    yield from (one.text for one in plan.user_remarks)


def forgotten(state: State, bearing: Bearing) -> Found:
    """Yield each part of the request that asks for something of which nothing says a word."""
    plan = bearing.plan
    told = [t.text for t in plan.task_spec] + [*plan.context.constraints, *_rest_of(plan)]
    known = words("\n".join(told)).union(*map(bearing.words_of, plan.milestones))
    for part in sentences(_wanted(state)) if is_english(state.run.request) else ():
        wanted = words(_ASKS.sub("", part))
        if _ASKS.match(part) and len(wanted) >= _LEAST_WORDS and wanted.isdisjoint(known):
            yield "request", (f"the request asks for {in_short(part)!r}, and neither the task nor "
                              "the change says a word of it")  # fmt: skip


def reviewed(state: State, bearing: Bearing) -> Found:
    """Yield each of the user's own requirements that has no like one in the reviewed part."""
    wanted, kept = own_requirements(state), words(state.run.request)
    for part in sentences(wanted):
        found = words(part)
        lost = [t for t in things(part, bearing.files) if not holds(state.run.request, t)]
        is_gone = len(found) >= _LEAST_WORDS and len(found & kept) * 3 < len(found)
        lost = [t for t in lost if t.kind in ("number", "identifier", "option")
                or (t.kind in ("path", "document") and not bearing.bears(t))]  # fmt: skip
        if lost:
            yield "request", (f"your requirements name {lost[0].shown} ({in_short(part)}), and the "
                              "reviewed ones do not")  # fmt: skip
        elif is_gone and is_english(part):
            yield "request", (f"your requirements have {in_short(part)!r}, and the reviewed ones "
                              "have nothing like it")  # fmt: skip


def own_requirements(state: State) -> str:
    """Return the user's own part of the requirements that a run implements; '' outside the lane."""
    lane = lane_of(state.state_dir)
    text = read_lane(lane["lifecycle"]).read(IN_WORK).decode("utf-8", "replace") if lane else ""
    return text.partition(ORIGINAL)[2]


def left_out(state: State, bearing: Bearing) -> Found:
    """Yield each entry that is out of scope and that the request wants."""
    said = {one.strip().casefold() for one in sentences(state.run.request)}
    for one in bearing.plan.task_spec:
        entry = _OUT.sub("", one.text)
        wanted = words(entry)
        is_own = one.origin == "requirements"  # the request is these, with this entry
        if not one.out_of_scope or is_own or not wanted or _FURTHER.search(entry):
            continue
        for part in clauses(_wanted(state)):
            if wanted <= words(part) and one.text.strip().casefold() not in said:
                yield one.id, (f"{one.id} is out of scope, and the request asks for it: "
                               f"{in_short(part)!r}")  # fmt: skip
                break


def milestones(_state: State, bearing: Bearing) -> Found:
    """Yield each entry of the task that is cited by milestones none of which is about it."""
    plan = bearing.plan
    about = {m.id: bearing.words_of(m) for m in plan.milestones}
    for one in plan.task_spec:
        cited, wanted = cited_by(plan, one.id), words("\n".join(clauses(one.text)))
        if one.out_of_scope or not cited or len(wanted) < _LEAST_WORDS or not is_english(one.text):
            continue
        is_borne = any(map(bearing.bears, things(one.text, bearing.files)))
        lines = words(bearing.differing) if bearing.is_whole else wanted
        if not is_borne and len(wanted) >= _LEAST_ALL and wanted.isdisjoint(lines):
            yield one.id, (f"{one.id} is said to be done by {', '.join(cited)}, and no line of the "
                           f"change says a word of it: {in_short(one.text)!r}")  # fmt: skip
        elif not is_borne and all(wanted.isdisjoint(about[name]) for name in cited):
            yield one.id, (f"{one.id} is said to be done by {', '.join(cited)}, which shares no "
                           f"word with it: {in_short(one.text)!r}")  # fmt: skip


def _not_borne(bearing: Bearing, name: str, text: str, of: str = "") -> Found:
    """Yield each thing of a statement that the change does not bear."""
    if bearing.is_whole:
        for thing in things(text, bearing.files):
            if not bearing.bears(thing):
                yield name, f"{of}{name} names {_named(thing)}"
        for clause in clauses(text):
            about = subject(clause, bearing.files)
            if about and bearing.bears(about) and not holds(bearing.changed, about):
                yield name, (f"{of}{name} says something of {about.shown}, of which this change "
                             "touches no line")  # fmt: skip


def _named(thing: Thing) -> str:
    if thing.kind == "document":
        return f"{thing.shown} ({thing.forms[0]}), which this change does not touch"
    if thing.kind == "tests":
        return "tests, and this change has none"
    lacks = "touch" if thing.kind == "path" else "hold"
    return f"{thing.shown}, which this change does not {lacks}"
