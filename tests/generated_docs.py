"""docs/commands.md and docs/errors.md: made from what the program prints."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.main import planner
from shared.commands import COMMANDS, name_of
from shared.resources import launcher
from shared.steps.entry_points import discover_workflows

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "bin" / "planner"
WIDTH = 100

_HEAD = """\
# Commands

Made from `--help` by `bin/test tests/test_docs.py --update-golden`; a test checks it. The same
commands run by hand as `python -m cli.plan`, `python -m cli.qr` and so on. Without `--state-dir`
a command means the one active run of the repository. Exit codes and errors: [errors.md](errors.md).

"Who" says who may run a command. A role that `--role` names is checked. While a session of the user
plans, the hooks deny every assistant the commands that only a person may run, and deny the session
that plans what writes the user's files. A program without hooks is not held; what its approval
counts for is in [hosts.md](hosts.md).

## planner step

Who: anyone. It prints a block and changes nothing; without a number, what is next.

| workflow | what for | steps |
|---|---|---|
"""
_EXAMPLE = re.compile(r"```\n\$ (planner .*)\n(?:.*\n)*?```")


def leaves(context: click.Context | None = None) -> Iterator[click.Context]:
    """Yield a context for every command that is not a group, in the order of the table.

    `plan set` takes an id where others have a name, so it counts as one command.
    """
    if context is None:
        context = context_of(planner, "planner", None)
    group = context.command
    if not isinstance(group, click.Group) or context.info_name == "set":
        yield context
        return
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if found is not None:
            yield from leaves(context_of(found, name, context))


def context_of(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    """Return the context in which `planner` itself would run the command."""
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )


def render_commands() -> str:
    """Return docs/commands.md."""
    parts = [_HEAD]
    for workflow in discover_workflows().values():
        steps = " · ".join(f"{n} {s.name}" for n, s in workflow.steps.items())
        parts.append(f"| `{workflow.name}` | {workflow.purpose} | {steps} |\n")
    for context in leaves():
        path = context.command_path.removeprefix("planner ")
        if path != "step":
            who, use = COMMANDS[name_of(path.split())]
            parts.append(f"\n## planner {path}\n\nWho: {who}. Used by: {use}.\n\n")
            parts.append(f"```\n{context.get_help()}\n```\n")
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
        shown = printed.replace(launcher(), "planner").replace(f"{folder}/", "")
        shown = re.sub(r"\b\d{8}-[0-9a-f]{6}\b", "20260102-abcdef", shown)
        return f"```\n$ {match[1]}\n{shown}```"

    return _EXAMPLE.sub(run, text)
