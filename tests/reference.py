"""docs/commands.md and docs/errors.md: what the program prints, written down by the program."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.main import planner
from cli.who import WHO
from shared.workflow import discover_workflows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "bin" / "planner"
WIDTH = 100

_HEAD = """\
# Commands

Made from `--help` by `bin/test tests/test_docs.py --update-golden`; a test holds it. The same
commands run by hand as `python -m cli.plan`, `python -m cli.qr` and so on. Without `--state-dir`
a command means the one active run of the repository. Exit codes and errors: [errors.md](errors.md).

"Who" is what is asked of the caller, not yet what is enforced: a role that `--role` names is held
to it, and no assistant is kept from a person's command by anything but its word.

## planner step

Who: anyone. It prints a block and changes nothing; without a number, what is next.

| workflow | what for | steps |
|---|---|---|
"""
_EXAMPLE = re.compile(r"```\n\$ (planner .*)\n(?:.*\n)*?```")


def leaves(
    command: click.Command = planner, path: tuple[str, ...] = ("planner",)
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield words and command of every command that is no group, in the order of the table.

    `plan set` takes an id where others have a name, so it counts as one command.
    """
    if not isinstance(command, click.Group) or path[-1] == "set":
        yield path, command
        return
    context = click.Context(command, info_name=path[-1])
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None:
            yield from leaves(found, (*path, name))


def help_of(path: Sequence[str], command: click.Command) -> str:
    """Return a command's help as `--help` prints it on a terminal of 100 columns."""
    context = None
    for name in path:
        context = click.Context(
            command, info_name=name, parent=context, terminal_width=WIDTH, max_content_width=WIDTH
        )
    return command.get_help(context) if context else ""


def render_commands() -> str:
    """Return docs/commands.md."""
    parts = [_HEAD]
    for workflow in discover_workflows().values():
        steps = " · ".join(f"{n} {s.name}" for n, s in workflow.steps.items())
        parts.append(f"| `{workflow.name}` | {workflow.purpose} | {steps} |\n")
    for path, command in leaves():
        if path[1] != "step":
            who = WHO.get(" ".join(path[1:])) or WHO[" ".join(path[1:3])]
            text = help_of(path, command)
            parts.append(f"\n## {' '.join(path)}\n\nWho: {who}.\n\n```\n{text}\n```\n")
    return "".join(parts)


def run_examples(text: str, folder: Path) -> str:
    """Return `text` with every example run again in `folder`, one after another.

    Our own folder and the repository's are written `…`, as is the name of the run.
    """

    def run(match: re.Match[str]) -> str:
        printed = subprocess.run(
            [PROGRAM, *shlex.split(match[1])[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        shown = printed.replace(f"{ROOT}/bin/", "").replace(f"{folder}/", "")
        shown = re.sub(r"\b\d{8}-[0-9a-f]{6}\b", "20260102-abcdef", shown)
        return f"```\n$ {match[1]}\n{shown}```"

    return _EXAMPLE.sub(run, text)
