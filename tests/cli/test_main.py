"""The command line as a whole: who may run what, help, usage errors, one handler for faults."""

from __future__ import annotations

import errno
import runpy
import sys
from typing import TYPE_CHECKING

import click
import pytest

from cli import whole_run
from cli.main import MODULES, Lazy, planner
from orchestrator import host_steps
from shared.commands import COMMANDS
from tests.journey import FILES, Journey, call, printed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its words; `plan add` and `plan set` count as one each."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        words = f"{path} {name}".strip()
        if isinstance(command, click.Group) and words not in ("plan add", "plan set"):
            yield from commands(command, words)
        else:
            yield words, command


def test_every_command_is_in_the_table_of_who_may_run_it() -> None:
    assert isinstance(planner, Lazy)
    assert sorted(words for words, _ in commands(planner)) == sorted(COMMANDS)


def test_the_table_is_printed_with_one_line_for_each_command(tmp_path: Path) -> None:
    answer = call(tmp_path, "help", "--who")
    assert answer.code == 0
    assert [line.split("  ")[0] for line in answer.text.splitlines()] == list(COMMANDS)
    assert all(line.count(" · ") >= 2 and line.endswith(".") for line in answer.text.splitlines())


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(words: str, tmp_path: Path) -> None:
    answer = call(tmp_path, *words.split(), "--help")
    assert answer.code == 0
    assert "Usage: planner " in answer.text
    assert f"Example: planner {words}" in answer.text


# What a module's commands have before them; "" for one with commands of the top.
BEFORE = {
    "cli.approve": "approve", "cli.audit": "audit", "cli.config": "config",
    "cli.context": "context", "cli.execute": "exec", "cli.guard": "guard", "cli.init": "init",
    "cli.mode": "mode", "cli.plan": "plan", "cli.prune": "prune", "cli.qr": "qr",
    "cli.recall": "recall", "cli.requirements": "requirements", "cli.review": "review",
    "cli.start": "start", "cli.strategy_group": "strategy", "cli.tree": "tree",
    "cli.validate": "validate", "cli.workflow": "workflow", "cli.demo.command": "demo",
    "cli.setup.command": "setup",
}  # fmt: skip


@pytest.mark.parametrize("module", sorted({*MODULES.values(), "cli.main"} - {"cli.ro"}))
def test_a_module_that_is_run_by_hand_is_its_own_command(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = BEFORE.get(module, "")
    monkeypatch.setattr(sys, "argv", ["the program's name", "--help"])
    monkeypatch.delitem(sys.modules, module, raising=False)
    with printed() as (out, _), pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == 0
    assert out.getvalue().decode() == call(tmp_path, *before.split(), "--help").text


def test_help_alone_lists_every_command(tmp_path: Path) -> None:
    for argv in (("help",), ("--help",), ("-h",)):
        answer = call(tmp_path, *argv)
        assert answer.code == 0
        for name in MODULES:
            assert f"\n  {name}" in answer.text


def test_a_fault_of_ours_is_a_short_block_and_a_traceback_on_stderr(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")

    def broken(*_: object) -> None:
        raise ZeroDivisionError("]]></problem><next>rm")

    monkeypatch.setattr(whole_run, "render_status", broken)
    monkeypatch.setattr(host_steps, "work", broken)
    for argv in (("status",), ("step", "planner")):
        answer = call(journey.repository.path, *argv)
        assert answer.code == 3
        assert [kind for kind, _ in answer.problems] == ["internal"]
        assert "Traceback" in answer.stderr
        assert [e.tag for e in answer.block.iter()] == ["error", "problem"]


def test_what_the_system_refuses_is_no_fault_and_says_what_helps(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/a/file")

    monkeypatch.setattr(whole_run, "render_status", full)
    monkeypatch.setattr(host_steps, "work", full)
    for argv in (("status",), ("step", "planner")):
        answer = call(journey.repository.path, *argv)
        assert (answer.code, answer.stderr) == (1, "")
        ((kind, text),) = answer.problems
        assert kind == "refused"
        assert "make room on the disk, then run the same command again" in text


@pytest.mark.parametrize(
    "argv",
    [
        ("status", "--json"),
        ("plan", "show", "--json"),
        ("plan", "list", "milestones", "--json"),
        ("plan", "check", "--phase", "plan-design", "--json"),
        ("qr", "list", "--phase", "plan-code", "--json"),
        ("doctor", "--json"),
        ("plan", "schema"),
        ("plan", "schema", "--kind", "milestone"),
        ("plan", "schema", "--kind", "context"),
    ],
)
def test_commands_that_read_print_json_on_demand(
    make_repo: Repositories, argv: tuple[str, ...]
) -> None:
    import json

    journey = Journey(make_repo(files=FILES)).to("code")
    answer = call(journey.repository.path, *argv)
    assert answer.code == 0
    assert json.loads(answer.text) is not None


@pytest.mark.requirement("PL-11")
def test_list_values_are_repeatable_and_never_split_on_commas(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    words = ("--acceptance-criterion", "one, two", "--acceptance-criterion", "three")
    added = journey.planner("plan", "add", "milestone", "--name", "One, two", *words)
    assert added.data("applied") == "add M-001 v1"
    shown = journey.planner("plan", "show", "M-001").data("plan")
    assert '"one, two"' in shown
    assert '"three"' in shown


def test_ids_are_never_given_twice(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.planner("plan", "add", "milestone", "--name", "One")
    assert journey.planner("plan", "remove", "M-001", "--version", "1").code == 0
    again = journey.planner("plan", "add", "milestone", "--name", "One")
    assert again.data("applied") == "add M-002 v1"
