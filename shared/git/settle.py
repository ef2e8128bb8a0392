"""Run the project's formatters and its pre-commit hook on the scratch worktree (PL-33).

The capture takes what the hook leaves, so the hook has nothing to reformat at the commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from shared.git.command import project_environment
from shared.git.hooks import find_hook
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.command import Git

ROUNDS = 5
OUTPUT_MAX_CHARS = 4_000


class Ran(NamedTuple):
    """A command's exit code and its output on stdout and stderr.

    `limits` says in words where it might write; empty if its writes were not limited.
    """

    code: int
    output: str
    limits: str = ""


class Runner(Protocol):
    """A function that runs a formatter or hook and ends every process that it started."""

    def __call__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str], private: str) -> Ran:
        """Run `argv` in the folder `cwd` until it ends; it may write in `cwd` and `private`."""


def run_formatter(
    command: str, worktree: str, files: Sequence[str], runner: Runner, private: str
) -> Ran:
    """Run a formatter's shell command in the worktree, with the captured files as arguments."""
    env = project_environment(worktree, with_settings=True)
    return runner(["sh", "-c", command, "sh", *files], worktree, env, private)


def run_hook(git: Git, index: str, runner: Runner, private: str) -> Ran:
    """Run the user's pre-commit hook on the staged files, as git does; code 0 without a hook.

    Not by `git hook run`, which tells the hook its repository: any git that the hook starts in
    another folder, for a test, would act on this one.
    """
    hook, worktree = find_hook(git, "pre-commit"), git.root or ""
    if hook is None:
        return Ran(0, "")
    env = project_environment(worktree, with_settings=True)
    # Through the shell, as git does it: a hook may lack its `#!` line.
    words = ["sh", "-c", 'exec "$0" "$@"', hook]
    env |= {"GIT_INDEX_FILE": index, "GIT_EDITOR": ":"}
    return runner(words, worktree, env, private)


def tail(output: str) -> str:
    """Return the end of a command's output, where the reason usually is."""
    output = output.strip()
    if len(output) <= OUTPUT_MAX_CHARS:
        return output
    return "…" + output[-(OUTPUT_MAX_CHARS - 1) :]


def refuse_failed(what: str, ran: Ran) -> Refused:
    """Return the Refused for a formatter or hook that failed and changed no file."""
    text = f"failed with exit code {ran.code} and changed nothing"
    allowed = "fix what the output names, then run the command again"
    if ran.limits:
        allowed += f"; {ran.limits}"
    return Refused("refused", what, text, allowed, output=tail(ran.output))


def refuse_restless(files: Sequence[str]) -> Refused:
    """Return the Refused for formatters and a hook that keep changing each other's result."""
    text = f"formatters and the pre-commit hook still change these files after {ROUNDS} rounds"
    return Refused(
        "refused", ", ".join(files), text, "change their settings so that they agree on these files"
    )
