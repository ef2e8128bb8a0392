"""Commands on quality reviews: answer review items, pass or fail a phase, accept a finding."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import (
    allow_roles,
    group_option,
    json_option,
    opened,
    opened_to_read,
    phase_option,
    role_option,
    state_dir_option,
)
from orchestrator.execute.last_gate import submit_if_due
from orchestrator.plan.gate import (
    accept_finding,
    decide_gate,
    decline_finding,
    has_passed,
    take_gate,
)
from quality_reviewer.answers import ask_author, store_answers
from quality_reviewer.tries import wanted_trials
from shared.builders import Block, json_text
from shared.named_files import read_answer
from shared.plan_file import open_plan
from shared.qr.kept_review import read_kept_review
from shared.steps.entry_points import workflow_of
from shared.steps.printing import print_current
from state.actors import HOST
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State
    from state.phases import Phase


@click.group("qr")
def qr_command() -> None:
    """Read and answer review items, pass or fail a phase."""


@qr_command.command("list")
@phase_option
@group_option
@click.option("--status", type=click.Choice(["TODO", "PASS", "FAIL", "NOT_CHECKED"]))
@state_dir_option
@json_option
def list_items(
    phase: Phase, group: str | None, status: str | None, state_dir: str | None, *, as_json: bool
) -> None:
    """List the items of a phase's open review.

    Example: planner qr list --phase plan-code --status FAIL
    """
    review = read_kept_review(opened_to_read(state_dir), phase)
    items = review.items if review else []
    rows = [i for i in items if status in (None, i.status) and group in (None, i.group)]
    if as_json:
        write(json_text([i._asdict() for i in rows]) + "\n")
        return
    lines = [f"{i.id}\t{i.severity}\t{i.status}\t{i.scope}\t{i.finding or i.check}" for i in rows]
    write(Block("result").data("items", "\n".join(lines) or "no review is open").render())


@qr_command.command("set")
@click.argument("item", required=False, metavar="[ITEM]")
@phase_option
@group_option
@click.option("--file", "path", metavar="FILE", help="A JSON list of answers.")
@click.option("--status", type=click.Choice(["PASS", "FAIL"]), help="The answer to ITEM.")
@click.option("--finding", help="What is wrong, where, what to do.")
@click.option("--severity", type=click.Choice(["MUST", "SHOULD", "COULD"]))
@click.option("--evidence", help="What shows that a MUST passes: file:line, or an id of the plan.")
@click.option("--note", help="What the person should know: an exception, a limit, a doubt.")
@state_dir_option
@role_option
def set_items(  # noqa: PLR0913 – one parameter per option
    item: str | None,
    phase: Phase,
    group: str | None,
    *,
    path: str | None,
    status: str | None,
    finding: str | None,
    severity: str | None,
    evidence: str | None,
    note: str | None,
    state_dir: str | None,
    role: str | None,
) -> None:
    """Answer a reviewer's questions, one or a whole file of them.

    An answer that lacks evidence is refused; the others of the file are stored.

    Example: planner qr set --phase plan-code --group 1 --file answers/verdicts-plan-code-1.json
    """
    if (path is None) == (item is None):
        raise click.UsageError("name either an ITEM with its --status, or a --file of answers")
    given = {"id": item, "status": status, "finding": finding, "severity": severity}
    given |= {"evidence": evidence, "note": note}
    rows = [{k: v for k, v in given.items() if v is not None}]
    _store(opened(state_dir), phase, group, role, rows if path is None else path)


@qr_command.command("add")
@phase_option
@group_option
@click.option("--file", "path", required=True, metavar="FILE", help="A JSON list of findings.")
@state_dir_option
@role_option
def add_items(
    phase: Phase, group: str | None, path: str, state_dir: str | None, role: str | None
) -> None:
    """Add findings that no question covers, at most three for each reviewer.

    Example: planner qr add --phase plan-code --group 1 --file answers/findings.json
    """
    _store(opened(state_dir), phase, group, role, path)


def _store(state: State, phase: Phase, group: str | None, role: str | None, rows: object) -> None:
    """Store a reviewer's answers, given as text or file name, and print the next command."""
    if isinstance(rows, str):
        rows = read_answer(state.state_dir, rows).json()
    if wanted := wanted_trials(state, phase, rows):
        from developer.trials import make_trials  # not at the top: few answers name one

        make_trials(state, open_plan(state), wanted)
    stored = store_answers(state, phase, rows, group=group, who=role or HOST)
    take_gate(state, phase, role or HOST)
    submit_if_due(state, by_agent=role is not None)
    if role is None:
        write(print_current(state))
        return
    figures = ", ".join(f"{count} {status}" for status, count in stored.figures.items())
    figures += f" in group {group}" if group else " in all groups"
    left = f"Still to answer: {', '.join(stored.left)}."
    text = left if stored.left else "End here; report these figures."
    write(Block("result").data("answers", figures).task(text).render())


