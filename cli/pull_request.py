"""`planner pr`: open a pull request for a committed plan, or print what it would say."""

from __future__ import annotations

import sys

import click

from cli.answers import write
from cli.options import opened_to_read, state_dir_option
from orchestrator.ci.code_host import find_program, open_request
from orchestrator.submit.message import subject_of
from orchestrator.submit.pull_request import body_of, push_commands
from shared.builders import Block
from shared.git.published import branch_of
from shared.plan_file import load_approved
from state.errors import Refused
from state.stages import COMPLETED


@click.command("pr")
@click.option("--print", "only_prints", is_flag=True, help="Open nothing: print title and text.")
@state_dir_option
def pr_command(state_dir: str | None, *, only_prints: bool) -> None:
    """Open a pull request that says what was approved and proved.

    It is opened by gh or glab; without either the title and the text are printed. The branch has
    to be pushed.

    Example: planner pr --print
    """
    state = opened_to_read(state_dir)
    commit = state.run.commit_id
    if state.run.status != COMPLETED or commit is None:
        text = "the run has no commit yet that a pull request could be about"
        raise Refused("conflict", "pr", text, "carry the plan out", state.command("exec", "run"))
    plan, repository = load_approved(state), state.repository
    branch = branch_of(repository, commit)
    title, body = subject_of(plan), body_of(state, plan)
    pushes = push_commands(repository, plan, branch, commit)
    program = None if only_prints else find_program(repository.root)
    block = Block("result", branch=branch, commit=commit)
    if program is not None and not pushes:
        said = open_request(repository.root, program, branch, title, body)
        write(block.data("opened", said).render())
        return
    block.data("title", title).data("body", body)
    if program is None and not only_prints:
        block.task("Neither gh nor glab is on PATH: open it by hand, with this title and text.")
    if pushes:
        block.task("The branch is not pushed yet; the user does that first.")
        for command in pushes:
            block.person(command)
        block.next("pushed", state.command("pr"))
    write(block.render())


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
