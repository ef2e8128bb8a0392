"""The schema of plan.json (PL-10): every entity, every field, no behaviour.

Models are frozen and refuse unknown fields. All that a plan of schema version 2 could hold
before this project is required or optional as it was; what we add has a default. `diff` and
`context_lines` of a change are read for such plans and never written: our changes carry `patch`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool

from state.phases import PHASES

if TYPE_CHECKING:
    from state.phases import Phase
else:
    Phase = Literal[PHASES]

# To find plugins pydantic would search every installed package, for a tenth of the time that an
# edit of the plan takes. We have none, and what somebody else installed is not to run here.
_loader = ModuleType("pydantic.plugin._loader")
setattr(_loader, "get_plugins", tuple)  # noqa: B010 – a module has no such attribute to assign to
sys.modules.setdefault(_loader.__name__, _loader)

LARGEST_INTEGER = 2**53 - 1  # RFC 8785 carries no larger one exactly

DecisionId = Annotated[str, Field(pattern=r"^DL-[0-9]{3,15}$")]
MilestoneId = Annotated[str, Field(pattern=r"^M-[0-9]{3,15}$")]
IntentId = Annotated[str, Field(pattern=r"^CI-[0-9]{3,15}$")]
CheckpointId = Annotated[str, Field(pattern=r"^CP-[0-9]{3,15}$")]
ObjectId = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
FileMode = Literal["100644", "100755", "120000"]
Severity = Literal["MUST", "SHOULD", "COULD"]
# Strict, so that "3", 3.0 and true are refused here as the published JSON Schema refuses them.
Natural = Annotated[int, Field(strict=True, ge=0, le=LARGEST_INTEGER)]
Count = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INTEGER)]
Version = Count


class Model(BaseModel):
    """What all parts of a plan share: immutable, and no field that the schema does not name."""

    # Deferred: the plan's validator holds those of its parts, and most are never used alone.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Overview(Model):
    """What the plan is about, for a reader who has not seen the request."""

    version: Version = 1
    title: str = ""
    problem: str = ""
    approach: str = ""


class Decision(Model):
    """A choice with its reasons; `reasoning_chain` is steps joined by `->` or newlines."""

    id: DecisionId
    version: Version = 1
    decision: str
    reasoning_chain: str = ""
    timestamp: str | None = None


class RejectedAlternative(Model):
    """What was considered and not chosen."""

    id: Annotated[str, Field(pattern=r"^RA-[0-9]{3,15}$")]
    version: Version = 1
    alternative: str
    rejection_reason: str
    decision_ref: DecisionId | None = None


class Constraint(Model):
    """A limit that the plan keeps, and who set it."""

    id: Annotated[str, Field(pattern=r"^C-[0-9]{3,15}$")]
    version: Version = 1
    type: str = ""
    description: str
    source: str = ""


class Risk(Model):
    """What may go wrong and what the plan does about it; `anchor` is a `file:function`."""

    id: Annotated[str, Field(pattern=r"^R-[0-9]{3,15}$")]
    version: Version = 1
    risk: str
    mitigation: str = ""
    anchor: str | None = None
    decision_ref: DecisionId | None = None


class PlanningContext(Model):
    """Decisions and what surrounds them."""

    decision_log: tuple[Decision, ...] = ()
    rejected_alternatives: tuple[RejectedAlternative, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    known_risks: tuple[Risk, ...] = ()


class Figure(Model):
    """A picture in characters with its explanation."""

    diagram_ascii: str = ""
    description: str = ""


class Invariant(Model):
    """What must stay true of the code."""

    id: Annotated[str, Field(pattern=r"^INV-[0-9]{3,15}$")]
    version: Version = 1
    text: str


class Tradeoff(Model):
    """What was given up for what."""

    id: Annotated[str, Field(pattern=r"^TO-[0-9]{3,15}$")]
    version: Version = 1
    text: str


class InvisibleKnowledge(Model):
    """What the code alone does not tell."""

    version: Version = 1
    architecture: Figure = Figure()
    data_flow: Figure = Figure()
    structure_rationale: str = ""
    invariants: tuple[Invariant | str, ...] = ()
    tradeoffs: tuple[Tradeoff | str, ...] = ()


class Scenarios(Model):
    """Behaviours that the tests show."""

    normal: tuple[str, ...] = ()
    edge: tuple[str, ...] = ()
    error: tuple[str, ...] = ()


class Tests(Model):
    """The tests of a milestone, or why it has none."""

    files: tuple[str, ...] = ()
    type: str | None = None
    backing: str | None = None
    scenarios: Scenarios = Scenarios()
    skip_reason: str | None = None


class Intent(Model):
    """What a change to one file must do."""

    id: IntentId
    version: Version = 1
    file: str
    function: str | None = None
    behavior: str
    decision_refs: tuple[DecisionId, ...] = ()
    params: dict[str, JsonValue] = {}


class WhyComment(Model):
    """A comment in the code that gives a reason, and the decision it comes from."""

    text: str
    decision_ref: DecisionId | None = None


class Change(Model):
    """One file's new content: `before` → `after` (blob ids as git commits them) by `patch`.

    A mode or id is null where the file is absent on that side. `patch` is what
    `git diff --binary --full-index` prints for the file, in base64 where it is not UTF-8.
    """

    id: Annotated[str, Field(pattern=r"^CC-[0-9]{3,15}$")]
    version: Version = 1
    intent_ref: IntentId | None = None
    more_intent_refs: tuple[IntentId, ...] = ()
    file: str
    old_file: str | None = None
    old_mode: FileMode | None = None
    mode: FileMode | None = None
    before: ObjectId | None = None
    after: ObjectId | None = None
    patch: str | None = None
    encoding: Literal["base64"] | None = None
    why_comments: tuple[WhyComment | str, ...] = ()
    diff: str | None = None
    context_lines: Natural | str | tuple[str, ...] | None = None


class Doc(Model):
    """A piece of documentation that a milestone promises."""

    id: Annotated[str, Field(pattern=r"^DOC-[0-9]{3,15}$")]
    version: Version = 1
    file: str
    function: str | None = None
    text: str = ""


class Documentation(Model):
    """What a milestone documents, and the changes that do it."""

    module_comment: Doc | str | None = None
    docstrings: tuple[Doc | str, ...] = ()
    algorithm_blocks: tuple[Doc | str, ...] = ()
    inline_comments: tuple[Doc | str, ...] = ()
    changes: tuple[Change, ...] = ()


class Milestone(Model):
    """A unit of the plan and of its execution; its files belong to no other milestone."""

    id: MilestoneId
    version: Version = 1
    number: Count
    name: str
    files: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    tests: Tests = Tests()
    code_intents: tuple[Intent, ...] = ()
    code_changes: tuple[Change, ...] = ()
    documentation: Documentation = Documentation()
    is_documentation_only: StrictBool = False
    delegated_to: str | None = None
    mode: Literal["code", "test", "research", "design", "docs", "run"] = "code"
    depends_on: tuple[MilestoneId, ...] = ()
    waits_for: tuple[CheckpointId, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    max_tokens: int | None = Field(default=None, strict=True, ge=1, le=LARGEST_INTEGER)
    max_turns: int | None = Field(default=None, strict=True, ge=1, le=LARGEST_INTEGER)
    prompt_suffix: str | None = None
    owner: str | None = None


class Wave(Model):
    """Milestones that may run at once."""

    wave: Count
    milestones: tuple[MilestoneId, ...]


class MilestoneDependencies(Model):
    """The order of execution, computed from `depends_on` and shared files."""

    diagram_ascii: str = ""
    waves: tuple[Wave, ...] = ()


class DiagramNode(Model):
    """A node of a diagram; `id` is unique in its diagram."""

    id: str
    label: str = ""


class DiagramEdge(Model):
    """An arrow between two nodes of the same diagram."""

    source: str
    target: str
    label: str = ""


class Diagram(Model):
    """A picture as nodes and edges."""

    id: Annotated[str, Field(pattern=r"^DG-[0-9]{3,15}$")]
    version: Version = 1
    title: str
    nodes: tuple[DiagramNode, ...] = ()
    edges: tuple[DiagramEdge, ...] = ()


class Option(Model):
    """One answer to a checkpoint; `key` is a word of a command: no comma, no dash first."""

    key: Annotated[str, Field(pattern=r"^[^,\s-][^,\r\n]*$")]
    label: str
    description: str = ""


class Checkpoint(Model):
    """A question to the user with options; answers are kept in the database."""

    id: CheckpointId
    version: Version = 1
    header: str = ""
    question: str
    options: Annotated[tuple[Option, ...], Field(min_length=2, max_length=4)]
    multi: StrictBool = False


class TaskItem(Model):
    """One entry of the user's task, as context.json gave it."""

    id: Annotated[str, Field(pattern=r"^T-[0-9]{1,15}$")]
    text: str
    out_of_scope: StrictBool = False


