"""Files that stay have the owners that they would have had without the place, also as root."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.place import need_place
from tests.shared.place import test_enter
from tests.shared.place.test_enter import enter

if TYPE_CHECKING:
    from tests.conftest import Repository

AS_ANOTHER = "setpriv --reuid=1234 --regid=1234 --clear-groups"
# A file system whose mounts can't be told which owners they know.
OLDER = "from shared.place import kernel\ndef no(*_): raise OSError\nkernel.map_owners = no\n"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the place is made of Linux namespaces"),
    pytest.mark.skipif(os.getuid() != 0, reason="nobody else can give files away"),
]


@pytest.fixture(autouse=True)
def _with_a_place() -> None:
    need_place()


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize(
    "command",
    [
        "chown 1234 worktree/a", "chgrp 1234 worktree/a", "chown 1234:1234 answers",
        f"chmod 777 answers && {AS_ANOTHER} touch answers/x",
        "chmod 777 answers && cd answers && setpriv --regid=1234 --clear-groups mkdir x",
    ],
)  # fmt: skip
def test_root_leaves_no_files_of_other_owners_where_writing_lasts(
    repo: Repository, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = repo.path / ".planner" / "run"
    for name in ("answers", "worktree"):
        (run / name).mkdir(parents=True)
        (run / name / "a").touch()
    elsewhere = "chown 1234 README.md && stat -c %u README.md;"
    elsewhere += f"{AS_ANOTHER} touch /tmp/x && stat -c %u /tmp/x"
    for script, said in ((test_enter.ENTER, "1234\n1234\n"), (_older(test_enter.ENTER), "")):
        monkeypatch.setattr(test_enter, "ENTER", script)
        assert enter(repo.path, f"cd .planner/run && {command}", run).returncode != 0
        stay = [run, *run.rglob("*")]
        assert {(path.stat().st_uid, path.stat().st_gid) for path in stay} == {(0, os.getgid())}
        assert enter(repo.path, elsewhere, run).stdout == said
        assert enter(repo.path, "cd .planner/run && echo w >answers/a", run).returncode == 0


def _older(script: str) -> str:
    return script.replace("from shared.place.enter", f"{OLDER}from shared.place.enter", 1)
