"""`planner prune`: shrink ended runs, remove what nothing needs any more."""

from __future__ import annotations

import os
import sys

import click

from cli.answers import write
from orchestrator.run.age import DEFAULT_AGE, seconds_of
from orchestrator.upkeep.prune import prune, prune_worktrees
from orchestrator.upkeep.prune_refs import prune_drafts
from shared import resources
from shared.builders import Block
from shared.git.repository import find_repository
from state.database import Database


@click.command("prune")
@click.option("--older-than", metavar="AGE", default=DEFAULT_AGE, help="Such as 30d, 12h or 2w.")
@click.option("--dry-run", is_flag=True, is_eager=True, help="Only say what would be removed.")
def prune_command(older_than: str, *, dry_run: bool) -> None:
    """Shrink ended runs to plan, audit and proof. Only a person may run it.

    Worktrees, logs, answers and superseded revisions go, refs with plans that were never committed,
    and git's records of worktrees that are gone. Bytes that an undo needs and that no commit holds
    stay.

    Example: planner prune --older-than 30d --dry-run
    """
    age = seconds_of(older_than)
    root = find_repository(os.getcwd()).root
    # Never those of a repository around this one.
    path = os.path.join(root, resources.PLANNER_FOLDER, resources.DATABASE)
    block = Block("result", dry_run=str(dry_run).lower())
    if not resources.is_database(path):
        worktrees = prune_worktrees(None, root, dry_run=dry_run)
        block.data("records of worktrees that are gone", "\n".join(worktrees))
        if not worktrees:
            block.task("No run of the planner was started here.")
        write(block.render())
        return
    database = Database(path)
    drafts = prune_drafts(database, root, age, dry_run=dry_run)
    found = prune(database, age, dry_run=dry_run)
    gone = [one for one in found if one.removed]
    rows = [f"{one.run}: {', '.join(one.removed)} ({one.size} bytes)" for one in gone]
    block.data("removed", "\n".join(rows), runs=len(gone), bytes=sum(one.size for one in gone))
    left = [f"{one.run}: {one.left}" for one in found if one.left]
    block.data("left, an undo needs it", "\n".join(left))
    worktrees = prune_worktrees(database, root, dry_run=dry_run)
    block.data("records of worktrees that are gone", "\n".join(worktrees))
    block.data("refs of plans that were never committed", "\n".join(drafts))
    if not (found or worktrees or drafts):
        block.task(f"Nothing that ended more than {older_than} ago is left to remove.")
    write(block.render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["prune", *sys.argv[1:]]))
