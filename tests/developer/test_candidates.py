"""The commands with which a project tests itself are found, each with its evidence (VR-1)."""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.results import render_running
from developer.candidates.detect import candidates
from developer.candidates.settle import write_commands
from developer.verify.counts import counted
from developer.verify.job import Running
from shared.guard.permissions import refusal_for_assistant
from shared.place.level import Level
from shared.run import open_state
from state.errors import Refused
from tests.forms import part
from tests.journey import FILES, Journey, all_pass, call
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("VR-1")
PYTEST = "[project]\nname = 'x'\n\n[tool.pytest.ini_options]\naddopts = '-q'\n"
SCRIPTS = '{\n  "scripts": {\n    "test": "jest",\n    "lint": "eslint ."\n  }\n}\n'
UNSPECIFIED = '{\n "scripts": {\n  "test": "echo \\"Error: no test specified\\" && exit 1"\n }\n}\n'
WORKSPACES = '{\n "workspaces": ["packages/*"]\n}\n'
UNITTEST = "import os\nimport unittest\n"
CI = """\
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - run: make test-all
      - run: |
          pip install .
          # a comment
          pytest --cov
"""
SHAPES = {
    "src layout with an environment": (
        {"pyproject.toml": PYTEST, ".venv/bin/python": ""},
        [(".venv/bin/python -m pytest -q", "pyproject.toml:4")],
    ),
    "uv": (
        {"pyproject.toml": "[dependency-groups]\ndev = [\n  'pytest>=8',\n]\n", "uv.lock": ""},
        [("uv run --offline --no-sync python -m pytest -q", "pyproject.toml:3")],
    ),
    "flat with tox": (
        {"tox.ini": "[tox]\nenvlist = py3\n[testenv]\ndeps = pytest\n", "tests/test_a.py": ""},
        [("python3 -m pytest -q", "tox.ini:4"), ("python3 -m tox", "tox.ini:1")],
    ),
    "flat with an environment of tox": (
        {"tox.ini": "[testenv]\ndeps = pytest\n", ".tox/py39/bin/python": "",
         ".tox/py311/bin/python": "", ".tox/lint/bin/python": ""},
        [(".tox/py311/bin/python -m pytest -q", "tox.ini:2"),
         ("python3 -m tox -e py311", "tox.ini:1")],
    ),
    "src layout with an environment of tox": (
        {"tox.ini": "[testenv]\ndeps = pytest\n", ".tox/py3/bin/python": "", "src/a.py": ""},
        [("python3 -m tox -e py3", "tox.ini:1")],
    ),
    "setup.cfg": ({"setup.cfg": "[x]\n[tool:pytest]\n"}, [("python3 -m pytest -q", "setup.cfg:2")]),
    "nox": ({"noxfile.py": "import nox\n"}, [("python3 -m nox -R", "noxfile.py:1")]),
    "hatch": (
        {"pyproject.toml": "[tool.hatch.envs.default]\n"}, [("hatch test", "pyproject.toml:1")],
    ),
    "unittest": (
        {"tests/test_a.py": UNITTEST},
        [("python3 -m unittest discover -s tests", "tests/test_a.py:2")],
    ),
    "unittest beside the code, as shortuuid has it": (
        {"pyproject.toml": "[tool.poetry]\n", "pkg/__init__.py": "", "pkg/test_pkg.py": UNITTEST},
        [("python3 -m unittest discover", "pkg/test_pkg.py:2")],
    ),
    "unittest in a package of its own": (
        {"pkg/__init__.py": "", "pkg/tests/__init__.py": "", "pkg/tests/test_a.py": UNITTEST,
         "pkg/tests/helper.py": UNITTEST},
        [("python3 -m unittest discover", "pkg/tests/test_a.py:2")],
    ),
    "unittest below src": (
        {"src/pkg/__init__.py": "", "src/pkg/a_test.py": UNITTEST},
        [("python3 -m unittest discover -s src -p '*_test.py'", "src/pkg/a_test.py:2")],
    ),
    "unittest beside src": (
        {"src/pkg/__init__.py": "", "tests/test_a.py": UNITTEST},
        [("PYTHONPATH=src python3 -m unittest discover -s tests", "tests/test_a.py:2")],
    ),
    "unittest in one file": (
        {"tests.py": UNITTEST}, [("python3 -m unittest discover", "tests.py:2")],
    ),
    "unittest in folders with a blank": (
        {"my tests/test_a.py": UNITTEST, "tests/test_b.py": UNITTEST},
        [("python3 -m unittest discover -s tests", "tests/test_b.py:2"),
         ("python3 -m unittest discover -s 'my tests'", "my tests/test_a.py:2")],
    ),
    "unittest that a Makefile calls, though pytest is installed for something": (
        {"Makefile": "docs:\n\tx\ntest:\n\t@python -W error -m unittest discover -v\n",
         "requirements.txt": "pytest\n", "tests/test_a.py": UNITTEST},
        [("python3 -m unittest discover -v", "Makefile:4"),
         ("python3 -m pytest -q", "requirements.txt:1"), ("make test", "Makefile:3")],
    ),
    "unittest that tox calls": (
        {"tox.ini": "[testenv]\ncommands = {envpython} -m coverage run -m unittest -v {posargs}\n"},
        [("python3 -m unittest -v", "tox.ini:2"), ("python3 -m tox", "tox.ini:1")],
    ),
    "unittest that CI calls": (
        {".github/workflows/x.yml": "j:\n - run: pip install pytest\n - run: |\n"
         "    A=b python3 -m unittest a.b && x\n", "a/test_b.py": UNITTEST},
        [("A=b python3 -m unittest a.b", ".github/workflows/x.yml:4")],
    ),
    "unittest in another folder than a command line says": (
        {"Makefile": "x:\n\tcd sub && python -m unittest\n\tpython -m unittest $(ARGS)\n"}, [],
    ),
    "pytest that a Makefile calls": (
        {"Makefile": "deps:\n\tpip install pytest\nx:\n\tpytest -x\n",
         "tests/test_a.py": UNITTEST},
        [("python3 -m unittest discover -s tests", "tests/test_a.py:2"),
         ("python3 -m pytest -q", "Makefile:4")],
    ),
    "settings of pytest beside a call of unittest": (
        {"pytest.ini": "[pytest]\n", "Makefile": "x:\n\tpython -m unittest\n"},
        [("python3 -m pytest -q", "pytest.ini:1")],
    ),
    "functions for pytest beside the code": (
        {"pkg/__init__.py": "", "pkg/test_a.py": "from pkg import f\n\ndef test_f():\n    f()\n"},
        [("python3 -m pytest -q", "pkg/test_a.py:3")],
    ),
    "functions for pytest in one file": (
        {"tests.py": "\nclass TestF:\n    def test_f(self): ...\n"},
        [("python3 -m pytest -q tests.py", "tests.py:2")],
    ),
    "Django": (
        {"manage.py": "import sys\nfrom django.core import management\n", "app/tests.py": UNITTEST},
        [("python3 manage.py test", "manage.py:2")],
    ),
    "environments and what others have written": (
        {"env/pyvenv.cfg": "", "env/lib/x/test_a.py": UNITTEST, ".hidden/test_c.py": UNITTEST,
         "a/node_modules/test_b.py": UNITTEST, "pkg/test_data.py": "ROWS = []\n"},
        [],
    ),
    "npm": (
        {"package.json": SCRIPTS, "package-lock.json": "{}"},
        [("npm test", "package.json:3"), ("npm run lint", "package.json:4")],
    ),
    "pnpm": ({"package.json": SCRIPTS, "pnpm-lock.yaml": ""}, [
        ("pnpm test", "package.json:3"), ("pnpm run lint", "package.json:4"),
    ]),
    "npm's default": ({"package.json": UNSPECIFIED}, []),
    "workspaces": (
        {"package.json": WORKSPACES, "packages/a/package.json": UNSPECIFIED,
         "packages/b/package.json": SCRIPTS},
        [("npm test --workspaces --if-present", "packages/b/package.json:3")],
    ),
    "a workspace of pnpm": (
        {"package.json": "{}", "pnpm-workspace.yaml": "packages:\n  - 'libs/*'\n",
         "pnpm-lock.yaml": "", "libs/b/package.json": SCRIPTS},
        [("pnpm -r test", "libs/b/package.json:3")],
    ),
    "cargo": (
        {"Cargo.toml": "[workspace]\nmembers = []\n"},
        [("cargo test --offline --workspace", "Cargo.toml:1")],
    ),
    "go": ({"go.mod": "// x\nmodule example.com/x\n"}, [("go test ./...", "go.mod:2")]),
    "maven": ({"pom.xml": "<project/>", "mvnw": ""}, [("./mvnw -o -q test", "pom.xml:1")]),
    "gradle": ({"build.gradle.kts": ""}, [("gradle --offline test", "build.gradle.kts:1")]),
    "make": (
        {"Makefile": "CHECK := no\ncheck := no\nall: x\n\ntest: x\n\t./x\nlint::\n\t./y\n"},
        [("make test", "Makefile:5"), ("make lint", "Makefile:7")],
    ),
    "just": ({"justfile": "test *args:\n  x\nchecks:\n"}, [("just test", "justfile:1")]),
    "nothing": ({"a.txt": ""}, []),
    "damaged files": (
        {"package.json": "[" * 100_000, "pyproject.toml": "[tool.pytest\n", "Cargo.toml": "[",
         "setup.cfg": "no", ".github/workflows/x.yml": "a: [\n"},
        [("cargo test --offline", "Cargo.toml:1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_candidates_of_a_shape_are_found_with_file_and_line(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "none"))  # a machine may have tox there
    files, wanted = SHAPES[shape]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert candidates(str(tmp_path), str(tmp_path)).candidates == wanted


CLASSES = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        {}\n"
LAID_OUT = {
    "beside the code": {"pkg/__init__.py": "", "pkg/test_a.py": "from pkg import __name__\n"},
    "in a package of tests": {
        "pkg/__init__.py": "", "pkg/tests/__init__.py": "",
        "pkg/tests/test_a.py": "from .. import __name__\n",
    },
    "in a folder that is no package": {
        "pkg/__init__.py": "", "tests/test_a.py": "from pkg import __name__\n",
    },
    "below src": {"src/pkg/__init__.py": "", "src/pkg/a_test.py": "from pkg import __name__\n"},
    "beside src": {"src/pkg/__init__.py": "", "tests/test_a.py": "from pkg import __name__\n"},
    "in one file": {"pkg.py": "", "tests.py": "from pkg import __name__\n"},
}  # fmt: skip


@pytest.mark.parametrize(("layout", "what"), part([*product(LAID_OUT, ["pass", "self.fail()"])], 3))
def test_the_command_finds_tests_of_unittest_wherever_they_lie(
    layout: str, what: str, make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment without pytest is the project's; what is found runs and counts."""
    # The project's environment would have what lies in src/.
    monkeypatch.setenv("PYTHONPATH", "src")
    folder = make_repo(files={"a.txt": ""}).path
    environment(folder / ".venv")
    for name, text in LAID_OUT[layout].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + (CLASSES.format(what) if text else ""), encoding="utf-8")
    ((command, _),) = candidates(str(folder), str(folder)).candidates
    shell = ["sh", "-c", command]
    done = subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=False)
    assert command.startswith(".venv/bin/python -m unittest discover")
    passes = what == "pass"
    assert counted(done.stderr) == ((1, 0) if passes else (0, 1)), done.stderr
    assert done.returncode == (0 if passes else 1)


@functools.cache
def empty_environment() -> Path:
    """Return an environment of the running Python, which is made once and copied."""
    made = Path(tempfile.mkdtemp(prefix="planner-environment-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    return made


def environment(folder: Path, *packages: str) -> None:
    """Make an environment of the running Python in which these packages are found."""
    shutil.copytree(empty_environment(), folder, symlinks=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    for name in packages:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("", encoding="utf-8")


@pytest.mark.parametrize("named", [False, True])
def test_pytest_runs_the_tests_where_the_projects_environment_has_it(
    *, named: bool, make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_place()
    monkeypatch.delenv("PYTHONPATH", raising=False)
    folder = make_repo(files={"pkg/__init__.py": "", "pkg/test_a.py": UNITTEST}).path
    if named:
        (folder / "requirements.txt").write_text("pytest\n", encoding="utf-8")
    environment(folder / ".venv", "pytest")
    evidence = "requirements.txt:1" if named else "pkg/test_a.py:2, and pytest is installed"
    by_pytest = (".venv/bin/python -m pytest -q", evidence)
    assert candidates(str(folder), str(folder)).candidates == [by_pytest]
    # A module of the project that is called so is not what runs tests.
    shutil.rmtree(folder / ".venv")
    environment(folder / ".venv")
    (folder / "pytest.py").write_text("", encoding="utf-8")
    by_unittest = (".venv/bin/python -m unittest discover", "pkg/test_a.py:2")
    found = candidates(str(folder), str(folder)).candidates
    assert found == [by_unittest, *([by_pytest] if named else [])]


def test_a_tool_that_the_projects_environment_lacks_is_no_candidate(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_place()
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    settings = PYTEST + "[tool.ruff]\n[tool.mypy]\n"
    folder = make_repo(files={"pyproject.toml": settings, "noxfile.py": ""}).path
    tests = (".venv/bin/python -m pytest -q", "pyproject.toml:4")
    environment(folder / ".venv", "ruff")
    lint = (".venv/bin/python -m ruff check", "pyproject.toml:6")
    # The project's own tests are named also where pytest is missing: it says what to install.
    assert candidates(str(folder), str(folder)).candidates == [tests, lint]
    shutil.rmtree(folder / ".venv")
    environment(folder / ".venv", "mypy", "nox")
    assert [command for command, _ in candidates(str(folder), str(folder)).candidates] == [
        tests[0], ".venv/bin/python -m nox -R", ".venv/bin/python -m mypy",
    ]  # fmt: skip


def test_a_tool_is_a_candidate_where_no_place_can_tell_whether_it_is_there(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("developer.candidates.python_tests.level", lambda _: Level("none"))
    folder = make_repo(files={"pyproject.toml": "[tool.mypy]\n"}).path
    environment(folder / ".venv")
    found = candidates(str(folder), str(folder)).candidates
    assert found == [(".venv/bin/python -m mypy", "pyproject.toml:1")]


@pytest.mark.parametrize("where", ["pkg/test_a.py", "pkg/__init__.py"])
def test_unittest_runs_what_a_function_loads_also_where_pytest_is_installed(
    where: str, make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as doctests, which pytest would leave out without a word."""
    need_place()
    monkeypatch.delenv("PYTHONPATH", raising=False)
    loads = "\n\ndef load_tests(loader, tests, pattern):\n    return tests\n"
    texts = {"pkg/__init__.py": "", "pkg/test_a.py": f"{UNITTEST}\nclass A(unittest.TestCase): ..."}
    folder = make_repo(files={**texts, where: texts[where] + loads}).path
    environment(folder / ".venv", "pytest")
    assert candidates(str(folder), str(folder)).candidates == [
        (".venv/bin/python -m unittest discover", "pkg/test_a.py:4"),
        (".venv/bin/python -m pytest -q", "pkg/test_a.py:4, and pytest is installed"),
    ]


def test_what_ci_runs_is_shown_with_its_line(tmp_path: Path) -> None:
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/ci.yml").write_text(CI, encoding="utf-8")
    (tmp_path / ".gitlab-ci.yml").write_text("job:\n  script:\n    - make check\n")
    found = candidates(str(tmp_path), str(tmp_path))
    assert found.candidates == [("python3 -m pytest -q", ".github/workflows/ci.yml:9")]
    assert found.ci == [
        ("make test-all", ".github/workflows/ci.yml:5"),
        ("pytest --cov", ".github/workflows/ci.yml:9"),
        ("make check", ".gitlab-ci.yml:3"),
    ]


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """Return a run at the code step in a project whose tests unittest runs; none is configured."""
    need_place()
    monkeypatch.delenv("PYTHONPATH", raising=False)
    test = "import unittest\nfrom a import f\nclass T(unittest.TestCase):\n"
    files: dict[str, str | bytes] = {
        **FILES, "tests/test_a.py": test + "  def test(self):\n    self.assertEqual(f(1), 2)\n",
        ".gitignore": "__pycache__/\n.venv/\n",
        "Makefile": "test:\n\tPYTHONPATH=src python3 -m unittest discover tests\n",
    }  # fmt: skip
    repository = make_repo(files=files)
    environment(repository.path / ".venv")
    made = Journey(repository)
    made.edits["tests/test_a.py"] = test + "  def test(self):\n    self.assertEqual(f(1), 3)\n"
    return made.to("code")


@pytest.mark.requirement("PL-32", "VR-2")
@pytest.mark.parametrize("base", ["nothing else", "head", "snapshot"])
def test_an_environment_that_git_neither_tracks_nor_ignores_is_no_work_of_the_users(
    base: str, make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for no base, is in none, and runs the tests; without a .gitignore it is as usual."""
    need_place()
    monkeypatch.delenv("PYTHONPATH", raising=False)
    repository = make_repo(files=FILES)
    environment(repository.path / ".venv", "installed")
    journey = Journey(repository)
    if base == "nothing else":
        journey.start()
    else:
        repository.write("work.txt", "mine\n")
        assert "work.txt" in journey.start().text
        assert ".venv" not in journey.last.text
        journey.start("--base", base)
    journey.to("code")
    ran = journey.planner("tree", "run", ".venv/bin/python -c 'import installed; print(1)'")
    assert (ran.code, ran.data("output")) == (0, "1"), ran.text
    (repository.path / ".venv/lib/late.txt").write_text("", encoding="utf-8")
    plan = json.loads(journey.planner("plan", "show", "--json").text)
    start = plan["base"]["snapshot"] or plan["base"]["commit"]
    held = repository.git("ls-tree", "-r", "--name-only", start)
    assert ("work.txt" in held) == (base == "snapshot")
    assert "src/a.py" in held
    assert ".venv" not in held
    journey.to("committed")
    assert "?? .venv/" in repository.git("status", "--porcelain")


def test_a_folder_that_only_looks_like_an_environment_is_work(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    repository.write("fixture/pyvenv.cfg", "home = /usr\n")
    assert "fixture/" in Journey(repository).start().text


@pytest.mark.parametrize(("recipe", "offered"), [("false", True), ("true", False)])
def test_where_what_nobody_chose_shows_nothing_the_round_of_fixes_offers_others(
    recipe: str, make_repo: Repositories, *, offered: bool
) -> None:
    need_place()
    makefile = f"test:\n\tcat src/a.py && {recipe}\nlint:\n\ttrue\n"
    journey = Journey(make_repo(files={**FILES, "Makefile": makefile}))
    journey.review = "small"
    journey.to("code review")
    block = journey.follow(journey.last.next("alone"))
    first, *others = all_pass(block)
    failed = {**first, "status": "FAIL", "finding": "src/a.py is odd"}
    journey.write_answer("verdicts-plan-code-1.json", [failed, *others, {"verdict": "fail"}])
    fix = journey.follow(block.next("done"))
    assert fix.data("findings")
    assert bool(fix.data("candidates")) == ("--use" in fix.text) == offered


@pytest.mark.requirement("VR-4")
def test_a_chosen_command_needs_no_person_and_the_plan_says_who_chose_it(journey: Journey) -> None:
    shown = journey.last.data("candidates")
    assert shown.splitlines() == [
        "1. PYTHONPATH=src .venv/bin/python -m unittest discover tests (Makefile:2)",
        "2. make test (Makefile:1)",
    ]  # fmt: skip
    journey.do_the_work()
    chosen = journey.planner("plan", "verify", "--use", "2")
    assert chosen.code == 0, chosen.text
    where = "confined, at the project's own path · found in the project · "
    again = journey.planner("step", "planner")
    assert not again.data("candidates")
    assert again.data("chosen to verify; --use or --command-file change it") == "make test"
    state = open_state(journey.state_dir, "/")
    running = render_running(state, Running("verify has run for 9 s"), "planner plan done")
    assert "which commands were chosen is remembered" in running
    line = f"make test: pass (base: pass) · {where}1 passed, 0 failed (base: 1, 0) · 1 s"
    assert line in chosen.data("verify")
    approval = journey.to("submitted").last
    assert f"make test: pass ({where}1 passed" in approval.text
    assert journey.calls.count(("config", "confirm")) == 0


def test_own_commands_are_named_in_a_file_and_take_the_place_of_earlier_ones(
    journey: Journey,
) -> None:
    journey.do_the_work()
    journey.planner("plan", "verify", "--use", "2")
    answers = f"{journey.state_dir}/answers"
    with open(f"{answers}/verify.txt", "w", encoding="utf-8") as file:
        file.write("# mine\ntrue\n\nfalse\n")
    own = journey.planner("plan", "verify", "--command-file", "answers/verify.txt")
    assert [line.split(":")[0] for line in own.data("verify").splitlines()] == ["true", "false"]
    wrong = journey.planner("plan", "verify", "--use", "7")
    assert wrong.code == 1
    assert "2: make test" in wrong.text
    with open(f"{answers}/empty.txt", "w", encoding="utf-8") as file:
        file.write("# nothing\n")
    assert journey.planner("plan", "verify", "--command-file", "answers/empty.txt").code == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '[verify]\ncommands = [\n    "make test",\n]\n'),
        ("# mine\n[run]\nx = 'y'", ("# mine\n[run]\nx = 'y'\n\n[verify]\ncommands = [\n"
         '    "make test",\n]\n')),
        ("[verify] # x\ntime_limit_s = 5\n", ('[verify] # x\ncommands = [\n    "make test",\n]\n'
         "time_limit_s = 5\n")),
        ("[verify]\ncommands = []\n", None),
        ("verify = {time_limit_s = 5}\n", None),
    ],
)  # fmt: skip
def test_a_person_has_them_written_to_planner_toml_and_the_rest_of_it_stays(
    make_repo: Repositories, before: str | None, after: str | None
) -> None:
    files: dict[str, str | bytes] = {"Makefile": "test:\n\ttrue\n"}
    repository = make_repo(files=files | ({"planner.toml": before} if before else {}))
    path = repository.path / "planner.toml"
    assert "1. make test (Makefile:1)" in call(repository.path, "init").data("candidates")
    answer = call(repository.path, "init", "--use", "1")
    assert answer.code == (after is None), answer.text
    kept = path.read_text(encoding="utf-8") if path.exists() else None
    assert kept == (before if after is None else after)
    assert call(repository.path, "init", "--use", "9").code == 1
    assert refusal_for_assistant(["init", "--use", "1"]) is not None


@pytest.mark.requirement("CM-1")
def test_a_person_is_offered_to_fetch_the_plans_of_the_remote(
    make_repo: Repositories,
) -> None:
    remote, repository = make_repo("remote"), make_repo(files={"Makefile": "test:\n\ttrue\n"})
    name = "to fetch the plans of other people's commits, run once"
    assert call(repository.path, "init").data(name) == "", "there is no remote"
    repository.git("remote", "add", "upstream", str(remote.path))
    offered = call(repository.path, "init", "--use", "1").data(name)
    remote.git("update-ref", f"refs/planner/{'d' * 64}", "HEAD")
    subprocess.run(["sh", "-c", offered], cwd=repository.path, check=True)
    repository.git("fetch", "--quiet", "upstream")
    assert repository.git("for-each-ref", "--format=%(refname)", "refs/planner-fetched") == (
        f"refs/planner-fetched/{'d' * 64}"
    )
    assert call(repository.path, "init").data(name) == "", "it is there now"


def test_a_person_keeps_what_the_assistant_chose(journey: Journey) -> None:
    journey.do_the_work()
    assert call(journey.repository.path, "init", "--chosen").code == 1
    journey.planner("plan", "verify", "--use", "2")
    assert call(journey.repository.path, "init", "--chosen").code == 0
    assert "make test" in (journey.repository.path / "planner.toml").read_text(encoding="utf-8")


@pytest.mark.requirement("VR-4")
@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("...\n1 failed, 45 passed, 2 skipped in 1.20s", (45, 1)),
        ("==== 3 passed, 1 error in 0.2s ====", (3, 1)),
        ("no tests ran in 0.01s", None),
        ("Ran 5 tests in 0.1s\n\nOK", (5, 0)),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)", (2, 2)),
        ("Test Suites: 1 failed, 2 total\nTests:       1 failed, 3 passed, 4 total", (3, 1)),
        (" Test Files  1 passed (1)\n      Tests  2 passed (2)", (2, 0)),
        ("test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: FAILED. 1 passed; 2 failed;",
         (4, 2)),
        ("  3 passing (4ms)\n  1 failing\n", (3, 1)),
        ("# tests 3\n# pass 2\n# fail 1\n", (2, 1)),
        ("[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n", (2, 2)),
        ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", (1, 1)),
        ("ok 1 - a\nnot ok 2 - b\nok 3\n", (2, 1)),
        ("ok 1999 a\nok 2000 b\n\n1..2000\n# tests 2000\n# pass  2000\n\n# ok\n", (2000, 0)),
        ("ok 1999 the first of the lines that are left\nok 2000 b\n1..2000\n", None),
        ("all is well", None),
    ],
)  # fmt: skip
def test_a_runners_own_summary_is_read(output: str, counts: tuple[int, int] | None) -> None:
    assert counted(output) == counts


@pytest.mark.requirement("PL-34")
@pytest.mark.parametrize("table", ["verify = { time_limit_s = 5 }", "verify.time_limit_s = 5"])
def test_a_table_that_cannot_be_added_to_stays_and_is_the_users_to_change(
    tmp_path: Path, table: str
) -> None:
    path = tmp_path / "planner.toml"
    path.write_text(f"{table}\n")
    with pytest.raises(Refused) as caught:
        write_commands(str(tmp_path), ["python3 check.py"])
    (problem,) = caught.value.problems
    assert "written in a way that is not known" in problem.problem
    assert 'add to it by hand: commands = [\n    "python3 check.py",' in problem.allowed
    assert path.read_text() == f"{table}\n"
    path.write_text("[verify]\ntime_limit_s = 5\n")
    write_commands(str(tmp_path), ["python3 check.py"])
    assert "time_limit_s = 5" in path.read_text()
