"""The pydantic models of plan.json (PL-10): the plan, its milestones and its file changes.

Models are frozen and refuse unknown fields. All that a plan of schema version 2 could hold
before this project is required or optional as it was; what we add has a default. `diff` and
`context_lines` of a change are read for such plans and never written: our changes carry `patch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, StrictBool, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError

from state.fields import (
    CheckpointId,
    Count,
    DecisionId,
    FileMode,
    IntentId,
    MilestoneId,
    Model,
    Natural,
    ObjectId,
    RemarkId,
    TaskOrigin,
    Version,
)
from state.plain_json import LARGEST_INTEGER
from state.reasons import InvisibleKnowledge, PlanningContext
from state.results import Operation, Outcome, Unproven, VerifyResult

if TYPE_CHECKING:
    from pydantic.config import JsonDict


class Overview(Model):
    """What the plan is about, for a reader who has not seen the request."""

    version: Version = 1
    title: str = ""
    problem: str = ""
    approach: str = ""


class Scenarios(Model):
    """Behaviours that the tests of a milestone show: normal, edge and error cases."""

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
    params: dict[str, JsonValue] = Field(default={})


class WhyComment(Model):
    """A comment in the code that gives a reason, and the decision it comes from."""

    text: str
    decision_ref: DecisionId | None = None


class Change(Model):
    """The change of one file: blob ids `before` and `after`, as git commits them, and the `patch`.

    A mode or id is null where the file is absent on that side. `patch` is what
    `git diff --binary --full-index` prints for the file, in base64 where it is not UTF-8. With the
    encoding `blob` there is none: the content is beside plan.json, as the blob `after`.
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
    encoding: Literal["base64", "blob"] | None = None
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
    """The documentation that a milestone promises, and the file changes that write it."""

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
    # Such as `high-risk`, which brings a full review.
    flags: tuple[str, ...] = ()
    # Ids of the task's entries and of remarks, or of the project's requirements.
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
    # Checkpoints to be answered before the milestone starts.
    waits_for: tuple[CheckpointId, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    max_tokens: int | None = Field(default=None, strict=True, ge=1, le=LARGEST_INTEGER)
    max_turns: int | None = Field(default=None, strict=True, ge=1, le=LARGEST_INTEGER)
    prompt_suffix: str | None = None
    owner: str | None = None


class Wave(Model):
    """A wave: milestones that may be carried out at the same time."""

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
    """One answer to a question; its `key` fits into a command: no comma, no dash first."""

    key: Annotated[str, Field(pattern=r"^[^,\s-][^,\r\n]*$")]
    label: str
    description: str = ""


# How many options a question has that is no strategy's, for the published schema.
_ENOUGH_OPTIONS: JsonDict = {
    "if": {"properties": {"origin": {"enum": ["strategy"]}}, "required": ["origin"]},
    "else": {"properties": {"options": {"minItems": 2}}},
}


class Checkpoint(Model):
    """A question to the user with options; the database keeps the answer until the freeze."""

    model_config = ConfigDict(json_schema_extra=_ENOUGH_OPTIONS)

    id: CheckpointId
    version: Version = 1
    header: str = ""
    question: str
    origin: Literal["plan", "strategy"] = "plan"
    # The one in which it was asked.
    revision: Count = 1
    # Two or more; none where the strategy has asked, which is answered in words.
    options: Annotated[tuple[Option, ...], Field(max_length=4)]
    multi: StrictBool = False
    # As the user read it; of a revision that is frozen.
    answer: str = ""
    # As of a remark, of an answer that came after its phase had ended.
    outcome: str = ""

    @field_validator("options")
    @classmethod
    def _are_enough(cls, options: tuple[Option, ...], info: ValidationInfo) -> tuple[Option, ...]:
        found, least = len(options), 2
        if found < least and info.data.get("origin") != "strategy":
            faults = {"field_type": "Tuple", "actual_length": found, "min_length": least}
            raise PydanticKnownError("too_short", faults)
        return options


class TaskItem(Model):
    """One entry of the user's task, as context.json gave it."""

    id: Annotated[str, Field(pattern=r"^T-[0-9]{1,15}$")]
    text: str
    out_of_scope: StrictBool = False
    # What it was taken from.
    origin: TaskOrigin = "request"
    # Milestones that cite it, of earlier revisions, which a person has left out.
    left_out: tuple[MilestoneId, ...] = ()


class Anchor(Model):
    """The place that a remark is about, in the revision that its author had before them (LP-3).

    It is an entity of the plan, or a file: all of it, or lines of it. Long lines and many lines
    are cut.
    """

    # SHA-256 of the revision; '' where that was not frozen yet.
    revision_digest: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    # Such as `M-001`; '' where it is a file.
    entity: str = ""
    # As it is called on its side: in the base (`old`), or in the tree to come (`new`).
    file: str = ""
    side: Literal["old", "new"] = "new"
    # First and last line, from 1; both 0 where the whole file is meant.
    line: Natural = 0
    end: Natural = 0
    blob: ObjectId | None = None
    # The lines, and up to two on each side of them.
    quote: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Remark(Model):
    """What a person wants otherwise in a plan, in their own words."""

    id: RemarkId
    version: Version = 1
    text: str
    # The revision that the person had before them.
    revision: Count
    # What it is about; None where that is the whole plan.
    anchor: Anchor | None = None
    # `declined: why`, or `FILE:LINE` where it holds already; '' where the milestones that cite it
    # are its outcome, which is computed.
    outcome: str = ""
    # As of an entry of the task.
    left_out: tuple[MilestoneId, ...] = ()
    # Entries of the task and earlier remarks that hold no more, since this one says otherwise.
    overrules: tuple[Annotated[str, Field(pattern=r"^(T|RM)-[0-9]{1,15}$")], ...] = ()


class UserContext(Model):
    """What context.json says besides the task, so that the plan can be read alone."""

    constraints: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    rejected_alternatives: tuple[str, ...] = ()
    current_understanding: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    invisible_knowledge: tuple[str, ...] = ()
    user_quotes: tuple[str, ...] = ()


class Base(Model):
    """The commit that the plan's changes start from; `snapshot` adds uncommitted work."""

    commit: ObjectId
    branch: str
    tree: ObjectId
    # A commit of HEAD and the uncommitted work, where the plan is made on top of both.
    snapshot: ObjectId | None = None


# A date with or without a time, as ISO 8601 writes them; ours are in UTC.
Moment = Annotated[
    str,
    Field(pattern=r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"),
]


class Plan(Model):
    """The whole plan; `digest` names a frozen revision, `seals` show where it was edited later."""

    schema_version: Literal[2]
    plan_id: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]
    created_at: Moment
    frozen_at: Moment | None = None
    revision: Count = 1
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    seals: dict[str, str] = Field(default={})
    # The highest number given for each id prefix, so that no id is used twice.
    counters: dict[str, Natural] = Field(default={})
    base: Base | None = None
    depth: Literal["intent", "full"] = "full"
    # Whether plan.json and its base are all that the plan needs.
    self_contained: StrictBool = True
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
    # The program's notes on this revision, such as that its base moved or what a part leaves out;
    # in a plan of before `user_remarks`, also what the person wanted.
    remarks: tuple[str, ...] = ()
    # What is said and not borne out by the change; found at the freeze, and by nobody written.
    unproven: tuple[Unproven, ...] = ()
    last_operation: Operation | None = None
