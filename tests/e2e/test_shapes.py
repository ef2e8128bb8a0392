"""Ten shapes of real repositories, fresh and without a planner.toml, from candidates to commit.

The short form plays one of them, drawn by the commit.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from developer.candidates.detect import candidates
from tests.conftest import Repository
from tests.e2e.shapes import SHAPES, Shape
from tests.forms import part
from tests.journey import Journey
from tests.place import need_place

pytestmark = [pytest.mark.slow, pytest.mark.requirement("VR-1", "VR-2", "VR-5", "CM-1")]

# A home with tools in .local/bin that is kept between runs; else each run installs them anew.
KEPT_HOME = "SHAPES_HOME"
# What a shape needs beside the programs of a system: installed below .tools, and linked there.
FETCHED = {
    "tox": "{ [ -e .tools/bin/pip ] || python3 -m venv .tools; } && .tools/bin/pip install -q tox",
    "uv": "{ [ -e .tools/bin/pip ] || python3 -m venv .tools; } && .tools/bin/pip install -q uv",
    "pnpm": "npm install --silent --prefix .tools pnpm@9 && "
            "mkdir -p .tools/bin && ln -s ../node_modules/.bin/pnpm .tools/bin/pnpm",
}  # fmt: skip


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="module")
def users_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a developer."""
    kept = os.environ.get(KEPT_HOME)
    home = Path(kept) if kept else tmp_path_factory.mktemp("developer")
    (home / ".local" / "bin").mkdir(parents=True, exist_ok=True)
    return home


def home_of_this_user() -> str:
    """Return the home that the machine knows, in which rustup keeps its compilers."""
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.geteuid()).pw_dir
    return "/"


@pytest.fixture(autouse=True)
def _at_home(users_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_place()
    own = Path.home()
    shutil.copy(own / ".gitconfig", users_home)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(users_home / ".gitconfig"))
    for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
        real = os.path.join(home_of_this_user(), folder)
        if name not in os.environ and os.path.isdir(real):
            monkeypatch.setenv(name, real)
    monkeypatch.setenv("HOME", str(users_home))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{users_home}/.local/bin{os.pathsep}{os.environ['PATH']}")


def built(name: str, shape: Shape, folder: Path) -> Repository:
    """Return the repository as its developer has it; skip where a program is missing.

    So it does without a registry, but in CI: there that is a failure, for nobody reads what was
    skipped.
    """
    without_registry = pytest.fail if os.environ.get("CI") else pytest.skip
    for tool in shape.needs:
        link = Path.home() / ".local" / "bin" / tool
        if tool in FETCHED and not link.exists():
            done = shell(f"{FETCHED[tool]} && ln -s ../../.tools/bin/{tool} {link}", Path.home())
            if done.returncode:
                without_registry(f"{name}: {tool} could not be fetched: {done.stderr[-800:]}")
    missing = [program for program in shape.needs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{name}: not here: {', '.join(missing)}")
    folder.mkdir()
    repository = Repository(folder)
    repository.git("init", "--quiet")
    repository.commit(dict(shape.files), "Begin")
    for command in shape.set_up:
        done = shell(command, folder)
        if done.returncode:
            said = (done.stdout + done.stderr)[-800:]
            without_registry(f"{name}: `{command}` did not work, as without a registry: {said}")
    assert repository.git("status", "--porcelain") == ""
    return repository


def answers(shape: Shape) -> dict[str, Any]:
    """Return what a host writes down for the change of a shape."""
    tests = [file for file in shape.change if "test" in file or "whole" in file]
    others = [file for file in shape.change if file not in tests]
    milestone = {
        "name": "Answer two", "files": others, "requirements": ["T-1"],
        "acceptance_criteria": ["the answer is 2"],
        "tests": {"files": tests, "type": "unit",
                  "scenarios": {"normal": ["the answer"], "edge": [], "error": []}},
    }  # fmt: skip
    overview = {"title": "Answer two", "problem": "It is one.", "approach": "Change the constant."}
    design: list[dict[str, Any]] = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview},
        {"op": "add", "kind": "decision", "as": "$d", "fields": {
            "decision": "Change the constant", "reasoning_chain": "one caller -> no flag needed"}},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": milestone},
        *({"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": file, "behavior": "answers two", "decision_refs": ["$d"]}}
          for file in others),
    ]  # fmt: skip
    return {"context.json": {"task_spec": ["the answer is 2"]}, "design.json": design,
            "docs.json": []}  # fmt: skip


def verified(journey: Journey, files: dict[str, str]) -> str:
    """Return what verifying these files in the worktree says."""
    for name, text in files.items():
        path = Path(journey.state_dir, "worktree", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    answer = journey.planner("plan", "verify", "--use", "1")
    while answer.block.tag == "running" or "still run" in answer.text:
        answer = journey.planner("plan", "verify")
    return answer.text


@pytest.mark.parametrize("name", part([*SHAPES], 10))
def test_a_shape_is_verified_without_a_person_and_its_commit_is_clean(
    name: str, tmp_path: Path
) -> None:
    shape = SHAPES[name]
    repository = built(name, shape, tmp_path / "project")
    root = str(repository.path)
    found = [command for command, _ in candidates(root, root).candidates]
    assert found[: len(shape.candidates)] == [*shape.candidates], found

    journey = Journey(repository, "Make the answer two", answers(shape))
    journey.confirms = False
    journey.to("code")
    planted = verified(journey, {**shape.change, **shape.mistake})
    assert f"{found[0]}: fail (base: pass) · confined" in planted, planted

    journey.edits = dict(shape.change)
    right = verified(journey, shape.change)
    assert f"{found[0]}: pass (base: pass) · confined" in right, right
    journey.to("submitted")
    assert "NOT VERIFIED" not in journey.last.text
    journey.to("committed")
    assert repository.git("diff", "--name-only", "HEAD^").splitlines() == sorted(shape.change)
    assert repository.git("status", "--porcelain") == ""
    for file, text in {**shape.change, **shape.made}.items():
        assert (repository.path / file).read_text(encoding="utf-8") == text
    # CI checks a new clone, without what git leaves out.
    (repository.path / ".planner").rename(tmp_path / "planner")
    for command in shape.checks:
        done = shell(command, repository.path)
        assert done.returncode == 0, (command, done.stdout + done.stderr)


@pytest.mark.long
@pytest.mark.requirement("VR-5")
def test_prettier_on_the_copy_of_the_plan_refuses_the_freeze_and_nothing_loops(
    tmp_path: Path,
) -> None:
    name = "npm workspaces with husky"
    shape = SHAPES[name]
    shape = shape._replace(files={**shape.files, "planner.toml": '[commit]\nplan = "file"\n'})
    repository = built(name, shape, tmp_path / "project")
    before = repository.git("rev-parse", "HEAD")
    journey = Journey(repository, "Make the answer two", answers(shape))
    journey.confirms = False
    journey.to("code")
    journey.edits = dict(shape.change)
    assert ": pass (base: pass) · confined" in verified(journey, shape.change)
    with pytest.raises(AssertionError):
        journey.to("submitted")
    said = journey.last.text
    assert "the plan cannot be frozen: a hook (pre-commit" in said
    assert "planning/plans/" in said
    assert "have it leave planning/plans/ alone, or keep the plan in a ref" in said
    assert journey.planner("plan", "freeze").code == 1
    assert repository.git("rev-parse", "HEAD") == before
    assert repository.git("status", "--porcelain") == ""
