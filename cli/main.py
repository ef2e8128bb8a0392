"""The planner's top command: loads each subcommand when called and handles all errors."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from shared import resources
from shared.builders import error_block
from shared.guard.permissions import WHO
from shared.output import exit_code, write, write_fault
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

# command → module that defines it, as `command` or `group` with that name
COMMANDS = {
    "start": "cli.start", "approve": "cli.approve", "step": "cli.run", "status": "cli.run",
    "cancel": "cli.run", "pause": "cli.run", "resume": "cli.run", "decide": "cli.control",
    "retry": "cli.control", "runnable": "cli.control", "auto": "cli.control",
    "events": "cli.events", "init": "cli.init", "setup": "cli.setup",
    "export": "cli.events", "edit": "cli.run", "undo": "cli.execute",
    "plan": "cli.plan", "qr": "cli.qr", "context": "cli.context", "mode": "cli.mode",
    "exec": "cli.execute", "tree": "cli.tree", "config": "cli.config", "guard": "cli.guard",
    "ro": "cli.ro", "audit": "cli.audit", "review": "cli.review", "validate": "cli.validate",
    "requirements": "cli.requirements", "strategy": "cli.strategy", "recall": "cli.recall",
    "workflow": "cli.workflow",
    "doctor": "cli.doctor", "repair": "cli.doctor", "prune": "cli.prune", "queue": "cli.queue",
    "template": "cli.queue", "stats": "cli.queue", "demo": "cli.demo", "help": "cli.main",
}  # fmt: skip


class Commands(click.Group):
    """A click command group that answers every failure with an `<error>` block and an exit code."""

    def main(self, args: Sequence[str] | None = None, **_: Any) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Run a command; return its exit code: 0 done, 1 refused, 2 wrong usage, 3 own error."""
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
            return write_fault(error)
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
        return found if isinstance(found, click.Command) else None


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
def planner() -> None:
    """Turn a request into a checked plan, have it approved, apply exactly that.

    Example: planner start "Parse ISO dates in the importer"
    """


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
