"""The plan as printed steps read it: the fields of `state/models.py`, without pydantic (SD-9).

Made from the models by `bin/test --update-golden`, and compared by a test. `state/shape.py` reads
JSON by these annotations; a field without a default has to be there.
"""

from __future__ import annotations

from state.shape import Part

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any, Literal


class Base(Part):
    """The fields of `Base`."""

    commit: str
    branch: str
    tree: str
    snapshot: str | None = None


class TaskItem(Part):
    """The fields of `TaskItem`."""

    id: str
    text: str
    out_of_scope: bool = False
    origin: Literal["request", "strategy", "requirements"] = "request"
    left_out: tuple[str, ...] = ()


class Anchor(Part):
    """The fields of `Anchor`."""

    revision_digest: str = ""
    entity: str = ""
    file: str = ""
    side: Literal["old", "new"] = "new"
    line: int = 0
    end: int = 0
    blob: str | None = None
    quote: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Remark(Part):
    """The fields of `Remark`."""

    id: str
    version: int = 1
    text: str
    revision: int
    anchor: Anchor | None = None
    outcome: str = ""
    left_out: tuple[str, ...] = ()
    overrules: tuple[str, ...] = ()


class UserContext(Part):
    """The fields of `UserContext`."""

    constraints: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    rejected_alternatives: tuple[str, ...] = ()
    current_understanding: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    invisible_knowledge: tuple[str, ...] = ()
    user_quotes: tuple[str, ...] = ()


class Overview(Part):
    """The fields of `Overview`."""

    version: int = 1
    title: str = ""
    problem: str = ""
    approach: str = ""


class Decision(Part):
    """The fields of `Decision`."""

    id: str
    version: int = 1
    decision: str
    reasoning_chain: str = ""
    timestamp: str | None = None


class RejectedAlternative(Part):
    """The fields of `RejectedAlternative`."""

    id: str
    version: int = 1
    alternative: str
    rejection_reason: str
    decision_ref: str | None = None


class Constraint(Part):
    """The fields of `Constraint`."""

    id: str
    version: int = 1
    type: str = ""
    description: str
    source: str = ""


class Risk(Part):
    """The fields of `Risk`."""

    id: str
    version: int = 1
    risk: str
    mitigation: str = ""
    anchor: str | None = None
    decision_ref: str | None = None


