"""Files that we read or write by name in a repository are never links, nor behind one (X11)."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.requirements_record import ATTRIBUTES, HISTORY, IN_WORK, NEW, TODO
from shared.resources import ROOT
from tests.journey import FILES, Journey, call
from tests.light_plans import Lightly
from tests.requirement_rounds import Rounds
from tests.test_layers import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

HIDDEN = "what nobody may see"
# What names a file of ours in a repository: constants, functions, methods, a key.
NAMED = frozenset((
    "ARCHIVE_FOLDER", "CONFIG_FILE", "PLANNING_FOLDER", "archived_plan", "archived_text",
))  # fmt: skip
NAMED_BY = frozenset((
    ("facts", "path"), ("facts", "folder"), ("archive", "paths"), ("host", "folder"),
))  # fmt: skip
KEY, PLACES = "planning", "places"
# What opens a path as the system reads it, which follows links.
OPENS = frozenset(("open", "read_bytes", "read_text", "read_json", "write_atomic", "write_json",
                   "make_folder", "sweep"))  # fmt: skip
MODULES = frozenset(("os", "shutil"))
PURE = frozenset(("join", "basename", "dirname", "relpath", "normpath", "split", "abspath",
                  "realpath", "fspath", "getcwd", "fsencode", "fsdecode"))  # fmt: skip
# A function that names such a file and opens a path all the same, with the reason.
KNOWN = {
    "cli/demo/requirements_rounds.py:rounds_report": "it reads the demo's own sample",
    "orchestrator/requirements_lane/completing.py:_copy_of": "it reads the run's plan.json",
    "orchestrator/requirements_lane/implementing.py:_start_new": "it writes the run's record",
    "orchestrator/requirements_lane/startup.py:_check_place": "it refuses the link itself",
    "orchestrator/requirements_lane/startup.py:start_lane": "it writes the lane's record",
    "orchestrator/strategy_route/bundle_runs.py:make_bundle": "the draft lies in what was checked",
    "orchestrator/strategy_route/bundles.py:find_bundles": "the user's own folder may have links",
    "orchestrator/upkeep/restore.py:_restore_lane": "it asks for the lane's own record",
    "shared/todo.py:refresh_todo": "it asks whether the run has a plan",
}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def names_a_file(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == KEY
    if isinstance(node, ast.Name):
        return node.id in NAMED
    if isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        return node.attr in NAMED or (owner, node.attr) in NAMED_BY
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == PLACES


def opens_a_path(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called, owner = node.func, None
    if isinstance(called, ast.Name):
        return called.id in OPENS
    if isinstance(called, ast.Attribute):
        owner = called.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
    known = isinstance(owner, ast.Name) and owner.id in MODULES
    return known and isinstance(called, ast.Attribute) and called.attr not in PURE


def sources() -> Iterator[tuple[str, str]]:
    """Yield path and text of each file of the program that may name such a file."""
    words = (*NAMED, *(f"{owner}.{name}" for owner, name in NAMED_BY), f'"{KEY}"', f"{PLACES}(")
    for room in ("cli", "orchestrator", *ROLES, "shared", "state"):
        for path in sorted(Path(ROOT, room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if any(word in text for word in words):
                yield os.path.relpath(path, ROOT), text


def found() -> set[str]:
    return {
        f"{path}:{function.name}"
        for path, text in sources()
        for function in functions(ast.parse(text))
        if any(map(names_a_file, ast.walk(function))) and any(map(opens_a_path, ast.walk(function)))
    }


def test_what_names_a_file_of_ours_in_a_repository_opens_it_beneath_the_root() -> None:
    assert found() == set(KNOWN)


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("def f(facts): return read_bytes(facts.path(TODO))", True),
        ("def f(root): return open(os.path.join(root, CONFIG_FILE))", True),
        ("def f(lane): os.unlink(os.path.join(lane['planning'], TODO))", True),
        ("def f(root): return os.path.join(root, PLANNING_FOLDER)", False),
        ("def f(facts): return facts.files.read(facts.path(TODO))", False),
    ],
)
def test_the_search_finds_what_opens_such_a_name(text: str, opens: bool) -> None:
    tree = ast.parse(text)
    assert any(map(names_a_file, ast.walk(tree)))
    assert any(map(opens_a_path, ast.walk(tree))) is opens


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's with a file that is none of a repository's business."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(f"{HIDDEN}\n- [ ] {HIDDEN}\n")
    return folder


def link(repository: Repository, name: str, target: Path) -> None:
    """Commit a link in a repository, as somebody hostile would."""
    path = repository.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    repository.git("add", "--force", name)
    repository.git("commit", "-qm", "a link")


LANE = [f"planning/{name}" for name in (NEW, IN_WORK, TODO, HISTORY, ATTRIBUTES)]


@pytest.mark.requirement("RL-1")
@pytest.mark.parametrize("name", ["planning", *LANE])
def test_a_round_of_requirements_begins_behind_no_link(
    make_repo: Repositories, outside: Path, name: str
) -> None:
    repository = make_repo(files=FILES)
    (outside / TODO).write_text(HIDDEN)
    link(repository, name, outside if name == "planning" else outside / "secret")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    for options in ((), ("--no-git",)):
        words = ("start", "--planning", "--codepath", str(repository.path), *options)
        answer = call(repository.path, *words)
        assert answer.code == 1, answer.text
        assert f'at="{repository.path}/{name}"' in answer.text
        assert HIDDEN not in answer.text
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    assert not (repository.path / ".planner").exists()


@pytest.mark.requirement("RL-1")
@pytest.mark.parametrize("name", [TODO, HISTORY])
def test_a_link_that_comes_later_is_neither_shown_nor_written(
    make_repo: Repositories, outside: Path, name: str
) -> None:
    rounds = Rounds(make_repo(files=FILES))
    assert rounds.start().code == 0
    path = rounds.repository.path / "planning" / name
    path.unlink(missing_ok=True)
    path.symlink_to(outside / "secret")
    before = (outside / "secret").read_bytes()
    for words in (("startup", "--yes"), ("refine",), ("history",), ("complete",), ("startup",)):
        answer = rounds.planner("requirements", *words)
        assert HIDDEN not in answer.text, words
    assert answer.code == 1
    assert "is a symbolic link" in answer.text
    assert (path.is_symlink(), (outside / "secret").read_bytes()) == (True, before)
    path.unlink()
    assert rounds.planner("requirements", "startup").code == 0


@pytest.mark.requirement("RL-1")
def test_the_todo_list_of_a_run_is_written_over_no_link(
    make_repo: Repositories, outside: Path
) -> None:
    from shared.run import open_state
    from shared.todo import refresh_todo
    from state.errors import Refused

    journey = Journey(make_repo(files=FILES)).to("design")
    planning = journey.repository.path / "planning"
    planning.mkdir()
    (planning / IN_WORK).write_text("- f adds two\n")
    (planning / TODO).symlink_to(outside / "secret")
    lane = {"planning": str(planning), "lifecycle": journey.state_dir, "sha256": "0" * 64}
    Path(journey.state_dir, "requirements.json").write_text(json.dumps(lane))
    before = (outside / "secret").read_bytes()
    with pytest.raises(Refused, match="is a symbolic link"):
        refresh_todo(open_state(journey.state_dir, os.sep))
    assert (outside / "secret").read_bytes() == before


def test_init_and_a_light_plan_read_no_planner_toml_behind_a_link(
    make_repo: Repositories, outside: Path
) -> None:
    repository = make_repo(files=FILES)
    (outside / "secret").write_text(f'[verify]\ncommands = ["{HIDDEN}"]\n')
    before = (outside / "secret").read_bytes()
    link(repository, "planner.toml", outside / "secret")
    answer = call(repository.path, "init", "--command", "true")
    assert (answer.code, "is a symbolic link" in answer.text) == (1, True)
    folder = outside / "folder"
    folder.mkdir()
    (folder / "planner.toml").symlink_to(outside / "secret")
    answer = call(folder, "mode", "enter", "Look")
    assert (answer.code, "is a symbolic link" in answer.text) == (1, True)
    assert (outside / "secret").read_bytes() == before


@pytest.mark.parametrize("name", ["planning", "planning/workflows", "planning/workflows/notes"])
def test_workflows_are_read_behind_no_link(
    make_repo: Repositories, outside: Path, name: str
) -> None:
    repository = make_repo(files=FILES)
    bundle = outside / "planning" / "workflows" / "notes"
    bundle.mkdir(parents=True)
    (bundle / "workflow.toml").write_text('name = "notes"\npurpose = "p"\n')
    link(repository, name, outside / name)
    for words in (("list",), ("check",), ("run", "notes")):
        answer = call(repository.path, "workflow", *words)
        assert (answer.code, "is a symbolic link" in answer.text) == (1, True), words


def test_what_tests_a_project_is_looked_for_behind_no_link(
    make_repo: Repositories, outside: Path
) -> None:
    repository = make_repo(files={"src/a.py": "x = 1\n"})
    (outside / "workflows").mkdir()
    steps = f"jobs:\n  a:\n    steps:\n      - run: pytest {HIDDEN}\n"
    (outside / "workflows" / "ci.yml").write_text(steps)
    link(repository, ".github", outside)
    answer = call(repository.path, "init")
    assert (answer.code, HIDDEN in answer.text) == (0, False)
    assert Lightly(repository).mode("status").code == 0
