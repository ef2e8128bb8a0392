"""Every system call of a command on queue and templates fails in turn; repeating recovers (90)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest

from shared.resources import template_path
from tests.conftest import Repository
from tests.faults import strace
from tests.faults.trial import KILLED, chosen
from tests.forms import part
from tests.journey import LAUNCHER, call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Say = Callable[[str], None]

pytestmark = [
    pytest.mark.skipif(strace.PROGRAM is None, reason="strace is not there to make faults with"),
    pytest.mark.slow,
    pytest.mark.requirement("PC-14", "PC-15"),
]
WANTED = 3
COMMANDS = {
    "add": ("queue", "add", "The third", "--after", "Q-001"),
    "remove": ("queue", "remove", "Q-001"),
    "save": ("template", "save", "release", "--slot", "version=1.2"),
    "use": ("template", "use", "kept", "--set", "version=1.3"),
}
TABLES = {
    "queue": "id, request, priority, after", "audit": "action, detail", "runs": "request, status",
}  # fmt: skip


def stored(root: Path) -> dict[str, object]:
    """Return all that the commands store: rows of the database, templates of the user."""
    path = root / ".planner" / "planner.db"
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows: dict[str, object] = {
            t: connection.execute(f"SELECT {c} FROM {t}").fetchall()  # noqa: S608
            for t, c in TABLES.items()
        }
    connection.close()
    folder = os.path.dirname(template_path(""))
    for name in sorted({*os.listdir(folder)} - {"lock"}):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            rows[name] = file.read()
    return rows


def prepared(root: Path) -> None:
    """Make a repository in whose queue one plan waits for another, and a template of both."""
    root.mkdir()
    repository = Repository(root)
    repository.git("init", "--quiet")
    repository.commit({"a.txt": "a\n"})
    for words in (
        ("queue", "add", "Release 1.2"), ("queue", "add", "Announce 1.2", "--after", "Q-001"),
        ("template", "save", "kept", "--slot", "version=1.2"),
    ):  # fmt: skip
        assert call(root, *words).code == 0


@pytest.mark.parametrize("name", part([*COMMANDS], 4, outer=True))
def test_a_command_of_the_queue_is_done_once_whatever_fails_on_the_way(
    tmp_path: Path, say: Say, name: str
) -> None:
    folders = {"live": "kept", "templates": "templates-kept"}
    places = {tmp_path / live: tmp_path / kept for live, kept in folders.items()}
    (tmp_path / "templates").symlink_to(os.path.dirname(template_path("")))
    prepared(live := tmp_path / "live")
    for one, kept in places.items():
        shutil.copytree(one, kept)
    before = stored(live)

    def restore() -> None:
        for one, kept in places.items():
            shutil.rmtree(one.resolve())
            shutil.copytree(kept, one.resolve())

    python = [sys.executable, "-I", "-S", "-X", "utf8", LAUNCHER]
    command = ["env", "-C", str(live), *python, *COMMANDS[name]]
    assert strace.run(command).code == 0
    after = stored(live)
    assert after != before
    tracer = strace.Tracer(tmp_path / "trace")
    restore()
    points = tracer.points(command)
    faults = chosen(points, WANTED)
    for point, fault in faults:
        restore()
        ended = tracer.fail(point, fault, command)
        where = f"{fault} at {tuple(point)}: {ended.text[:300]}{ended.errors[-300:]}"
        assert ended.code in {0, 1, *KILLED}, where
        assert "Traceback" not in ended.errors, where
        again = strace.run(command)
        assert again.code == 0, where + again.text
        assert stored(live) == after, where
        assert strace.run(command).code == 0, "a command whose answer was lost is repeated"
        assert stored(live) == after, where
    say(f"{name}: {len(points)} points, {len(faults)} faults, all recovered")
