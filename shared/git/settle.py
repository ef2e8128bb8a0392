"""Run the project's formatters and its pre-commit hook until they change nothing more.

So that the commit is not reformatted later: what is captured is what the hook leaves (PL-33).
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shared.git.command import project_environment
from shared.git.hooks import find_hook
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.git.command import Git

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


def run_plain(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], timeout_s: float = _TIMEOUT_S
) -> Ran:
    """Run a command without input; with all that it started it ends when the time is over."""
    # In a file, not a pipe: what the command leaves running would hold a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = ""
        try:
            child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            end = f"\nstopped after {timeout_s:.0f} s"
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        output.seek(0)
        return Ran(child.returncode, output.read().decode("utf-8", "replace") + end)


def run_formatter(command: str, worktree: str, files: Sequence[str], runner: Runner) -> Ran:
    """Run a shell command in the worktree; the files it is about are its "$@"."""
    env = project_environment(worktree, with_settings=True)
    return runner(["sh", "-c", command, "sh", *files], worktree, env)


def run_hook(git: Git, index: str, runner: Runner) -> Ran:
    """Run the user's pre-commit hook on what is staged, as `git commit` would; 0 without one.

    Not by `git hook run`, which tells the hook in which repository it is: git that the hook starts
    elsewhere, for a test, would act on that one.
    """
    hook, worktree = find_hook(git, "pre-commit"), git.root or ""
    if hook is None:
        return Ran(0, "")
    env = project_environment(worktree, with_settings=True)
    # Through the shell, as git does it: a hook may lack its first line.
    words = ["sh", "-c", 'exec "$0" "$@"', hook]
    return runner(words, worktree, env | {"GIT_INDEX_FILE": index, "GIT_EDITOR": ":"})


def tail(output: str) -> str:
    """Return the end of a command's output, where the reason usually stands."""
    output = output.strip()
    if len(output) <= OUTPUT_MAX_CHARS:
        return output
    return "…" + output[-(OUTPUT_MAX_CHARS - 1) :]


def refuse_failed(what: str, ran: Ran) -> Refused:
    """Return the refusal for a command that failed and left the files as they were."""
    text = f"failed with exit code {ran.code} and changed nothing"
    allowed = "mend what it names, then capture again"
    return Refused("refused", what, text, allowed, output=tail(ran.output))


def refuse_restless(files: Sequence[str]) -> Refused:
    """Return the refusal for formatters and hook that undo one another's work."""
    text = f"formatters and pre-commit hook still changed files in round {ROUNDS}"
    return Refused("refused", ", ".join(files), text, "make them agree on these files")
