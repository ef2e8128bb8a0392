from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from developer.verify.canary import BROKEN, break_files, is_code, restore_files
from shared.resources import ROOT, quote
from state.errors import Refused
from tests.developer.verify.conftest import FILES, PYTHON, Site
from tests.flips import flipping
from tests.forms import part

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-34")

PARSES = f"{PYTHON} -c \"compile(open('app.py').read(), 'app.py', 'exec')\""


def test_a_command_that_reads_the_changed_file_exercises_it(site: Site) -> None:
    path = site.write("app.py", "ANSWER = 2\n")
    path.chmod(0o755)
    answer = site.done(site.job("true", PARSES))
    assert [result.exercised for result in answer.results] == [True, True]
    assert path.read_text() == "ANSWER = 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_run_against_the_users_own_tree_exercises_nothing(site: Site) -> None:
    """As an editable install does: the package comes from another folder than the worktree."""
    site.write("app.py", "ANSWER = 2\n")
    installed = f"cd / && PYTHONPATH={quote(str(site.repo.path))} {PYTHON} -c 'import app'"
    answer = site.done(site.job(installed))
    assert [(r.outcome, r.exercised) for r in answer.results] == [("pass", False)]


@pytest.mark.quick
def test_python_sees_the_broken_file_in_spite_of_its_bytecode_cache(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    imports = f"{PYTHON} -c \"import sys; sys.path.insert(0, '.'); import app\""
    assert site.done(site.job(imports)).results[0].exercised is True


def test_tests_that_milestones_name_are_never_broken(site: Site) -> None:
    site.write("test_app.py", "from app import ANSWER\nassert ANSWER == 1\n")
    site.write("tests/test_more.py", "assert True\n")
    site.write("notes.md", "text\n")
    job = site.job("true", tests=("test_app.py", "tests/"))
    assert site.done(job).results[0].exercised is None


def test_a_deleted_file_and_a_link_are_not_broken(site: Site) -> None:
    (site.worktree / "app.py").unlink()
    (site.worktree / "alias.py").symlink_to("test_app.py")
    assert site.done(site.job("true")).results[0].exercised is None
    assert (site.worktree / "test_app.py").read_text() == FILES["test_app.py"]


def test_breaking_and_restoring_leaves_every_byte_and_mode(tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    folder = str(tmp_path / "canary")
    files = {"a.py": (b"\x00\xff\r\n", 0o600), "b.sh": (BROKEN[:-1], 0o555), "c.php": (b"", 0o644)}
    for name, (data, mode) in files.items():
        (worktree / name).write_bytes(data)
        (worktree / name).chmod(mode)
    names = [*files, "gone.py"]
    assert break_files(folder, str(worktree), names) == [*files]
    for name, (data, mode) in files.items():
        assert (worktree / name).read_bytes() != data
        assert stat.S_IMODE((worktree / name).stat().st_mode) == mode
    assert restore_files(folder) == []
    for name, (data, mode) in files.items():
        assert (worktree / name).read_bytes() == data
        assert stat.S_IMODE((worktree / name).stat().st_mode) == mode
    assert [path.name for path in tmp_path.iterdir()] == ["worktree"]


@pytest.mark.requirement("PP-9")
def test_no_file_is_broken_behind_a_folder_that_becomes_a_link(tmp_path: Path) -> None:
    worktree, outside, folder = tmp_path / "worktree", tmp_path / "outside", tmp_path / "canary"
    for place in (worktree / "src", outside):
        place.mkdir(parents=True)
        (place / "a.py").write_text("1\n")
    real, done = os.open(worktree / "src", os.O_RDONLY), 0
    with flipping(worktree / "src", outside, lambda: done) as numbers:
        for _ in numbers:
            with contextlib.suppress(Refused, OSError):
                done += bool(break_files(str(folder), str(worktree), ["src/a.py"]))
            assert [path.read_text() for path in outside.iterdir()] == ["1\n"]
            if (folder / "0").exists():
                os.replace(folder / "0", "a.py", dst_dir_fd=real)
            shutil.rmtree(folder, ignore_errors=True)
    os.close(real)
    assert done


# Which of two names a processor has differs; strace passes over the other one.
CHANGING = (
    "?rename", "?renameat", "?renameat2", "?unlink", "unlinkat", "?mkdir", "mkdirat", "?rmdir",
    "write", "fsync", "fchmod", "utimensat",
)  # fmt: skip
MOST_CALLS = 30  # more than one name is called
BREAK_AND_MEND = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from developer.verify.canary import break_files, restore_files\n"
    "try:\n"
    "    break_files(sys.argv[2], sys.argv[3], ['a.py', 'b/c.sh'])\n"
    "finally:\n"
    "    restore_files(sys.argv[2])\n"
)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here")
@pytest.mark.parametrize("fault", part(["signal=KILL", "error=EIO", "error=ENOSPC"], 3))
def test_files_return_whatever_call_fails_and_wherever_a_kill_falls(
    fault: str, tmp_path: Path
) -> None:
    worktree, folder = tmp_path / "worktree", str(tmp_path / "canary")
    (worktree / "b").mkdir(parents=True)
    files = {worktree / "a.py": b"a\xff\n", worktree / "b" / "c.sh": b""}
    for path, data in files.items():
        path.write_bytes(data)
        path.chmod(0o750)
    child = [sys.executable, "-I", "-S", "-B", "-c", BREAK_AND_MEND, ROOT, folder, str(worktree)]
    failed = 0
    for name in CHANGING:
        for call in range(1, MOST_CALLS):
            inject = ["-e", f"trace={name}", "-e", f"inject={name}:{fault}:when={call}"]
            strace = ["strace", "-qq", "-o", "/dev/null", *inject, *child]
            done = subprocess.run(strace, capture_output=True, check=False)
            restore_files(folder)
            assert {path: path.read_bytes() for path in files} == files
            assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o750}
            assert [path.name for path in tmp_path.iterdir()] == ["worktree"]
            if not done.returncode:
                break
            failed += 1
        else:
            pytest.fail(f"{name} fails without end: {done.stderr.decode()[-400:]}")
    assert failed >= 10


