"""What the choice of a strategy remembers of a run: request, context, plans, answers, verdicts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any

from shared import resources
from state.errors import Refused
from state.files import read_json

Json = dict[str, Any]

WORKFLOW = "strategy"
CODE, CHAT = "code", "chat"
MODES = (CODE, CHAT)
PASS, FAIL = "pass", "fail"
EXECUTOR, SYNTHESIS, CLARIFY, REFRESH = "executor", "synthesis", "clarify", "refresh_context"
ROUTES = (EXECUTOR, SYNTHESIS, CLARIFY, REFRESH)
NONE, INTENT, FULL = "none", "intent", "full"
DEPTHS = (NONE, INTENT, FULL)
PENDING, IN_PROGRESS, DONE, FAILED = "pending", "in_progress", "done", "failed"
GOAL_STATUSES = (PENDING, IN_PROGRESS, DONE, FAILED)
SELF_EXTEND = "self_extend"
# Of a block of §2: what the user has answered, and the source that names the question.
USER_ANSWER, ASKED = "user_answer", "asked: "

# What the assistant writes for our commands, among its answers.
PLAN_FILE, CONTEXT_FILE, PROGRESS_FILE = "route.json", "gathered.json", "progress.json"
USER_FILE, ANSWER_FILE, VERDICT_FILE = "clarified.md", "answer.md", "verdict.json"
BUNDLE_FILE = "bundle.json"


@dataclass
class Strategy:
    """The facts of a strategy between two commands, as they are in strategy.json.

    Nothing is ever removed from `plans`, `progress`, `answers` and `verdicts`.
    """

    query: str
    mode: str
    # What plans of each depth took in this repository.
    costs: list[str] = field(default_factory=list)
    purpose: str = ""
    # The data requirements by name.
    requirements: Json = field(default_factory=dict)
    # That of the query analysis, with `why` where it has not passed.
    status: str = PASS
    why: str = ""
    # The blocks of §2.
    gathered: list[Json] = field(default_factory=list)
    # Each strategic plan that was set, with the number of its attempt.
    plans: list[Json] = field(default_factory=list)
    attempt: int = 1
    # The status of each goal of the last plan.
    goals: dict[str, str] = field(default_factory=dict)
    # What was done for goals.
    progress: list[Json] = field(default_factory=list)
    # Each text of §6.
    answers: list[Json] = field(default_factory=list)
    # What became of the answers.
    verdicts: list[Json] = field(default_factory=list)

    def to_json(self) -> Json:
        """Return the facts as a dict that can be written as JSON."""
        return dict(sorted(vars(self).items()))

    @classmethod
    def from_json(cls, values: Any) -> Strategy:  # noqa: ANN401 – any JSON value
        """Return the facts from a dict that `to_json` made; ValueError for any other value."""
        if not isinstance(values, dict) or any(_is_damaged(values, f.name) for f in fields(cls)):
            raise ValueError
        return cls(**{f.name: values[f.name] for f in fields(cls) if f.name in values})

    @property
    def plan(self) -> Json | None:
        """Return the strategic plan that was set last, None before the first."""
        return self.plans[-1]["plan"] if self.plans else None

    @property
    def waits_for_plan(self) -> bool:
        """Return whether a new attempt has begun whose plan is not set yet."""
        return bool(self.plans) and self.plans[-1]["attempt"] < self.attempt

    @property
    def needs_web(self) -> bool:
        """Return whether the data requirements need the web, where goals go one at a time."""
        return any(
            value not in (False, "", None, "false", "none")
            for name, value in self.requirements.items()
            if name.startswith(("needs_current_", "needs_product_", "needs_web", "freshness_"))
        )

    def due(self) -> list[Json]:
        """Return the goals that wait for no other; where the web is used, only the first of them.

        A goal whose dependency failed is due as well, since nothing else would end it.
        """
        ended = {name for name, status in self.goals.items() if status in (DONE, FAILED)}
        goals = (self.plan or {}).get("goals", [])
        waiting = [g for g in goals if g["id"] not in ended]
        ready = [g for g in waiting if ended.issuperset(g["depends_on"])]
        return ready[:1] if self.needs_web else ready


def read_strategy(state_dir: str) -> Strategy:
    """Return what the strategy of a state directory remembers; Refused where it is damaged."""
    path = resources.strategy_path(state_dir)
    try:
        return Strategy.from_json(read_json(path))
    except (Refused, ValueError) as error:
        if isinstance(error, Refused) and error.problems[0].kind not in ("invalid", "not_found"):
            raise
        text = "what the choice of a strategy remembers is damaged or gone"
        allowed = "a person has it set aside; then the choice begins again"
        way = resources.command("repair", state_dir=state_dir)
        raise Refused("invalid", path, text, allowed, way) from None


def damage_of(state_dir: str, *, begun: bool) -> str:
    """Return what is wrong with what a strategy remembers; "" where it is whole.

    Without the file only a strategy that has `begun` is damaged.
    """
    if not begun and not os.path.lexists(resources.strategy_path(state_dir)):
        return ""
    try:
        read_strategy(state_dir)
    except Refused as refusal:
        return refusal.problems[0].problem
    return ""


# Each entry has at least these, by the name of its list.
_ENTRIES = {"plans": ("attempt", "plan"), "gathered": ("source_type", "node_ids")}
_TEXTS = ("query", "mode", "purpose", "status", "why")
_MAPS = ("requirements", "goals")


def _is_damaged(values: Json, name: str) -> bool:
    """Return whether a field is not what the program writes; most may be left out."""
    if name not in values:
        return name in ("query", "mode")
    value = values[name]
    if name in _TEXTS:
        return not isinstance(value, str) or (name == "mode" and value not in MODES)
    if name == "attempt" or name in _MAPS:
        return not isinstance(value, int if name == "attempt" else dict)
    kind, has = str if name == "costs" else dict, _ENTRIES.get(name, ())
    return not isinstance(value, list) or any(
        not isinstance(one, kind) or any(key not in one for key in has) for one in value
    )
