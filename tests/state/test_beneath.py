"""Files below a folder are read and written by name, and no link is followed on the way."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from state.beneath import Beneath
from state.errors import Refused
from state.files import TEMPORARY
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALLS: dict[str, Callable[[Beneath, str], object]] = {
    "exists": Beneath.exists,
    "is_file": Beneath.is_file,
    "changed_at": Beneath.changed_at,
    "read": Beneath.read,
    "names": Beneath.names,
    "write": lambda files, path: files.write(path, b"x"),
    "remove": Beneath.remove,
    "rename": lambda files, path: files.rename(path, "other"),
    "make_folders": Beneath.make_folders,
    "sweep": Beneath.sweep,
}

# What takes a link at the path's end for what it is, and follows none on the way.
TAKING_LINKS: dict[str, Callable[[WorkingFiles, str], object]] = {
    "status": Beneath.status,
    "remove_all": WorkingFiles.remove_all,
    "unlink": WorkingFiles.unlink,
    "link": lambda files, path: files.link(path, "f"),
    "make_folder": WorkingFiles.make_folder,
    "copy": lambda files, path: files.copy(path, f"{files.root}/../copied"),
    "take": lambda files, path: files.take(f"{files.root}/../outside/f", path),
    "move": lambda files, path: files.move(path, "moved"),
    "move to": lambda files, path: files.move("a/b/f", path),
}


@pytest.fixture
def files(tmp_path: Path) -> WorkingFiles:
    """A folder with files, and links in it that lead within and outside."""
    (tmp_path / "root" / "a" / "b").mkdir(parents=True)
    (tmp_path / "root" / "a" / "b" / "f").write_bytes(b"one")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(b"theirs")
    links = {"to_file": "a/b/f", "to_folder": "a/b", "to_nowhere": "gone", "a/out": "../../outside"}
    for name, target in links.items():
        (tmp_path / "root" / name).symlink_to(target)
    return WorkingFiles(str(tmp_path / "root"))


@pytest.mark.requirement("PP-9")
@pytest.mark.parametrize("call", TAKING_LINKS)
def test_nothing_is_changed_behind_a_working_tree_that_is_a_link(
    files: WorkingFiles, tmp_path: Path, call: str
) -> None:
    (tmp_path / "tree").symlink_to(files.root)
    before = tree_of(tmp_path)
    with contextlib.suppress(Refused):
        TAKING_LINKS[call](WorkingFiles(str(tmp_path / "tree")), "to_file")
    assert tree_of(tmp_path) == before


def tree_of(folder: Path) -> dict[str, bytes | str]:
    return {
        os.path.relpath(path, folder): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("path", "link"),
    [("to_file", "to_file"), ("to_nowhere", "to_nowhere"), ("to_folder/f", "to_folder"),
     ("a/out", "a/out"), ("a/out/f", "a/out"), ("a/out/new/f", "a/out")],
)  # fmt: skip
def test_a_link_at_a_path_or_on_the_way_is_refused_by_its_own_name(
    files: WorkingFiles, tmp_path: Path, name: str, path: str, link: str
) -> None:
    before = tree_of(tmp_path)
    for given in (path, os.path.join(files.root, path)):
        with pytest.raises(Refused, match="is a symbolic link") as caught:
            CALLS[name](files, given)
        assert caught.value.problems[0].at == os.path.join(files.root, link)
        assert caught.value.problems[0].allowed
    assert tree_of(tmp_path) == before


@pytest.mark.parametrize("name", TAKING_LINKS)
@pytest.mark.parametrize("path", ["to_folder/f", "a/out/f", "a/out/new/f"])
def test_a_link_on_the_way_is_refused_where_one_at_the_end_is_taken_for_itself(
    files: WorkingFiles, tmp_path: Path, name: str, path: str
) -> None:
    before = tree_of(tmp_path)
    with pytest.raises(Refused, match="is a symbolic link"):
        TAKING_LINKS[name](files, path)
    assert tree_of(tmp_path) == before


def test_links_and_whole_folders_are_moved_and_removed(files: WorkingFiles, tmp_path: Path) -> None:
    files.move("a/out", "a/b/out")
    assert files.names("a/b") == ["f", "out"]
    files.set_executable("a/b/f", executable=True)
    assert os.access(tmp_path / "root" / "a" / "b" / "f", os.X_OK)
    files.remove_all("to_folder")
    files.remove_all("a/b")
    files.remove_empty("a")
    assert not files.exists("a")
    with pytest.raises(Refused, match="Too many levels"):
        files.set_executable("to_file", executable=True)
    assert (tmp_path / "outside" / "f").read_bytes() == b"theirs"


def test_a_folder_in_which_others_write_while_it_is_removed_is_named(
    files: WorkingFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = os.rmdir

    def write_first(*given: object, **named: object) -> None:
        (tmp_path / "root" / "a" / "b" / "new").touch()
        remove(*given, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", write_first)
        with pytest.raises(Refused, match="not empty; a part of the folder may be removed"):
            files.remove_all("a/b")
    files.remove_all("a/b")
    assert files.names("a") == ["out"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("path", ["../outside/f", "a/../../outside/f", "/etc/hostname", ".", ""])
def test_what_lies_outside_is_refused(files: WorkingFiles, name: str, path: str) -> None:
    with pytest.raises(Refused, match="lies outside"):
        CALLS[name](files, path)


def test_files_and_folders_are_read_and_what_is_not_there_is_none(files: WorkingFiles) -> None:
    assert (files.read("a/b/f"), files.names("a")) == (b"one", ["b", "out"])
    assert files.exists("a/b")
    assert not files.is_file("a/b")
    assert files.is_file("a/b/f")
    assert files.changed_at("a/b/f") > 0
    for gone in ("x", "x/y/z", "a/b/f/x"):
        assert (files.read(gone), files.exists(gone), files.names(gone)) == (None, False, [])
        assert files.changed_at(gone) == 0
        files.remove(gone)


def test_a_file_is_written_whole_with_its_bits_and_nothing_is_left_beside_it(
    files: WorkingFiles, tmp_path: Path
) -> None:
    path = tmp_path / "root" / "a" / "b" / "f"
    (path.parent / f".f.{os.getpid()}{TEMPORARY}").write_bytes(b"left by a process of this id")
    path.chmod(0o755)
    files.write("a/b/f", b"two")
    files.write("a/b/new", b"new")
    files.write("a/b/own", b"own", 0o600)
    found = {one.name: oct(one.stat().st_mode & 0o777) for one in path.parent.iterdir()}
    assert found == {"f": "0o755", "new": "0o644", "own": "0o600"}
    assert (files.read("a/b/f"), files.read("a/b/new")) == (b"two", b"new")
    with pytest.raises(Refused, match="No such file"):
        files.write("gone/f", b"x")


def test_files_are_renamed_and_removed_and_folders_made(files: WorkingFiles) -> None:
    files.rename("a/b/f", "g")
    assert files.names("a/b") == ["g"]
    files.remove("a/b/g")
    files.make_folders("a/b/c/d")
    files.make_folders("a/b/c/d")
    assert files.names("a/b/c") == ["d"]
    with pytest.raises(Refused):
        files.remove("a/b/c")


def test_what_killed_writers_left_is_removed(files: WorkingFiles, tmp_path: Path) -> None:
    (tmp_path / "root" / "a" / "b" / f".f.1{TEMPORARY}").write_bytes(b"")
    files.sweep("a/b")
    assert files.names("a/b") == ["f"]


def test_no_pipe_is_waited_for_and_no_file_is_read_that_is_too_large(files: WorkingFiles) -> None:
    os.mkfifo(os.path.join(files.root, "pipe"))
    with pytest.raises(Refused, match="a pipe"):
        files.read("pipe")
    assert files.read("a/b/f", 3) == b"one"
    with pytest.raises(Refused, match="at most 2 are read"):
        files.read("a/b/f", 2)


def test_a_folder_that_becomes_a_link_in_the_meantime_is_not_followed(
    files: WorkingFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.stat

    def swap(name: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        found = look(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if name == "b":
            (tmp_path / "root" / "a" / "b").rename(tmp_path / "root" / "a" / "aside")
            (tmp_path / "root" / "a" / "b").symlink_to(tmp_path / "outside")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", swap)
        with pytest.raises(Refused):
            files.write("a/b/f", b"ours")
    assert (tmp_path / "outside" / "f").read_bytes() == b"theirs"
