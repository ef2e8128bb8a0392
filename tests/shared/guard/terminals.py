"""Ways to run a command on a terminal: a person's, and what only looks like one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.journey import Answer
from tests.shared.guard.client import alone

if TYPE_CHECKING:
    from collections.abc import Mapping

TERMINAL = shlex.quote(str(Path(__file__).with_name("fake_terminal.py")))
# A folder of the system that a test may empty for what it starts: it holds nothing that is needed.
FOLDER = next(
    folder for folder in ("/opt", "/srv", "/mnt", "/media")
    if not any(f"{path}/".startswith(f"{folder}/") for path in (__file__, sys.base_prefix))
)  # fmt: skip
XTERM = f"{FOLDER}/xterm"


def person(line: str) -> str:
    """Return the shell line that runs a line in a terminal program of the system."""
    return f"PYTHONHOME={sys.base_prefix} {XTERM} {TERMINAL} {shlex.quote(line)}"


def copied(line: str) -> str:
    """Return a shell line as `person` does, with a program that somebody has put elsewhere."""
    found = person(line).replace(XTERM, "$HOME/xterm", 1)
    return f"cp {XTERM} $HOME/xterm; {found}"


def python(line: str) -> str:
    """Return the shell line that runs a line on a terminal of Python's."""
    return f"{sys.executable} {TERMINAL} {shlex.quote(line)}"


def script(line: str) -> str:
    """Return the shell line that fakes a terminal by `script`."""
    return f"script -qec {shlex.quote(line)} /dev/null"


def tmux(line: str) -> str:
    """Return the shell line that runs a line in tmux, in a person's terminal."""
    wait = "for n in $(seq 100); do [ -s $HOME/code ] && break; sleep 0.1; done"
    typed = shlex.quote(f"{line}; echo $? >$HOME/code")
    shown = f"tmux -L test new-session -d {typed}; {wait}"
    return person(f"{shown}; exit $(cat $HOME/code)")


def detached(line: str) -> str:
    """Return the shell line that runs a line in a terminal, apart from all that started it."""
    done = f"{line} </dev/tty >/dev/tty; echo $? >$HOME/code"
    wait = "for n in $(seq 100); do [ -s $HOME/code ] && break; sleep 0.1; done"
    return person(f"(bash -c {shlex.quote(done)} &); {wait}; exit $(cat $HOME/code)")


def run(line: str, cwd: Path | str, **more: str) -> Answer:
    """Run a shell line made by one of these, where no other process is seen."""
    if not alone():
        pytest.skip("a process space of its own cannot be had here")
    program = os.path.realpath("/proc/self/exe")  # not sys.executable, which may be a script
    setup = f"mount -t tmpfs tmpfs {FOLDER} && cp {shlex.quote(program)} {XTERM}"
    environment = {**_environment(), **more}
    done = subprocess.run(
        [*alone(), "sh", "-c", f"{setup} || exit 99\n{line}\nexit $?"],
        cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode == 99:
        pytest.skip(f"nothing can be mounted here: {done.stderr}")
    return Answer(done.returncode, done.stdout, done.stderr)


def _environment() -> Mapping[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith("CLAUDE")}
    return {**kept, "PLANNER_PYTHON": sys.executable, "TERM": "xterm"}


def needs(program: str) -> None:
    """Skip the test where a program is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
