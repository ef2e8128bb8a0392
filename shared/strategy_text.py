"""Render the numbered sections of context.md from what a strategy remembers (ST-1, ST-4, ST-7).

§0 the query, §1 its analysis, §2 what was gathered, §3 the plan, §4 progress, §5 reserved, §6 the
answer, §7 verdicts. Text from outside can neither begin a section nor break out of a table.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shared.strategy_record import Strategy

Json = dict[str, Any]

_HEADING = re.compile(r"^(\s*)(#|```)", re.MULTILINE)
NOTHING = "Nothing yet."


def plain(text: str) -> str:
    """Return a text in which no line is a heading or a fence of ours."""
    return _HEADING.sub(r"\1\\\2", text.strip())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = "|".join("-" * (len(name) + 2) for name in head)
    lines = [f"| {' | '.join(head)} |", f"|{rule}|"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join(lines)


def _paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


# sections


def render_query(facts: Strategy) -> str:
    """Return §0: the user's words, what they are for, the mode and what data they need."""
    needed = ", ".join(f"{name}={_value(value)}" for name, value in facts.requirements.items())
    about = [
        f"**User Purpose:** {_line(facts.purpose) or 'as the query says'}",
        f"**Mode:** {facts.mode}",
        f"**Data Requirements:** {_line(needed) or 'none'}",
    ]
    return _paragraphs(["## 0. User Query", plain(facts.query), "\n".join(about)])


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())


def render_analysis(facts: Strategy) -> str:
    """Return §1: whether the query can be worked with, and if not, why."""
    why = f"**Reason:** {_line(facts.why)}" if facts.why else ""
    status = f"**Status:** {facts.status}"
    return _paragraphs(["## 1. Query Analysis Validation", "\n".join(filter(None, [status, why]))])


def render_gathered(facts: Strategy) -> str:
    """Return §2: what was gathered, each block with where it comes from."""
    parts = [render_block(block) for block in facts.gathered]
    sources = dict.fromkeys(p for block in facts.gathered for p in block["provenance"])
    listed = [f"- [{number}] {_line(name)}" for number, name in enumerate(sources, 1)]
    if listed:
        parts.append("### Source References\n" + "\n".join(listed))
    return _paragraphs(["## 2. Gathered Context", *(parts or [NOTHING])])


def render_block(block: Json) -> str:
    """Return one block of §2: its title, its `_meta` in YAML, its text."""
    names = ("source_type", "node_ids", "confidence_avg", "provenance", "gathered_at")
    shown = ((name, block.get(name)) for name in names)
    meta = [f"  {name}: {_yaml(name, value)}" for name, value in shown if value not in (None, "")]
    lines = ["### " + _line(block["title"]), "```yaml", "_meta:", *meta, "```"]
    return "\n".join([*lines, plain(block["content"])])


