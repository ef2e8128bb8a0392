"""`bin/test`: every check that CI makes, with the locked tools, in one command.

Three forms: without a word what CI runs on a commit, `--long` everything, `--quick` the inner loop.
Standard library only. The tools see this checkout, the locked packages and the standard library,
none of the user's own packages: pytest would load plugins from them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, ROOT)

from benchmarks.suite import Budget  # noqa: E402 – found by the line above
from shared.builders import problem_text  # noqa: E402 – the same
from shared.dependencies import BESIDE, ensure  # noqa: E402 – the same
from state.errors import Refused  # noqa: E402 – the same
from tests.apart import set_apart  # noqa: E402 – the same

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKS_ONLY, LONG, QUICK = "--checks", "--long", "--quick"
MYPY = "mypy"
DURATIONS = os.path.join(ROOT, "tests", "durations.json")
# A worker that has none left takes half of what another still has.
SHARING = ("--dist", "worksteal")
# Options of pytest for each form; tests/forms.py, costs.py and the reports say what they do.
FORMS = {
    "": (*SHARING, "--requirements", "--refusals", "--costs"),
    # A worker takes the next one, since the dearest come first.
    LONG: (
        "--dist", "load", "--maxschedchunk", "1", "--requirements", "--refusals", "--costs",
        "--measure", "--write-durations",
    ),
    QUICK: (*SHARING, "--quick"),
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run a form of the suite, or just pytest with `arguments`; 0: nothing failed.

    Paths are those from our root. After `--long`, pytest's arguments choose among all tests.
    """
    try:
        packages = [ensure("core", BESIDE), ensure("dev", BESIDE)]
    except Refused as refusal:
        for problem in refusal.problems:
            sys.stderr.write(f"bin/test: {problem.at}: {problem_text(problem)}\n")
        return 1
    environment = tool_environment(packages)
    form = arguments[0] if arguments and arguments[0] in FORMS else ""
    rest = arguments[1:] if form else arguments
    if form == LONG:
        environment["PLANNER_LONG"] = "1"
    if rest and rest != [CHECKS_ONLY]:
        chosen = (QUICK,) if form == QUICK else ()
        return run(pytest(*chosen, *rest), environment, ROOT)
    # mypy would take our own folder on this path for someone else's packages.
    outside = environment | {"PYTHONPATH": os.pathsep.join(packages)}
    if rest:
        with checking(packages[1], outside) as failed:
            pass
        return report(failed)
    if form == QUICK and not os.path.exists(DURATIONS):
        sys.stderr.write(f"bin/test: {DURATIONS} is missing: bin/test --long writes it\n")
        return 2
    with alone() as no_other:
        if no_other:
            return run_form(form, packages[1], environment, outside)
    sys.stderr.write("bin/test: this checkout is being tested by another bin/test: wait for it\n")
    return 2


def run_form(form: str, dev: str, environment: dict[str, str], outside: dict[str, str]) -> int:
    """Run the static checks and a form of the suite; 0: nothing failed, and within the budget."""
    began = time.monotonic()
    budget = Budget() if form == "" else None
    if form != QUICK:
        fetch_programs()
    with checking(dev, outside) as failed:
        failed_tests = run_tests(FORMS[form], environment)
    failed += ["pytest"] if failed_tests else []
    spent = os.times()
    processor_s = spent.user + spent.system + spent.children_user + spent.children_system
    sys.stdout.write(f"{time.monotonic() - began:.0f} s, {processor_s:.0f} processor seconds\n")
    text, fails = budget.exceeded(processor_s) if budget else ("", False)
    if text:
        sys.stderr.write(f"bin/test: {text}\n")
    if fails:
        failed.append("the budget")
    return report(failed)


def report(failed: list[str]) -> int:
    if failed:
        sys.stderr.write(f"bin/test: failed: {', '.join(failed)}\n")
    return 1 if failed else 0


