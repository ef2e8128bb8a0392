"""Folders of tests lie apart where the file system can do it, and elsewhere are as others."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.apart import make_apart, set_apart

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_folder_lies_far_from_the_one_before_it(tmp_path: Path) -> None:
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True
    )
    if kind.stdout.strip() != "ext2/ext3":
        pytest.skip("ext4 alone has such folders")
    set_apart(str(tmp_path))
    found = []
    for _ in range(8):
        make_apart(str(tmp_path / "new"))
        found.append((tmp_path / "new").stat().st_ino)
        (tmp_path / "new").rmdir()
    near = [1 for one, other in pairwise(found) if abs(one - other) < 100]
    # Where each lies is drawn by its name; in a folder that was not set apart all lie together.
    assert len(near) < len(found) - 1, found


def test_it_is_made_under_its_name_with_the_usual_mode_and_nothing_else_is(tmp_path: Path) -> None:
    make_apart(str(tmp_path / "new"))
    (tmp_path / "usual").mkdir()
    assert sorted(os.listdir(tmp_path)) == ["new", "usual"]
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_where_it_cannot_be_done_nothing_is_said(tmp_path: Path) -> None:
    set_apart(str(tmp_path / "missing"))
    set_apart("/proc/self")
