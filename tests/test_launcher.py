"""bin/planner: which interpreter, which modules, and what it says when it cannot start."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from tests.checkout import Checkout

HOSTILE = ("json", "click", "state", "os", "site", "sitecustomize", "usercustomize")

# The program itself: `sys.executable` may be a script that starts it.
OURS = "/proc/self/exe"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "a folder with spaces & more", tmp_path / "wheels")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A user's folder whose modules are named like ours and like Python's, and all of them fail."""
    folder = tmp_path / "hostile"
    for name in ("shared", "cli", "orchestrator", "pip", "pydantic"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit('hostile')")
    for name in HOSTILE:
        (folder / f"{name}.py").write_text("raise SystemExit('hostile')")
    return folder


class Seen(NamedTuple):
    """What a stub saw."""

    argv: list[str]
    path: list[str]
    python: str


def seen(answer: subprocess.CompletedProcess[str]) -> Seen:
    found = json.loads(answer.stdout)
    return Seen(found["argv"], found["path"], found["python"])


def problem(answer: subprocess.CompletedProcess[str]) -> str:
    """Return the text of the one problem in an error block."""
    root = ET.fromstring(answer.stdout)  # noqa: S314 – printed by us
    assert root.tag == "error"
    assert len(root) == 1
    return " ".join((root[0].text or "").split())


def test_a_step_sees_the_standard_library_and_us_alone(checkout: Checkout) -> None:
    answer = checkout.planner("step", "planner", "3")
    path = seen(answer).path
    assert answer.returncode == 0
    assert seen(answer).argv == ["planner", "3"]
    assert path[0] == str(checkout.path)
    assert not [entry for entry in path if "packages" in entry]
    assert not checkout.packages.exists()


def test_a_command_finds_the_locked_packages_right_after_us(checkout: Checkout) -> None:
    answer = checkout.planner("plan", "show", "--json")
    path = seen(answer).path
    assert answer.returncode == 7
    assert seen(answer).argv == ["plan", "show", "--json"]
    assert path[0] == str(checkout.path)
    assert Path(path[1]).parent == checkout.packages
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["step", "plan"])
def test_modules_of_the_users_folder_do_not_matter(
    checkout: Checkout, hostile: Path, command: str
) -> None:
    startup = str(hostile / "json.py")
    answer = checkout.planner(command, cwd=hostile, PYTHONPATH=str(hostile), PYTHONSTARTUP=startup)
    assert "hostile" not in answer.stdout + answer.stderr
    assert seen(answer).path[0] == str(checkout.path)


@pytest.mark.parametrize("times", [1, 2])
def test_links_to_the_launcher_are_followed(checkout: Checkout, times: int) -> None:
    program = checkout.path / "bin" / "planner"
    for n in range(times):
        link = checkout.path.parent / f"link {n}" / "planner"
        link.parent.mkdir()
        link.symlink_to(os.path.relpath(program, link.parent) if n else program)
        program = link
    assert seen(checkout.planner("step", program=program)).path[0] == str(checkout.path)