class PlanningContext(Part):
    """The fields of `PlanningContext`."""

    decision_log: tuple[Decision, ...] = ()
    rejected_alternatives: tuple[RejectedAlternative, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    known_risks: tuple[Risk, ...] = ()


class Figure(Part):
    """The fields of `Figure`."""

    diagram_ascii: str = ""
    description: str = ""


class Invariant(Part):
    """The fields of `Invariant`."""

    id: str
    version: int = 1
    text: str


class Tradeoff(Part):
    """The fields of `Tradeoff`."""

    id: str
    version: int = 1
    text: str


class InvisibleKnowledge(Part):
    """The fields of `InvisibleKnowledge`."""

    version: int = 1
    architecture: Figure = Figure()
    data_flow: Figure = Figure()
    structure_rationale: str = ""
    invariants: tuple[Invariant | str, ...] = ()
    tradeoffs: tuple[Tradeoff | str, ...] = ()


class Scenarios(Part):
    """The fields of `Scenarios`."""

    normal: tuple[str, ...] = ()
    edge: tuple[str, ...] = ()
    error: tuple[str, ...] = ()


class Tests(Part):
    """The fields of `Tests`."""

    files: tuple[str, ...] = ()
    type: str | None = None
    backing: str | None = None
    scenarios: Scenarios = Scenarios()
    skip_reason: str | None = None


class Intent(Part):
    """The fields of `Intent`."""

    id: str
    version: int = 1
    file: str
    function: str | None = None
    behavior: str
    decision_refs: tuple[str, ...] = ()
    params: dict[str, Any] = {}  # noqa: RUF012 – nobody changes it


class WhyComment(Part):
    """The fields of `WhyComment`."""

    text: str
    decision_ref: str | None = None


class Change(Part):
    """The fields of `Change`."""

    id: str
    version: int = 1
    intent_ref: str | None = None
    more_intent_refs: tuple[str, ...] = ()
    file: str
    old_file: str | None = None
    old_mode: Literal["100644", "100755", "120000"] | None = None
    mode: Literal["100644", "100755", "120000"] | None = None
    before: str | None = None
    after: str | None = None
    patch: str | None = None
    encoding: Literal["base64", "blob"] | None = None
    why_comments: tuple[WhyComment | str, ...] = ()
    diff: str | None = None
    context_lines: int | str | tuple[str, ...] | None = None


class Doc(Part):
    """The fields of `Doc`."""

    id: str
    version: int = 1
    file: str
    function: str | None = None
    text: str = ""


class Documentation(Part):
    """The fields of `Documentation`."""

    module_comment: Doc | str | None = None
    docstrings: tuple[Doc | str, ...] = ()
    algorithm_blocks: tuple[Doc | str, ...] = ()
    inline_comments: tuple[Doc | str, ...] = ()
    changes: tuple[Change, ...] = ()


class Milestone(Part):
    """The fields of `Milestone`."""

    id: str
    version: int = 1
    number: int
    name: str
    files: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    tests: Tests = Tests()
    code_intents: tuple[Intent, ...] = ()
    code_changes: tuple[Change, ...] = ()
    documentation: Documentation = Documentation()
    is_documentation_only: bool = False
    delegated_to: str | None = None
    mode: Literal["code", "test", "research", "design", "docs", "run"] = "code"
    depends_on: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_turns: int | None = None
    prompt_suffix: str | None = None
    owner: str | None = None


class Wave(Part):
    """The fields of `Wave`."""

    wave: int
    milestones: tuple[str, ...]


class MilestoneDependencies(Part):
    """The fields of `MilestoneDependencies`."""

    diagram_ascii: str = ""
    waves: tuple[Wave, ...] = ()


class DiagramNode(Part):
    """The fields of `DiagramNode`."""

    id: str
    label: str = ""


class DiagramEdge(Part):
    """The fields of `DiagramEdge`."""

    source: str
    target: str
    label: str = ""


class Diagram(Part):
    """The fields of `Diagram`."""

    id: str
    version: int = 1
    title: str
    nodes: tuple[DiagramNode, ...] = ()
    edges: tuple[DiagramEdge, ...] = ()


class Option(Part):
    """The fields of `Option`."""

    key: str
    label: str
    description: str = ""


class Checkpoint(Part):
    """The fields of `Checkpoint`."""

    id: str
    version: int = 1
    header: str = ""
    question: str
    origin: Literal["plan", "strategy"] = "plan"
    revision: int = 1
    options: tuple[Option, ...]
    multi: bool = False
    answer: str = ""
    outcome: str = ""


class VerifyResult(Part):
    """The fields of `VerifyResult`."""

    command: str
    baseline: Literal["pass", "fail", "not-run"]
    outcome: Literal["pass", "fail", "known-failure"]
    tree: str
    exercised: bool | None = None
    green_without: bool | None = None
    where: Literal["place", "worktree"] = "worktree"
    seconds: int | None = None
    chosen_by: Literal["project", "candidate", "assistant"] = "project"
    passed: int | None = None
    failed: int | None = None
    base_passed: int | None = None
    base_failed: int | None = None
    passed_over: tuple[str, ...] = ()
    lacks: str = ""


class Answer(Part):
    """The fields of `Answer`."""

    check: str
    scope: str
    severity: Literal["MUST", "SHOULD", "COULD"]
    status: Literal["PASS", "FAIL"]
    by: Literal["agent", "assistant"]
    evidence: str = ""
    note: str = ""


class Unasked(Part):
    """The fields of `Unasked`."""

    check: str
    scopes: tuple[str, ...] = ()
    reason: str
    triggered: bool = False


class OpenItem(Part):
    """The fields of `OpenItem`."""

    id: str
    check: str
    severity: Literal["MUST", "SHOULD", "COULD"]
    finding: str
    accepted: str = ""


class Outcome(Part):
    """The fields of `Outcome`."""

    phase: Literal["plan-design", "plan-code", "plan-docs", "impl-code", "impl-docs"]
    iteration: int
    by: Literal["script", "reviewer", "host", "person"]
    review: Literal["full", "small", "none"] = "none"
    judged: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    unasked: tuple[Unasked, ...] = ()
    alone: bool = False
    tree: str | None = None
    reason: str = ""
    open: tuple[OpenItem, ...] = ()


class Unproven(Part):
    """The fields of `Unproven`."""

    id: str
    text: str


class Operation(Part):
    """The fields of `Operation`."""

    id: str
    applied: tuple[tuple[str, str, int], ...]


class Plan(Part):
    """The fields of `Plan`."""

    schema_version: Literal[2]
    plan_id: str
    created_at: str
    frozen_at: str | None = None
    revision: int = 1
    digest: str | None = None
    seals: dict[str, str] = {}  # noqa: RUF012 – nobody changes it
    counters: dict[str, int] = {}  # noqa: RUF012 – nobody changes it
    base: Base | None = None
    depth: Literal["intent", "full"] = "full"
    self_contained: bool = True
    task_spec: tuple[TaskItem, ...] = ()
    user_remarks: tuple[Remark, ...] = ()
    context: UserContext = UserContext()
    overview: Overview = Overview()
    planning_context: PlanningContext = PlanningContext()
    invisible_knowledge: InvisibleKnowledge = InvisibleKnowledge()
    milestones: tuple[Milestone, ...] = ()
    milestone_dependencies: MilestoneDependencies = MilestoneDependencies()
    diagrams: tuple[Diagram, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    verify: tuple[VerifyResult, ...] = ()
    reviews: tuple[Outcome, ...] = ()
    remarks: tuple[str, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    last_operation: Operation | None = None
