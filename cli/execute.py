"""Commands that carry out a plan: apply, commit, report and accept differing files, undo."""

from __future__ import annotations

import sys

import click

from cli.answers import TEXT, form, write, write_standing
from cli.options import opened, role_option, state_dir_option
from cli.results import (
    render_finished,
    render_proof,
    render_running,
    render_undone,
    write_ran,
)
from orchestrator.execute import gaps, reconcile, waves
from orchestrator.execute.apply import apply_plan
from orchestrator.execute.carry_out import commit_or_end, run_plan
from orchestrator.execute.last_gate import is_due, submit_if_due
from orchestrator.execute.undo import undo_plan
from orchestrator.plan.finish import Finished
from shared.builders import Block
from shared.named_files import read_answer
from shared.steps.printing import print_current
from state.actors import HOST, UNPROVEN
from state.stages import SUBMITTED

milestone_option = click.option("--milestone", metavar="ID", required=True, help="Its id.")
attempt_option = click.option(
    "--attempt", type=int, required=True, help="Its attempt, as the printed command says."
)


@click.group("exec")
def exec_command() -> None:
    """Apply an approved plan and commit it."""


@exec_command.command("run")
@click.option("--branch", metavar="NAME", help="Commit on a new branch, which HEAD is put on.")
@state_dir_option
def run(branch: str | None, state_dir: str | None) -> None:
    """Carry out an approved plan: apply it, compare your tree with it, commit it, prove the commit.

    At depth intent it starts the first milestones. Safe to repeat, also after a crash.

    Example: planner exec run
    """
    state = opened(state_dir)
    write_ran(state, run_plan(state, branch))


@exec_command.command("apply")
@state_dir_option
def apply(state_dir: str | None) -> None:
    """Write the approved bytes into your tree, all or none, or finish an interrupted apply.

    Example: planner exec apply
    """
    state = opened(state_dir)
    running = apply_plan(state)
    if running is not None:
        write(render_running(state, running, state.command("exec", "apply")))
    else:
        write(print_current(state))


@exec_command.command("commit")
@state_dir_option
def commit(state_dir: str | None) -> None:
    """Commit the plan with your hooks, prove the commit, then move the branch.

    Example: planner exec commit
    """
    state = opened(state_dir)
    write_standing(state, render_proof(state, commit_or_end(state)))


@exec_command.command("next")
@state_dir_option
def next_wave(state_dir: str | None) -> None:
    """Start the milestones that can run now, at depth intent; when all are written, check them.

    Example: planner exec next
    """
    state = opened(state_dir)
    if is_due(state) or state.run.stage == SUBMITTED:
        submit_if_due(state)  # an earlier call has passed the last gate, and failed after that
        write(print_current(state))
        return
    finished = waves.go_on(state)
    submit_if_due(state)
    write(render_finished(state, finished))


@exec_command.command("done")
@milestone_option
@attempt_option
@click.option("--file", "path", required=True, metavar="FILE", help="The agent's result, as JSON.")
@state_dir_option
@role_option
def done(milestone: str, attempt: int, path: str, state_dir: str | None, role: str | None) -> None:
    """Hand in a milestone at depth intent: capture what was written, compare it, merge it.

    Example: planner exec done --milestone M-001 --attempt 1 --file answers/result-M-001-1.json
    """
    state = opened(state_dir)
    of = waves.Attempt(milestone, attempt)
    finished = waves.hand_in(state, of, path, role)
    submit_if_due(state, by_agent=finished.handed_in)
    write(render_finished(state, finished))


@exec_command.command("limited")
@click.argument("milestone", metavar="ID")
@state_dir_option
def limited(milestone: str, state_dir: str | None) -> None:
    """Say that a rate limit ended a milestone's agent; it is started again after a while.

    Example: planner exec limited M-001
    """
    state = opened(state_dir)
    waves.hold_off(state, milestone)
    row = state.database.progress(state.run)[milestone]
    block = Block("result").data("milestone", f"{row.id} {row.status}: {row.note}")
    write(block.next("done", state.command("exec", "next")).render())


@exec_command.command("ask")
@milestone_option
@attempt_option
@click.option("--file", "path", required=True, metavar="FILE", help="A JSON list of questions.")
@state_dir_option
def ask(milestone: str, attempt: int, path: str, state_dir: str | None) -> None:
    """Let a milestone wait for the user's answers to its agent's questions.

    Example: planner exec ask --milestone M-001 --attempt 1 --file answers/questions-M-001.json
    """
    state = opened(state_dir)
    ids = waves.ask(state, waves.Attempt(milestone, attempt), path)
    text = "Asked. An agent ends here; it is started again with the answers."
    block = Block("result").task(text).data("questions", "\n".join(ids))
    write(block.next("host", state.command("step", state.run.workflow)).render())


@exec_command.command("reconcile")
@click.option("--file", "path", required=True, metavar="FILE", help="A JSON list of verdicts.")
@state_dir_option
@role_option
def judge_gaps(path: str, state_dir: str | None, role: str | None) -> None:
    """Say of each file that the plan names and nobody touched whether that is right.

    Example: planner exec reconcile --file answers/reconcile.json
    """
    state = opened(state_dir)
    if not is_due(state):
        gaps.judge_gaps(state, path, role or HOST)
    submit_if_due(state, by_agent=role is not None)
    if role is None:
        write(print_current(state))
    else:
        write(render_finished(state, Finished("", handed_in=True)))


@exec_command.command("deviate")
@click.argument("milestone", metavar="ID")
@click.option("--file", "path", required=True, help="The file that differs.")
@click.option("--reason", default="")
@click.option("--reason-file", metavar="FILE", help="The reason, in a file.")
@state_dir_option
@role_option
def deviate(
    milestone: str,
    path: str,
    reason: str,
    reason_file: str | None,
    state_dir: str | None,
    role: str | None,
) -> None:
    """Report a file that differs between the tree and the plan.

    Example: planner exec deviate M-001 --file src/a.py --reason "the user edited it meanwhile"
    """
    state = opened(state_dir)
    if reason_file is not None:
        reason = read_answer(state.state_dir, reason_file).text().strip()
    reconcile.deviate(state, milestone, path, reason, role or HOST)
    accept = state.typed("exec", "accept", "--file", path, "--reason", reason)
    write(Block("result").data("deviation", f"{path}: {reason}").person(accept).render())


@exec_command.command("accept")
@click.option("--file", "path", required=True, help="The file that may stay as it is.")
@click.option("--reason", default="")
@state_dir_option
def accept(path: str, reason: str, state_dir: str | None) -> None:
    """Accept that a file differs from the plan. Only a person may run it.

    Example: planner exec accept --file src/a.py --reason "my own edit, leave it"
    """
    state = opened(state_dir)
    reconcile.accept_deviation(state, path, reason)
    write(print_current(state))


@click.command("undo")
@state_dir_option
def undo_command(state_dir: str | None) -> None:
    """Undo an applied plan: the old bytes, or a revert commit.

    Before the commit the old bytes are written back; after it a revert commit is made.

    Example: planner undo
    """
    state = opened(state_dir)
    undone = undo_plan(state, UNPROVEN if form() == TEXT else HOST)
    said = "This was taken back before; nothing is changed." if undone.before else "Taken back."
    write_standing(state, render_undone(state, undone), said)


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["exec", *sys.argv[1:]]))
