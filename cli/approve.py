"""`planner approve`: approve a plan by its digest, with a signature if asked."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import agent_option, opened, state_dir_option, unproven_option
from cli.results import UNPROVEN_SAID
from shared.builders import Block
from shared.mode.where import Target
from shared.resources import command
from state.channels import UNPROVEN_CHANNEL, approval_text
from state.errors import Refused
from state.stages import SUBMITTED

if TYPE_CHECKING:
    from shared.run import State


@click.command("approve")
@click.argument("digest", required=False)
@click.option("--sign", is_flag=True, help="Sign with your SSH key; one to touch proves a person.")
@click.option("--key", metavar="FILE", help="The key to sign with; else git's user.signingkey.")
@click.option("--approval", "file", metavar="FILE", help="A colleague's signed approval.json.")
@unproven_option
@click.option("--only", metavar="ID[,ID]", help="Only these milestones, joined by commas.")
@state_dir_option
@agent_option
def approve_command(  # noqa: PLR0913 – one parameter per option
    digest: str | None,
    only: str | None,
    key: str | None,
    file: str | None,
    state_dir: str | None,
    agent: str | None,
    *,
    sign: bool,
    unproven: bool,
) -> None:
    """Approve exactly the bytes that the digest names. Only a person may run it.

    At least 12 digits of it are enough, if no other plan has them. The approval is written to
    approval.json in the run's state directory; `planner validate --approval` reads a signed one
    anywhere. With --only, these milestones become a revision of their own, with its digest.

    Example: planner approve 951f84f6d5ed --sign
    """
    from orchestrator.execute.approve import Given
    from orchestrator.mode import light_plan, lookup
    from orchestrator.mode.render import render_mode

    target = Target(os.getcwd(), agent, state_dir)
    if digest is None:
        raise _lacks_digest(target)
    if only is not None:
        if sign or key or file:
            raise click.UsageError("--only makes a smaller plan; sign that when you approve it")
        write(_submit_part(state_dir, digest, only))
        return
    found = light_plan.approve(target, digest, time.time(), Given(sign, key, file, unproven))
    if isinstance(found, lookup.Mode):
        write(render_mode(found))
    elif found.config["config"].get("auto_run"):
        from cli.results import write_ran
        from orchestrator.execute.carry_out import run_plan

        write_ran(found, run_plan(found))
    elif found.run.ending:
        from orchestrator.run.status import render_status

        write(render_status(found, "There is nothing to approve any more."))
    else:
        write(_render(found))


def _submit_part(state_dir: str | None, digest: str, only: str) -> str:
    """Submit some milestones of a plan as its next revision; return the block to print."""
    from cli.results import render_part
    from orchestrator.execute.approve import full_digest
    from orchestrator.submit import part

    names = {name.strip() for name in only.split(",")} - {""}
    state = opened(state_dir)
    whole = full_digest(digest, os.getcwd(), state_dir)
    return render_part(state, part.submit_part(state, whole, names), whole, names)


def _lacks_digest(target: Target) -> Refused:
    """Return the refusal of an approval that names nothing, with the command for what waits."""
    from orchestrator.mode.lookup import find_or_inactive

    found = find_or_inactive(target, time.time())
    text = "the digest is missing, and only what you name is approved"
    if found.stage != SUBMITTED:
        text = "no plan waits for an approval here, and the digest of one is missing"
        allowed = f"for example {command('approve', '951f84f6d5ed')}, once a plan is submitted"
        return Refused("usage", "DIGEST", text, allowed, command("approve", "--help"))
    way = found.state.approving if found.state else found.command("approve", found.digest or "")
    return Refused("usage", "DIGEST", text, "the digest of the plan that waits here", way)


def _render(state: State) -> str:
    run = state.run
    approved = state.database.approved_by(run, run.digest or "")
    block = Block("result", digest=run.digest, approval=approval_text(approved))
    if approved is not None and approved[0] == UNPROVEN_CHANNEL:
        block.task(f"{UNPROVEN_SAID} {_reason(state)}")
    block.data("approved", state.plan.overview.title)
    return block.next("done", state.command("exec", "run")).render()


def _reason(state: State) -> str:
    """Return why the approval counts for no more, and that it is one all the same."""
    rows = state.database.audit_rows(state.run)
    said = next(row["detail"] for row in reversed(rows) if row["action"] == "approve")
    why = said.partition("(")[2].removesuffix(")")
    return (
        f"Why: {why}. The plan is approved all the same. What proves a person is "
        "/planner:approve typed in Claude Code, or a signature by a key that you touch (--sign)."
    )


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["approve", *sys.argv[1:]]))