@pytest.mark.requirement("PL-34")
def test_restoring_does_not_follow_a_link_that_a_command_put_over_a_folder(tmp_path: Path) -> None:
    worktree, users = tmp_path / "worktree", tmp_path / "users"
    for root, text in ((worktree, "ours\n"), (users, "the user's\n")):
        (root / "src").mkdir(parents=True)
        (root / "src/a.py").write_text(text)
    folder = str(tmp_path / "canary")
    break_files(folder, str(worktree), ["src/a.py"])
    shutil.rmtree(worktree / "src")
    (worktree / "src").symlink_to(users / "src")
    assert restore_files(folder) == ["src/a.py"]
    assert (users / "src/a.py").read_text() == "the user's\n"
    assert (worktree / "src/a.py").read_text() == "ours\n"


def test_what_was_written_over_a_broken_file_is_put_aside(tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    (worktree / "a.py").write_text("ours\n")
    folder = str(tmp_path / "canary")
    break_files(folder, str(worktree), ["a.py"])
    (worktree / "a.py").write_text("theirs\n")
    assert restore_files(folder) == ["a.py"]
    assert (worktree / "a.py").read_text() == "ours\n"
    (aside,) = tmp_path.glob("canary-*")
    assert aside.read_text() == "theirs\n"


@pytest.mark.parametrize("ending", ["py", "sh", "pl", "php", "rb", "js", "lua"])
def test_no_interpreter_takes_a_broken_file(ending: str, tmp_path: Path) -> None:
    check = {
        "py": "python3 -m py_compile",
        "sh": "sh -n",
        "pl": "perl -c",
        "php": "php -l",
        "rb": "ruby -c",
        "js": "node --check",
        "lua": "luac -p",
    }[ending].split()
    name = f"x.{ending}"
    (tmp_path / name).write_text("")
    assert is_code(name)
    break_files(str(tmp_path / "canary"), str(tmp_path), [name])
    try:
        found = subprocess.run([*check, name], cwd=tmp_path, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{check[0]} is not here")
    assert found.returncode


@pytest.mark.requirement("CM-1", "VR-5")
def test_without_a_place_commands_meet_stand_ins_of_what_the_commit_adds(site: Site) -> None:
    """They are gone afterwards, also when the one who put them there was killed."""
    ours = ("planning/plans/run.json", "planning/plans/run.md")
    (site.worktree / "app.py").write_text("ANSWER = 2\n")
    job = replace(
        site.job(f"test -s {ours[0]} && test -s {ours[1]} && python3 app.py"), beside=ours
    )
    (result,) = site.done(job).results
    assert (result.baseline, result.outcome, result.exercised) == ("fail", "pass", True)
    assert not (site.worktree / "planning").exists()
    break_files(job.file("canary"), job.worktree, ["app.py"], {ours[0]: b"{}\n"})
    assert (site.worktree / ours[0]).read_bytes() == b"{}\n"
    restore_files(job.file("canary"))
    assert not (site.worktree / "planning").exists()
    assert (site.worktree / "app.py").read_text() == "ANSWER = 2\n"


@pytest.mark.requirement("CM-1")
def test_a_stand_in_never_takes_the_place_of_a_file_or_goes_through_a_link(tmp_path: Path) -> None:
    worktree, folder = tmp_path / "worktree", str(tmp_path / "canary")
    (worktree / "a").mkdir(parents=True)
    (worktree / "a/mine.md").write_text("mine\n")
    (worktree / "link").symlink_to(tmp_path)
    beside = {"a/mine.md": b"# Plan\n", "link/x.md": b"# Plan\n"}
    assert break_files(folder, str(worktree), [], beside) == []
    restore_files(folder)
    assert (worktree / "a/mine.md").read_text() == "mine\n"
    assert not (tmp_path / "x.md").exists()
