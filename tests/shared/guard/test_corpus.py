"""The corpus itself: it is large enough, and no command is in it twice."""

from __future__ import annotations

from tests.shared.guard.corpus.corpus import must_be_denied, must_pass


def test_no_command_is_in_the_corpus_twice() -> None:
    commands = [c.text for c in (*must_be_denied(), *must_pass())]
    assert len(commands) == len(set(commands))


def test_the_corpus_has_hundreds_of_commands_of_each_kind() -> None:
    assert len(must_be_denied()) >= 900
    assert len(must_pass()) >= 240


def test_invisible_characters_are_written_as_code_points() -> None:
    texts = {c.text for c in must_be_denied()}
    assert "ls\ntouch p" in texts
    assert "# x\ntouch p" in texts
    assert "git\u00a0log" in texts
    assert not [t for t in texts if "⟨" in t or t.startswith("⊘")]


def test_commands_for_the_machines_devices_and_processes_are_never_run() -> None:
    never = {c.text for c in must_be_denied() if not c.may_run}
    assert {"reboot", "kill 1", "mount -a", "cat /dev/sda", "rm -rf /"} <= never
    assert all(c.may_run for c in must_pass())
