"""An apply reads and writes the user's files where they lie, and through no link (PP-9)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements_lane.staging import stage
from shared.git.change import ends
from shared.git.few_paths import tree_and_rules
from shared.git.prepare import prepare
from shared.git.replay import Raced, replay
from shared.git.snapshot import snapshot
from shared.git.users_files import check_before
from state.errors import Refused
from tests.flips import flipping
from tests.shared.git.conftest import DIGEST, NAMES, SECRET, look

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from shared.git.change import Change
    from shared.git.journal import Journal, Side
    from tests.shared.git.conftest import Project

pytestmark = pytest.mark.requirement("PP-9")

SIDES: tuple[Side, Side] = ("after", "before")


def prepared(project: Project, changes: Sequence[Change]) -> Journal:
    head = tree_and_rules(project.repo.git, "HEAD", ends(changes))
    return prepare(project.repo, project.vault, changes, project.journal, DIGEST, head)


def test_an_apply_and_its_undo_write_nothing_through_a_folder_that_becomes_a_link(
    project: Project, outside: Path
) -> None:
    project.commit({f"src/{name}": SECRET for name in NAMES[:2]})
    changes = project.plan({"src/f0": b"planned\n", "src/f1": None, "src/new": b"new\n"})
    journal = prepared(project, changes)
    src, before = project.root / "src", look(outside)
    seen: set[tuple[bool, bool]] = set()
    real = os.open(src, os.O_RDONLY)
    with flipping(src, outside, lambda: {(True, False), (False, True)} <= seen) as numbers:
        for number in numbers:
            with contextlib.suppress(Refused, Raced, OSError):
                replay(str(project.root), project.journal, journal, SIDES[number % 2])
            seen.add(("new" in (names := os.listdir(real)), "f1" in names))
            assert look(outside) == before
    os.close(real)
    assert {(True, False), (False, True)} <= seen


@pytest.mark.requirement("PL-31")
def test_what_fails_for_a_file_is_named_by_its_whole_path(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, before = project.plan({"src/app.py": b"planned\n"}), look(project.root)
    replace = os.replace

    def fail(source: str, target: str, **folders: int) -> None:
        if "src_dir_fd" in folders and target == "app.py":
            raise OSError(28, "No space left on device", source)
        replace(source, target, **folders)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(
            Refused, match="No space left on device; nothing was applied"
        ) as refused:
            project.apply(changes)
    assert refused.value.problems[0].at == str(project.root / "src" / "app.py")
    assert look(project.root) == before


def test_nothing_is_stored_of_a_file_behind_a_folder_that_becomes_a_link(
    project: Project, outside: Path
) -> None:
    names = [f"src/{name}" for name in NAMES[:3]]
    project.commit(dict.fromkeys(names, b"old\n"))
    changes = project.plan(dict.fromkeys(names, b"planned\n"))
    secret, copies = project.git("hash-object", "--stdin", stdin=SECRET), project.state / "apply"
    acts: list[Callable[[], object]] = [
        lambda: prepared(project, changes),
        lambda: snapshot(project.repo),
        lambda: stage(project.repo, names, str(project.state)),
        lambda: check_before(project.repo, project.vault, changes),
    ]
    real, done = os.open(project.root / "src", os.O_RDONLY), [0] * len(acts)
    with flipping(project.root / "src", outside, lambda: all(done)) as numbers:
        for number in numbers:
            for path in names:
                descriptor = os.open(os.path.basename(path), os.O_WRONLY, dir_fd=real)
                os.write(descriptor, b"old" if number % 8 < len(acts) else b"own")
                os.close(descriptor)
            with contextlib.suppress(Refused):
                acts[number % len(acts)]()
                done[number % len(acts)] += 1
            for place in (project.vault.git, project.repo.git):
                assert not place.ok("cat-file", "-e", secret)
            if number % len(acts) == 0:
                read = {path.read_bytes() for path in (copies / "before").iterdir()}
                assert SECRET not in read
                done[0] += bool(read)
    os.close(real)
    assert all(done)
