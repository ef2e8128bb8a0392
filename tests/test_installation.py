"""Locked packages: installed whole or not at all, in the user's cache and nowhere else (HO-3)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.installation import install
from state.errors import Refused
from tests.checkout import ROOT, Checkout, make_wheel
from tests.test_launcher import problem


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "check out", tmp_path / "wheels")


def test_the_second_start_writes_nothing(checkout: Checkout) -> None:
    checkout.planner("status")
    before = {path: path.stat().st_mtime_ns for path in checkout.path.rglob("*")}
    answer = checkout.planner("status", PLANNER_WHEELS=None)
    assert answer.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in checkout.path.rglob("*")} == before


def test_a_renewed_lock_is_installed_beside_the_old_one(checkout: Checkout) -> None:
    checkout.planner("status")
    checkout.write_lock(make_wheel(checkout.wheels), comment="# renewed\n")
    assert "installing" in checkout.planner("status").stderr
    assert len(checkout.installed()) == 2


def test_a_wheel_that_is_not_the_locked_one_is_refused(checkout: Checkout) -> None:
    checkout.write_lock("0" * 64)
    answer = checkout.planner("status")
    assert answer.returncode == 1
    assert "HASHES" in problem(answer)
    retry = shlex.join([str(checkout.path / "bin" / "planner"), "help"])
    assert problem(answer).endswith(f"retry: {retry}")
    assert checkout.installed() == []


def test_missing_wheels_are_refused(checkout: Checkout) -> None:
    for wheel in checkout.wheels.iterdir():
        wheel.unlink()
    answer = checkout.planner("status")
    assert answer.returncode == 1
    assert "No matching distribution found for click==1.0" in problem(answer)


def test_a_cache_that_cannot_be_written_is_refused(checkout: Checkout) -> None:
    """A file where the folder belongs, since permissions do not stop root."""
    checkout.packages.parent.mkdir(parents=True)
    checkout.packages.write_text("")
    answer = checkout.planner("status")
    assert answer.returncode == 1
    assert "packages cannot be written" in problem(answer)
    assert "XDG_CACHE_HOME" in problem(answer)


@pytest.mark.requirement("HO-3")
def test_a_cache_below_a_file_is_refused_with_the_folder_and_what_helps(tmp_path: Path) -> None:
    (tmp_path / "packages").write_text("")
    home = tmp_path / "packages" / "of a lock"
    with pytest.raises(Refused) as refused:
        install(f"{ROOT}/requirements/core.lock", str(home / "core"))
    [problem] = refused.value.problems
    assert problem.problem == f"{home} cannot be written: Not a directory"
    assert "XDG_CACHE_HOME" in problem.allowed


@pytest.mark.requirement("HO-3")
def test_versions_with_the_same_lock_share_their_packages(
    checkout: Checkout, tmp_path: Path
) -> None:
    """A client keeps each version of a plugin in a folder of its own."""
    checkout.planner("status")
    newer = Checkout(tmp_path / "planner-0.2", checkout.wheels)
    lock = Path("requirements", "core.lock")
    (newer.path / lock).write_bytes((checkout.path / lock).read_bytes())
    answer = newer.planner("status", PLANNER_WHEELS=None)
    assert (answer.returncode, answer.stderr) == (7, "")
    assert len(checkout.installed()) == 1
    assert not newer.deps.exists()


def test_packages_beside_our_folders_are_used_where_they_are_there(checkout: Checkout) -> None:
    checkout.planner("status")
    checkout.packages.rename(checkout.deps)
    answer = checkout.planner("status", PLANNER_WHEELS=None)
    assert answer.returncode == 7
    assert str(checkout.deps) in answer.stdout
    assert not checkout.packages.exists()


def test_a_relative_cache_is_as_if_unset(checkout: Checkout) -> None:
    answer = checkout.planner("status", XDG_CACHE_HOME="cache")
    assert answer.returncode == 7
    assert Path(os.environ["HOME"], ".cache", "planner", "packages").is_dir()


@pytest.fixture
def uv() -> str:
    """Return the program uv; a test that needs it is skipped without it."""
    found = shutil.which("uv") or str(ROOT / ".deps" / "uv" / "bin" / "uv")
    if not os.path.isfile(found):
        pytest.skip("uv is neither on PATH nor in .deps/uv")
    return found


@pytest.fixture
def path_with_uv(uv: str, tmp_path: Path) -> str:
    """Return a PATH on which uv notes that it was called."""
    folder = tmp_path / "with uv"
    folder.mkdir()
    program = folder / "uv"
    called = shlex.quote(str(tmp_path / "called"))
    program.write_text(f'#!/bin/sh\necho "$1" >>{called}\nexec {shlex.quote(uv)} "$@"\n')
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.requirement("HO-3")
def test_uv_installs_where_it_is_on_the_path(
    checkout: Checkout, path_with_uv: str, tmp_path: Path
) -> None:
    answer = checkout.planner("status", PATH=path_with_uv)
    assert (answer.returncode, (tmp_path / "called").read_text()) == (7, "pip\n")
    assert list((checkout.packages / checkout.installed()[0] / "click").glob("__pycache__/*"))


def test_pip_installs_where_uv_cannot(
    checkout: Checkout, path_with_uv: str, tmp_path: Path
) -> None:
    checkout.write_lock("0" * 64)
    answer = checkout.planner("status", PATH=path_with_uv)
    assert (tmp_path / "called").exists()
    assert "HASHES" in problem(answer)


def test_an_index_that_is_set_up_for_pip_is_asked_by_pip(
    checkout: Checkout, path_with_uv: str, tmp_path: Path
) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nno-index = true\nfind-links = {checkout.wheels}\n")
    answer = checkout.planner(
        "status",
        PATH=path_with_uv,
        PLANNER_WHEELS="",
        PIP_CONFIG_FILE=str(settings),
        PIP_FIND_LINKS=None,
    )
    assert answer.returncode == 7
    assert not (tmp_path / "called").exists()


def test_the_users_pip_settings_cannot_send_the_packages_elsewhere(
    checkout: Checkout, tmp_path: Path
) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("[install]\nuser = true\nrequire-virtualenv = true\nno-binary = :all:\n")
    elsewhere = tmp_path / "elsewhere"
    answer = checkout.planner(
        "status",
        PIP_CONFIG_FILE=str(settings),
        PIP_USER="1",
        PIP_TARGET=str(elsewhere),
        PIP_PREFIX=str(elsewhere),
        PIP_REQUIRE_VIRTUALENV="1",
        PIP_DRY_RUN="1",
    )
    assert answer.returncode == 7
    assert not elsewhere.exists()
    assert len(checkout.installed()) == 1


def test_the_users_index_settings_stay_in_force(checkout: Checkout, tmp_path: Path) -> None:
    answer = checkout.planner("status", PLANNER_WHEELS="", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert answer.returncode == 1
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nno-index = true\nfind-links = {checkout.wheels}\n")
    answer = checkout.planner(
        "status", PLANNER_WHEELS="", PIP_CONFIG_FILE=str(settings), PIP_FIND_LINKS=None
    )
    assert answer.returncode == 7


def test_two_first_starts_at_once_install_once(checkout: Checkout) -> None:
    command = [str(checkout.path / "bin" / "planner"), "status"]
    variables = {"PLANNER_PYTHON": sys.executable, "PLANNER_WHEELS": str(checkout.wheels)}
    both = [
        subprocess.Popen(
            command,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    notes = "".join(process.communicate()[1] for process in both)
    assert [process.returncode for process in both] == [7, 7]
    assert notes.count("installing the packages") == 1
    assert len(checkout.installed()) == 1


def test_what_a_killed_installer_left_is_cleared(checkout: Checkout) -> None:
    (checkout.packages / "tmp-killed" / "packages" / "click").mkdir(parents=True)
    assert checkout.planner("status").returncode == 7
    assert len(checkout.installed()) == 1


def test_a_python_without_pip_borrows_the_one_that_came_with_it(
    checkout: Checkout, tmp_path: Path
) -> None:
    pytest.importorskip("ensurepip", reason="this Python came without pip's wheel")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    answer = checkout.planner("status", PLANNER_PYTHON=str(venv / "bin" / "python3"))
    assert answer.returncode == 7


def test_setup_fresh_replaces_packages_that_are_broken(checkout: Checkout) -> None:
    checkout.planner("status")
    module = checkout.packages / checkout.installed()[0] / "click" / "__init__.py"
    module.write_text("import gone")
    assert checkout.planner("setup", "--fresh").returncode == 7
    assert module.read_text() == "VERSION = '1.0'\n"
    assert len(checkout.installed()) == 1


def test_packages_that_are_damaged_are_our_fault_with_a_way_out(checkout: Checkout) -> None:
    checkout.planner("status")
    (checkout.packages / checkout.installed()[0] / "click" / "__init__.py").write_text(
        "import gone"
    )
    answer = checkout.planner("status")
    assert answer.returncode == 3
    assert problem(answer).endswith("bin/planner' setup --fresh")
    assert "ModuleNotFoundError" in answer.stderr


@pytest.mark.parametrize("lock", ["core", "dev", "ci"])
def test_every_locked_package_has_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    pins = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert pins
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_dev_lock_agrees_with_core_lock() -> None:
    """Both folders are on the path together when the tests run."""
    core, dev = (
        dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / path).read_text(), re.MULTILINE))
        for path in ("requirements/core.lock", "requirements/dev.lock")
    )
    assert all(dev[name] == core[name] for name in core.keys() & dev.keys())


def test_wheels_in_a_folder_that_is_not_there_are_named(checkout: Checkout) -> None:
    shutil.rmtree(checkout.wheels)
    answer = checkout.planner("status", "--json")
    assert answer.returncode in {1, 2}
    assert "PLANNER_WHEELS" in answer.stdout
    assert "a folder filled by: pip download" in answer.stdout
