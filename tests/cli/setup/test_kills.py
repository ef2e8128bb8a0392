"""kill -9 of `planner setup` between any two file operations: finished or undone by the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.setup import hosts
from tests.cli.setup.homes import Checkout, Home
from tests.cli.setup.test_settings import FILES, OTHERS
from tests.forms import some
from tests.kills import killed_at, moments_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.requirement("HO-2")]

HOSTS = (*hosts.HOSTS,)
WANTED = 4  # kills of a command in the short form


def a_home() -> Home:
    """Return a home with settings of Claude Code, vibe and Cursor, and none of the others."""
    home = Home()
    for name in (*FILES["claude"], *FILES["vibe"], *FILES["cursor"]):
        home.write(name, OTHERS[name])
    return home


def kill_everywhere(home: Home, words: tuple[str, ...], then: Callable[[], None]) -> int:
    """Kill a setup at its moments; `then` checks and goes back each time. Returns how many it has.

    The first one makes folders that stay, so that only later ones have equal moments.
    """
    home.setup(*words)
    then()
    moments = moments_of(home.path, "setup", *words)
    then()
    for number in some(moments, WANTED):
        assert killed_at(number, home.path, "setup", *words), number
        then()
    return len(moments)


def test_a_killed_setup_is_undone_by_the_removal() -> None:
    home = a_home()
    before = home.settings()

    def remove() -> None:
        assert home.setup("--remove").code == 0
        assert home.settings() == before
        assert home.left_by_programs() == []

    assert kill_everywhere(home, HOSTS, remove) > 30


def test_a_killed_setup_is_finished_by_the_next() -> None:
    home = a_home()
    before = home.settings()
    home.setup(*HOSTS)
    whole = home.settings()
    home.setup("--remove")

    def finish() -> None:
        assert home.setup(*HOSTS).code == 0
        assert home.settings() == whole
        assert home.setup("--remove").code == 0
        assert home.settings() == before

    assert kill_everywhere(home, HOSTS, finish) > 30


def test_a_killed_removal_is_finished_by_the_next() -> None:
    home = a_home()
    before = home.settings()
    home.setup(*HOSTS)

    def finish() -> None:
        assert home.setup("--remove").code == 0
        assert home.settings() == before
        assert home.left_by_programs() == []
        home.setup(*HOSTS)

    assert kill_everywhere(home, ("--remove",), finish) > 30


def test_a_killed_update_is_finished_by_the_next(tmp_path: Path) -> None:
    home = a_home()
    older = Checkout(tmp_path / "older")
    assert older.planner("setup", *HOSTS).returncode == 0
    old = home.settings()
    home.setup(*HOSTS)
    new = home.settings()
    assert new != old
    assert older.planner("setup", *HOSTS).returncode == 0

    def finish() -> None:
        assert home.setup(*HOSTS).code == 0
        assert home.settings() == new
        assert older.planner("setup", *HOSTS).returncode == 0
        assert home.settings() == old

    assert kill_everywhere(home, HOSTS, finish) > 10


def test_settings_that_changed_after_the_kill_are_named_and_stay() -> None:
    home = a_home()
    begun = 0
    moments = moments_of(home.path, "setup", "claude")
    home.setup("--remove")
    for number in some(moments, 3 * WANTED):
        if not killed_at(number, home.path, "setup", "claude"):
            break  # the first one made folders that stay, so that later ones have less to do
        path = home.write(".claude/settings.json", '{"mine": 1}')
        answer = home.setup("claude")
        journal = home.path / ".state" / "planner" / "setup" / "journal.json"
        if answer.code:
            begun += 1
            assert [p.get("at") for p in answer.block] == [str(path)]
            assert str(journal) in answer.text
            assert path.read_text() == '{"mine": 1}'
            journal.unlink()
        home.setup("--remove")
        home.write(".claude/settings.json", OTHERS[".claude/settings.json"])
    assert begun
