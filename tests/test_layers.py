"""What each room may import of ours and of others; no circles.

Imports count wherever they stand: in functions and under TYPE_CHECKING too. What a printed step
may load is tested where steps are run, in tests/orchestrator/test_imports.py.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.imports import circles, module_graph, origin_of, own_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.imports import Module

ROOT = Path(__file__).resolve().parent.parent

ROLES = ("architect", "developer", "quality_reviewer", "technical_writer")

# What a room may import besides itself. Of two rows for a module the longer one counts.
ROOMS = {
    "state": (),
    "shared": ("state",),
    "shared/clients": (),
    "shared/git": (
        "shared/clients/known", "shared/paths", "state/beneath", "state/errors", "state/files",
        "state/kept_files", "state/removal", "state/working_files",
    ),
    "shared/guard": (
        "shared/bounded_toml", "shared/builders", "shared/clients", "shared/commands",
        "shared/digests", "shared/known_secrets", "shared/mode", "shared/output", "shared/paths",
        "shared/place", "shared/requirements_record", "shared/resources", "shared/sandbox",
        "shared/secret_walk", "state",
    ),
    **dict.fromkeys(ROLES, ("shared", "state")),
    "orchestrator": (*ROLES, "shared", "state"),
    "cli": ("orchestrator", *ROLES, "shared", "state"),
}  # fmt: skip
# Importer and imported → why this one import is allowed all the same.
EXCEPTIONS: dict[tuple[str, str], str] = {}

# Inside orchestrator: a row may import itself and the rows below it, but not its neighbours.
# The tables lie below the commands that move a run through them; step.py may start a run.
ORDER = (
    ("mode", "requirements_lane", "strategy_route"),
    ("execute",),
    ("submit",),
    ("plan", "ci", "upkeep"),
    ("planner", "executor", "requirements", "strategy"),
    ("step",),
    ("milestone_steps", "executor_steps"),
    ("run", "host_steps"),
    ("queue", "summary", "requirements_steps", "strategy_steps", "path"),
    (
        "folders",
        "open_questions",
        "requirements_text",
        "reviewed",
        "strategy_budget",
        "strategy_result",
    ),
)

# Modules that the guard, locks and printed steps stand on: the standard library and one another.
PLAIN_STATE = {
    f"state/{name}"
    for name in (
        "actors", "beneath", "clock", "connection", "database", "errors", "execution_rows", "files",
        "journals", "migrations", "phases", "plain_json", "plan_table", "queue_rows", "removal",
        "rows", "shape", "stages", "working_files",
    )
}  # fmt: skip
# Rooms of the design that are not built yet; every other name in these tables exists.
TO_COME: set[str] = set()

# Third-party package → the room, or the rooms, that may import it.
THIRD_PARTY: dict[str, str | tuple[str, ...]] = {
    "pydantic": "state",
    "pydantic_core": "state",
    "jsonschema": "state/written_json",
    "rfc8785": "state",
    "click": "cli",
    "yaml": ("quality_reviewer/checks", "developer/candidates"),
}
# Modules that import by a name which is known only at run time → why no circle can come of it.
BY_NAME = {
    "shared/steps/entry_points": "finds the workflow that a run names; workflows stand above it",
    "cli/main": "loads only the module of the command that is run",
    "shared/clients": "a hook loads the file of the client that calls, which imports nothing",
    "shared/mode/sessions": "prefers the C module of the standard library's hashlib",
}
# Of the lines of Python.
SHARED_PERCENT = 42
EMPTY_NAMES = {"utils", "helpers", "common", "base", "manager"}


@cache
def modules() -> dict[str, Module]:
    """Return the program's modules by their places; not read before a test needs them."""
    return {
        module.path.removesuffix(".py").removesuffix("/__init__"): module
        for module in own_modules().values()
    }


@cache
def graph() -> dict[str, set[str]]:
    """Return the places that each module imports."""
    places = {module.name: place for place, module in modules().items()}
    return {
        places[name]: {places[i] for i in imported}
        for name, imported in module_graph({m.name: m for m in modules().values()}).items()
    }


def lies_in(place: str, room: str) -> bool:
    return place == room or place.startswith(f"{room}/")


def room_of(place: str) -> str:
    """Return the longest row of ROOMS that a module lies in."""
    return max((room for room in ROOMS if lies_in(place, room)), key=len)


def allowed_inside(place: str) -> list[str]:
    """Return what of orchestrator a module of it may import: its own part and the rows below."""
    own = place.split("/")[1]
    rows = [at for at, row in enumerate(ORDER) if own in row]
    assert rows, f"{place} has no row in ORDER of {__file__}"
    return [own, *(name for row in ORDER[rows[0] + 1 :] for name in row)]


