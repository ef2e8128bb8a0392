"""`planner tree`: change files of the scratch worktree, or run a confirmed command there."""

from __future__ import annotations

import sys

import click

from cli.options import allow_roles, opened, role_option, state_dir_option
from developer.verification import job_of
from developer.verify.lock import undisturbed
from developer.worktree_files import tree_chmod, tree_mv, tree_rm, tree_run
from shared.builders import Block
from shared.output import write
from shared.plan_file import open_plan
from shared.workspace import open_tree
from state.actors import DEVELOPER, WRITER


@click.group("tree")
def tree_command() -> None:
    """Change files inside the scratch worktree, or run a confirmed command there."""


@tree_command.command("rm")
@click.argument("path")
@state_dir_option
@role_option
def rm(path: str, state_dir: str | None, role: str | None) -> None:
    """Remove a file of the scratch worktree.

    Example: planner tree rm src/old.py
    """
    allow_roles(role, DEVELOPER, WRITER)
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_said(tree_rm(open_tree(state), path)))


@tree_command.command("mv")
@click.argument("old")
@click.argument("new")
@state_dir_option
@role_option
def mv(old: str, new: str, state_dir: str | None, role: str | None) -> None:
    """Rename a file of the scratch worktree.

    Example: planner tree mv src/old.py src/new.py
    """
    allow_roles(role, DEVELOPER, WRITER)
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_said(tree_mv(open_tree(state), old, new)))


@tree_command.command("chmod", context_settings={"ignore_unknown_options": True})
@click.argument("change", metavar="+x|-x")
@click.argument("path")
@state_dir_option
@role_option
def chmod(change: str, path: str, state_dir: str | None, role: str | None) -> None:
    """Make a file of the scratch worktree executable or not.

    Example: planner tree chmod +x bin/run
    """
    allow_roles(role, DEVELOPER, WRITER)
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_said(tree_chmod(open_tree(state), change, path)))


@tree_command.command("run")
@click.argument("name")
@state_dir_option
@role_option
@click.pass_context
def run(ctx: click.Context, name: str, state_dir: str | None, role: str | None) -> None:
    """Run a command that the project configures and a person has confirmed.

    Example: planner tree run verify
    """
    allow_roles(role, DEVELOPER, WRITER)
    state = opened(state_dir)
    job = job_of(state, open_plan(state))
    with undisturbed(state.state_dir):
        ran = tree_run(job, name, state.database.is_confirmed)
    block = Block("result", code=ran.code, log=ran.log)
    write(block.data("output", ran.tail, command=ran.command).render())
    ctx.exit(0 if ran.code == 0 else 1)


def _said(text: str) -> str:
    return Block("result").data("done", text).render()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["tree", *sys.argv[1:]]))
