"""Every example in docs/ is run: each block of a page is given to the program that it is for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.remarks import read_remarks
from shared.guard.settings import load_settings
from shared.place.unseen import shown_by_user
from shared.resources import PROGRAM, quote
from shared.run import open_state
from shared.ssh_signature import NAMESPACE
from state.store import load_plan
from tests.clients.real_clients import PROGRAMS
from tests.journey import FILES, Journey, call
from tests.terminal import typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

pytestmark = pytest.mark.requirement("HO-6")

# Whose examples other tests run, or make.
ELSEWHERE = {
    "ci.md": "test_ci_lines.py",
    "commands.md": "test_docs.py",
    "demo.md": "test_docs.py",
    "errors.md": "test_docs.py",
    "budgets.md": "orchestrator/test_budgets.py",
}


def blocks(page: str) -> list[str]:
    """Return the examples of a page; drawings, which have arrows and lines of boxes, are none."""
    found = re.findall(
        r"^ *```\w*\n(.*?)^ *```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE
    )
    return [block for block in found if not re.search("[▼►│]", block)]


def planner_toml(block: str, repo: Repository) -> None:
    """A planner.toml is accepted, and its verify commands are those that a run would take."""
    repo.commit({"planner.toml": block})
    answer = call(repo.path, "config", "show")
    assert answer.code == 0, answer.text
    assert "npm run lint" in answer.text


def guard_settings(block: str, repo: Repository) -> None:
    """The user's settings are read as the guard reads them."""
    del repo
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "planner" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(block)
    settings = load_settings(None)
    assert ("mytool", "show", "*") in settings.allow
    assert (settings.deny, settings.tools) == ((("rg",),), ("mcp__docs__search",))


def place_settings(block: str, repo: Repository) -> None:
    """The user's settings are read as the place reads them."""
    del repo
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "planner" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(block)
    home = os.environ["HOME"]
    assert shown_by_user(home) == [f"{home}/data", f"{home}/projects/schema"]


def filter_settings(block: str, repo: Repository) -> None:
    """The user's settings name a file of settings that filters see as it is."""
    del repo
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "planner" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(block)
    assert shown_by_user(os.environ["HOME"]) == ["/home/me/src/shop/.git/config"]


def bundle(block: str, repo: Repository) -> None:
    """A workflow of one's own is found and has no fault."""
    home = "planning/workflows/release-notes"
    repo.commit({
        f"{home}/workflow.toml": block, f"{home}/write.md": "Write NOTES.md.",
        f"{home}/check.md": "Does it name every commit?",
    })  # fmt: skip
    answer = call(repo.path, "workflow", "check")
    assert answer.code == 0, answer.text
    assert "release-notes" in call(repo.path, "workflow", "list").text


def remarks(block: str, repo: Repository) -> None:
    """Each place of the example is found in a plan that has it."""
    lines = "".join(f"LINE_{n} = {n}\n" for n in range(1, 31))
    repo.commit({**FILES, "src/a.py": f"def f(x):\n    return x + 1\n\n\n{lines}"})
    journey = Journey(repo)
    journey.edits |= {"src/a.py": f"def f(x):\n    return x + 2\n\n\n{lines}"}
    journey.to("submitted")
    plan = load_plan(f"{journey.state_dir}/plan.json")
    found = read_remarks(open_state(journey.state_dir, "/"), plan, block)
    assert [one.anchor is not None for one in found] == [False, *[True] * 5]


def light_plan(block: str, repo: Repository) -> None:
    """A light plan is submitted as it stands there."""
    assert call(repo.path, "mode", "enter").code == 0
    answers = repo.path / ".planner" / "answers"
    answers.mkdir(parents=True, exist_ok=True)
    (answers / "light.json").write_text(block)
    answer = call(repo.path, "mode", "submit", "--file", "answers/light.json")
    assert answer.code == 0, answer.text


def signer(block: str, repo: Repository) -> None:
    """The line lets somebody sign with a key to touch, in our namespace alone."""
    del repo
    who, options, kind, _key = block.split()
    assert "@" in who
    assert options == f'namespaces="{NAMESPACE}"'
    assert kind.startswith("sk-")