class UserContext(Model):
    """The other categories of context.json, so that the plan stands alone."""

    constraints: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    rejected_alternatives: tuple[str, ...] = ()
    current_understanding: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    invisible_knowledge: tuple[str, ...] = ()
    user_quotes: tuple[str, ...] = ()


class Base(Model):
    """What the changes were made against; `snapshot` holds uncommitted work of the user."""

    commit: ObjectId
    branch: str
    tree: ObjectId
    snapshot: ObjectId | None = None


class VerifyResult(Model):
    """One run of a verify command; `exercised` is false where unparsable changes stayed green."""

    command: str
    baseline: Literal["pass", "fail", "not-run"]
    outcome: Literal["pass", "fail", "known-failure"]
    tree: ObjectId
    exercised: StrictBool | None = None


class OpenItem(Model):
    """A review item that failed and blocked nothing."""

    id: str
    check: str
    severity: Severity
    finding: str


class Outcome(Model):
    """How a phase passed its gate; `tree` is what was captured then, null before code.

    `review` says how much review was due, `judged` which questions a reviewer has answered;
    `alone` where the host answered some itself.
    """

    phase: Phase
    iteration: Count
    by: Literal["script", "host", "person"]
    review: Literal["full", "small", "none"] = "none"
    judged: tuple[str, ...] = ()
    alone: StrictBool = False
    tree: ObjectId | None = None
    reason: str = ""
    open: tuple[OpenItem, ...] = ()


class Operation(Model):
    """The last batch: the same one again, after a crash or a lost answer, is not done twice."""

    id: str
    applied: tuple[tuple[str, str, Count], ...]


class Plan(Model):
    """The whole plan; `digest` names a frozen revision, `seals` find the place of an edit."""

    schema_version: Literal[2]
    plan_id: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]
    created_at: str
    frozen_at: str | None = None
    revision: Count = 1
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    seals: dict[str, str] = {}
    counters: dict[str, Natural] = {}
    base: Base | None = None
    depth: Literal["intent", "full"] = "full"
    task_spec: tuple[TaskItem, ...] = ()
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
    last_operation: Operation | None = None
