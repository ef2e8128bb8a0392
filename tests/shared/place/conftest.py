"""A scene for each test of what the place hides, and of what our program reads after it."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.shared.place.scene import NAME, Scene, build, pack, unpack
from tests.shared.place.test_attacks import scene_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def packed_scene() -> Iterator[tuple[Scene, bytes]]:
    """Return a scene where the place shows it, and its files as they were made."""
    top = Path(tempfile.mkdtemp(prefix=NAME, dir=scene_folder()))
    made = build(top / "scene")
    yield made, pack(made)
    shutil.rmtree(top)


@pytest.fixture
def scene(packed_scene: tuple[Scene, bytes]) -> Scene:
    """Return the scene with its files as they were made, at the paths that they name."""
    made, archive = packed_scene
    unpack(made, archive)
    return dataclasses.replace(made, secrets={**made.secrets}, more={**made.more})
