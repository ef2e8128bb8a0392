"""The way out that a refusal prints runs as it stands, for the one who reads it (SD-7)."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

import click
import pytest

from benchmarks.imports import own_modules
from cli import wrong_usage
from shared.commands import COMMANDS, OF_AGENT, OF_NO_RUN
from shared.resources import launcher
from shared.ways_out import way_out
from state.errors import AGAIN
from tests.journey import FILES, call
from tests.journey import way_out as printed
from tests.printed_ways import fault_of, root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

_MADE_BY = ("Refused", "Problem", "failed", "Ways")
RUN = "/r/.planner/runs/20260102-abcdef"


def command(text: str) -> str:
    return f"{launcher()} {text}"


def ways() -> Iterator[tuple[str, str]]:
    """Yield each constant of the product that a refusal names as its way out, with its place."""
    for module in own_modules().values():
        given = [value for node in ast.walk(module.tree) for value in _given(node)]
        names = {
            node.id for value in given for node in ast.walk(value) if isinstance(node, ast.Name)
        }
        given += [
            node.value
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Assign) and names & {ast.unparse(to) for to in node.targets}
        ]
        inside = (node for value in given for node in ast.walk(value))
        for node in (node for node in inside if isinstance(node, ast.Constant)):
            text = node.value
            if isinstance(text, str) and text.startswith("planner ") and _is_whole(text):
                yield f"{module.path}:{node.lineno}", text


def _given(node: ast.AST) -> list[ast.expr]:
    """Return what is given to a refusal, to one of its problems, or to what makes one."""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith(".retry"):
        return [node.value]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {*_MADE_BY}:
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


def _is_whole(text: str) -> bool:
    """Return whether a text is all command: neither a sentence nor one with placeholders."""
    plain = not any(mark in text for mark in ",:;`[(\n") and text == text.strip()
    return plain and not any(word.isupper() for word in text.replace("HEAD", "").split())


@pytest.mark.requirement("SD-7")
def test_each_constant_that_is_a_way_out_is_a_command_with_known_options() -> None:
    found = set(ways())
    assert len(found) > 30
    faults = {f"{at}: {fault_of('retry', command(text[8:]), [])}" for at, text in found}
    assert {fault for fault in faults if not fault.endswith(": ")} == set()


def test_the_tables_of_options_are_those_of_the_commands() -> None:
    options = {}
    for name in COMMANDS:
        found = wrong_usage.context_of(root(), name.split()).command
        options[name] = {
            option for p in found.params if not getattr(p, "is_flag", False) for option in p.opts
        }
        if isinstance(found, click.Group):
            options[name] = {"--state-dir"}
    assert {n for n, o in options.items() if "--state-dir" not in o} - {"step"} == {*OF_NO_RUN}
    assert {n for n, o in options.items() if "--agent" in o} == {*OF_AGENT}


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize(
    ("retry", "call", "expected"),
    [
        ("planner undo", ["exec", "run", "--state-dir", RUN], f" · retry: undo --state-dir {RUN}"),
        ("planner cancel", ["undo", f"--state-dir={RUN}"], f" · person: cancel --state-dir {RUN}"),
        ("planner queue list", ["status", "--state-dir", RUN], " · retry: queue list"),
        ("planner start", ["plan", "freeze", "--state-dir", RUN], " · retry: start"),
        ("planner start --depth intent", ["start", "Do it", "--alone", "--state-dir", RUN],
         f" · retry: start --depth intent --alone --state-dir {RUN}"),
        ("planner resume", ["pause", "--agent", "a b"], " · retry: resume --agent 'a b'"),
        ("planner status", ["workflow", "run", "x", "--agent"], " · retry: status"),
        ("planner plan capture", ["plan", "done", "--role", "developer"],
         " · retry: plan capture --role developer"),
        ("planner status", ["plan", "done", "--role", "developer"], " · retry: status"),
        ("planner status", ["undo", "--format", "xml"], " · retry: status --format xml"),
        ("planner mode rebase", ["undo", "--format", "xml"], " · person: mode rebase"),
        ("planner prune --dry-run", ["prune", "--older-than", "x"], " · retry: prune --dry-run"),
        ("planner exec apply", ["exec", "accept", "--", "--role", "x"], " · retry: exec apply"),
    ],
)  # fmt: skip
def test_a_way_out_keeps_what_it_needs_of_the_refused_command(
    retry: str, call: list[str], expected: str
) -> None:
    label, _, words = expected.partition(": ")
    assert way_out(retry, call) == f"{label}: {command(words)}"


@pytest.mark.requirement("SD-7")
def test_the_same_command_again_is_what_was_called_and_is_named_for_whom_it_is() -> None:
    call = ["exec", "run", "--branch", "my work", "--state-dir", os.path.relpath(RUN)]
    again = command(f"exec run --branch 'my work' --state-dir {RUN}")
    assert way_out(AGAIN, call) == f" · retry: {again}"
    assert way_out(AGAIN, ["approve", "951f84f6"]) == f" · person: {command('approve 951f84f6')}"
    assert way_out(AGAIN) == way_out("") == ""


def test_a_command_of_another_program_is_for_the_user() -> None:
    assert way_out("git switch -c planned-work", ["start", "x"]) == (
        " · user: git switch -c planned-work"
    )


@pytest.mark.requirement("SD-7")
def test_what_leads_out_of_a_start_keeps_that_it_works_alone(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    folder = repository.path.parent / "without"
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")
    answer = call(folder, "start", "Add b", "--depth", "full", "--alone")
    assert answer.code == 1, answer.text
    retry = printed(answer.problems[0][1])
    assert " --alone" in retry
    assert "--depth intent" in retry
