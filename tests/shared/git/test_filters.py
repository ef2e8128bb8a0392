"""Filters of git's attributes run in the place, whoever has written their programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.git.filters import PROGRAM, confined
from state.errors import Refused
from tests.place import need_place
from tests.shared.place.arena import without_namespaces

if TYPE_CHECKING:
    from tests.shared.git.conftest import Project

# What a filter tries: to write outside, to read a secret; then it does its work.
TRIES = """
echo evil >"{outside}/evil" 2>/dev/null
echo evil >evil 2>/dev/null
cat ~/.netrc 2>/dev/null
tr a-z A-Z
"""
# A filter that git starts once for all files: it reads and writes packets, each after its length.
PROCESS = """
import os, sys
given, out = sys.stdin.buffer, sys.stdout.buffer
def read():
    found = []
    while (size := int(given.read(4) or b"0", 16)):
        found.append(given.read(size - 4))
    return found
def write(*lines):
    for line in lines:
        out.write(b"%04x" % (len(line) + 4) + line)
    out.write(b"0000")
    out.flush()
read(); write(b"git-filter-server\\n", b"version=2\\n")
read(); write(b"capability=clean\\n")
while read():
    text = b"".join(read()).upper()
    try:
        open(os.environ["OUTSIDE"] + "/evil", "w").close()
    except OSError:
        pass
    write(b"status=success\\n")
    write(text)
    write()
"""
ATTRIBUTES: dict[str, bytes | None] = {".gitattributes": b"*.txt filter=tidy\n"}


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of the user's in which nothing may be written."""
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.setenv("OUTSIDE", str(folder))
    Path(os.environ["HOME"], ".netrc").write_text("hunter2")
    return folder


def captured(project: Project, name: str, text: bytes) -> str:
    """Capture a file that is written in the worktree; return what the plan holds of it."""
    project.write({name: text}, project.worktree)
    (change,) = [c for c in project.capture().changes if c.file == name]
    assert change.after is not None
    return project.git("cat-file", "blob", change.after)


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("setting", ["clean", "process"])
def test_a_filter_that_the_assistant_has_edited_runs_in_the_place(
    project: Project, outside: Path, setting: str
) -> None:
    need_place()
    project.commit({**ATTRIBUTES, "tools/tidy": b""})
    run = "sh" if setting == "clean" else sys.executable
    project.git("config", f"filter.tidy.{setting}", f"{run} tools/tidy")
    script = TRIES.replace("{outside}", str(outside)) if setting == "clean" else PROCESS
    project.begin()
    project.write({"tools/tidy": script.encode()}, project.worktree)
    assert captured(project, "a b%f.txt", b"text\n") == "TEXT"
    assert not list(outside.iterdir())
    assert not (project.worktree / "evil").exists()


@pytest.mark.requirement("PP-1")
def test_a_filter_gets_the_path_and_its_failure_says_where_it_ran(
    project: Project, outside: Path
) -> None:
    need_place()
    project.commit(ATTRIBUTES)
    project.git("config", "filter.tidy.clean", "cat; printf '%%s ' %f | tr -d %% | tr a-z A-Z")
    project.begin()
    assert captured(project, "it's $HOME.txt", b"text\n") == "text\nIT'S $HOME.TXT "
    project.git("config", "filter.tidy.required", "true")
    project.git("config", "filter.tidy.clean", f"touch {outside}/evil")
    with pytest.raises(Refused) as caught:
        captured(project, "b.txt", b"text\n")
    assert "where it has no network" in caught.value.problems[0].allowed


@pytest.mark.requirement("PP-1", "CM-4")
@pytest.mark.parametrize("inside", [True, False])
def test_a_filter_finds_the_users_git_folder_wherever_the_worktree_lies(
    project: Project, tmp_path: Path, inside: bool
) -> None:
    need_place()
    project.commit(ATTRIBUTES)
    worktree = project.begin() if inside else tmp_path / "elsewhere"
    if not inside:
        project.git("worktree", "add", "-q", "--detach", str(worktree))
    (project.root / ".git" / "key.pem").write_text("K3Y\n")
    text = 'cat "$(git rev-parse --git-dir)/key.pem"; git config user.email'
    command = [sys.executable, "-I", "-S", PROGRAM, str(project.root), text]
    done = subprocess.run(command, input=b"", capture_output=True, cwd=worktree, check=True)
    assert done.stdout == b"K3Y\ntester@example.org\n"
    assert done.stderr == b""
    assert (worktree / ".git").is_file()


@pytest.mark.requirement("PP-1", "PP-3")
def test_without_namespaces_a_filter_cannot_write(tmp_path: Path, outside: Path) -> None:
    text = TRIES.replace("{outside}", str(outside))
    command = [sys.executable, "-I", "-S", PROGRAM, str(tmp_path), text]
    words = without_namespaces(*command)
    done = subprocess.run(words, input=b"text\n", capture_output=True, cwd=tmp_path, check=True)
    assert b"TEXT\n" in done.stdout
    assert not list(outside.iterdir())
    assert not (tmp_path / "evil").exists()


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("lies", ["in a system folder", "in the worktree", "where we stand"])
@pytest.mark.parametrize("text", ["git-lfs filter-process", "git-lfs clean; sh x", "sh git-lfs"])
def test_only_a_git_lfs_outside_of_the_worktree_runs_as_it_is(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lies: str, text: str
) -> None:
    system, worktree = tmp_path / "bin", project.begin()
    system.mkdir()
    (system / "git").symlink_to(shutil.which("git") or "")
    for folder in (system, worktree) if lies == "in a system folder" else (worktree,):
        (folder / "git-lfs").write_text("#!/bin/sh\n")
        (folder / "git-lfs").chmod(0o755)
    monkeypatch.chdir(worktree)
    first = "" if lies == "where we stand" else worktree
    monkeypatch.setenv("PATH", f"{system}:{first}")
    project.git("config", "filter.lfs.process", text)
    (setting,) = confined(project.repo.git, str(worktree), str(project.root))
    as_it_is = (lies, text) == ("in a system folder", "git-lfs filter-process")
    assert (setting == f"filter.lfs.process={system}/{text}") is as_it_is
    assert (PROGRAM in setting) is not as_it_is


@pytest.mark.skipif(not shutil.which("git-lfs"), reason="git-lfs is not installed")
def test_git_lfs_keeps_its_files(project: Project) -> None:
    project.git("lfs", "install", "--local")
    project.commit({".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    project.commit({"old.bin": b"old\n"})
    assert (project.begin() / "old.bin").read_bytes() == b"old\n"
    assert "oid sha256:" in captured(project, "big.bin", b"content\n")
    stored = [p for p in (project.root / ".git" / "lfs" / "objects").rglob("*") if p.is_file()]
    assert sorted(p.read_bytes() for p in stored) == [b"content\n", b"old\n"]
