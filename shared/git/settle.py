"""Run the project's formatters and its pre-commit hook until they change nothing more.

So that the commit is not reformatted later: what is captured is what the hook leaves (PL-33).
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shared.git.command import Git, user_environment, version
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDS = 5
OUTPUT_MAX_CHARS = 4_000
_TIMEOUT_S = 900.0


class Ran(NamedTuple):
    """How a command ended, and what it printed on both streams."""

    code: int
    output: str


class Runner(Protocol):
    """What starts a formatter or hook; a sandbox may take the place of `run_plain`."""

    def __call__(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> Ran:
        """Run `argv` in `cwd` and return when it ended."""


def run_plain(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> Ran:
    """Run a command without input, at most 15 minutes long."""
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as slow:
        text = (slow.output or b"").decode("utf-8", "replace")
        return Ran(124, f"{text}\nstopped after {_TIMEOUT_S:.0f} s")
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace"))


def run_formatter(command: str, worktree: str, files: Sequence[str], runner: Runner) -> Ran:
    """Run a shell command in the worktree; the files it is about are its "$@"."""
    return runner(["sh", "-c", command, "sh", *files], worktree, user_environment())


def run_hook(worktree: str, index: str, runner: Runner) -> Ran:
    """Run the user's pre-commit hook on what is staged, as `git commit` would; 0 without one."""
    env = {**user_environment(), "GIT_INDEX_FILE": index, "GIT_EDITOR": ":"}
    if version() >= (2, 36):
        return runner(["git", "hook", "run", "--ignore-missing", "pre-commit"], worktree, env)
    hook = Git(worktree, config=None).text("rev-parse", "--git-path", "hooks/pre-commit")
    hook = os.path.join(worktree, hook)
    if not os.access(hook, os.X_OK):
        return Ran(0, "")
    return runner([hook], worktree, env)


def tail(output: str) -> str:
    """Return the end of a command's output, where the reason usually stands."""
    output = output.strip()
    if len(output) <= OUTPUT_MAX_CHARS:
        return output
    return "…" + output[-(OUTPUT_MAX_CHARS - 1) :]


def refuse_failed(what: str, ran: Ran) -> Refused:
    """Return the refusal for a command that failed and left the files as they were."""
    text = f"failed with exit code {ran.code} and changed nothing; its output:\n{tail(ran.output)}"
    return Refused("refused", what, text, "mend what it names, then capture again")


def refuse_restless(files: Sequence[str]) -> Refused:
    """Return the refusal for formatters and hook that undo one another's work."""
    text = f"formatters and pre-commit hook still changed files in round {ROUNDS}"
    return Refused("refused", ", ".join(files), text, "make them agree on these files")
