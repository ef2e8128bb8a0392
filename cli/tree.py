"""`planner tree`: change files of the scratch worktree, or run a command on them."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import opened, state_dir_option
from developer.tree_run import run_on_tree
from developer.verification import job_of
from developer.verify.lock import undisturbed
from developer.worktree_files import tree_chmod, tree_mv, tree_restore, tree_rm, tree_run
from shared.builders import Block, first_of
from shared.config import named_commands
from shared.place.level import level
from shared.plan_file import check_active, open_plan
from shared.tree_runs import first_line
from shared.workspace import config_of, open_tree, tree_of
from state import store

if TYPE_CHECKING:
    from developer.tree_run import Shown

MOST_LOST = 5
VERIFY = "verify"
milestone_option = click.option(
    "--milestone", metavar="ID", help="In the worktree of a milestone that is being written."
)


@click.group("tree")
def tree_command() -> None:
    """Change files in the scratch worktree, or run a command there."""


@tree_command.command("rm")
@click.argument("path")
@state_dir_option
@milestone_option
def rm(path: str, state_dir: str | None, milestone: str | None) -> None:
    """Remove a file of the scratch worktree.

    Example: planner tree rm src/old.py
    """
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_done_block(tree_rm(open_tree(state, milestone), path)))


@tree_command.command("mv")
@click.argument("old")
@click.argument("new")
@state_dir_option
@milestone_option
def mv(old: str, new: str, state_dir: str | None, milestone: str | None) -> None:
    """Rename a file of the scratch worktree.

    Example: planner tree mv src/old.py src/new.py
    """
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_done_block(tree_mv(open_tree(state, milestone), old, new)))


@tree_command.command("chmod", context_settings={"ignore_unknown_options": True})
@click.argument("change", metavar="+x|-x")
@click.argument("path")
@state_dir_option
@milestone_option
def chmod(change: str, path: str, state_dir: str | None, milestone: str | None) -> None:
    """Make a file of the scratch worktree executable or not.

    Example: planner tree chmod +x bin/run
    """
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_done_block(tree_chmod(open_tree(state, milestone), change, path)))


@tree_command.command("restore")
@click.argument("path")
@state_dir_option
@milestone_option
def restore(path: str, state_dir: str | None, milestone: str | None) -> None:
    """Change a file of the scratch worktree back to what it is at the base.

    A capture stages what it finds, so that git's own ways back find nothing.

    Example: planner tree restore README.md
    """
    state = opened(state_dir)
    open_plan(state)
    with undisturbed(state.state_dir):
        write(_done_block(tree_restore(open_tree(state, milestone), path)))


@tree_command.command("run", context_settings={"ignore_unknown_options": True})
@state_dir_option
@milestone_option
@click.argument("words", nargs=-1, required=True, metavar="COMMAND...")
@click.pass_context
def run(
    ctx: click.Context,
    words: tuple[str, ...],
    state_dir: str | None,
    milestone: str | None,
) -> None:
    """Run any command on the worktree's files, in the place; or one that planner.toml names.

    In the place the worktree's files lie at the repository's own path, with your environments and
    whatever else git ignores. Nothing that the command writes lasts. A command of one word may be a
    whole shell text. `verify` runs the `[verify] commands`, as they verify. What else planner.toml
    names runs in the worktree, once a person has confirmed it.

    Example: planner tree run -- python -m pytest -q tests/test_dates.py
    """
    state = opened(state_dir)
    check_active(state)
    config = config_of(state)
    # What verifies runs as it does when it verifies; the others may change the worktree.
    verifies = words == (VERIFY,) and bool(config.verify) and level(state.run.repository).holds
    if len(words) == 1 and words[0] in named_commands(config) and not verifies:
        job = job_of(state, open_plan(state))
        with undisturbed(state.state_dir):
            ran = tree_run(job, words[0], state.database.is_confirmed)
        block = Block("result", code=ran.code, log=ran.log)
        write(block.data("output", ran.tail, command=ran.command).render())
        ctx.exit(0 if ran.code == 0 else 1)
    text = words[0] if len(words) == 1 else shlex.join(words)
    for command in config.verify if verifies else (text,):
        shown = run_on_tree(state, store.load_plan(state.plan_path), command, milestone)
        if shown.code:
            break
    write(_output_block(tree_of(state, milestone), shown))
    ctx.exit(shown.code)


def _output_block(worktree: str, shown: Shown) -> str:
    about = {"code": shown.code, "tree": shown.tree, "seconds": f"{shown.seconds:g}"}
    block = Block("result", run=shown.number, **about)
    block.data("output", shown.tail, command=first_line(shown.command))
    if shown.size:
        block.data("all of the output", f"{shown.log} ({shown.size} bytes)")
    lost = first_of([*shown.lost], MOST_LOST)
    text = f"{', '.join(lost)}; edit in {worktree}" if lost else ""
    return block.data("not kept", text).render()


def _done_block(text: str) -> str:
    return Block("result").data("done", text).render()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["tree", *sys.argv[1:]]))
