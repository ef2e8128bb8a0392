"""The planner's top command: loads each subcommand when called and handles all errors."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from cli import answers
from cli.answers import write
from cli.options import FORMAT, with_format
from shared import resources
from shared.builders import error_block
from shared.guard.permissions import WHO
from shared.output import exit_code, write_fault
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

# heading of the help → command → module that defines it, as `command` or `group` with that name
SECTIONS = {
    "Planning": {
        "start": "cli.start", "step": "cli.run", "context": "cli.context", "plan": "cli.plan",
        "tree": "cli.tree", "edit": "cli.run", "mode": "cli.mode", "strategy": "cli.strategy",
        "workflow": "cli.workflow", "requirements": "cli.requirements",
    },
    "Reviewing and approving": {
        "qr": "cli.qr", "review": "cli.review", "approve": "cli.approve", "config": "cli.config",
        "validate": "cli.validate",
    },
    "Executing": {
        "exec": "cli.execute", "runnable": "cli.control", "decide": "cli.control",
        "retry": "cli.control", "auto": "cli.control", "pause": "cli.run", "resume": "cli.run",
        "cancel": "cli.run", "undo": "cli.execute", "pr": "cli.pull_request",
        "queue": "cli.queue", "template": "cli.queue",
    },
    "Looking": {
        "status": "cli.run", "recall": "cli.recall", "events": "cli.events", "audit": "cli.audit",
        "export": "cli.events", "stats": "cli.queue",
    },
    "Housekeeping": {
        "setup": "cli.setup", "init": "cli.init", "doctor": "cli.doctor", "repair": "cli.doctor",
        "prune": "cli.prune", "guard": "cli.guard", "ro": "cli.ro", "demo": "cli.demo",
        "help": "cli.main",
    },
}  # fmt: skip
COMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}


class Commands(click.Group):
    """A click command group that answers every failure with an `<error>` block and an exit code."""

    def main(self, args: Sequence[str] | None = None, **_: Any) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Run a command; return its exit code: 0 done, 1 refused, 2 wrong usage, 3 own error."""
        answers.choose(args or ())
        try:
            code = super().main(args, prog_name="planner", standalone_mode=False)
        except Refused as refusal:
            write(error_block([_runnable(p, args or ()) for p in refusal.problems]))
            return exit_code(refusal)
        except click.UsageError as error:
            write(error_block([_usage_problem(error)]))
            return 2
        except (click.exceptions.Abort, KeyboardInterrupt):
            return 130
        except Exception as error:  # noqa: BLE001 – the one handler of commands
            return write_fault(error, write)
        return code if isinstance(code, int) else 0


class Lazy(Commands):
    """The top command group; it imports a subcommand's module only when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names in the order of the command table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, importing its module now."""
        if cmd_name not in COMMANDS:
            return None
        if COMMANDS[cmd_name] == "cli.main":
            return super().get_command(ctx, cmd_name)
        module = import_module(COMMANDS[cmd_name])
        found = getattr(module, f"{cmd_name}_command")
        return with_format(found) if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with what each does, under the headings of the table."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        for heading, names in SECTIONS.items():
            found = {name: self.get_command(ctx, name) for name in names}
            with formatter.section(heading):
                formatter.write_dl([(n, c.get_short_help_str(room)) for n, c in found.items() if c])


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        with open(os.path.join(resources.ROOT, ".claude-plugin", "plugin.json"), "rb") as file:
            write(f"planner {json.load(file)['version']}\n")
        ctx.exit()


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version.",
)  # fmt: skip
def planner() -> None:
    """Turn a request into a checked plan, have it approved, apply exactly that.

    Example: planner start "Parse ISO dates in the importer"
    """


planner.params.append(FORMAT)  # before the command it counts as well


@planner.command("help")
@click.option("--who", is_flag=True, help="Say who may run each command.")
@click.pass_context
def help_command(ctx: click.Context, *, who: bool) -> None:
    """Show the commands, or who may run each of them.

    Example: planner help --who
    """
    if who:
        write("".join(f"{name:<24} {role}\n" for name, role in WHO.items()))
    elif ctx.parent is not None:
        write(ctx.parent.get_help() + "\n")


def _runnable(problem: Problem, args: Sequence[str]) -> Problem:
    """Return the problem with its suggested retry command made runnable from any folder."""
    words = problem.retry.split()
    if words[:1] != ["planner"]:
        return problem
    given = [b for a, b in pairwise(args) if a == "--state-dir"]
    state_dir = os.path.abspath(given[0]) if given and words[1:] != ["start"] else None
    problem.retry = resources.command(*words[1:], state_dir=state_dir)
    return problem


def _usage_problem(error: click.UsageError) -> Problem:
    where = error.ctx.command_path if error.ctx else "planner"
    allowed = ""
    if isinstance(error, click.NoSuchOption):
        allowed = ", ".join(_options(error.ctx))
    elif error.ctx is not None and isinstance(error.ctx.command, click.Group):
        allowed = ", ".join(error.ctx.command.list_commands(error.ctx))
    retry = f"{where.replace('planner', resources.launcher(), 1)} --help"
    return Problem("usage", where, error.format_message(), allowed, retry)


def _options(ctx: click.Context | None) -> list[str]:
    params = ctx.command.get_params(ctx) if ctx else []
    return [p.opts[-1] for p in params if isinstance(p, click.Option)]


def main(argv: Sequence[str]) -> int:
    """Run the planner command in `argv` and return its exit code."""
    code = planner.main(list(argv))
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
