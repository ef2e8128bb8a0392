"""The data of a verification of a plan: what to check, the results, and where its files are."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from developer.verify.process import failing_pipes
from shared.config import Config, commands_hash, named_commands
from shared.resources import verification_path
from state.files import unusable
from state.kept_files import read_kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.repository import Repository
    from state.errors import Refused
    from state.results import VerifyResult

Baseline = Literal["pass", "fail", "not-run"]
Outcome = Literal["pass", "fail", "known-failure"]
Where = Literal["place", "worktree"]
Chooser = Literal["project", "candidate", "assistant"]
# Tests that passed and that failed, as the runner's own summary says.
Counts = tuple[int, int]
# The verification's file in which a command without a place has its temporary files.
TEMPORARY_FOLDER = "tmp"
_PAIRS = ("counts", "base_counts", "passed_over")


@dataclass(frozen=True)
class Job:
    """What one verification works on."""

    state_dir: str
    repository: str
    worktree: str
    # May be a snapshot of the user's tree.
    base_commit: str
    base_tree: str
    config: Config
    # The files that milestones name as their tests; these are never made unparsable.
    tests: tuple[str, ...] = ()
    # With it the commands run in the place if it can be entered, else in the worktree, which they
    # may only if a person has `confirmed` them.
    in_place: bool = False
    confirmed: bool = False
    # Why its git hooks may not run without the place, None if they may.
    hooks_refused: Refused | None = field(default=None, compare=False, repr=False)
    # Commands that the assistant chose.
    chosen: tuple[str, ...] = ()
    # The paths of our own files that the commit will add.
    beside: tuple[str, ...] = ()
    # What `repository_at` says.
    opened: dict[str, Repository] = field(default_factory=dict, compare=False, repr=False)

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that verify: the project's own, then those that the assistant chose."""
        return tuple(dict.fromkeys((*self.config.verify, *self.chosen)))

    @property
    def to_confirm(self) -> Config:
        """The settings that a person would have to confirm where there is no place."""
        return replace(self.config, verify=self.commands)

    @property
    def has_network(self) -> bool:
        """Whether commands of the place reach the machine's network."""
        return self.confirmed and self.config.network

    def text_of(self, command: str) -> str:
        """Return the shell text of a command: an assistant's own hides no failure in a pipeline.

        The project's run as planner.toml has them.
        """
        known = {line for lines in named_commands(self.config).values() for line in lines}
        return command if command in known else failing_pipes(command)

    def file(self, name: str) -> str:
        """Return the path of the verification's file `name`."""
        return verify_file(self.state_dir, name)

    def key(self, tree: str) -> dict[str, Any]:
        """Return the values that a stored result must have to be valid for the git tree `tree`."""
        return {
            "tree": tree,
            "base_tree": self.base_tree,
            "commands": commands_hash(self.to_confirm),
            "link": list(self.config.link),
            "tests": sorted(self.tests),
            "beside": list(self.beside),
            "in_place": self.in_place,
            "confirmed": self.confirmed,
        }

    def to_json(self) -> dict[str, Any]:
        """Return all settings of the verification as JSON."""
        settings = {name: value for name, value in vars(self).items() if name != "opened"}
        return {**settings, "config": self.config.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        """Return the verification settings from the JSON that `to_json` made."""
        config = Config.from_json(data["config"])
        return cls(
            **{
                **data,
                "config": config,
                "tests": tuple(data["tests"]),
                "chosen": tuple(data["chosen"]),
                "beside": tuple(data["beside"]),
            }
        )


@dataclass(frozen=True)
class Result:
    """The result of one verify command."""

    command: str
    baseline: Baseline
    outcome: Outcome
    tree: str
    # False if it passed even with the changed files broken, None if that was not tried: another
    # command failed, or no changed file is code.
    exercised: bool | None = None
    seconds: float = 0.0
    log: str = ""
    # The end of its output, empty if it passed.
    tail: str = ""
    where: Where = "worktree"
    # Who wants it run.
    chosen_by: Chooser = "project"
    # How many tests passed and failed, if it says so.
    counts: Counts | None = None
    # The same of its run on the base.
    base_counts: Counts | None = None
    # What is missing where it can run neither there nor on the change.
    lacks: str = ""
    # Commands that could not run, each with the reason.
    passed_over: tuple[str, ...] = ()
    # Whether the change's tests pass on the base's code as well; None if that was not tried, or it
    # is not known whether the commands run them.
    green_without: bool | None = None

    def for_plan(self) -> VerifyResult:
        """Return what of the command's result is stored in plan.json."""
        from state.results import VerifyResult  # only here, since a worker does without pydantic

        passed, failed = self.counts or (None, None)
        base_passed, base_failed = self.base_counts or (None, None)
        return VerifyResult(
            command=self.command, baseline=self.baseline, outcome=self.outcome, tree=self.tree,
            exercised=self.exercised, green_without=self.green_without,
            where=self.where, chosen_by=self.chosen_by,
            passed=passed, failed=failed, base_passed=base_passed, base_failed=base_failed,
            passed_over=self.passed_over, lacks=self.lacks, seconds=max(1, round(self.seconds)),
        )  # fmt: skip


@dataclass(frozen=True)
class Done:
    """The outcome of a finished verification; no results mean that no command is configured."""

    results: tuple[Result, ...] = ()
    tree: str = ""
    # A sentence that names files of the user's own tree that changed meanwhile, or empty.
    touched: str = ""
    # The same of the worktree.
    wrote: str = ""
    # Whatever else a reader should know.
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[Result, ...]:
        """The results that block a plan: commands that fail now but did not on the base commit."""
        return tuple(result for result in self.results if result.outcome == "fail")

    @property
    def unable(self) -> list[str]:
        """A line for each command that says nothing of the change, as it fails on the base too."""
        rows = [(r.command, r.lacks) for r in self.results if r.outcome == "known-failure"]
        said = "NOT VERIFIED by it, since it fails on the base as well"
        return [f"`{command}`: {said}{lacks and f' ({lacks})'}" for command, lacks in rows]

    def to_json(self) -> dict[str, Any]:
        """Return the outcome of the verification as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Done:
        """Return the verification's outcome from the JSON that `to_json` made."""
        results = tuple(
            Result(**{**row, **{k: row.get(k) and tuple(row[k]) for k in _PAIRS}})
            for row in data["results"]
        )
        return cls(**{**data, "results": results, "notes": tuple(data["notes"])})


@dataclass(frozen=True)
class Running:
    """A verification still running in the background."""

    # What runs and for how long.
    text: str


def verify_file(state_dir: str, name: str) -> str:
    """Return the path of the file `name` in the run's `verify` folder, made if missing."""
    folder = verification_path(state_dir)
    try:
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
    except FileExistsError:
        pass  # another process was quicker, or it is a file: then opening a path below it fails
    except OSError as error:
        raise unusable(folder, error) from None
    return os.path.join(folder, name)


def read_note(path: str) -> dict[str, Any]:
    """Return the JSON object in one of the planner's own files, or {} if there is no such file."""
    return read_kept(path, lambda data: dict(data.items())) if os.path.exists(path) else {}