def handover(block: str, repo: Repository) -> None:
    """A run that is started at a terminal shows this; how commands are held differs by machine."""
    seen = typed(repo.path, "start", "Make f add two", "--depth", "full", width=0).text
    kept = [line for line in seen.splitlines() if not line.startswith("  commands of the")]
    shown = "\n".join(kept).replace(quote(PROGRAM), "planner").partition("Status:")
    printed = re.sub("[0-9a-f]{12}", "COMMIT", f"{shown[1]}{shown[2]}\n")
    assert re.sub(r"\x1b\[\d*m", "", printed) == re.sub("[0-9a-f]{12}", "COMMIT", block)


def clients(block: str, repo: Repository) -> None:
    """The first line installs clients into the folders in which the tests look for them."""
    del repo
    script, tests = (line.split()[0] for line in block.splitlines())
    installed = set(re.findall(r'^  "(\w+) ', (ROOT / script).read_text(), re.MULTILINE))
    assert {path.split("/")[0] for path in PROGRAMS.values()} == installed
    assert os.access(ROOT / tests, os.X_OK)


def install(block: str, repo: Repository) -> None:
    """The two commands are README's, of which tests/clients/test_setup.py runs the second."""
    del repo
    assert block in (ROOT / "README.md").read_text()


def leave(block: str, repo: Repository) -> None:
    """The line takes out all that a plan has left in its repository."""
    assert call(repo.path, "start", "Add a file", "--depth", "full").code == 0
    repo.git("update-ref", "refs/planner/x", "HEAD")
    subprocess.run(["sh", "-c", block], cwd=repo.path, check=True)
    assert not (repo.path / ".planner").exists()
    assert "/.planner" not in repo.git("for-each-ref") + repo.git("worktree", "list")


def locks(block: str, repo: Repository) -> None:
    """Each file of requirements that is named is there."""
    del repo
    files = re.findall(r"[\w/]+\.(?:in|lock)\b", block)
    assert files
    there = [f"requirements/{Path(file).name}" for file in files]
    assert not [file for file in there if not (ROOT / file).exists()]


def completion(block: str, repo: Repository) -> None:
    """Each line asks for a shell's script, and gets it; where the shell is here, it takes it."""
    for line in block.splitlines():
        found = re.search(r"_PLANNER_COMPLETE=((\w+)_source) planner/bin/planner", line)
        assert found, line
        variable = {"_PLANNER_COMPLETE": found[1], "PLANNER_PYTHON": sys.executable}
        done = subprocess.run(
            [ROOT / "bin" / "planner"], env={**os.environ, **variable}, cwd=repo.path, check=False,
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert f"_PLANNER_COMPLETE={found[2]}_complete" in done.stdout, done.stderr
        if shell := shutil.which(found[2]):
            subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)


RUN: dict[str, tuple[Callable[[str, Repository], None], ...]] = {
    "configuration.md": (planner_toml,),
    "guard.md": (guard_settings,),
    "place.md": (filter_settings, place_settings),
    "strategy.md": (bundle,),
    "mode.md": (remarks, light_plan),
    "hosts.md": (signer, clients),
    "install.md": (install, leave),
    "terminal.md": (handover, completion),
    "dependencies.md": (locks, locks),
}


def test_no_page_has_an_example_that_no_test_runs() -> None:
    pages = {path.name: len(blocks(path.name)) for path in DOCS.glob("*.md")}
    held = {page: len(checks) for page, checks in RUN.items()}
    assert {page: n for page, n in pages.items() if n and page not in ELSEWHERE} == held
    for page, test in ELSEWHERE.items():
        assert page.removesuffix(".md") in (ROOT / "tests" / test).read_text()


@pytest.mark.parametrize(
    ("page", "number"), [(page, n) for page, checks in RUN.items() for n in range(len(checks))]
)
def test_the_examples_of_a_page_work_as_they_stand_there(
    repo: Repository, page: str, number: int
) -> None:
    RUN[page][number](blocks(page)[number], repo)
