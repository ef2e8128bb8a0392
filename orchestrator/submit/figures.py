"""The figures by which a person decides how closely to read a plan (LP-1).

How big it is, how it was verified, who has read it, what it has cost; page and plan.md show them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.reviewed import answers_of, beyond_limit, reviewers_of
from orchestrator.submit.kinds import TESTS
from shared.builders import counted
from shared.qr.types import ASSISTANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.page.facts import Edited
    from orchestrator.submit.spent import Spent
    from state.models import Plan

_ALL_PASS = {1: "1 command passes", 2: "both commands pass"}
_EXERCISED = {  # tone and words
    None: ("", "whether the changed code is run is not known"),
    True: ("good", "the changed code is run, as breaking it shows"),
    False: ("bad", "the changed code is not run: broken, it passes as well"),
}
_LATER = ("", "not yet", "the code is written after this and comes back to you")
_MINUTE_S = 60


class Figure(NamedTuple):
    """One figure of a plan: what it is about, `good` or `bad` where it is, and its words."""

    title: str
    tone: str
    text: str
    more: tuple[str, ...] = ()


def figures(plan: Plan, files: Sequence[Edited], *, is_intent: bool) -> list[Figure]:
    """Return what the plan itself says: its size, and who and what has checked it."""
    found = {
        "How big": _size(plan, files),
        "Verified": _LATER if is_intent else _verified(plan),
        "Reviewed": _reviewed(plan),
    }
    return [Figure(name, tone, text, (*more,)) for name, (tone, text, *more) in found.items()]


def cost(spent: Spent | None) -> Figure:
    """Return what a plan has cost; what nobody has reported is unknown, and never nothing."""
    if spent is None:
        return Figure("Cost", "", "unknown")
    minutes = "time unknown"
    if spent.seconds is not None:
        whole = spent.seconds // _MINUTE_S
        minutes = counted(whole, "minute") if whole else "less than a minute"
    used = spent.agents
    if not used.agents:
        return Figure("Cost", "", minutes, ("agents, tokens and money unknown",))
    told = f"{counted(used.agents, 'agent')}, {counted(used.tokens, 'token')}"
    if used.unknown == used.agents:
        told = f"{counted(used.agents, 'agent')}, tokens unknown"
    elif used.unknown:
        told += f" of {used.agents - used.unknown}, the others unknown"
    return Figure("Cost", "", minutes, (told, "money unknown"))


def size_of(plan: Plan) -> str:
    """Return a text with the number of milestones and waves of the plan."""
    waves = len(plan.milestone_dependencies.waves)
    return f"{counted(len(plan.milestones), 'milestone')} in {counted(waves, 'wave')}"


def _size(plan: Plan, files: Sequence[Edited]) -> tuple[str, ...]:
    if not files:
        intents = [intent for m in plan.milestones for intent in m.code_intents]
        named = counted(len({intent.file for intent in intents}), "file")
        return "", f"{counted(len(intents), 'intent')} in {named}", size_of(plan)
    tests = [f for f in files if f.kind == TESTS]
    of_tests = f"tests: {_lines(tests)}" if tests else "no test is changed"
    kinds = [f.what for f in files if f.what != "changed"]
    odd = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
    return "", _lines(files), of_tests, size_of(plan), *([", ".join(odd)] if odd else [])


def _lines(files: Sequence[Edited]) -> str:
    added, removed = sum(f.added for f in files), sum(f.removed for f in files)
    return f"{counted(len(files), 'file')}, +{added:,} −{removed:,}"


def _verified(plan: Plan) -> tuple[str, ...]:
    """Return tone and words for the verify result; good only if it depends on the change."""
    if not plan.verify:
        return "bad", "NOT VERIFIED", "no command of the project has run on this plan"
    passed = [r for r in plan.verify if r.outcome == "pass"]
    failed = [r for r in plan.verify if r.outcome == "fail"]
    if failed:
        return "bad", f"{counted(len(failed), 'command')} of {len(plan.verify)} fails"
    if not passed:
        return "bad", "tells nothing", "every command fails on the base as well"
    text = f"{counted(len(passed), 'command')} of {len(plan.verify)} passes"
    if len(passed) == len(plan.verify):
        text = _ALL_PASS.get(len(passed)) or f"all {len(passed)} commands pass"
    tone, meaning = _EXERCISED[plan.verify[0].exercised]
    return tone, text, meaning


def _reviewed(plan: Plan) -> tuple[str, ...]:
    """Return tone and words for who read the plan; good only if agents alone answered."""
    counts = answers_of(plan.reviews)
    if not counts:
        return "bad", "by nobody", "a program alone has checked it"
    rounds = max(outcome.iteration for outcome in plan.reviews)
    tone = "" if ASSISTANT in counts else "good"
    more = [f"{rounds} rounds" if rounds > 1 else "", beyond_limit(plan.reviews)]
    return tone, f"by {reviewers_of(plan.reviews)}", *filter(None, more)