def names_of(module: Module) -> Iterator[str]:
    """Yield the dotted name of each import, wherever it stands."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield origin_of(module, node)


def modules_with(attribute: str) -> set[str]:
    """Return the modules that use a name, as a name or after a dot."""
    return {
        place
        for place, module in modules().items()
        for node in ast.walk(module.tree)
        if attribute in {getattr(node, "attr", None), getattr(node, "id", None)}
    }


def test_every_room_imports_only_what_the_table_allows() -> None:
    wrong = [
        f"{place} imports {other} · allowed: {', '.join(allowed)}"
        for place, imported in graph().items()
        for allowed in [(room_of(place), *ROOMS[room_of(place)])]
        for other in sorted(imported)
        if (place, other) not in EXCEPTIONS and not any(lies_in(other, r) for r in allowed)
    ]
    assert not wrong, "\n".join(wrong)


def test_inside_orchestrator_imports_only_go_down() -> None:
    wrong = [
        f"{place} imports {other} · allowed: {', '.join(allowed_inside(place))}"
        for place, imported in graph().items()
        if place.startswith("orchestrator/")
        for other in sorted(imported)
        if other.startswith("orchestrator/") and other.split("/")[1] not in allowed_inside(place)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_through_others() -> None:
    found = [" ↔ ".join(group) for group in circles(graph())]
    assert not found, f"{found} · allowed: no circles; move what both need below both"


def test_shared_holds_less_than_half_of_the_program() -> None:
    """What one room alone needs belongs there: in shared everybody has to know it."""
    lines: Counter[str] = Counter()
    for place, module in modules().items():
        lines[place.split("/")[0]] += module.lines
    share = 100 * lines["shared"] / lines.total()
    assert share <= SHARED_PERCENT, f"{share:.1f} % · allowed: {SHARED_PERCENT} %"


def test_every_row_of_the_tables_is_needed() -> None:
    """A name left behind by a move would allow whatever comes to be called so."""
    inside = {f"orchestrator/{name}" for row in ORDER for name in row}
    named = {*ROOMS, *PLAIN_STATE, *BY_NAME, *inside, *(n for row in ROOMS.values() for n in row)}
    assert {n for n in named if n not in modules()} <= TO_COME
    assert not [pair for pair in EXCEPTIONS if pair[1] not in graph()[pair[0]]]


def test_what_state_gives_to_steps_and_guard_does_not_know_the_plans_models() -> None:
    wrong = [
        f"{place} imports {other} · allowed: the standard library, {', '.join(sorted(PLAIN_STATE))}"
        for place in sorted(PLAIN_STATE & {*modules()})
        for other in sorted(
            {n for n in names_of(modules()[place]) if n.split(".")[0] in THIRD_PARTY}
            | (graph()[place] - PLAIN_STATE)
        )
    ]
    assert not wrong, "\n".join(wrong)


def rooms_of(package: str) -> tuple[str, ...]:
    found = THIRD_PARTY.get(package, ())
    return (found,) if isinstance(found, str) else found


def test_third_party_packages_stay_in_their_rooms() -> None:
    ours = {place.split("/")[0] for place in modules()}
    wrong = [
        f"{place} imports {name} · allowed: the standard library, " + (
            f"and {top} in {THIRD_PARTY[top]}" if top in THIRD_PARTY else f"and {[*THIRD_PARTY]}"
        )
        for place, module in modules().items()
        for name in names_of(module)
        if (top := name.split(".")[0]) not in {*ours, *sys.stdlib_module_names}
        and not any(lies_in(place, room) for room in rooms_of(top))
    ]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_only_these_modules_import_by_name() -> None:
    assert modules_with("__import__") | modules_with("import_module") == {*BY_NAME}


def test_only_the_database_uses_sql() -> None:
    using = {place for place, module in modules().items() if "sqlite3" in {*names_of(module)}}
    asks_for_its_version = {"orchestrator/upkeep/doctor"}
    ours = {
        f"state/{n}" for n in ("connection", "execution_rows", "migrations", "recall_index", "rows")
    }
    assert using - asks_for_its_version == ours


def test_stage_and_status_change_in_one_place() -> None:
    """A run that is moved anywhere else leaves its agents and the audit behind."""
    assert modules_with("move_run") == {"shared/mode/transitions"}


def test_every_folder_of_tests_is_a_package() -> None:
    """Else two test files of one name in two folders are one module to pytest."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [place for place in modules() if place.rpartition("/")[2] in EMPTY_NAMES]
