"""Who may import what: the rooms of the house, and what a printed step must not pay for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent

ROLES = ("architect", "developer", "technical_writer", "quality_reviewer")
# What each room may import of ours, besides itself. Roles never import one another.
ROOMS = {
    "state": {"state"},
    "shared": {"shared", "state"},
    **{role: {role, "shared", "state"} for role in ROLES},
    "orchestrator": {"orchestrator", "shared", "state"},
    "cli": {"cli", "orchestrator", "shared", "state", *ROLES},
    "install.py": {"shared", "state"},
}
# Where each third-party package may be imported, as path prefixes.
THIRD_PARTY = {
    "pydantic": ("state/",),
    "pydantic_core": ("state/",),
    "jsonschema": ("state/",),
    "rfc8785": ("state/",),
    "click": ("cli/",),
    "yaml": ("quality_reviewer/checks/",),
}
# Modules that a printed step loads, and what none of them may load, however indirectly.
STEP_PATH = (
    "cli.launch",
    "shared.builders",
    "shared.constraints",
    "shared.dependencies",
    "shared.mode.limits",
    "shared.resources",
    "shared.mode.sessions",
    "shared.mode.transitions",
    "shared.steps.workflow",
    "state.database",
    "state.errors",
    "state.stages",
    "state.store",
)
TOO_COSTLY = ("pydantic", "click", "jsonschema", "yaml", "dataclasses", "argparse", "inspect")
STEP_ROOMS = ("orchestrator", *ROLES)
# Another project, in the place where the demo finds it.
SAMPLE = ROOT / "cli" / "demo"
EMPTY_NAMES = {"utils", "helpers", "common", "base", "manager"}


def sources() -> list[Path]:
    """Return every module of ours that is not a test."""
    return sorted(
        path
        for room in ROOMS
        for path in ([ROOT / room] if room.endswith(".py") else (ROOT / room).rglob("*.py"))
        if path.exists() and not {SAMPLE / "repo", SAMPLE / "edits"} & {*path.parents}
    )


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of each import in a file, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays in its own room unless it climbs out of it.
            inside = path.relative_to(ROOT).parent.parts[: -(node.level - 1) or None]
            prefix = ".".join(inside) + "." if node.level else ""
            yield node.lineno, prefix + (node.module or "")


def step_modules() -> list[str]:
    """Return the modules of the step path that exist, whole rooms included."""
    rooms = (path for room in STEP_ROOMS for path in (ROOT / room).rglob("*.py"))
    found = {".".join(p.relative_to(ROOT).with_suffix("").parts) for p in rooms}
    named = (name for name in STEP_PATH if (ROOT / (name.replace(".", "/") + ".py")).exists())
    return sorted({*named, *(name.removesuffix(".__init__") for name in found)})


def test_every_room_imports_only_what_the_table_allows() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources()
        for line, name in imported(path)
        if name.split(".")[0] in {*ROOMS, "tests"}
        and name.split(".")[0] not in ROOMS[path.relative_to(ROOT).parts[0]]
    ]
    assert not wrong


def test_third_party_packages_stay_in_their_rooms() -> None:
    ours = {*ROOMS, *sys.stdlib_module_names}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources()
        for line, name in imported(path)
        if (top := name.split(".")[0]) not in ours
        and not str(path.relative_to(ROOT)).startswith(THIRD_PARTY.get(top, ("nowhere",)))
    ]
    assert not wrong


def test_only_the_database_speaks_sql() -> None:
    speaking = {
        str(path.relative_to(ROOT))
        for path in sources()
        for _, name in imported(path)
        if name.split(".")[0] == "sqlite3"
    }
    asks_for_its_version = {"orchestrator/run/doctor.py"}
    ours = {"state/connection.py", "state/database.py", "state/migrations.py"}
    assert speaking - asks_for_its_version == ours


def test_stage_and_status_change_in_one_place() -> None:
    """Whoever moves a run by itself leaves its agents and the audit behind."""
    writing = {
        str(path.relative_to(ROOT))
        for path in sources()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and node.attr == "move_run"
    }
    assert writing == {"shared/mode/transitions.py"}


@pytest.mark.parametrize("module", step_modules())
def test_what_a_step_prints_with_loads_nothing_costly(module: str) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); __import__(sys.argv[2]);"
        "print(*sorted(set(sys.argv[3:]) & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT), module, *TOO_COSTLY],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stderr == ""
    assert answer.stdout == "\n"


def test_every_folder_of_tests_is_a_package() -> None:
    """Else two test files of one name in two folders are one module to pytest."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [path for path in sources() if path.stem in EMPTY_NAMES]
