"""Run the project's formatters and its pre-commit hook on the scratch worktree (PL-33).

The capture takes what the hook leaves, so the hook has nothing to reformat at the commit.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shared.git.command import project_environment
from shared.git.hooks import find_hook, hook_folder
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.command import Git

ROUNDS = 5
OUTPUT_MAX_CHARS = 4_000


class Ran(NamedTuple):
    """A command's exit code and its output on stdout and stderr."""

    code: int
    output: str
    # Where it might write, in words; empty if its writes were not limited.
    limits: str = ""


class Runner(Protocol):
    """A function that runs a formatter or hook and ends every process that it started."""

    def __call__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], private: str) -> Ran:
        """Run `argv` in the folder `cwd` until it ends; it may write in `cwd` and `private`."""


class Tool(NamedTuple):
    """A formatter's shell command with the files it is given; without one, the pre-commit hook."""

    formatter: str = ""
    files: Sequence[str] = ()
    # The lines of the shell before the hook, by `before_hooks`.
    before: str = ""

    @property
    def name(self) -> str:
        """What a refusal calls it."""
        return self.formatter or "pre-commit hook"

    def words(self, git: Git, *others: Git) -> list[str]:
        """Return its command line in git's working tree, empty where git would run no hook.

        `others` are working trees that may be the ones that have the hook. Not `git hook run`,
        which tells the hook its repository: any git that the hook starts in another folder, for a
        test, would act on this one.
        """
        if self.formatter:
            return ["sh", "-c", self.formatter, "sh", *self.files]
        if not any(find_hook(one, "pre-commit") for one in (git, *others)):
            return []
        # Through the shell, as git does it: a hook may lack its `#!` line.
        script = f'{self.before}[ -x "$0" ] || exit 0; exec "$0" "$@"'
        return ["sh", "-c", script, os.path.join(hook_folder(git), "pre-commit")]

    def environment(self, folder: str, index: str) -> dict[str, str]:
        """Return its environment variables in the working tree `folder` with this git index."""
        env = project_environment(folder, with_settings=True)
        return env if self.formatter else env | {"GIT_INDEX_FILE": index, "GIT_EDITOR": ":"}


class Trial(NamedTuple):
    """How a tool ended, and what it staged: rows of `git diff-index --raw` before their paths."""

    ran: Ran
    staged: Sequence[bytes] = ()


class Home(Protocol):
    """Runs tools where the project's environment is, such as its node_modules, if it can here."""

    def __call__(self, tree: str, tool: Tool) -> Trial | None:
        """Run a tool on the git tree `tree` and bring what it changes into the worktree.

        Returns None if it cannot run so; then nothing was changed.
        """


def tail(output: str) -> str:
    """Return the end of a command's output, where the reason usually is."""
    output = output.strip()
    if len(output) <= OUTPUT_MAX_CHARS:
        return output
    return "…" + output[-(OUTPUT_MAX_CHARS - 1) :]


def refuse_failed(what: str, ran: Ran, branch: str = "") -> Refused:
    """Return the Refused for a formatter or hook that failed and changed no file."""
    text = f"failed with exit code {ran.code} and changed nothing"
    allowed = "fix what the output names, then run the command again"
    if what == Tool().name and branch:
        allowed += f"; where it forbids commits on {branch}: git switch -c planned-work"
    if ran.limits:
        allowed += f"; {ran.limits}"
    return Refused("refused", what, text, allowed, output=tail(ran.output))


def refuse_undone(output: str) -> Refused:
    """Return the Refused for formatters and a hook that took every change out of the worktree."""
    text = "formatters and the pre-commit hook leave nothing of what was changed in the worktree"
    allowed = "have them keep it (a `git stash` in a hook does not); the worktree is as it was"
    return Refused("refused", Tool().name, text, allowed, output=output)


def refuse_restless(files: Sequence[str]) -> Refused:
    """Return the Refused for formatters and a hook that keep changing each other's result."""
    text = f"formatters and the pre-commit hook still change these files after {ROUNDS} rounds"
    return Refused(
        "refused", ", ".join(files), text, "change their settings so that they agree on these files"
    )
