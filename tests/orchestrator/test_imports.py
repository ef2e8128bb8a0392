"""What a printed step costs to start: the modules that it imports; benchmarks/ has the time."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shared.place.level import level
from shared.steps.entry_points import MODULES
from tests.forms import LONG, SEED
from tests.journey import FILES, LAUNCHER, POINTS, Journey, call, words_of
from tests.orchestrator.every_step import waves

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# Third-party packages, and what of the standard library is slow to import or starts programs.
AVOIDED_BY_STEPS = {
    "argparse", "annotated_types", "asyncio", "click", "difflib", "email", "hypothesis",
    "importlib.resources", "jsonschema", "logging", "pathlib", "pydantic", "pydantic_core",
    "random", "referencing", "rfc8785", "shutil", "signal", "socket", "subprocess", "tempfile",
    "threading", "traceback", "typing_extensions", "tomllib", "urllib", "uuid", "xml", "zipfile",
}  # fmt: skip
# The hook runs before each call of a tool, so ordinary Python is too slow for it as well.
AVOIDED = AVOIDED_BY_STEPS | {"contextlib", "dataclasses", "inspect", "typing", "warnings"}
# Of ours: what commands and the guard need, and roles need for more than printing.
LIGHT = ("shared.git", "shared.git.kept")  # the latter asks for one file, and imports os alone
NOT_FOR_STEPS = (
    "cli", "developer.verify", "quality_reviewer.checks", "shared.dependencies", "shared.git",
    "shared.guard",
)  # fmt: skip
TRACE = """
import os, sys
ours, end = os.getpid(), os._exit
def leave(code):
    if os.getpid() != ours:
        end(code)
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


def traced(*argv: str, given: object = None, cwd: str = os.sep) -> tuple[str, set[str]]:
    """Return what `bin/planner` prints for these words and the input, and what it has imported."""
    python = [sys.executable, "-I", "-S", "-X", "utf8", "-c"]
    done = subprocess.run(
        [*python, TRACE, LAUNCHER, *argv],
        input=json.dumps(given).encode(), capture_output=True, check=True, cwd=cwd,
    )  # fmt: skip
    code, modules = json.loads(done.stderr)
    assert code == 0, done.stdout
    return done.stdout.decode(), set(modules)


def bash(command: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


def costly(modules: set[str], avoided: set[str] = AVOIDED_BY_STEPS) -> list[str]:
    """Return what a printed step, or with `AVOIDED` the hook, should not have imported."""
    return sorted(m for m in modules if m in avoided or m.partition(".")[0] in avoided)


def printed(words: list[str]) -> str:
    """Print a step, see that it imports nothing slow, and return its workflow."""
    _, modules = traced(*words)
    assert "shared.steps.workflow" in modules
    assert not costly(modules), words
    heavy = [m for m in modules if m.startswith(NOT_FOR_STEPS) and m not in LIGHT]
    assert not heavy, words
    return words[1]


@pytest.mark.requirement("PL-1")
def test_no_printed_step_imports_third_party_packages_or_slow_ones(
    make_repo: Repositories,
) -> None:
    """Every workflow of a reviewed run and of agents that write; observed, not listed.

    In the short form each workflow once, and a part of what else is printed of it.
    """
    journey = Journey(make_repo(files=FILES))
    journey.review = "full"
    journey.promises_document = True
    journey.start()
    workflows: set[str] = set()
    turns = itertools.count(SEED)

    def look(commands: list[list[str]]) -> None:
        for words in commands:
            if LONG or words[1] not in workflows or next(turns) % 4 == 0:
                workflows.add(printed(words))

    while journey.point != POINTS["committed"]:
        host = ["step", journey.point.split()[0], "--state-dir", journey.state_dir]
        look([host, *map(words_of, journey.last.runs())])
        journey.advance()
    for _, tour, answer in waves(make_repo):
        host = ["step", "executor", "--state-dir", tour.state_dir]
        runs = answer.runs() if answer.text.startswith("<step") else []
        look([host, *map(words_of, runs)])
    assert workflows == {
        name for name in MODULES if not name.startswith(("requirements", "strategy"))
    }


HOOKED: dict[str, tuple[str, dict[str, object], str]] = {
    "run read-only": ("PreToolUse", bash("git log | head"), "updatedInput"),
    "denied": ("PreToolUse", bash("touch a"), "deny"),
    "a file": ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a"}}, "deny"),
    "reminder": ("UserPromptSubmit", {"prompt": "Go on"}, "additionalContext"),
}


@pytest.mark.requirement("PM-4")
@pytest.mark.parametrize("what", HOOKED)
def test_the_hook_imports_neither_third_party_packages_nor_slow_ones(
    make_repo: Repositories, what: str
) -> None:
    repository = make_repo(files=FILES)
    call(repository.path, "mode", "enter", "--agent", "session-1", "--reason", "to look")
    level(str(repository.path))  # tried once, then remembered
    event, more, expected = HOOKED[what]
    given = {"session_id": "session-1", "cwd": str(repository.path), "hook_event_name": event}
    answer, modules = traced("hook", "claude", event, given={**given, **more})
    assert expected in answer
    assert not costly(modules, AVOIDED)


@pytest.mark.parametrize("words", ["status", "mode status", "audit", "doctor"])
def test_a_command_that_only_reads_loads_neither_the_models_nor_the_checks(
    make_repo: Repositories, words: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    _, modules = traced(*words.split(), cwd=str(journey.repository.path))
    packages = {"jsonschema", "pydantic", "rfc8785", "yaml"}
    assert not {m for m in modules if m.partition(".")[0] in packages}
    rooms = ("cli.setup.assistants", "developer", "orchestrator.execute", "orchestrator.plan.",
             "orchestrator.upkeep.prune", "orchestrator.submit.page", "quality_reviewer.checks",
             "state.models", "state.validator")  # fmt: skip
    # The steps of a run, where it looks whether a review is due, have their prompts with them.
    prompts = {"developer", "developer.exec_implement"}
    assert not {m for m in modules if m.startswith(rooms)} - prompts
