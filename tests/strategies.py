"""Plays the choice of a strategy by following its printed blocks, and the templates of plans."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.strategy_record import read_strategy
from tests.journey import SHOWN, Answer, Driven, words_of
from tests.prepared import kept

if TYPE_CHECKING:
    from tests.conftest import Repository

    Json = dict[str, Any]

REQUEST = "Make f add two"
FAILURE = {
    "reason": "URL_NOT_IN_RESEARCH",
    "issues": ["<source_url> not found in research cache", "Possible hallucination"],
    "instruction": "Avoid <disallowed_source_type>, prefer <preferred_source_type>",
}
GATHERED: Json = {
    "title": "Session Preferences", "source_type": "preference", "node_ids": ["memory:budget"],
    "provenance": ["memory/preferences.json"], "confidence_avg": 0.82,
    "content": "- budget: $X–$Y (high confidence)",
}  # fmt: skip


def goal(number: int, description: str, priority: str | None = "high", *needs: int) -> Json:
    """Return a goal as the templates write them: one dependency is its id alone."""
    ids = [f"GOAL_{n}" for n in needs]
    values = {"priority": priority, "depends_on": ids[0] if len(ids) == 1 else ids or None}
    kept = {name: value for name, value in values.items() if value is not None}
    return {"id": f"GOAL_{number}", "description": description, **kept}


def plan(route: str, *goals: Json, **more: object) -> Json:
    """Return a strategic plan with short texts where none are given."""
    texts = {
        "approach": "Change the constant", "success_criteria": "f(1) is 3",
        "reason": "one place, one revert",
    }  # fmt: skip
    listed = list(goals) or [goal(1, "f adds two", None)]
    return {"_type": "STRATEGIC_PLAN", "route_to": route, "goals": listed, **texts, **more}


TEMPLATES: dict[str, tuple[str, Json]] = {
    "9.1 discovery": ("chat", plan(
        "executor",
        goal(1, "Identify candidates meeting <key_constraints>"),
        goal(2, "Compare candidates across sources", "high", 1),
        approach="Gather candidates, compare attributes, filter by constraints",
        success_criteria="Found sufficient options with verified attributes",
        reason="Section 2 lacks fresh evidence for current conditions",
    )),
    "9.2 follow-up": ("chat", plan(
        "synthesis", goal(1, "Explain selection criteria for prior options", None),
        approach="Reference prior findings in section 2, explain rationale",
        success_criteria="User understands the selection criteria",
        reason="All needed context already exists in section 2",
    )),
    "9.3 code task": ("code", plan(
        "executor",
        goal(1, "Understand current implementation"),
        goal(2, "Apply requested change", "high", 1),
        goal(3, "Verify changes behave correctly", "medium", 2),
        approach="Inspect code, implement changes, verify behavior",
        success_criteria="Change implemented and verified",
        reason="Requires reading and modifying code",
    )),
    "9.4 greeting": ("chat", plan(
        "synthesis", goal(1, "Respond to greeting", None),
        approach="Provide a friendly conversational response",
        success_criteria="User feels acknowledged", reason="No tools required",
    )),
    "9.5 ambiguous": ("chat", plan(
        "clarify", approach="Cannot determine approach without missing details",
        success_criteria="N/A - need clarification", reason="Query incomplete",
        clarification_question="<targeted clarification question>",
    ) | {"goals": []}),
}  # fmt: skip
RETRY_TEMPLATE = plan(
    "executor", goal(1, "Find options from <preferred_source_type> under <constraints>"),
    is_retry=True, attempt=2,
    previous_failure={
        "reason": "URL_NOT_IN_RESEARCH", "instruction": "Avoid <disallowed_source_type>",
    },
    approach="Search verified sources in <preferred_source_type>, avoid disallowed sources",
    success_criteria="Found at least <N> verified listings from preferred sources",
    constraints={
        "avoid_sources": ["<source_domain>"],
        "prefer_sources": ["<source_domain_1>", "<source_domain_2>"],
    },
    reason="Retry with approach adjusted per validation feedback",
)  # fmt: skip
RETRY_EXAMPLE = plan(
    "executor", goal(1, "Find <item_type> from <preferred_source_type>"),
    reason="Retry after validation failure - focusing on verified source types",
    is_retry=True, attempt=2,
    previous_failure={
        "reason": "URL_NOT_IN_RESEARCH", "failed_sources": ["<source_domain>"],
        "instruction": "Avoid <disallowed_source_type>, prefer <preferred_source_type>",
        "lesson_learned": "<source_type> URLs were not verified",
    },
    approach="Focus on <preferred_source_type> and <alternative_sources>.",
    success_criteria="Found at least <N> verified listings from <preferred_source_type>",
    constraints={
        "avoid_sources": ["<source_domain>"],
        "prefer_sources": ["<source_domain_1>", "<source_domain_2>", "<source_type_group>"],
    },
)  # fmt: skip
SELF_EXTEND: Json = {
    "_type": "STRATEGIC_PLAN",
    "route_to": "executor",
    "plan_type": "self_extend",
    "self_extension": {
        "action": "CREATE_WORKFLOW",
        "workflow_name": "sheet-report",
        "required_tools": ["<tool_family.read>", "<tool_family.write>"],
    },
    "goals": [
        {"id": "G1", "description": "Create workflow bundle with required tools"},
        {"id": "G2", "description": "Execute workflow to produce required artifacts"},
    ],
    "success_criteria": "Workflow created, tools validated, artifacts produced",
}


class Choice(Driven):
    """One strategy in one repository."""

    def __init__(self, repository: Repository, *options: str, request: str = REQUEST) -> None:
        self.repository, self.options, self.request = repository, options, request
        self.read: list[str] = []

    @kept
    def start(self) -> Answer:
        """Start the run, with no option that says how to plan."""
        self.last = self.call("start", self.request, *self.options)
        self.state_dir = self.last.state_dir
        self.read.append(self.last.text)
        return self.last

    def follow(self, on: str | None = None) -> Answer:
        """Run the command that the block names for an outcome."""
        answer = self.call(*words_of(self.last.next(on)))
        self.read.append(answer.text)
        if answer.code == 0:
            self.last = answer
        return answer

    @kept
    def choose(self, value: object) -> Answer:
        """Hand in a strategic plan."""
        if not self.state_dir:
            self.start()
        self.write_answer("route.json", value)
        return self.follow("done")

    def gather(self, **value: object) -> Answer:
        """Hand in context, or the progress of goals."""
        self.write_answer(self.last.reads(), value)
        return self.follow("done")

    def ends(self, *goals: str, status: str = "done") -> Answer:
        """Hand in that goals have ended."""
        entries = [
            {"goal": one, "status": status, "command": f"Search for {one}",
             "result": "Found N candidate listings",
             "claims": [{"claim": "<item> @ <$price> (<source_domain>)", "source": "research"}]}
            for one in goals
        ]  # fmt: skip
        return self.gather(progress=entries)

    def answers(self, text: str = "The answer.") -> Answer:
        """Hand in the answer for the user."""
        self.write_answer("answer.md", text)
        return self.follow("done")

    def judge(self, verdict: str, **more: object) -> Answer:
        """Hand in a verdict; one that asks for another try says why."""
        if verdict != "APPROVE":
            self.write_answer("verdict.json", {**FAILURE, **more})
        return self.follow(verdict.lower())

    @kept
    def to_retry(self) -> Answer:
        """Go on to the second attempt, after an answer was not accepted."""
        mode, first = TEMPLATES["9.1 discovery"]
        assert mode in self.options[0]
        self.choose(first)
        while self.name == "execute":
            self.ends(*(line.partition(":")[0] for line in self.last.data("goals").splitlines()))
        self.answers()
        return self.judge("RETRY")

    @property
    def name(self) -> str:
        """Return the name of the step that the host has before it, or the root of the block."""
        return self.last.name

    @property
    def facts(self) -> Any:  # noqa: ANN401 – its fields are what tests look at
        return read_strategy(self.state_dir)

    def section(self, number: int) -> str:
        """Return a section of the document as `strategy show` prints it."""
        return self.planner("strategy", "show", "--section", str(number)).data(f"§{number}")

    @property
    def document(self) -> str:
        return Path(self.state_dir, "context.md").read_text(encoding="utf-8")


def normalised(text: str, choice: Choice) -> str:
    """Replace what differs between two machines or two runs by placeholders."""
    text = text.replace(choice.state_dir, "STATE").replace(str(choice.repository.path), "REPO")
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text.replace(SHOWN, "PLANNER"))
    return re.sub(r"\d{8}-[0-9a-f]{6}", "RUN", text)
