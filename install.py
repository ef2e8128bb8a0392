#!/usr/bin/env python3
"""Install the planner's packages ahead of time, so that the first command need not.

Standard library only. Writes the user's cache, `.deps/` and `__pycache__` in this checkout.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shlex
import subprocess
import sys

if sys.version_info < (3, 11):  # noqa: UP036 – a person may start this file with any Python
    sys.exit("planner needs Python 3.11 or newer; run install.py with one")

from shared.dependencies import BESIDE, ensure, folder
from shared.installation import WHEELS_VARIABLE
from shared.resources import ROOT
from state.errors import Refused

SELF_TEST = "import click, jsonschema, pydantic, rfc8785, yaml; print(pydantic.VERSION)"
PACKAGES = (
    "architect",
    "cli",
    "developer",
    "orchestrator",
    "quality_reviewer",
    "shared",
    "state",
    "technical_writer",
)


def main() -> int:
    """Install and test packages, record the interpreter, print what is next; 0 if all is well."""
    arguments = parse()
    if arguments.wheels:
        os.environ[WHEELS_VARIABLE] = arguments.wheels
    try:
        for lock in ("core", "dev") if arguments.dev else ("core",):
            prepare(lock, fresh=arguments.fresh)
    except Refused as refusal:
        for problem in refusal.problems:
            sys.stderr.write(f"planner: {problem.at}: {problem.text()}\n")
        return 1
    for package in PACKAGES:
        compileall.compile_dir(os.path.join(ROOT, package), quiet=2)
    version = self_test()
    if version is None:
        return 1
    python = record_interpreter()
    sys.stdout.write(
        f"ready: pydantic {version}, {python}\n"
        f"next:  {shlex.quote(os.path.join(ROOT, 'bin', 'planner'))} --help\n"
    )
    return 0


def parse() -> argparse.Namespace:
    """Return the parsed command-line options of install.py."""
    parser = argparse.ArgumentParser(description="Prepare this checkout of planner.")
    parser.add_argument("--wheels", metavar="DIR", help="install offline from this folder")
    parser.add_argument("--dev", action="store_true", help="also what bin/test needs")
    parser.add_argument("--fresh", action="store_true", help="replace what is installed")
    return parser.parse_args()


def prepare(lock: str, *, fresh: bool) -> None:
    """Install the packages of the lock file `lock` unless present; raise Refused on failure."""
    ensure(lock, BESIDE if lock == "dev" else "", fresh=fresh)


def self_test() -> str | None:
    """Import every installed package as commands do; return pydantic's version, None on failure."""
    answer = subprocess.run(
        [
            *(sys.executable, "-I", "-S", "-c"),
            f"import sys; sys.path.insert(0, sys.argv[1]); {SELF_TEST}",
            folder(),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        sys.stderr.write(answer.stderr)
        sys.stderr.write("planner: the packages do not work; run install.py --fresh\n")
        return None
    return answer.stdout.strip()


def record_interpreter() -> str:
    """Write this Python's path to `.deps/python`, where bin/planner finds it; return the path.

    Not a virtual environment's, which may be gone tomorrow, and never a version manager's shim:
    `sys._base_executable` is the real program behind both.
    """
    python = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    os.makedirs(BESIDE, exist_ok=True)
    temporary = os.path.join(BESIDE, f"python.{os.getpid()}")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(f"{python}\n")
    os.replace(temporary, os.path.join(BESIDE, "python"))
    return python


if __name__ == "__main__":
    sys.exit(main())
