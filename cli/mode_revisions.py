"""What leads from one revision to another, and on to a tree that has changed: rebase, edit."""

from __future__ import annotations

import click

from cli.options import allow_roles, opened, role_option, state_dir_option
from shared.stepping import write


@click.command("rebase")
@state_dir_option
@role_option
def rebase(state_dir: str | None, role: str | None) -> None:
    """Accept what changed in your tree while the plan was made. A person's command.

    Example: planner mode rebase --state-dir .planner/runs/20260102-abcdef
    """
    from orchestrator.planner import WORKFLOW
    from shared import rebasing

    allow_roles(role)
    write(rebasing.rebase(opened(state_dir), WORKFLOW))


@click.command("edit")
@click.argument("text")
@state_dir_option
@role_option
def edit(text: str, state_dir: str | None, role: str | None) -> None:
    """Send the submitted plan back with remarks: the next revision is made from them.

    Example: planner mode edit "Keep the old name as an alias"
    """
    from shared import freezing

    allow_roles(role)
    write(freezing.remark(opened(state_dir), text))


REVISIONS = (rebase, edit)
