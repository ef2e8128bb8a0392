"""The planner's folders are removed with all that is in them, and nothing outside of them is."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from shared.git.files import remove_tree

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_goes_with_all_that_is_in_it_whatever_its_rights(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "file").touch()
    (folder / "link").symlink_to(tmp_path)
    for rights, path in ((0o500, "deep/er"), (0, "deep")):
        (folder / path).chmod(rights)
    remove_tree(str(folder))
    remove_tree(str(folder))
    assert not folder.exists()


@pytest.mark.requirement("PP-9")
def test_a_removal_that_fails_takes_no_file_behind_a_folder_that_becomes_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, outside, src = os.unlink, tmp_path / "outside", tmp_path / "folder" / "src"
    for place in (outside, src):
        place.mkdir(parents=True)
        (place / "file").touch()

    def swap_first(name: str, **given: int) -> None:
        if not src.is_symlink():
            src.rename(tmp_path / "aside")
            src.symlink_to(outside)
            raise OSError(5, "Input/output error", name)
        remove(name, **given)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", swap_first)
        with contextlib.suppress(OSError):
            remove_tree(str(tmp_path / "folder"))
    assert (outside / "file").exists()


@pytest.mark.requirement("PP-9")
@pytest.mark.parametrize("name", ["worktree", "worktree/src"])
def test_nothing_is_removed_behind_a_run_that_is_a_link(tmp_path: Path, name: str) -> None:
    outside, runs = tmp_path / "outside", tmp_path / ".planner" / "runs"
    (outside / "worktree" / "src").mkdir(parents=True)
    runs.mkdir(parents=True)
    (runs / "one").symlink_to(outside)
    with pytest.raises(OSError, match="Not a directory"):
        remove_tree(str(runs / "one" / name))
    assert (outside / "worktree" / "src").exists()
