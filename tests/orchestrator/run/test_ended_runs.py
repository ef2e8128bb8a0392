"""What is asked of a run that has ended is refused with how it ended; nothing of it comes back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, way_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

# What begins, changes or judges something of a run; what reads or takes back is not among them.
COMMANDS = (
    "context set --file answers/context.json", "plan batch --file answers/design.json",
    "plan capture", "plan verify", "plan check --phase plan-code", "plan done --phase plan-design",
    "plan done --phase plan-code", "plan done --phase plan-docs", "plan revise", "plan freeze",
    "mode edit more", "mode rebase", "edit", "tree run -- true", "tree rm src/a.py",
    "decide CP-001 a", "retry M-001", "exec run", "exec apply", "exec commit",
    "qr gate --phase plan-code --verdict pass",
)  # fmt: skip
# Their answer may have been lost.
REPEATED = ("exec run", "exec apply", "exec commit")


@pytest.mark.requirement("SD-8", "PC-8", "PL-28")
def test_every_command_says_how_the_run_has_ended(make_repo: Callable[..., Repository]) -> None:
    run = Journey(make_repo(files=FILES)).to("committed")
    for name in ("context.json", "design.json"):
        run.write_answer(name, run.answers[name])
    faults = [line for command in COMMANDS for line in faults_of(run, command, " and proved")]
    assert run.planner("undo").code == 0
    for command in COMMANDS:
        faults += faults_of(run, command, ", then taken back")
    assert faults == []
    assert not os.path.exists(f"{run.state_dir}/worktree")


@pytest.mark.requirement("SD-8", "PC-8")
@pytest.mark.parametrize("point", ["code", "submitted"])
def test_every_command_says_that_the_run_is_cancelled(
    make_repo: Callable[..., Repository], point: str
) -> None:
    """Nothing of it has been carried out, so nothing is told of an answer that was lost."""
    run = Journey(make_repo(files=FILES)).to(point)
    for name in ("context.json", "design.json"):
        run.write_answer(name, run.answers[name])
    assert run.planner("cancel").code == 0
    assert [line for command in COMMANDS for line in faults_of(run, command, " cancelled")] == []
    assert not os.path.exists(f"{run.state_dir}/worktree")


def faults_of(run: Journey, command: str, ending: str) -> list[str]:
    """Return what is wrong with the answer to a command, which says how the run has ended."""
    answer = run.planner(*command.split())
    if answer.code == 0:
        return [] if command in REPEATED or ending in answer.text else [f"{command}: {answer.text}"]
    text = answer.problems[0][1]
    leads_on = way_out(text).split()[1:] in ([], ["start"])
    return [] if ending in text and leads_on else [f"{command}: {text}"]
