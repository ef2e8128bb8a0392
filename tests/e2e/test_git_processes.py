"""How often a command starts git: a process costs more than what most questions need."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from typing import TYPE_CHECKING

from tests.journey import FILES, Journey, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.conftest import Repository

# What git answers in the same way as long as a command runs, unless somebody changes a setting or
# puts another repository in the place of this one.
LASTING = re.compile(
    r"rev-parse --is-inside-work-tree|config --list"
    r"|(ls-tree|diff-tree|cat-file blob|rev-list|log)( -\S+)*( [0-9a-f]{40})+( |$)"
)
# The processes of a command in the sample project, with few to spare.
MOST = {"plan done": 62, "exec run": 71}


def test_a_command_asks_git_what_lasts_only_once(
    make_repo: Callable[..., Repository], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, log = tmp_path / "logging-git", tmp_path / "asked"
    folder.mkdir()
    (folder / "git").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >>{log}\nexec {shutil.which("git")} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    journey = Journey(make_repo("project", FILES)).to("code")
    journey.edit_worktree(journey.edits)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    for command, most in MOST.items():
        words = words_of(journey.last.next())
        assert " ".join(words[:2]) == command
        log.write_text("")
        journey.follow(journey.last.next())
        asked = log.read_text().splitlines()
        assert asked
        often = Counter(line for line in asked if LASTING.search(line))
        assert {line: times for line, times in often.items() if times > 1} == {}
        assert len(asked) <= most, Counter(asked).most_common()
        if command == "plan done":
            journey.to("approved")
    assert journey.last.block.tag == "result"
