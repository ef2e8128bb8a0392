"""Checks of a design's file paths: listed by milestones, spelled as in the base commit."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from quality_reviewer.checks.subject import Finding
from shared.builders import problem_text
from shared.paths import folded
from state.errors import Refused
from state.milestones import files_of, promised_files
from state.spelling import how_spelled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from quality_reviewer.checks.subject import Subject


def check_named(subject: Subject) -> Iterator[Finding]:
    """Every file that a milestone lists is named by an intent, a test or promised documentation."""
    for milestone in subject.plan.milestones:
        if milestone.is_documentation_only:
            continue
        named = {
            *milestone.tests.files,
            *promised_files(milestone),
            *(intent.file for intent in milestone.code_intents),
        }
        for file in dict.fromkeys(milestone.files):
            if file not in named:
                text = f"{milestone.id} lists {file}, and no intent says what changes there"
                yield Finding(milestone.id, f"{text}; add the intent, or take the file off `files`")


def check_intents_listed(subject: Subject) -> Iterator[Finding]:
    """Every intent is for a file that its milestone lists."""
    for milestone in subject.plan.milestones:
        listed = {*milestone.files, *milestone.tests.files}
        for intent in milestone.code_intents:
            if intent.file not in listed:
                text = f"{intent.id} is for {intent.file}, which {milestone.id} does not list"
                yield Finding(intent.id, f"{text}; add it to `files` of {milestone.id}")


def check_spelling(subject: Subject) -> Iterator[Finding]:
    """No planned path differs from an existing one only in letter case or Unicode form.

    The two are one file on some file systems and two files on others.
    """
    if subject.base_tree is None:
        yield Finding(
            "*", "the plan has no base commit, so the existing files are unknown", "NOT_CHECKED"
        )
        return
    named = {file for m in subject.plan.milestones for file in files_of(m)}
    try:
        there = subject.trees.alike(subject.base_tree, named)
    except Refused as refusal:
        text = f"git cannot read the base: {problem_text(refusal.problems[0])}"
        yield Finding("*", text, "NOT_CHECKED")
        return
    spelled = {folded(path): path for path in sorted(there)}
    listed = {file for milestone in subject.plan.milestones for file in milestone.files}
    for milestone in subject.plan.milestones:
        for file in sorted(files_of(milestone)):
            spelling = _as_spelled(file, there, spelled)
            # A plan that lists both spellings renames one to the other.
            if spelling != file and not {file, spelling} <= listed:
                text = f"{milestone.id} names {file}; the base spells that {spelling}"
                if spelling.casefold() != file.casefold():
                    text += f", which {how_spelled(spelling, file)}"
                yield Finding(milestone.id, f"{text}; use one spelling")


def _as_spelled(file: str, there: Collection[str], spelled: Mapping[str, str]) -> str:
    """Return a path spelled as it is in the base commit."""
    path = file
    while path:
        if path in there:
            return file
        if folded(path) in spelled:
            return spelled[folded(path)] + file[len(path) :]
        path = posixpath.dirname(path)
    return file