@qr_command.command("own")
@phase_option
@state_dir_option
def own(phase: Phase, state_dir: str | None) -> None:
    """Review a change that you have made yourself, where no agent can: fewer questions, by trying.

    Example: planner qr own --phase plan-code
    """
    state = opened(state_dir)
    ask_author(state, phase)
    write(print_current(state))


@qr_command.command("gate")
@phase_option
@click.option("--verdict", type=click.Choice(["pass", "fail"]), required=True)
@click.option("--reason", default="", help="Why, if the computed verdict is the other one.")
@click.option("--reason-file", metavar="FILE", help="The reason, in a file.")
@state_dir_option
def gate(
    phase: Phase,
    verdict: str,
    reason: str,
    reason_file: str | None,
    state_dir: str | None,
) -> None:
    """Pass or fail a phase; a verdict other than the computed one needs a reason.

    Example: planner qr gate --phase plan-code --verdict fail
    """
    state = opened(state_dir)
    reason = _reason(state, reason, reason_file)
    if verdict == "fail" or not has_passed(state, phase):
        decide_gate(state, phase, verdict, reason)
    submit_if_due(state)
    write(print_current(state))


@qr_command.command("decline")
@click.argument("item", metavar="ITEM")
@phase_option
@click.option("--file", "path", required=True, metavar="FILE", help="Why it stays as it is.")
@state_dir_option
@role_option
def decline(item: str, phase: Phase, path: str, state_dir: str | None, role: str | None) -> None:
    """Leave a COULD of a failed review as it is, for a reason that reviewers and the user read.

    Example: planner qr decline qa-004 --phase plan-code --file answers/declined.md
    """
    workflow = workflow_of(phase)
    allow_roles(role, workflow.steps[workflow.number(phase, "execute")].agent or "")
    state = opened(state_dir)
    reason = _reason(state, "", path)
    if not reason:
        raise Refused("invalid", "--file", "the file gives no reason", "why it stays as it is")
    decline_finding(state, phase, item, reason)
    write(Block("result").data("declined", f"{item}: {reason}").render())


@qr_command.command("accept")
@click.argument("check", metavar="ITEM|CHECK")
@phase_option
@click.option("--scope", default="*", help="The file or entity of the finding, for a check.")
@click.option("--reason", default="", help="Why it is accepted.")
@click.option("--reason-file", metavar="FILE", help="The reason, in a file.")
@state_dir_option
def accept(
    check: str,
    phase: Phase,
    scope: str,
    *,
    reason: str,
    reason_file: str | None,
    state_dir: str | None,
) -> None:
    """Accept a finding: an item of the open review or of a script check. Only a person may run it.

    Example: planner qr accept code-no-secrets --scope a.pem --phase plan-code --reason "test key"
    """
    state = opened(state_dir)
    reason = _reason(state, reason, reason_file)
    if not reason:
        raise click.UsageError(
            "give a reason for accepting the finding: --reason, or --reason-file"
        )
    accept_finding(state, phase, check, scope, reason)
    write(print_current(state))


def _reason(state: State, given: str, path: str | None) -> str:
    if path:
        given = read_answer(state.state_dir, path).text()
    return given.strip()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["qr", *sys.argv[1:]]))
