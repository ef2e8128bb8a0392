"""`bin/test`: every check that CI makes, with the locked tools, in one command.

Standard library only. The tools see this checkout, the locked packages and the standard library,
none of the user's own packages: pytest would load plugins from them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, ROOT)

from shared.dependencies import BESIDE, ensure  # noqa: E402 – found by the line above
from state.errors import Refused  # noqa: E402

CHECKS_ONLY = "--checks"


def main(arguments: list[str]) -> int:
    """Run everything, or just pytest with `arguments`, paths from our root; 0: nothing failed."""
    try:
        packages = [ensure("core", BESIDE), ensure("dev", BESIDE)]
    except Refused as refusal:
        for problem in refusal.problems:
            sys.stderr.write(f"bin/test: {problem.at}: {problem.text()}\n")
        return 1
    environment = test_environment(packages)
    if arguments and arguments != [CHECKS_ONLY]:
        return run(pytest(*arguments), environment, ROOT)
    # mypy would take our own folder on this path for someone else's packages.
    outside = environment | {"PYTHONPATH": os.pathsep.join(packages)}
    if not arguments:
        fetch_programs()
    failed = [name for name, command in checks(packages[1]) if run(command, outside, ROOT)]
    if not arguments and run_whole_suite(environment):
        failed.append("pytest")
    if failed:
        sys.stderr.write(f"bin/test: failed: {', '.join(failed)}\n")
    return 1 if failed else 0


def fetch_programs() -> None:
    """Install what some tests start as programs; where it cannot be had, say so and go on."""
    try:
        ensure("ci", BESIDE)
    except Refused as refusal:
        sys.stderr.write(f"bin/test: requirements/ci.lock: {refusal.problems[0].text()}\n")


def checks(dev: str) -> list[tuple[str, list[str]]]:
    """Return name and command of each static check."""
    ruff = os.path.join(dev, "bin", "ruff")
    return [
        ("ruff check", [ruff, "check"]),
        ("ruff format", [ruff, "format", "--check"]),
        ("mypy", [*python(), "-m", "mypy", "--strict", "--python-executable", sys.executable]),
    ]


def run_whole_suite(environment: dict[str, str]) -> int:
    """Run all tests on all cores, with branch coverage and reports by requirement and refusal."""
    with (
        tempfile.TemporaryDirectory(prefix="planner-coverage-") as report,
        tempfile.TemporaryDirectory(prefix="planner-tests-") as folder,
    ):
        os.chmod(folder, 0o711)  # noqa: S103 – some tests become a user without rights
        measured = environment | {
            "COVERAGE_FILE": os.path.join(report, "coverage"),
            "TMPDIR": folder,
        }
        command = pytest(
            "-n", "auto", "--dist", "worksteal", "--requirements", "--refusals", "--measure"
        )
        return run([*command, "--basetemp", os.path.join(folder, "pytest")], measured, ROOT)


def pytest(*arguments: str) -> list[str]:
    """Return the command line of pytest, which takes its configuration from our root."""
    return [*python(), "-m", "pytest", "--rootdir", ROOT, "-c", config(), *arguments]


def config() -> str:
    return os.path.join(ROOT, "pyproject.toml")


def python() -> list[str]:
    """Return this interpreter without the user's packages and without the current folder."""
    return [sys.executable, "-S", "-P", "-X", "utf8"]


def test_environment(packages: list[str]) -> dict[str, str]:
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
