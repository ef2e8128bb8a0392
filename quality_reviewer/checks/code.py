"""Checks of a plan's code: changes match intents, patches apply, verify commands pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_reviewer.checks.subject import Finding
from shared.builders import problem_text
from state.errors import Refused
from state.milestones import changes_of, promised_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.checks.subject import Subject
    from state.models import Milestone

CAPTURE = "capture again (plan capture)"


def check_intents(subject: Subject) -> Iterator[Finding]:
    """Every intent's file is changed, and every changed file is named by an intent or a test."""
    # A file that several milestones share has its one change under the first of them.
    changed = {path for c in subject.changes for path in (c.file, c.old_file)}
    for milestone in subject.plan.milestones:
        yield from _unanswered_intents(milestone, changed)
        yield from _unnamed_changes(milestone)


def _unanswered_intents(milestone: Milestone, changed: set[str | None]) -> Iterator[Finding]:
    for intent in milestone.code_intents:
        if intent.file not in changed:
            text = f"{intent.id} of {milestone.id} is about {intent.file}, which has no change"
            yield Finding(intent.id, f"{text}; make the change in the worktree and {CAPTURE}")


def _unnamed_changes(milestone: Milestone) -> Iterator[Finding]:
    named = {*milestone.tests.files, *(i.file for i in milestone.code_intents)}
    if milestone.is_documentation_only:
        named |= {*milestone.files, *promised_files(milestone)}
    for change in milestone.code_changes:
        if change.file not in named and change.old_file not in named:
            text = f"{change.file} is changed, and no intent or test of {milestone.id} names it"
            what = f"undo the change in the worktree and {CAPTURE}, or have an intent added"
            yield Finding(change.id, f"{text}; {what}")


def check_rebuild(subject: Subject) -> Iterator[Finding]:
    """The plan's patches, applied to the base commit, give exactly the captured files."""
    if subject.tree is None or subject.base_tree is None:
        yield Finding(
            "*", "nothing is captured; do the work in the worktree, then run plan capture"
        )
        return
    missing = [c for c in subject.changes if c.patch is None and c.encoding != "blob"]
    for change in missing:
        yield Finding(change.file, f"{change.id} has no patch; {CAPTURE}")
    if not missing:
        yield from _rebuild(subject, subject.base_tree, subject.tree)


def _rebuild(subject: Subject, base_tree: str, tree: str) -> Iterator[Finding]:
    try:
        rebuilt = subject.trees.rebuild(base_tree, subject.changes)
    except Refused as refusal:
        for problem in refusal.problems:
            scope = problem.at if problem.at in {c.file for c in subject.changes} else "*"
            yield Finding(scope, f"{problem.at}: {problem_text(problem)}; {CAPTURE}")
        return
    except ValueError as error:
        yield Finding("*", f"a patch is damaged: {error}; {CAPTURE}")
        return
    if rebuilt != tree:
        for path, (made, captured) in subject.trees.differing(rebuilt, tree).items():
            text = f"the plan's patches make {_entry_text(made)}, captured is"
            yield Finding(path, f"{path}: {text} {_entry_text(captured)}; {CAPTURE}")


def _entry_text(entry: tuple[str, str] | None) -> str:
    return "no file" if entry is None else f"{entry[1]} (mode {entry[0]})"


def check_listed(subject: Subject) -> Iterator[Finding]:
    """Only files that a milestone lists differ between the base commit and the captured files."""
    if subject.tree is None or subject.base_tree is None:
        return
    listed = {path for m in subject.plan.milestones for path in _listed(m)}
    for path in subject.trees.differing(subject.base_tree, subject.tree):
        if path not in listed:
            text = f"{path} differs from the base, and no milestone lists it"
            what = "undo it in the worktree, or have it added to the milestone's `files`"
            yield Finding(path, f"{text}; {what}; then {CAPTURE}")


def _listed(milestone: Milestone) -> set[str]:
    listed = {
        *milestone.files,
        *milestone.tests.files,
        *(i.file for i in milestone.code_intents),
        *promised_files(milestone),
    }
    moved = {c.old_file for c in changes_of(milestone) if c.old_file and c.file in listed}
    return listed | moved


def check_verify(subject: Subject) -> Iterator[Finding]:
    """Every verify command passes with the changes, or fails on the base commit as well."""
    results = [r for r in subject.plan.verify if r.tree == subject.tree]
    if not subject.verify_commands and not subject.plan.verify:
        text = "NOT VERIFIED: planner.toml has no [verify] commands and none was chosen"
        way = "choose some: `planner plan verify --use N` or `--command-file`; or the user may "
        way += "commit some, then type `planner mode rebase`"
        yield Finding("*", f"{text}; {way}", "NOT_CHECKED")
        return
    commands = subject.verify_commands or {r.command for r in subject.plan.verify}
    for command in sorted({*commands} - {r.command for r in results}):
        yield Finding("*", f"`{command}` has not run on the captured changes; run plan verify")
    for result in results:
        if result.outcome == "fail":
            was = {"pass": "passes", "fail": "fails too", "not-run": "was not run"}
            if result.baseline == "fail":
                was["fail"] += f", in {result.base_failed} tests instead of {result.failed}"
            text = f"`{result.command}` fails with the changes (at the base it"
            what = "fix the change, or run the same command again if it fails only now and then; "
            what += "the output is in verify/ of the run"
            yield Finding("*", f"{text} {was[result.baseline]}); {what}")
        elif result.outcome == "known-failure":
            text = (
                f"`{result.command}` fails on the base as well, so it says nothing about the change"
            )
            way = "read its output in verify/ of the run; perhaps set [worktree] setup or link"
            way = result.lacks or way
            yield Finding("*", f"{text}; {way}", "NOT_CHECKED")


def check_exercised(subject: Subject) -> Iterator[Finding]:
    """The verify commands run the changed files: they fail when these are made unparsable."""
    where = subject.worktree or "the worktree"
    for result in subject.plan.verify:
        if result.tree == subject.tree and result.exercised is False:
            text = f"verify does not exercise the changed files: `{result.command}` still passed"
            cause = (
                f"while they could not be parsed. Usual cause: an editable install or a link that "
                f"points outside {where}. Fix: install or link the project inside it by "
                f"[worktree] setup in planner.toml, or add a test that imports the changed files"
            )
            if result.where == "place":
                cause = (
                    "while they could not be parsed. Usual cause: the command tests an installed "
                    "copy, or no test imports the changed files. Fix: add a test that does, or "
                    "have another command chosen"
                )
            yield Finding("*", f"{text} {cause}")
