"""What the choice of a strategy remembers of a run: request, context, plans, answers, verdicts.

Printed steps read through this module, so it imports the standard library alone.
"""

from __future__ import annotations

from shared import resources
from state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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

# What the assistant writes for our commands, among its answers.
PLAN_FILE, CONTEXT_FILE, PROGRESS_FILE = "strategy.json", "gathered.json", "progress.json"
USER_FILE, ANSWER_FILE, VERDICT_FILE = "clarified.md", "answer.md", "verdict.json"
BUNDLE_FILE = "bundle.json"


class Strategy:
    """The facts of a strategy between two commands, as they are in strategy.json.

    Nothing is ever removed from `plans`, `progress`, `answers` and `verdicts`.
    """

    __slots__ = (
        "answers", "attempt", "costs", "gathered", "goals", "mode", "plans", "progress", "purpose",
        "query", "requirements", "status", "verdicts", "why",
    )  # fmt: skip
    query: str
    mode: str
    # What plans of each depth took in this repository.
    costs: list[str]
    purpose: str
    # The data requirements by name.
    requirements: Json
    # That of the query analysis, with `why` where it has not passed.
    status: str
    why: str
    # The blocks of §2.
    gathered: list[Json]
    # Each strategic plan that was set, with the number of its attempt.
    plans: list[Json]
    attempt: int
    # The status of each goal of the last plan.
    goals: dict[str, str]
    # What was done for goals.
    progress: list[Json]
    # Each text of §6.
    answers: list[Json]
    # What became of the answers.
    verdicts: list[Json]

    def __init__(self, query: str, mode: str) -> None:
        self.query, self.mode = query, mode
        self.purpose = self.why = ""
        self.requirements, self.status, self.attempt = {}, PASS, 1
        self.costs, self.gathered, self.plans, self.progress = [], [], [], []
        self.goals, self.answers, self.verdicts = {}, [], []

    def to_json(self) -> Json:
        """Return the facts as a dict that can be written as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, values: Json) -> Strategy:
        """Return the facts from a dict that `to_json` made."""
        facts = cls(values["query"], values["mode"])
        for name in cls.__slots__:
            setattr(facts, name, values.get(name, getattr(facts, name)))
        return facts

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

    def workflow(self) -> str:
        """Return the research workflow that the data requirements choose, "" if they name none."""
        prices = self.requirements.get("needs_current_prices")
        if prices is None:
            return ""
        if not prices:
            return "intelligence_search"
        known = any(block["source_type"] == "research_cache" for block in self.gathered)
        return "product_quick_find" if known else "product_research"


def read_strategy(state_dir: str) -> Strategy:
    """Return what the strategy of a state directory remembers."""
    return Strategy.from_json(read_json(resources.strategy_path(state_dir)))
