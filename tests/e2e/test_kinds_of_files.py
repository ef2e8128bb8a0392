"""Every kind of change that git knows, and what is left alone, from edit to proven commit."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import answer_two, assert_proved, committed
from tests.e2e.drive import Host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

PICTURE = bytes(range(256)) * 8
LONG = "".join(f"line {n}\n" for n in range(40))


@pytest.mark.requirement("PL-10", "PL-26", "PL-29")
def test_every_kind_of_change_goes_through_in_one_plan_and_can_be_taken_back(
    make_repo: Callable[..., Repository],
) -> None:
    project = make_repo(
        "project",
        {"picture.bin": PICTURE, "run.sh": "#!/bin/sh\n", "old/name.txt": LONG, "gone.txt": "1\n",
         "end.txt": "one\ntwo\n", "target.txt": "t\n", "was-a-file": "f\n"},
    )  # fmt: skip

    def edit(tree: Path) -> None:
        (tree / "picture.bin").write_bytes(PICTURE[::-1])
        (tree / "added.bin").write_bytes(b"\0\1\2")
        (tree / "run.sh").chmod(0o755)
        (tree / "link").symlink_to("target.txt")
        (tree / "was-a-file").unlink()
        (tree / "was-a-file").symlink_to("target.txt")
        (tree / "new" / "deep").mkdir(parents=True)
        (tree / "old/name.txt").rename(tree / "new/deep/name.txt")
        (tree / "gone.txt").unlink()
        (tree / "end.txt").write_bytes(b"one\ntwo")
        (tree / "empty.txt").touch()

    files = ["picture.bin", "added.bin", "run.sh", "link", "was-a-file", "new/deep/name.txt",
             "old/name.txt", "gone.txt", "end.txt", "empty.txt"]  # fmt: skip
    host = Host(project.path, edit, files)
    assert_proved(project, host.to("committed").last, *files)
    assert committed(project, "picture.bin") == PICTURE[::-1]
    assert committed(project, "end.txt") == b"one\ntwo"
    modes = project.git("ls-tree", "HEAD", "run.sh", "link", "was-a-file", "added.bin")
    assert [line[:6] for line in modes.splitlines()] == ["100644", "120000", "100755", "120000"]
    root = project.path
    assert os.access(root / "run.sh", os.X_OK)
    assert (root / "link").readlink() == (root / "was-a-file").readlink()
    assert (root / "new/deep/name.txt").read_text() == LONG
    assert not (root / "old").exists()
    taken_back = host.planner("undo")
    assert taken_back.code == 0, taken_back.text
    assert project.git("rev-parse", "HEAD^{tree}") == project.git("rev-parse", "HEAD~2^{tree}")
    assert project.git("status", "--porcelain") == ""
    assert (root / "old/name.txt").read_text() == LONG
    assert not (root / "new").exists()


def test_paths_with_spaces_and_signs_stay_whole_in_every_printed_command(
    make_repo: Callable[..., Repository],
) -> None:
    name = 'it\'s $(a) "file" ünd\\so.txt'
    project = make_repo("a folder/with $HOME & 'quotes'", {name: "1\n"})
    host = Host(project.path, lambda tree: (tree / name).write_text("2\n"), [name], processes=True)
    assert_proved(project, host.to("committed").last, name)
    assert committed(project, name) == b"2\n"


@pytest.mark.requirement("PL-32")
def test_a_submodule_is_named_and_left_alone(
    make_repo: Callable[..., Repository], project: Repository
) -> None:
    library = make_repo("library", {"lib.py": "1\n"})
    add = ["submodule", "--quiet", "add", str(library.path), "vendor/lib"]
    project.git("-c", "protocol.file.allow=always", *add)
    project.commit(message="Add the library")
    link = project.git("ls-tree", "HEAD", "vendor/lib")
    moved = library.commit({"lib.py": "2\n"})
    subprocess.run(["git", "pull", "-q"], cwd=project.path / "vendor/lib", check=True)
    host = Host(project.path, answer_two, ["src/app.py"])
    assert "vendor/lib" in host.start().text
    host.to("committed")
    assert project.git("ls-tree", "HEAD", "vendor/lib") == link
    assert project.git("-C", "vendor/lib", "rev-parse", "HEAD") == moved
    assert (
        project.git("diff", "--name-only", "HEAD^", "HEAD", "--", "src", "vendor") == "src/app.py"
    )


@pytest.mark.requirement("PL-33")
def test_linked_node_modules_serve_verify_and_are_never_captured(
    make_repo: Callable[..., Repository],
) -> None:
    packages = Path(os.environ["HOME"], ".local/share/pnpm")
    store = packages / "left-pad@1.0.0" / "node_modules" / "left-pad"
    store.mkdir(parents=True)
    (store / "index.sh").write_text("pad=2\n")
    project = make_repo(
        "project",
        {"src/app.sh": "answer=1\n", ".gitignore": "node_modules\n",
         "test.sh": ". ./node_modules/left-pad/index.sh\n. ./src/app.sh\n"
                    'test "$answer" -le "$pad"\n',
         "planner.toml": '[worktree]\nlink = ["node_modules"]\n'
                         '[verify]\ncommands = ["sh test.sh"]\n'},
    )  # fmt: skip
    farm = project.path / "node_modules"
    (farm / ".pnpm").mkdir(parents=True)
    (farm / ".pnpm" / "left-pad@1.0.0").symlink_to(store.parent.parent)
    (farm / "left-pad").symlink_to(".pnpm/left-pad@1.0.0/node_modules/left-pad")
    seen: list[bool] = []

    def edit(tree: Path) -> None:
        seen.append((tree / "node_modules/left-pad/index.sh").exists())
        (tree / "src/app.sh").write_text("answer=2\n")

    host = Host(project.path, edit, ["src/app.sh"])
    assert "sh test.sh: pass" in host.to("submitted").last.data("summary")
    assert_proved(project, host.to("committed").last, "src/app.sh")
    assert seen == [True]
    assert (farm / "left-pad" / "index.sh").read_text() == "pad=2\n"


@pytest.mark.skipif(not shutil.which("git-lfs"), reason="git-lfs is not installed")
def test_the_first_file_of_git_lfs_in_a_repository_is_no_change_of_its_settings(
    make_repo: Callable[..., Repository],
) -> None:
    """At its first use git-lfs writes into `.git/config` that it was used."""
    rule = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
    project = make_repo("project", {".gitattributes": rule})
    for name in ("clean -- %f", "smudge -- %f"):
        project.git("config", f"filter.lfs.{name.partition(' ')[0]}", f"git-lfs {name}")
    project.git("config", "filter.lfs.required", "true")

    def edit(tree: Path) -> None:
        (tree / "picture.bin").write_bytes(PICTURE)

    host = Host(project.path, edit, ["picture.bin"])
    assert_proved(project, host.to("committed").last, "picture.bin")
    assert committed(project, "picture.bin").startswith(b"version https://git-lfs")
    assert "[lfs]" in (project.path / ".git" / "config").read_text()
