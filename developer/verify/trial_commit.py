"""Makes a plan's commit where nothing of it lasts, so that its hooks are known before the freeze.

It is made by the steps of the commit itself, on the user's branch, in the place; without one, in
the worktree, confined (VR-5).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from developer.verify.confined import HOOK_LIMIT_S, Confined, printed
from developer.verify.in_place import TEMPORARY, scene
from developer.verify.lock import undisturbed
from developer.verify.process import OUT_OF_TIME, temporary_variables
from shared.git.command import project_environment
from shared.git.commit_steps import (
    COMMIT,
    MESSAGE,
    POST_COMMIT,
    message_file,
    on_branch,
    steps_of_commit,
)
from shared.git.hooks import Ran, hook_folder, ran_hooks, wrapped_hooks
from shared.git.intended import DIFF, MOST_OF_DIFF, SHOW, Made
from shared.git.scratch import scratch, sweep
from shared.git.settle import tail
from shared.git.stand_in import stand_in
from shared.git.worktree import open_worktree
from shared.place.enter import CannotEnter, run
from shared.place.level import forget
from shared.place.planning import environment
from shared.place.values import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from developer.verify.job import Job
    from shared.git.intended import Intended
    from shared.git.repository import Repository

    # Runs a script of the shell in the repository; returns its exit code and its output.
    Runner = Callable[[str], tuple[int, str]]


@dataclass(frozen=True)
class Attempt:
    """How a commit went: git's exit code and output, which hooks ran, and what they made of it."""

    code: int
    output: str
    ran: Ran
    # None if there is no commit.
    made: Made | None = None
    # What differs from the intended tree.
    diff: str = ""

    @property
    def out_of_time(self) -> bool:
        """Whether a time limit ended it."""
        return self.code == OUT_OF_TIME


@dataclass(frozen=True)
class Stage:
    """Where a commit is tried: what runs it, a folder for its files, and where its hooks are."""

    runner: Runner
    folder: str
    hooks: str
    root: str
    # Git's own file for the message.
    message: str


def try_commit(job: Job, repo: Repository, intended: Intended, names: Sequence[str]) -> Attempt:
    """Make the intended commit with these hooks, and move the branch to it, for a trial.

    Nothing is signed, and nothing of it lasts. Refused without a place for hooks that nobody has
    confirmed.
    """
    try:
        with _in_place(job, repo, intended) as stage:
            return _try(stage, intended, names)
    except CannotEnter:
        with undisturbed(job.state_dir), _in_worktree(job, repo) as stage:
            return _try(stage, intended, names)


def limit_of(job: Job) -> float:
    """Return after how many seconds the hooks of a commit are ended."""
    return min(HOOK_LIMIT_S, job.config.time_limit_s)


def _try(stage: Stage, intended: Intended, names: Sequence[str]) -> Attempt:
    folder = os.path.join(stage.folder, "commit")
    os.mkdir(folder)
    hooks = wrapped_hooks(folder, stage.hooks, names, stage.root)
    code, output = stage.runner(_script(stage, folder, hooks, intended))
    shown, diff = (_content(os.path.join(folder, f"{name}.text")) for name in ("shown", "diff"))
    return Attempt(code, output, ran_hooks(folder), Made.read(shown) if shown else None, diff)


def _script(stage: Stage, folder: str, hooks: Sequence[str], intended: Intended) -> str:
    """Return the shell script that makes the commit and writes into `folder` what it became."""

    def git(*words: str) -> str:
        return shlex.join(["git", *words])

    *moving, _, was = intended.move("")
    return "\n".join([
        on_branch(intended.branch, intended.at.commit),
        git("-c", "core.hooksPath=/dev/null", "read-tree", "--reset", intended.tree),
        'GIT_INDEX_FILE="$(git rev-parse --absolute-git-dir)/index"; export GIT_INDEX_FILE',
        steps_of_commit(folder, ["git"], intended, stage.message),
        f'read -r made <"$folder/{COMMIT}"',
        git(*SHOW) + ' "$made" >"$folder/shown.text"',
        git(*DIFF, intended.tree) + f' "$made" | head -c {MOST_OF_DIFF} >"$folder/diff.text"',
        f'{git(*hooks, *moving)} "$made" {was} || exit',
        f"hook {POST_COMMIT}; :",
    ])  # fmt: skip


def _content(path: str) -> str:
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")
    return ""


def _identity(repo: Repository) -> dict[str, str]:
    """Return the variables that name author and committer, wherever the user has set them."""
    found: dict[str, str] = {}
    for who in ("AUTHOR", "COMMITTER"):
        name, _, rest = repo.git.text("var", f"GIT_{who}_IDENT").rpartition(" <")
        found |= {f"GIT_{who}_NAME": name, f"GIT_{who}_EMAIL": rest.partition(">")[0]}
    return found


@contextlib.contextmanager
def _in_place(job: Job, repo: Repository, intended: Intended) -> Iterator[Stage]:
    """Yield a stage at the repository's own path, where the tree to be committed is staged."""
    # Whoever confirmed a network confirmed it for the verify commands.
    job = replace(job, config=replace(job.config, network=False))
    runs = job.file("runs")
    os.makedirs(runs, mode=0o700, exist_ok=True)
    sweep(runs)
    with scratch(runs) as folder, scene(job, intended.tree, intended.at.commit, runs) as shown:
        place, root = shown.place, os.path.realpath(repo.root)
        hooks = os.path.join(root, hook_folder(repo.git))
        variables = project_environment(root, with_settings=True) | temporary_variables(TEMPORARY)
        place.environment = environment(variables | _identity(repo) | {"PWD": root})
        place.kept = (*place.kept, os.path.realpath(folder))
        # Hooks may lie below a folder of which the place has one of its own.
        place.shown += (hooks,)

        def runner(script: str) -> tuple[int, str]:
            place.limits = Limits(seconds=limit_of(job))
            with tempfile.TemporaryFile() as output:
                try:
                    report = run(place, ["sh", "-c", script], output=output.fileno())
                except CannotEnter as error:
                    forget(place, str(error))
                    raise
                late = report.code == OUT_OF_TIME and bool(report.limit)
                return report.code, tail(printed(output, late and limit_of(job)))

        yield Stage(runner, os.path.realpath(folder), hooks, root, message_file(repo.git))


@contextlib.contextmanager
def _in_worktree(job: Job, repo: Repository) -> Iterator[Stage]:
    """Yield a stage in the scratch worktree, whose git is a private copy meanwhile."""
    tree = open_worktree(repo, job.worktree)
    with stand_in(repo, tree) as lent:
        variables = project_environment(tree.path, with_settings=True) | _identity(repo)
        confined = replace(Confined.of(job), time_limit_s=limit_of(job))

        def runner(script: str) -> tuple[int, str]:
            ran = confined(["sh", "-c", script], tree.path, variables, lent.private)
            return ran.code, tail(ran.output)

        hooks = hook_folder(tree.git, repo.root)
        yield Stage(runner, lent.private, hooks, tree.path, os.path.join(".git", MESSAGE))