@contextlib.contextmanager
def alone() -> Iterator[bool]:
    """Keep other runs of a whole form out of this checkout; yields False where there is one.

    Two at once share the processors, so that each would find the other's tests too slow.
    """
    with open(os.path.join(BESIDE, "test.lock"), "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def fetch_programs() -> None:
    """Install what some tests start as programs; where it cannot be had, say so and go on."""
    try:
        ensure("ci", BESIDE)
    except Refused as refusal:
        sys.stderr.write(f"bin/test: requirements/ci.lock: {problem_text(refusal.problems[0])}\n")


@contextlib.contextmanager
def checking(dev: str, environment: dict[str, str]) -> Iterator[list[str]]:
    """Run the static checks, mypy beside what the caller does; yields the names of those that fail.

    mypy works in one process and would leave the other cores idle. What it says is told at the end.
    """
    failed = [name for name, command in ruff_checks(dev) if run(command, environment, ROOT)]
    with tempfile.TemporaryFile() as said:
        beside = subprocess.Popen(
            mypy(), env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        with beside:
            yield failed
        said.seek(0)
        sys.stdout.write(said.read().decode(errors="replace"))
        failed += [MYPY] * bool(beside.returncode)


def ruff_checks(dev: str) -> list[tuple[str, list[str]]]:
    """Return the name and the command line of each check by ruff."""
    ruff = os.path.join(dev, "bin", "ruff")
    return [("ruff check", [ruff, "check"]), ("ruff format", [ruff, "format", "--check"])]


def mypy() -> list[str]:
    """Return the command line of mypy."""
    return [*python(), "-m", MYPY, "--strict", "--python-executable", sys.executable]


def run_tests(options: tuple[str, ...], environment: dict[str, str]) -> int:
    """Run the tests of a form on all cores, by one worker more than there are."""
    with (
        tempfile.TemporaryDirectory(prefix="planner-coverage-") as report,
        tempfile.TemporaryDirectory(prefix="planner-tests-") as folder,
    ):
        os.chmod(folder, 0o711)  # noqa: S103 – some tests become a user without rights
        set_apart(folder)
        measured = environment | {
            "COVERAGE_FILE": os.path.join(report, "coverage"),
            "TMPDIR": folder,
        }
        make_bytecode(measured)
        # Each worker waits for a while: for the disk, for assistants, for locks.
        workers = str((os.cpu_count() or 1) + 1)
        command = pytest("-n", workers, *options)
        return run([*command, "--basetemp", os.path.join(folder, "pytest")], measured, ROOT)


def make_bytecode(environment: dict[str, str]) -> None:
    """Have one process compile a new checkout, where else each worker would compile all of it."""
    if not os.path.exists(os.path.join(ROOT, "tests", "__pycache__")):
        command = pytest("--collect-only", "-qq")
        silent = subprocess.DEVNULL
        subprocess.run(
            command, env=environment, cwd=ROOT, stdin=silent, stdout=silent, stderr=silent,
            check=False,
        )  # fmt: skip


def pytest(*arguments: str) -> list[str]:
    """Return the command line of pytest, which takes its configuration from our root."""
    return [*python(), "-m", "pytest", "--rootdir", ROOT, "-c", config(), *arguments]


def config() -> str:
    return os.path.join(ROOT, "pyproject.toml")


def python() -> list[str]:
    """Return this interpreter without the user's packages and without the current folder."""
    return [sys.executable, "-S", "-P", "-X", "utf8"]


def tool_environment(packages: list[str]) -> dict[str, str]:
    """Return the environment for the tools: our folders first, no settings of the user's Python."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYTEST_", "COVERAGE_", "MYPY", "RUFF_"))
    }
    return kept | {"PYTHONPATH": os.pathsep.join([ROOT, *packages]), "PYTHONNOUSERSITE": "1"}


def run(command: list[str], environment: dict[str, str], folder: str) -> int:
    """Run `command` in `folder`, its output going where ours goes; return its exit code."""
    sys.stdout.flush()
    return subprocess.run(
        command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
