"""`planner validate`: check frozen plan files, and commits made from plans, in CI."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from cli.answers import FORMS, XML, in_form
from cli.ci.checked import of_refusal, of_reports, of_verdicts
from cli.ci.github import render_github
from cli.ci.inert import as_inert, inert
from cli.ci.junit import render_junit
from cli.ci.markdown import render_markdown
from cli.ci.sarif import render_sarif
from cli.verdicts import as_json, verdicts_as_json, verdicts_as_text
from orchestrator.ci.judged import ENOUGH
from orchestrator.ci.limits import MOST_COMMITS
from orchestrator.ci.validate import Report, Wanted, validate_files
from orchestrator.ci.validate_approval import Asked, judge, recorded
from orchestrator.ci.validate_range import Wanted as Commits
from orchestrator.ci.validate_range import judge_commits
from shared import output
from shared.builders import Block, first_of, problem_text
from shared.output import exit_code
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cli.ci.checked import Checked
    from orchestrator.ci.judged import Judged

# The forms of programs that show what CI has found.
CI_FORMS: dict[str, Callable[[Sequence[Checked]], str]] = {
    "junit": render_junit,
    "sarif": render_sarif,
    "github": render_github,
    "markdown": render_markdown,
}

_HELP = "planner validate --help"
_SHOWN = 10


@click.command("validate")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--require-frozen", is_flag=True, help="A plan that is not frozen is a finding.")
@click.option("--repo", metavar="DIR", help="The changes must fit the tree of this repository.")
@click.option("--commit", metavar="REV", help="This commit of --repo must be the plan FILE.")
@click.option("--range", "between", metavar="A..B", help="Give each of these commits a verdict.")
@click.option("--require", type=click.Choice([*ENOUGH]), help="What every verdict must be.")
@click.option(
    "--most", type=click.IntRange(1), default=MOST_COMMITS, show_default=True, metavar="N",
    help="Judge as many commits of a range.",
)  # fmt: skip
@click.option("--approval", metavar="FILE", help="Say what this approval.json proves.")
@click.option("--target", metavar="REV", help="What says who may sign; else A, or the base.")
@click.option(
    "--format", "form", type=click.Choice([*FORMS, *CI_FORMS]), default=XML,
    show_default=False,
    help="What CI reads: JUnit XML, SARIF, GitHub annotations, Markdown for a comment.",
)  # fmt: skip
@click.pass_context
def validate_command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    form: str,
    *,
    require_frozen: bool,
    most: int,
    **named: str | None,
) -> None:
    """Check plan files, and commits made from plans. Exit 0 sound, 1 findings, 2 misuse.

    FILE is a plan.json: its schema, references, waves, digest and patches are checked.

    With --range, or --commit without a FILE, each commit gets a verdict: exact; same bytes, other
    history (rebased, squashed, cherry-picked); same change, other surroundings; edited afterwards;
    no plan; plan not here; taken back; not approved. Its plan is found by refs/planner/ and its
    Plan-Digest line. --require exact, same (one of the first three) or any (one of the first four)
    makes others findings, but for one that takes a plan back; --commit alone requires same. Name
    your branch by --target: who may sign, and what has to be proven, is read there.

    Example: planner validate --range origin/main..HEAD --require same
    """
    repo, commit, approval = named["repo"], named["commit"], named["approval"]
    try:
        _check_usage(files, commit, approval, named["between"], named["require"])
    except Refused as refusal:
        raise as_inert(refusal) from None
    try:
        if named["between"] or (commit and not files and approval is None):
            require = named["require"] or ("same" if commit else None)
            commits = Commits(repo or ".", named["between"], commit, named["target"], require, most)
            text, is_sound = _commits(commits, form)
        else:
            wanted = Wanted(require_frozen, "." if commit and repo is None else repo, commit)
            text, is_sound = _files(files, wanted, approval, named["target"], form)
    except Refused as refusal:
        if form not in CI_FORMS:
            raise as_inert(refusal) from None
        text = CI_FORMS[form](of_refusal(refusal, named["between"] or commit or "planner"))
        output.write(inert(text, form))
        ctx.exit(exit_code(refusal))
    output.write(inert(in_form(text), form))
    ctx.exit(0 if is_sound else 1)


def _commits(wanted: Commits, form: str) -> tuple[str, bool]:
    """Return the verdicts in the form that is asked for, and whether none is a finding."""
    judged = judge_commits(wanted)
    return verdicts_in(form, judged, wanted.require), judged.is_sound


def verdicts_in(form: str, judged: Judged, require: str | None) -> str:
    """Return verdicts in the form that is asked for."""
    if form in CI_FORMS:
        return CI_FORMS[form](of_verdicts(judged))
    return verdicts_as_json(judged, require) if form == "json" else verdicts_as_text(judged)


def _files(
    files: Sequence[str], wanted: Wanted, approval: str | None, target: str | None, form: str
) -> tuple[str, bool]:
    """Return what was found in plan files and an approval, and whether that is nothing."""
    reports = list(validate_files(files, wanted))
    digests = [r.digest for r in reports if r.digest]
    asked = Asked(wanted.repository or ".", digests, wanted.commit, target)
    said = ""
    if approval is not None:
        judged = judge(approval, asked)
        said = judged.text
        reports.append(Report(judged.file, None, judged.problems))
    elif wanted.commit is not None:
        _, said = recorded(files[0], reports[0].digest, wanted.repository or ".")
    is_sound = not any(r.problems for r in reports)
    if form in CI_FORMS:
        return CI_FORMS[form](of_reports(reports, approval, said)), is_sound
    return _as_json(reports, said) if form == "json" else _as_text(reports, said), is_sound


def _check_usage(
    files: Sequence[str],
    commit: str | None,
    approval: str | None,
    between: str | None,
    require: str | None,
) -> None:
    if not files and approval is None and commit is None and between is None:
        text = "nothing is named to be checked"
        allowed = "plan files, commits by --range or --commit, or an approval by --approval"
        raise Refused("usage", "FILE", text, allowed, "planner validate --commit HEAD")
    for file in files:
        if not os.path.isfile(file):
            text = "is a folder" if os.path.isdir(file) else "there is no such file"
            allowed = "give the path of a plan.json; a commit is named by --commit or --range"
            raise Refused("usage", file, text, allowed, _HELP)
    if between is not None and (files or commit or approval):
        text = "`--range` goes with no FILE, --commit or --approval"
        raise Refused("usage", "--range", text, "leave out one of the two", _HELP)
    if between is not None and (".." not in between or "..." in between):
        told = f"{between} is not a range"
        raise Refused("usage", "--range", told, "A..B, such as main..HEAD", _HELP)
    if require is not None and (files or approval):
        text = "`--require` goes with --range, or --commit alone"
        raise Refused("usage", "--require", text, "leave out FILE and --approval", _HELP)
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
            **({"self_contained": False} if r.needs_ref else {}),
            **({"beside": list(r.beside)} if r.beside else {}),
            **({"not_compared": list(r.unproved)} if r.unproved else {}),
            "problems": [
                {"kind": p.kind, "at": p.at, "problem": p.problem, "allowed": p.allowed}
                for p in r.problems
            ],
        }
        for r in reports
    ]
    found = {"files": rows, **({"approval": approval} if approval else {})}
    return as_json(found)


def _needed(report: Report) -> str:
    return f"{report.file} needs the blobs that refs/planner/{report.digest} keeps"


def _unproved(report: Report) -> Iterator[str]:
    """Yield what the patches of a plan file were not compared with, and how they are."""
    if report.unproved:
        files = ", ".join(first_of([*report.unproved], _SHOWN))
        yield f"{report.file}: {files}; name the plan's repository by --repo"


def _as_text(reports: Sequence[Report], approval: str) -> str:
    bad = [r for r in reports if r.problems]
    block = Block("result", files=len(reports), invalid=len(bad))
    block.data("approval", approval)
    block.data("not self-contained", "\n".join(_needed(r) for r in reports if r.needs_ref))
    block.data("beside the plan", "\n".join(path for r in reports for path in r.beside))
    block.data("patches not compared", "\n".join(f for r in reports for f in _unproved(r)))
    for report in bad:
        for problem in report.problems:
            block.element(
                "problem", problem_text(problem), kind=problem.kind, file=report.file, at=problem.at
            )
    return block.render()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["validate", *sys.argv[1:]]))
