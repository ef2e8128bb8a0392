"""Filters that read git's folder and settings work while a plan is made, or stop its start (G6)."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Repository
from tests.forms import some
from tests.journey import FILES, SHOWN, Journey, shell
from tests.place import need_place
from tests.shared.git.layouts import linked, plain, submodule

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shared.git.conftest import Project

pytestmark = [pytest.mark.requirement("CM-4", "PP-1"), pytest.mark.usefixtures("_place")]

# As git-crypt and transcrypt do it: a key below git's folder, and settings; one reads `.git`.
FIND = """#!/bin/sh
key=$(cat "$(git rev-parse --git-dir)/crypt/key.pem") && mail=$(git config user.email) || exit 4
word=$(git config --get {setting}) || exit 5
"""
CLEAN = 'sed "s/^/$key $mail $word|/"\n'
SMUDGE = 'sed "s/^[^|]*|//"\n'


@pytest.fixture
def _place() -> None:
    need_place()


def set_up(root: Path, git: Callable[..., str], setting: str, *, required: bool) -> None:
    """Have git encrypt the files of src by a program below its own folder."""
    folder = Path(root, git("rev-parse", "--absolute-git-dir"), "crypt")
    folder.mkdir()
    (folder / "key.pem").write_text("K3Y\n")
    for name, text in (("clean", CLEAN), ("smudge", SMUDGE)):
        (folder / name).write_text(FIND.replace("{setting}", setting) + text)
        (folder / name).chmod(0o755)
        program = f'"$(git rev-parse --git-dir)"/crypt/{name}'
        git("config", f"filter.crypt.{name}", program)
    git("config", "filter.crypt.required", str(required).lower())
    git("config", setting, "w0rd")
    for file, content in (*FILES.items(), (".gitattributes", "src/*.py filter=crypt\n")):
        Path(root, file).parent.mkdir(exist_ok=True)
        Path(root, file).write_text(str(content))
    git("add", "-A")
    git("commit", "-q", "-m", "encrypted")


@pytest.mark.parametrize("layout", some([plain, linked, submodule], 2))
def test_a_filter_that_reads_settings_and_a_key_of_gits_folder_works_in_any_layout(
    layout: Callable[[Path], Project], tmp_path: Path
) -> None:
    project = layout(tmp_path / "a project")
    set_up(project.root, project.git, "crypt.word", required=True)
    repository = Repository(project.root)
    Journey(repository).to("committed")
    head = repository.git("show", "HEAD:src/a.py").splitlines()
    mail = repository.git("config", "user.email")
    assert head == [f"K3Y {mail} w0rd|def f(x):", f"K3Y {mail} w0rd|    return x + 2"]
    assert (project.root / "src" / "a.py").read_text() == "def f(x):\n    return x + 2\n"
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.parametrize("required", [True, False])
def test_a_filter_that_needs_a_password_stops_the_start_until_a_person_shows_it_to_filters(
    make_repo: Callable[..., Repository], required: bool
) -> None:
    repository = make_repo("project", {"README.md": "x\n"})
    set_up(repository.path, repository.git, "transcrypt.password", required=required)
    journey = Journey(repository)
    refused = journey.call("start", "Make f add two")
    [(_, text)] = refused.problems
    assert "this filter of git makes other bytes in the place than git has from it" in text
    assert "src/a.py" in text
    assert "filter.crypt" in journey.call("doctor").data("findings")
    setting = text.partition("[place] ")[2].partition(" in ")
    path = Path(setting[2].partition(";")[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[place]\n{setting[0]}\n")
    journey.to("design")
    words = f"{SHOWN} tree run --state-dir {quote(journey.state_dir)}"
    shown = shell(f"{words} -- git config transcrypt.password", repository.path)
    assert "***" in shown.text
    assert "w0rd" not in shown.text
    journey.to("committed")
    assert " w0rd|    return x + 2" in repository.git("show", "HEAD:src/a.py")
    assert repository.git("status", "--porcelain") == ""
    assert os.environ["HOME"] in str(path)
