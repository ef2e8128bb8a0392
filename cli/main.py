"""The planner's top command: loads each subcommand when called and handles all errors."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from cli import answers, wrong_usage
from cli.answers import write
from cli.options import FORMAT, as_called, begin_call, with_shared_options
from shared import resources
from shared.builders import error_block
from shared.commands import COMMANDS, is_for_person
from shared.output import exit_code, write_fault
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

_WHOLE = 1_000  # characters: the first sentence of a command's help is never cut
# heading of the help → command → module that defines it, as `command` or `group` with that name
SECTIONS = {
    "What you type about a plan": {
        "review": "cli.review", "approve": "cli.approve", "edit": "cli.whole_run",
        "status": "cli.whole_run", "pause": "cli.whole_run", "resume": "cli.whole_run",
        "cancel": "cli.whole_run", "undo": "cli.execute", "auto": "cli.control",
    },
    "New requests": {"start": "cli.start", "queue": "cli.queue", "template": "cli.queue"},
    "What was done": {
        "recall": "cli.recall", "audit": "cli.audit", "events": "cli.events",
        "export": "cli.events", "stats": "cli.queue", "validate": "cli.validate",
        "pr": "cli.pull_request",
    },
    "This machine and repository": {
        "setup": "cli.setup.command", "doctor": "cli.doctor", "init": "cli.init",
        "config": "cli.config", "prune": "cli.prune", "repair": "cli.doctor",
        "demo": "cli.demo.command", "help": "cli.main",
    },
    "What your assistant runs": {
        "step": "cli.whole_run", "context": "cli.context", "plan": "cli.plan", "tree": "cli.tree",
        "qr": "cli.qr", "exec": "cli.execute", "decide": "cli.control",
        "retry": "cli.control", "mode": "cli.mode", "strategy": "cli.strategy_group",
        "requirements": "cli.requirements", "workflow": "cli.workflow", "guard": "cli.guard",
        "ro": "cli.ro",
    },
}  # fmt: skip
MODULES = {name: module for section in SECTIONS.values() for name, module in section.items()}


class Commands(click.Group):
    """A click command group that answers every failure with an `<error>` block and an exit code."""

    def main(self, args: Sequence[str] | None = None, **_: Any) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Run a command; return its exit code: 0 done, 1 refused, 2 wrong usage, 3 own error."""
        answers.choose(args or ())
        begin_call()
        try:
            code = super().main(args, prog_name="planner", standalone_mode=False)
        except Refused as refusal:
            write(error_block(refusal.problems, refusal.kept, as_called(args or ())))
            return exit_code(refusal)
        except click.exceptions.NoArgsIsHelpError as error:
            if answers.form() == answers.TEXT:
                write(f"{error.message}\n")
            else:
                write(error_block([wrong_usage.nothing_named(error.ctx)]))
            return 2
        except click.UsageError as error:
            write(error_block([wrong_usage.problem_of(error)]))
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
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, importing its module now."""
        if cmd_name not in MODULES:
            return None
        if MODULES[cmd_name] == "cli.main":
            return super().get_command(ctx, cmd_name)
        module = import_module(MODULES[cmd_name])
        found = getattr(module, f"{cmd_name}_command")
        if isinstance(found, click.Group):
            wrong_usage.list_whole(found)
        return with_shared_options(found, cmd_name) if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names; a UsageError with a guess if none is."""
        if args[0] not in MODULES and not args[0].startswith("-"):
            raise wrong_usage.no_such_command(args[0], MODULES, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with the first sentence of its help, under the table's headings."""
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                rows = [(f"{name}{_mark(name)}", self._sentence(ctx, name)) for name in names]
                formatter.write_dl(rows)

    def _sentence(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(_WHOLE) if command else ""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the mark behind a command means, and where the rest is."""
        del ctx
        formatter.write_paragraph()
        formatter.write_text(
            "* Only a person may run it. `planner help COMMAND` says more of a command, "
            "`planner help --who` who may run which."
        )


def _mark(name: str) -> str:
    return " *" if is_for_person(name) else ""


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
@click.argument("words", nargs=-1, metavar="[COMMAND]…")
@click.option("--who", is_flag=True, help="Say who may run each command.")
@click.pass_context
def help_command(ctx: click.Context, words: tuple[str, ...], *, who: bool) -> None:
    """Show the commands, or the help of one.

    Example: planner help --who
    """
    if who:
        write(_table(ctx.find_root()))
    else:
        write(wrong_usage.context_of(ctx.find_root(), words).get_help() + "\n")


def _table(ctx: click.Context) -> str:
    """Return each command with who may run it, who uses it, and the first sentence of its help."""
    lines = []
    for name, (who, use) in COMMANDS.items():
        command = wrong_usage.context_of(ctx, name.split()).command
        lines.append(f"{name:<24} {who} · {use} · {command.get_short_help_str(_WHOLE)}")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> int:
    """Run the planner command in `argv` and return its exit code."""
    code = planner.main(list(argv))
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
