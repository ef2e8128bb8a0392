"""What the requirements lane remembers, and the names of the files in the planning folder.

Printed steps read through this module, so it imports the standard library alone.
"""

from __future__ import annotations

import os

from shared import resources
from state.beneath import Beneath
from state.files import write_json
from state.kept_files import read_kept

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any

WORKFLOW = "requirements"
LANE = "planning"
ORIGINAL = "{{ORIGINAL USER REQUIREMENTS -- THIS SECTION WILL BE IGNORED BY THE IMPLEMENTATION}}"
CURRENT = "{{CURRENT REQUIREMENTS}}"

NEW = "new_requirements.md"
IN_WORK = "current_requirements.md"
TODO = "todo.md"
HISTORY = "planner_history.txt"
ATTRIBUTES = ".gitattributes"

# What the assistant writes for our commands, among its answers.
SUMMARY = "summary.md"
COMMIT_MESSAGE = "commit.md"


class Lane:
    """The facts of a requirements lane between two commands, as they are in lifecycle.json."""

    __slots__ = (
        "agreed",
        "alone",
        "branch",
        "changed",
        "closed",
        "codepath",
        "depth",
        "found",
        "git",
        "ignored",
        "left_out",
        "lines",
        "message",
        "others",
        "review",
        "review_mode",
        "reviewed",
        "reviewed_as_is",
        "rewrite",
        "root",
        "run",
        "staged",
        "stamp",
        "started",
        "taken_back",
        "text",
        "told",
        "wanted",
    )  # fmt: skip
    codepath: str
    # Of the repository, where there is one: beneath it no file of ours lies behind a link.
    root: str
    git: bool
    # The user's choices for the plans, empty where left open.
    depth: str
    review_mode: str
    # Whether the host starts no sub-agents.
    alone: bool
    branch: str
    changed: list[str]
    # Files left behind by an interrupted round, each with its time.
    found: list[list[str]]
    # The SHA-256 of the requirements when their review began.
    review: str
    reviewed: bool
    # Whether the review has found nothing to change.
    reviewed_as_is: bool
    # Whether the user asked for a rewrite.
    rewrite: bool
    # Whether the history has the beginning of the implementation.
    started: bool
    # The state directory of the run that implements the requirements.
    run: str
    agreed: bool
    # The time in the names of the completed files.
    stamp: str
    text: str
    message: str
    # Maps each path that waits for the commit to its mode and blob, or to None where it is removed.
    staged: dict[str, list[str] | None]
    others: list[str]
    # Other files that the user agreed to commit.
    wanted: list[str]
    # Files that the user has taken out of the commit again.
    taken_back: list[str]
    left_out: list[str]
    # What git leaves out.
    ignored: list[str]
    # The round's last lines of the history.
    lines: str
    # Whether a round has just ended.
    closed: bool
    told: str

    def __init__(self, codepath: str, *, git: bool) -> None:
        self.codepath, self.root, self.git = codepath, codepath, git
        self.branch = self.told = self.depth = self.review_mode = ""
        self.changed, self.found = [], []
        self.alone = False
        self.begin_round()

    def begin_round(self) -> None:
        """Forget what belongs to one round of requirements."""
        self.review = self.run = self.stamp = self.text = self.message = self.lines = ""
        self.reviewed = self.reviewed_as_is = self.rewrite = self.started = self.agreed = (
            self.closed
        ) = False
        self.staged = {}
        self.others, self.wanted, self.left_out, self.ignored = [], [], [], []
        self.taken_back = []

    def end_round(self) -> None:
        """Forget a round that is over, but that it was."""
        self.begin_round()
        self.closed = True

    def to_json(self) -> dict[str, Any]:
        """Return the facts as a dict that can be written as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Lane:
        """Return the facts from a dict that `to_json` made."""
        facts = cls(values["codepath"], git=values["git"])
        for name in cls.__slots__:
            setattr(facts, name, values.get(name, getattr(facts, name)))
        return facts

    def path(self, name: str) -> str:
        """Return the path of a file in the planning folder."""
        return os.path.join(self.codepath, resources.PLANNING_FOLDER, name)

    @property
    def files(self) -> Beneath:
        """Return the files of the repository, none of which is read or written behind a link."""
        return Beneath(self.root)

    def check_files(self) -> None:
        """Raise Refused if the planning folder or one of its files that we use is a link."""
        for name in (NEW, IN_WORK, TODO, HISTORY, ATTRIBUTES):
            self.has(name)

    def read(self, name: str) -> bytes:
        """Return the bytes of a file in the planning folder, none without the file."""
        return self.files.read(self.path(name)) or b""

    def has(self, name: str) -> bool:
        """Return whether there is a file in the planning folder."""
        return self.files.exists(self.path(name))

    @property
    def folder(self) -> str:
        """Return the path of the planning folder."""
        return os.path.join(self.codepath, resources.PLANNING_FOLDER)

    @property
    def completed(self) -> tuple[str, str]:
        """Return the names that requirements and todo list get when this round is complete."""
        return f"completed_requirements_{self.stamp}.md", f"completed_todo_{self.stamp}.md"


def read_lane(state_dir: str) -> Lane:
    """Return what the requirements lane of a state directory remembers."""
    return read_kept(resources.requirements_record_path(state_dir), Lane.from_json)


def write_lane(state_dir: str, facts: Lane) -> None:
    """Store what the requirements lane of a state directory remembers."""
    write_json(resources.requirements_record_path(state_dir), facts.to_json())


def lane_of(state_dir: str) -> dict[str, str]:
    """Return where the requirements of a run come from, empty for a run of no lane.

    `planning` is their folder, `lifecycle` the state directory of their lane, `sha256` theirs.
    """
    path = resources.lane_path(state_dir)
    return read_kept(path, _texts) if os.path.exists(path) else {}


def _texts(found: Any) -> dict[str, str]:  # noqa: ANN401 – any JSON value
    return {str(name): str(text) for name, text in found.items()}


def read_transition(path: str) -> dict[str, Any]:
    """Return the transition that a file records; Refused if it is not one as it is recorded."""

    def parse(data: Any) -> dict[str, Any]:  # noqa: ANN401 – any JSON value
        Lane.from_json(data["facts"])
        return {name: data[name] for name in ("id", "name", "operations", "facts", "to")}

    return read_kept(path, parse)
