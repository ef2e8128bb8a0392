"""Commands that carry out a plan: apply, commit, report and accept differing files, undo."""

from __future__ import annotations

import sys

import click

from cli.options import allow_roles, opened, role_option, state_dir_option
from cli.results import render_proof, render_running, render_undone
from orchestrator.execute import reconcile
from orchestrator.execute.apply import apply_plan
from orchestrator.execute.commit import commit_plan
from orchestrator.execute.undo import undo_plan
from shared.builders import Block
from shared.output import write
from shared.steps.printing import print_current


@click.group("exec")
def exec_command() -> None:
    """Apply an approved plan and commit it."""


@exec_command.command("apply")
@state_dir_option
@role_option
def apply(state_dir: str | None, role: str | None) -> None:
    """Write the approved bytes into your tree, all or none, or finish an interrupted apply.

    Example: planner exec apply
    """
    allow_roles(role)
    state = opened(state_dir)
    running = apply_plan(state)
    if running is not None:
        write(render_running(state, running, state.command("exec", "apply")))
    else:
        write(print_current(state))


@exec_command.command("commit")
@state_dir_option
@role_option
def commit(state_dir: str | None, role: str | None) -> None:
    """Commit the plan with your hooks, prove the commit, then move the branch.

    Example: planner exec commit
    """
    allow_roles(role)
    state = opened(state_dir)
    write(render_proof(state, commit_plan(state)))


@exec_command.command("deviate")
@click.argument("milestone", metavar="ID")
@click.option("--file", "path", required=True, help="The file that differs.")
@click.option("--reason", required=True)
@state_dir_option
@role_option
def deviate(
    milestone: str, path: str, reason: str, state_dir: str | None, role: str | None
) -> None:
    """Report a file that differs between the tree and the plan.

    Example: planner exec deviate M-001 --file src/a.py --reason "the user edited it meanwhile"
    """
    allow_roles(role)
    state = opened(state_dir)
    reconcile.deviate(state, milestone, path, reason)
    accept = state.command("exec", "accept", "--file", path, "--reason", reason)
    write(Block("result").data("deviation", f"{path}: {reason}").person(accept).render())


@exec_command.command("accept")
@click.option("--file", "path", required=True, help="The file that may stay as it is.")
@click.option("--reason", default="")
@state_dir_option
@role_option
def accept(path: str, reason: str, state_dir: str | None, role: str | None) -> None:
    """Accept that a file differs from the plan. Only a person may run it.

    Example: planner exec accept --file src/a.py --reason "my own edit, leave it"
    """
    allow_roles(role)
    state = opened(state_dir)
    reconcile.accept_deviation(state, path, reason)
    write(print_current(state))


@click.command("undo")
@state_dir_option
def undo_command(state_dir: str | None) -> None:
    """Undo an applied plan: write the old bytes back, or after the commit make a revert commit.

    Example: planner undo
    """
    state = opened(state_dir)
    write(render_undone(state, undo_plan(state)))


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["exec", *sys.argv[1:]]))
