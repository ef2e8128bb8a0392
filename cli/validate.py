"""`planner validate`: check frozen plan files in CI."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from orchestrator.run.validate import Report, Wanted, validate_files
from shared.builders import Block
from shared.output import write
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--require-frozen", is_flag=True, help="A plan that is not frozen is a finding.")
@click.option("--repo", metavar="DIR", help="The changes must fit the tree of this repository.")
@click.option("--commit", metavar="REV", help="This commit of --repo must be the plan.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_context
def validate_command(
    ctx: click.Context,
    files: tuple[str, ...],
    repo: str | None,
    commit: str | None,
    form: str,
    *,
    require_frozen: bool,
) -> None:
    """Check plan files: schema, references, waves, digest. Exit 0 sound, 1 findings, 2 misuse.

    Example: planner validate --require-frozen planning/plans/20260102-abcdef.json
    """
    wanted = Wanted(require_frozen, "." if commit and repo is None else repo, commit)
    if commit is not None and len(files) > 1:
        raise Refused(
            "usage",
            "--commit",
            "`--commit` is compared with one plan, but several files were named",
            "name a single FILE",
        )
    reports = list(validate_files(files, wanted))
    write(_as_json(reports) if form == "json" else _as_text(reports))
    ctx.exit(1 if any(r.problems for r in reports) else 0)


def _as_json(reports: Sequence[Report]) -> str:
    rows = [
        {
            "file": r.file,
            "digest": r.digest,
            "valid": not r.problems,
            "problems": [
                {"kind": p.kind, "at": p.at, "problem": p.problem, "allowed": p.allowed}
                for p in r.problems
            ],
        }
        for r in reports
    ]
    return json.dumps({"files": rows}, indent=2) + "\n"


def _as_text(reports: Sequence[Report]) -> str:
    bad = [r for r in reports if r.problems]
    block = Block("result", files=len(reports), invalid=len(bad))
    for report in bad:
        for problem in report.problems:
            block.element(
                "problem", problem.text(), kind=problem.kind, file=report.file, at=problem.at
            )
    return block.render()
