"""Write what was checked as GitHub annotations, which a workflow's log turns into marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.ci.checked import count_approved
from orchestrator.ci.judged import EDITED, NO_PLAN, NOT_HERE, TAKEN_BACK
from shared.builders import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cli.ci.checked import Checked

# How a verdict is shown that is no finding, because nothing is required.
UNASKED = {EDITED: "warning", NOT_HERE: "warning", NO_PLAN: "notice", TAKEN_BACK: "notice"}


def render_github(checked: Sequence[Checked]) -> str:
    """Return a line of the log for each finding, each file or commit without one, and the count.

    GitHub shows the first ten errors of a step as marks, so that a finding is one line, at its
    first file.
    """
    count = sum(len(one.findings) for one in checked)
    total = f"checked: {len(checked)}, findings: {count}"
    if any(one.verdict for one in checked):
        approved, claimed = count_approved(checked).values()
        total = f"approved by a signature: {approved}, only by a claim: {claimed}, {total}"
    lines = [line for one in checked for line in _lines(one)]
    return "\n".join([*lines, f"planner validate: {total}", ""])


def _lines(one: Checked) -> Iterator[str]:
    for finding in one.findings:
        yield _annotation("error", one, f"planner: {finding.rule}", finding.text)
    if one.beside:
        yield _annotation("notice", one, "planner: beside the plan", ", ".join(one.beside))
    if one.findings:
        return
    if one.verdict in UNASKED:
        yield _annotation(UNASKED[one.verdict], one, f"planner: {one.verdict}", one.said)
    else:
        yield f"sound: {one.title} {one.said}".rstrip()


def _annotation(level: str, one: Checked, title: str, text: str) -> str:
    values = {"file": visible_line(one.files[0])} if one.files else {}
    shown = ",".join(f"{name}={_value(v)}" for name, v in {**values, "title": title}.items())
    said = f"{one.title}: {visible_line(text)}" if one.verdict else text
    return f"::{level} {shown}::{_text(said)}"


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
