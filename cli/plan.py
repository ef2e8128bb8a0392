"""Commands on plan.json: edit, capture changes, verify, end a phase, freeze.

What git and the checks need is imported by the commands that use them: an edit of the plan would
pay half its time for it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.entities import AddGroup, SetGroup, applied_block
from cli.options import (
    allow_roles,
    json_option,
    opened,
    phase_option,
    role_option,
    state_dir_option,
)
from cli.plan_views import diff, list_entities, show
from orchestrator.plan.import_plan import import_plan
from shared import plan_file
from shared.builders import Block, json_text
from shared.named_files import read_answer
from shared.steps.printing import print_current
from state import kinds, store

if TYPE_CHECKING:
    from state.phases import Phase


_USE = "Verify by the candidate of this number, as the code step shows them; repeatable."
_OWN = "Verify by commands of your own, one a line."


@click.group("plan")
def plan_command() -> None:
    """Read and change the plan of a run."""


plan_command.add_command(AddGroup("add"))
plan_command.add_command(SetGroup("set"))
plan_command.add_command(show)
plan_command.add_command(list_entities)
plan_command.add_command(diff)


@plan_command.command("remove")
@click.argument("entity_id", metavar="ID")
@click.option("--version", type=int, required=True, help="The version that you have read.")
@state_dir_option
@role_option
def remove(entity_id: str, version: int, state_dir: str | None, role: str | None) -> None:
    """Remove an entity that nothing refers to.

    Example: planner plan remove CI-004 --version 1
    """
    rows = [{"op": "remove", "id": entity_id, "version": version}]
    write(applied_block(plan_file.edit(opened(state_dir), rows, role, None)))


@plan_command.command("batch")
@click.option("--file", "path", required=True, metavar="FILE", help="A JSON list of edits.")
@click.option("--operation", metavar="ID", help="Name of this batch; the same again is a no-op.")
@state_dir_option
@role_option
def batch(path: str, operation: str | None, state_dir: str | None, role: str | None) -> None:
    """Apply many edits, all or none; the same file given twice in a row is applied once.

    Example: planner plan batch --file .planner/runs/20260102-abcdef/answers/design.json
    """
    state = opened(state_dir)
    rows, digest = plan_file.read_batch(read_answer(state.state_dir, path))
    write(applied_block(plan_file.edit(state, rows, role, operation or digest)))


@plan_command.command("import")
@click.argument("path", metavar="FILE")
@state_dir_option
def import_command(path: str, state_dir: str | None) -> None:
    """Copy the content of another plan.json into an empty plan, without its changes.

    Example: planner plan import ../old/plan.json
    """
    notes = import_plan(opened(state_dir), path)
    write(Block("result").data("left out", "\n".join(notes)).render())


@plan_command.command("capture")
@state_dir_option
def capture(state_dir: str | None) -> None:
    """Compute all changes again, from the base commit to the worktree, and check them.

    Example: planner plan capture
    """
    from cli.results import render_captured
    from orchestrator.plan.check import capture_and_check

    write(render_captured(*capture_and_check(opened(state_dir))))


@plan_command.command("verify")
@click.option("--worker", is_flag=True, hidden=True)
@click.option("--use", "numbers", type=int, multiple=True, metavar="N", help=_USE)
@click.option("--command-file", "path", metavar="FILE", help=_OWN)
@state_dir_option
@click.pass_context
def verify(
    ctx: click.Context,
    numbers: tuple[int, ...],
    path: str | None,
    state_dir: str | None,
    *,
    worker: bool,
) -> None:
    """Run the verify commands on what was captured; returns within 100 s.

    Those are the project's own and, in place of what was chosen before, those that you choose.

    Example: planner plan verify --use 1
    """
    from cli.results import render_running, render_verified
    from developer.candidates.detect import choose
    from developer.verification import verify_now
    from developer.verify.job import Running
    from developer.verify.worker import worker_main

    state = opened(state_dir)
    if worker:
        ctx.exit(worker_main(state.state_dir))
    if numbers or path:
        with state.lock("plan verify"):
            plan_file.open_plan(state)
            choose(state, numbers, path)
    answer = verify_now(state)
    if isinstance(answer, Running):
        write(render_running(state, answer, state.command("plan", "verify")))
    else:
        write(render_verified(state, answer))


@plan_command.command("check")
@phase_option
@state_dir_option
@json_option
def check(phase: Phase, state_dir: str | None, *, as_json: bool) -> None:
    """Run the program's checks of a phase and store nothing.

    Example: planner plan check --phase plan-design
    """
    from orchestrator.plan.check import check_phase

    state = opened(state_dir)
    items = check_phase(state, phase)
    if as_json:
        write(json_text([i._asdict() for i in items]) + "\n")
        return
    block = Block("result")
    lines = [f"{i.severity} {i.status} {i.scope}: {i.finding or i.check}" for i in items]
    write(block.data("items", "\n".join(lines)).render())


@plan_command.command("done")
@phase_option
@click.option("--batch", "path", metavar="FILE", help="Edits to do first, all or none.")
@click.option("--use", "numbers", type=int, multiple=True, metavar="N", help=_USE)
@click.option("--command-file", "commands", metavar="FILE", help=_OWN)
@state_dir_option
@role_option
def done(
    phase: Phase,
    path: str | None,
    numbers: tuple[int, ...],
    commands: str | None,
    state_dir: str | None,
    role: str | None,
) -> None:
    """End a work step: edits, capture, verify, checks; print what follows.

    The change is verified by the project's own commands and those that you choose; without any, by
    the first candidate; without one, by the tests that you ran with `planner tree run`.

    Example: planner plan done --phase plan-code --use 1
    """
    from cli.results import render_finished
    from orchestrator.execute.last_gate import submit_if_due
    from orchestrator.plan.finish import finish_phase
    from shared.steps.entry_points import workflow_of

    workflow = workflow_of(phase)
    allow_roles(role, workflow.steps[workflow.number(phase, "execute")].agent or "")
    state = opened(state_dir)
    finished = finish_phase(state, phase, path, role, choice=(numbers, commands))
    submit_if_due(state, by_agent=finished.handed_in)
    write(render_finished(state, finished))


@plan_command.command("freeze")
@click.option("--allow-large", is_flag=True, help="Keep large files beside the plan, in its ref.")
@state_dir_option
def freeze(state_dir: str | None, *, allow_large: bool) -> None:
    """Make the plan's revision immutable, name it by its digest, submit it for approval.

    The command that passes the last gate has done it already, unless it was refused then.

    Example: planner plan freeze
    """
    from orchestrator.execute.last_gate import submit

    state = opened(state_dir)
    submit(state, allow_large=allow_large)
    write(print_current(state))


@plan_command.command("revise")
@click.option("--file", "path", metavar="FILE", help="The user's remarks.")
@click.option(
    "--cause",
    type=click.Choice(["hook", "verify"]),
    help="What has made it necessary, if the user has not asked for it.",
)
@state_dir_option
def revise(path: str | None, cause: str | None, state_dir: str | None) -> None:
    """Keep the plan's frozen revision and open the next one, back at step 3.

    Example: planner plan revise --file .planner/runs/20260102-abcdef/answers/remarks.md
    """
    from orchestrator.submit.revise import revise_plan

    state = opened(state_dir)
    remarks = read_answer(state.state_dir, path).text() if path else ""
    revise_plan(state, remarks, cause)
    write(print_current(state))


@plan_command.command("render")
@state_dir_option
def render(state_dir: str | None) -> None:
    """Write plan.md from plan.json.

    Example: planner plan render
    """
    from orchestrator.submit.readable import write_text

    state = opened(state_dir)
    state.check_unedited()
    path = write_text(state, store.load_plan(state.plan_path))
    write(Block("result").data("file", path).render())


@plan_command.command("schema")
@click.option("--kind", metavar="KIND", help="Only the fields of one kind of entity.")
def schema(kind: str | None) -> None:
    """Print the JSON Schema of plan.json, or of one kind of entity.

    Example: planner plan schema --kind milestone
    """
    # What a model reads to write an edit is kept short.
    write(json.dumps(kinds.schema(kind), indent=None if kind else 2) + "\n")


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["plan", *sys.argv[1:]]))