def _yaml(name: str, value: object) -> str:
    if name == "source_type" and isinstance(value, str) and re.fullmatch(r"\w+", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def render_plan(plan: Json, *, replaced: bool = False) -> str:
    """Return §3 from a strategic plan; a retry begins with what failed and ends with its route."""
    route = [f"**Route To:** {plan['route_to']}"]
    if plan.get("depth"):
        route.append(f"**Depth:** {plan['depth']}")
    body = [*_goals(plan), *_texts(plan)]
    if not plan.get("is_retry"):
        route.insert(1, f"**Reason:** {_line(plan.get('reason', '')) or '-'}")
        head = "## 3. Strategic Plan" + (" (Previous - Will Be Replaced)" if replaced else "")
        return _paragraphs([head, "\n".join(route), *body])
    failure = plan["previous_failure"]
    lesson = failure.get("lesson_learned") or failure.get("instruction", "")
    said = [
        f"**Previous Attempt Failed:** {_line(failure.get('reason', ''))}",
        f"**Lesson Learned:** {_line(lesson)}",
    ]
    head = f"## 3. Strategic Plan (Attempt {plan['attempt']})"
    return _paragraphs([head, "\n".join(said), *body, "\n".join(route)])


def _goals(plan: Json) -> list[str]:
    goals = plan["goals"]
    if not goals:
        return ["### Goals\nNone."]
    depends = any(goal["depends_on"] for goal in goals)
    rows = [[g["id"], g["description"], g["priority"]] for g in goals]
    head = ["ID", "Description", "Priority"]
    if depends or not plan.get("is_retry"):
        head.append("Dependencies")
        rows = [[*row, _listed(goal)] for row, goal in zip(rows, goals, strict=True)]
    parts = ["### Goals\n" + _table(head, rows)]
    return [*parts, render_order(goals)] if depends else parts


def _listed(goal: Json) -> str:
    return ", ".join(goal["depends_on"]) or "-"


def render_order(goals: Sequence[Json]) -> str:
    """Return the order in which goals that depend on one another are worked on."""
    lines = []
    for number, goal in enumerate(in_order(goals), 1):
        name, needs = goal["id"], goal["depends_on"]
        users = [g["id"] for g in goals if name in g["depends_on"]]
        if needs:
            uses = f"{name} uses {' and '.join(needs)} results: {_line(goal['description'])}"
        elif users:
            uses = f"{name} must complete first (needed by {', '.join(users)})"
        else:
            uses = f"{name} depends on no other goal"
        lines.append(f"{number}. {uses}")
    return "### Execution Order\n" + "\n".join(lines)


def in_order(goals: Sequence[Json]) -> list[Json]:
    """Return goals so that each comes after those that it depends on; else the order is kept."""
    found: list[Json] = []
    left = list(goals)
    while left:
        known = {goal["id"] for goal in found}
        following = next(g for g in left if known.issuperset(g["depends_on"]))
        found.append(following)
        left.remove(following)
    return found


def _texts(plan: Json) -> list[str]:
    extension = plan.get("self_extension")
    shown = {
        "Clarification Question": plan.get("clarification_question", ""),
        "Missing Context": _listing(plan.get("refresh_context_request", [])),
        "Approach": plan.get("approach", ""),
        "Success Criteria": plan.get("success_criteria", ""),
        "Constraints": _listing(pairs(plan.get("constraints", {}))),
        "Self-Extension": _listing(pairs(extension or {})),
        "Context Summary": plan.get("context_summary", ""),
    }
    return [f"### {title}\n{plain(text)}" for title, text in shown.items() if text]


def _listing(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def pairs(values: Mapping[str, object]) -> list[str]:
    """Return the values of an object, each in a line after its name."""
    lines = []
    for name, value in values.items():
        many = isinstance(value, list) and all(isinstance(v, str) for v in value)
        text = ", ".join(value) if many and isinstance(value, list) else _value(value)
        lines.append(f"{name}: {_line(text)}")
    return lines


def render_progress(facts: Strategy) -> str:
    """Return §4: the goals with their status, then what was done for them in each attempt."""
    goals = (facts.plan or {}).get("goals", [])
    parts = []
    if facts.goals:
        rows = [[g["id"], g["description"], facts.goals[g["id"]], _listed(g)] for g in goals]
        head = ("ID", "Description", "Status", "Dependencies")
        parts.append("### Goals Identified\n" + _table(head, rows))
    numbers: dict[int, int] = {}
    for entry in facts.progress:
        attempt = entry["attempt"]
        numbers[attempt] = numbers.get(attempt, 0) + 1
        parts.append(render_entry(entry, numbers[attempt]))
    return _paragraphs([_previous("## 4. Execution Progress", facts), *(parts or [NOTHING])])


def _previous(head: str, facts: Strategy) -> str:
    return f"{head} (Previous Attempt)" if facts.waits_for_plan else head


def render_entry(entry: Json, number: int) -> str:
    """Return what was done for one goal, with its claims and their sources."""
    again = f" (Attempt {entry['attempt']})" if entry["attempt"] > 1 else ""
    lines = [f"### Executor Iteration {number}{again}"]
    lines.append(f"**Goal:** {entry['goal']} {entry['status']}")
    if entry.get("command"):
        lines.append(f'**Command:** "{_line(entry["command"])}"')
    if entry.get("result"):
        lines.append(f"**Result:** {plain(entry['result'])}")
    if entry.get("claims"):
        rows = [[c["claim"], c["source"]] for c in entry["claims"]]
        lines += ["**Claims:**", _table(("Claim", "Source"), rows)]
    return "\n".join(lines)


def render_answer(facts: Strategy) -> str:
    """Return §6: each answer that was written, the last one last."""
    several = len(facts.answers) > 1
    parts = [
        (f"### Answer {number}\n" if several else "") + plain(entry["text"])
        for number, entry in enumerate(facts.answers, 1)
    ]
    return _paragraphs([_previous("## 6. Synthesis", facts), *(parts or [NOTHING])])


def render_verdicts(facts: Strategy) -> str:
    """Return §7: each verdict with its reason, the issues and the instruction."""
    parts = [render_verdict(verdict) for verdict in facts.verdicts]
    return _paragraphs(["## 7. Validation", *(parts or [NOTHING])])


def render_verdict(verdict: Json) -> str:
    """Return one verdict in the form of §7."""
    lines = [f"### Attempt {verdict['attempt']}: {verdict['verdict']}"]
    if verdict.get("reason"):
        lines.append(f"**Reason:** {_line(verdict['reason'])}")
    if verdict.get("issues"):
        lines += ["**Issues:**", *(f"- {_line(issue)}" for issue in verdict["issues"])]
    if verdict.get("instruction"):
        lines.append(f"**Instruction:** {_line(verdict['instruction'])}")
    if verdict.get("replan"):
        lines.append(f"**Replan:** {verdict['replan']}")
    return "\n".join(lines)


def render_section(facts: Strategy, number: int) -> str:
    """Return one of the sections 0 to 7."""
    if number == 3:  # noqa: PLR2004 – the plan's section
        if facts.plan is None:
            return _paragraphs(["## 3. Strategic Plan", NOTHING])
        return render_plan(facts.plan, replaced=facts.waits_for_plan)
    reserved = "## 5. (Reserved for Coordinator Results)\n"
    renderers = {
        0: render_query, 1: render_analysis, 2: render_gathered, 4: render_progress,
        6: render_answer, 7: render_verdicts,
    }  # fmt: skip
    return renderers[number](facts) if number in renderers else reserved


def render_document(facts: Strategy) -> str:
    """Return context.md: all sections in order."""
    return "\n".join(render_section(facts, number) for number in range(8))
