"""What a printed step costs to start: the modules it imports, its time against bare Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import ROOT
from tests.journey import FILES, LAUNCHER, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# Third-party packages, and what of the standard library is slow to import or starts programs.
AVOIDED = {
    "argparse", "annotated_types", "asyncio", "click", "contextlib", "dataclasses", "difflib",
    "email", "hypothesis", "importlib.resources", "inspect", "jsonschema", "logging", "pathlib",
    "pydantic", "pydantic_core", "random", "referencing", "rfc8785", "shutil", "signal", "socket",
    "subprocess", "tempfile", "threading", "traceback", "typing", "typing_extensions", "tomllib",
    "urllib", "uuid", "warnings", "xml", "zipfile",
}  # fmt: skip
TRACE = """
import os, sys
def leave(code):
    raise SystemExit(code)
os._exit = leave
sys.argv = sys.argv[1:]
with open(sys.argv[0], encoding="utf-8") as file:
    program = compile(file.read(), sys.argv[0], "exec")
try:
    exec(program, {"__name__": "__main__", "__file__": sys.argv[0]})
except SystemExit as ended:
    code = ended.code
import json
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def modules_after(*argv: str, cwd: str | Path = os.sep) -> set[str]:
    """Return what is imported when `bin/planner` has run these words."""
    python = [sys.executable, "-I", "-S", "-X", "utf8", "-c"]
    traced = subprocess.run(
        [*python, TRACE, LAUNCHER, *argv], capture_output=True, check=True, cwd=cwd
    )
    code, modules = json.loads(traced.stderr)
    assert code == 0, traced.stdout
    return set(modules)


@pytest.mark.requirement("PL-1")
@pytest.mark.parametrize("point", ["context", "design", "code", "submitted", "applied"])
def test_a_printed_step_imports_neither_third_party_packages_nor_slow_ones(
    make_repo: Repositories, point: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to(point)
    workflow = str(journey.last.block.get("workflow"))
    modules = modules_after("step", workflow, "--state-dir", journey.state_dir)
    assert "shared.steps.workflow" in modules
    assert not {m for m in modules if m in AVOIDED or m.partition(".")[0] in AVOIDED}
    ours = {m for m in modules if m.partition(".")[0] in ("cli", "shared", "state")}
    assert not {m for m in ours if m.startswith(("cli", "shared.git", "quality_reviewer.checks"))}


@pytest.mark.parametrize("words", ["status", "mode status", "audit", "doctor"])
def test_a_command_that_only_reads_loads_neither_the_models_nor_the_checks(
    make_repo: Repositories, words: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    modules = modules_after(*words.split(), cwd=journey.repository.path)
    costly = {"jsonschema", "pydantic", "rfc8785", "yaml"}
    assert not {m for m in modules if m.partition(".")[0] in costly}
    rooms = ("developer", "orchestrator.execute", "orchestrator.plan.", "orchestrator.submit.page",
             "quality_reviewer.checks", "state.models", "state.validator")  # fmt: skip
    assert not {m for m in modules if m.startswith(rooms)}


@pytest.mark.slow
def test_a_printed_step_takes_at_most_two_and_a_half_times_a_bare_python(
    make_repo: Repositories,
) -> None:
    python = bare_python()
    journey = Journey(make_repo(files=FILES)).to("code")
    step = [LAUNCHER, "step", "planner", "--state-dir", journey.state_dir]
    times: dict[str, list[float]] = {"bare": [], "step": []}
    for _ in range(40):  # in turns, so that a busy machine slows both
        times["bare"].append(cpu_s([python, "-c", "pass"], python))
        times["step"].append(cpu_s(step, python))
    bare, printed = (sorted(found)[len(found) // 4] for found in times.values())
    assert printed <= 2.5 * bare, f"{printed * 1000:.1f} ms against {bare * 1000:.1f} ms"


def bare_python() -> str:
    """Return this interpreter; skips where its own site-packages make every start slow."""
    code = "import site; print('\\n'.join(site.getsitepackages()))"
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    folders = [Path(os.fsdecode(line)) for line in found.stdout.splitlines()]
    if not any(list(folder.glob("*.pth")) for folder in folders):
        return sys.executable
    system = f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    if os.path.exists(system):
        return system
    pytest.skip(".pth files slow every start of this interpreter")


def cpu_s(command: list[str], python: str) -> float:
    """Return the processor time that a command and what it starts take."""
    environment = {**os.environ, "PLANNER_PYTHON": python}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawnp(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime


def test_the_packages_are_not_asked_for_by_a_printed_step(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    modules = modules_after("step", "planner", "--state-dir", journey.state_dir)
    assert "shared.dependencies" not in modules
    # Where this process has loaded the same modules from; its __main__ is pytest's own.
    files = {str(getattr(sys.modules.get(m), "__file__", "")) for m in modules - {"__main__"}}
    assert not {file for file in files if ".deps" in file}
    assert ROOT