def test_a_start_in_a_deleted_folder_is_not_our_fault(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$0" step planner'
    launcher = Path(__file__).parent.parent / "bin" / "planner"
    answer = subprocess.run(
        ["sh", "-c", script, launcher, gone], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1, answer.stderr
    assert "no run of the planner was started" in answer.stdout


def test_a_linked_checkout_is_found(checkout: Checkout) -> None:
    link = checkout.path.parent / "skill"
    link.symlink_to(checkout.path)
    answer = checkout.planner("step", program=link / "bin" / "planner")
    assert seen(answer).path[0] == str(checkout.path)


@pytest.fixture
def record() -> Path:
    """Return the file in which setup records the interpreter."""
    path = Path(os.environ["XDG_DATA_HOME"], "planner", "python")
    path.parent.mkdir(parents=True)
    return path


def test_the_recorded_interpreter_is_used(checkout: Checkout, record: Path, tmp_path: Path) -> None:
    recorded = tmp_path / "recorded python"
    recorded.symlink_to(os.path.realpath(sys.executable))
    record.write_text(f"{recorded}\n")
    found = seen(checkout.planner("step", PLANNER_PYTHON=None)).python
    assert found == str(recorded)


def test_a_record_in_the_current_folder_is_not_read(checkout: Checkout, tmp_path: Path) -> None:
    """A relative XDG_DATA_HOME or HOME is as if unset: a repository could name the interpreter."""
    for folder, named in (
        ("data", {"XDG_DATA_HOME": "data"}),
        ("home/.local/share", {"XDG_DATA_HOME": None, "HOME": "home"}),
    ):
        (tmp_path / folder / "planner").mkdir(parents=True)
        (tmp_path / folder / "planner" / "python").write_text("/bin/false\n")
        done = checkout.planner("step", cwd=tmp_path, PLANNER_PYTHON=None, **named)
        assert done.returncode == 0


def test_an_interpreter_that_is_gone_is_passed_over(
    checkout: Checkout, record: Path, tmp_path: Path
) -> None:
    record.write_text(f"{tmp_path}/gone/python3\n")
    (tmp_path / "python3").symlink_to(os.path.realpath(OURS))
    path = f"{tmp_path}:{os.environ['PATH']}"
    found = seen(checkout.planner("step", PLANNER_PYTHON=None, PATH=path)).python
    assert found == str(tmp_path / "python3")


PYENV = """#!/bin/sh
echo "pyenv: version '3.99' is not installed (set by $PWD/.python-version)" >&2
exit 127
"""
# asdf ends with 126, mise with 1, and an old version works, but not for us.
SHIMS = {"pyenv": PYENV, "mise": "#!/bin/sh\nexit 1\n", "old": "#!/bin/sh\nexit 0\n"}


def manager(folder: Path, shim: str) -> Path:
    """Make a version manager whose shim does not find what the folder asks for."""
    shims = folder / "a manager" / "shims"
    shims.mkdir(parents=True)
    (shims / "python3").write_text(SHIMS[shim])
    (shims / "python3").chmod(0o755)
    return shims


@pytest.mark.parametrize("shim", SHIMS)
@pytest.mark.parametrize(
    "place", ["bin", "a manager/versions/3.12.1/bin", "a manager/installs/python/3.12.1/bin"]
)
def test_where_a_shim_finds_no_python_another_one_is_taken(
    checkout: Checkout, tmp_path: Path, shim: str, place: str
) -> None:
    shims = manager(tmp_path, shim)
    other = tmp_path / place
    other.mkdir(parents=True)
    (other / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (other / "python3").chmod(0o755)
    for tool in ("sh", "readlink"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    path = f"{shims}:{tmp_path}:{tmp_path / 'bin'}"
    answer = checkout.planner("step", PLANNER_PYTHON=None, PATH=path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert seen(answer).path[0] == str(checkout.path)


@pytest.mark.parametrize("shim", SHIMS)
@pytest.mark.parametrize("named", [False, True])
def test_where_there_is_no_other_the_answer_names_the_shim_and_a_way(
    checkout: Checkout, tmp_path: Path, shim: str, *, named: bool
) -> None:
    shims = manager(tmp_path, shim)
    for tool in ("sh", "readlink"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    python = str(shims / "python3") if named else None
    path = str(tmp_path) if named else f"{shims}:{tmp_path}"
    answer = checkout.planner("step", PLANNER_PYTHON=python, PATH=path)
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert "a shim of a version manager" in problem(answer)
    assert "absolute path in PLANNER_PYTHON" in problem(answer)
    works = checkout.planner("step", PLANNER_PYTHON=sys.executable, PATH=path)
    assert works.returncode == 0


def test_a_shim_that_works_is_the_one_that_starts_us(checkout: Checkout, tmp_path: Path) -> None:
    shims = manager(tmp_path, "pyenv")
    (shims / "python3").write_text(f'#!/bin/sh\nexec "{os.path.realpath(OURS)}" "$@"\n')
    path = f"{shims}:{os.environ['PATH']}"
    answer = checkout.planner("step", PLANNER_PYTHON=None, PATH=path)
    assert answer.returncode == 0
    assert os.path.samefile(seen(answer).python, OURS)


def test_without_python_the_answer_is_an_error_block(checkout: Checkout, tmp_path: Path) -> None:
    for tool in ("sh", "readlink"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or "")
    answer = checkout.planner("step", PLANNER_PYTHON=None, PATH=str(tmp_path))
    assert answer.returncode == 2
    assert "Python 3.11" in problem(answer)


def test_a_python_that_is_too_old_is_told_so(checkout: Checkout) -> None:
    """The version is set by hand, since an old Python is not everywhere."""
    program = (
        "import runpy, sys; sys.version_info = (3, 9, 18, 'final', 0);"
        "runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(checkout.path / "bin" / "planner")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 2
    assert answer.stderr == ""
    assert problem(answer).startswith("this is Python 3.9 · allowed: Python 3.11 or newer")


def test_the_launcher_is_written_in_syntax_that_an_old_python_reads() -> None:
    source = (Path(__file__).parent.parent / "bin" / "planner").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))


def test_the_tests_say_which_python_they_need(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    answer = subprocess.run(
        [Path(__file__).parent.parent / "bin" / "test", "--checks"],
        capture_output=True, text=True, check=False, env={**os.environ, "PLANNER_PYTHON": str(old)},
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stderr == (
        "bin/test: needed is Python 3.11 or newer as python3, or its path in PLANNER_PYTHON\n"
    )


def test_a_start_that_cannot_install_is_refused_with_a_way_out(
    checkout: Checkout, tmp_path: Path
) -> None:
    answer = checkout.planner("status", PLANNER_WHEELS=str(tmp_path / "nowhere"))
    assert answer.returncode == 1
    assert "nowhere is not a folder · allowed:" in problem(answer)
