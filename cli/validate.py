"""`planner validate`: check frozen plan files in CI."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from orchestrator.run.validate import Report, Wanted, validate_files
from orchestrator.run.validate_approval import Asked, judge, recorded
from shared.builders import Block
from shared.output import write
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("validate")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--require-frozen", is_flag=True, help="A plan that is not frozen is a finding.")
@click.option("--repo", metavar="DIR", help="The changes must fit the tree of this repository.")
@click.option("--commit", metavar="REV", help="This commit of --repo must be the plan.")
@click.option("--approval", metavar="FILE", help="Say what this approval.json proves.")
@click.option("--target", metavar="REV", help="The branch that says who may sign; else the base.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_context
def validate_command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    form: str,
    *,
    require_frozen: bool,
    **named: str | None,
) -> None:
    """Check plan files: schema, references, waves, digest. Exit 0 sound, 1 findings, 2 misuse.

    Example: planner validate --require-frozen planning/plans/20260102-abcdef.json
    """
    repo, commit, approval = named["repo"], named["commit"], named["approval"]
    _check_usage(files, commit, approval)
    wanted = Wanted(require_frozen, "." if commit and repo is None else repo, commit)
    reports = list(validate_files(files, wanted))
    digests = [r.digest for r in reports if r.digest]
    asked = Asked(repo or ".", digests, commit, named["target"])
    judged = judge(approval, asked) if approval else None
    said = judged.text if judged else ""
    if commit is not None and judged is None:
        said = recorded(files[0], reports[0].digest, repo or ".")
    if judged is not None:
        reports.append(Report(judged.file, None, judged.problems))
    write(_as_json(reports, said) if form == "json" else _as_text(reports, said))
    ctx.exit(1 if any(r.problems for r in reports) else 0)


def _check_usage(files: Sequence[str], commit: str | None, approval: str | None) -> None:
    if not files and approval is None:
        raise Refused("usage", "FILE", "name a plan file, or an approval by --approval")
    if commit is not None and len(files) > 1:
        raise Refused(
            "usage",
            "--commit",
            "`--commit` is compared with one plan, but several files were named",
            "name a single FILE",
        )


def _as_json(reports: Sequence[Report], approval: str) -> str:
    rows = [
        {
            "file": r.file,
            "digest": r.digest,
            "valid": not r.problems,
            **({"beside": list(r.beside)} if r.beside else {}),
            "problems": [
                {"kind": p.kind, "at": p.at, "problem": p.problem, "allowed": p.allowed}
                for p in r.problems
            ],
        }
        for r in reports
    ]
    found = {"files": rows, **({"approval": approval} if approval else {})}
    return json.dumps(found, indent=2) + "\n"


def _as_text(reports: Sequence[Report], approval: str) -> str:
    bad = [r for r in reports if r.problems]
    block = Block("result", files=len(reports), invalid=len(bad))
    block.data("approval", approval)
    block.data("beside the plan", "\n".join(path for r in reports for path in r.beside))
    for report in bad:
        for problem in report.problems:
            block.element(
                "problem", problem.text(), kind=problem.kind, file=report.file, at=problem.at
            )
    return block.render()
