"""Prepares a worktree as planner.toml says: links folders, then runs the setup commands (PL-33)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from developer.verify.job import TEMPORARY_FOLDER, read_note
from developer.verify.lock import undisturbed
from developer.verify.process import Runner
from shared.config import commands_hash, render_commands, write_paths
from shared.drift import own_writes, tree_in
from shared.git.links import link
from shared.git.repository import repository_at
from shared.git.worktree import Worktree, open_worktree
from shared.resources import command
from state.errors import Refused
from state.files import unusable, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from developer.verify.job import Job
    from shared.config import Config


# Says what a worktree was prepared with.
_MARKER, _WORKTREE = "prepared-{}.json", "worktree"


def check_confirmed(config: Config, is_confirmed: Callable[[str], bool], state_dir: str) -> None:
    """Raise Refused, listing the project's commands, unless a person has confirmed them."""
    if refusal := not_confirmed(config, is_confirmed, state_dir):
        raise refusal


def not_confirmed(
    config: Config, is_confirmed: Callable[[str], bool], state_dir: str
) -> Refused | None:
    """Return the refusal of the project's commands, None if there are none or it was confirmed."""
    digest = commands_hash(config)
    if not digest or is_confirmed(digest):
        return None
    return Refused(
        "refused",
        "planner.toml",
        "no person has confirmed the commands of this project yet:\n" + render_commands(config),
        "ask the user to read the commands and then to confirm them",
        command("config", "confirm", digest, state_dir=state_dir),
    )


def prepare(job: Job, is_confirmed: Callable[[str], bool]) -> tuple[str, ...]:
    """Link folders into the scratch worktree and run its setup commands once; return remarks.

    Refused if the commands are not confirmed, if one fails (with its output), or while verify
    runs. The caller must not hold `undisturbed`.
    """
    check_confirmed(job.config, is_confirmed, job.state_dir)
    with undisturbed(job.state_dir):
        return set_up(job, job.worktree, _WORKTREE)


def set_up(
    job: Job, worktree: str, stage: str, stopped: Callable[[], bool] = bool
) -> tuple[str, ...]:
    """Link folders into a worktree and run its setup commands; `stage` names their log files."""
    config, repository = job.config, repository_at(job.repository, job.opened)
    tree = open_worktree(repository, worktree)
    marker = job.file(_MARKER.format(stage))
    wanted = {"worktree": _stamp(tree), "link": [*config.link], "setup": [*config.setup]}
    found = read_note(marker)
    if found.get("is") == wanted:
        return tuple(found["notes"])
    linked = link(repository, worktree, config.link)
    notes = [
        f"{name} is not in your working tree, so it could not be linked into the worktree"
        for name in linked.missing
    ]
    if config.setup:
        # Where the kernel cannot limit writes, they may install the project's hooks.
        with own_writes(tree_in(job.state_dir, job.repository)):
            _run_setup(job, worktree, stage, stopped)
    write_json(marker, {"is": wanted, "notes": notes})
    return tuple(notes)


def _run_setup(job: Job, worktree: str, stage: str, stopped: Callable[[], bool]) -> None:
    runner = runner_for(job, worktree, stopped)
    for number, line in enumerate(job.config.setup, start=1):
        ended = runner.run(line, job.file(f"{number}-{stage}-setup.log"))
        if not ended.passed:
            raise Refused(
                "refused",
                "planner.toml [worktree].setup",
                f"`{line}` ended with exit code {ended.code}",
                f"a command that works in {worktree} and writes only there, in TMPDIR and where "
                f"`[verify] write` says; the whole output is in {ended.log}",
                output=ended.tail(),
            )


def runner_for(job: Job, worktree: str, stopped: Callable[[], bool] = bool) -> Runner:
    """Return the Runner with which a verification runs its commands in `worktree`.

    They may write only there, in their TMPDIR and where `[verify] write` says, if the kernel can
    limit writes.
    """
    temporary = job.file(TEMPORARY_FOLDER)
    writable = (worktree, temporary, *write_paths(job.config, job.repository))
    return Runner(worktree, temporary, job.config.time_limit_s, stopped, writable)


def _stamp(tree: Worktree) -> list[int]:
    # A worktree made again at the same path has a new record, and git never rewrites this file.
    try:
        found = os.stat(os.path.join(tree.admin, "commondir"))
    except OSError as error:
        raise unusable(tree.admin, error) from None
    return [found.st_ino, found.st_mtime_ns]
