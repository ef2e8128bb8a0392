"""Write what was checked as JUnit XML, which most CI servers show as a list of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cli.ci.checked import REFUSED, count_approved
from orchestrator.ci.judged import NO_PLAN, NOT_HERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.ci.checked import Checked

NAME = "planner validate"


def render_junit(checked: Sequence[Checked]) -> str:
    """Return JUnit XML with a test for each file or commit.

    A commit without a plan, or whose plan is not here, is skipped where neither is a finding.
    """
    failed = sum(_is(one, "failure") for one in checked)
    errors = sum(_is(one, "error") for one in checked)
    skipped = sum(_is_skipped(one) for one in checked)
    counts = {"name": NAME, "tests": len(checked), "failures": failed, "errors": errors}
    words = {name: str(value) for name, value in counts.items()}
    root = Element("testsuites", words)
    suite = SubElement(root, "testsuite", words, skipped=str(skipped))
    if any(one.verdict for one in checked):
        properties = SubElement(suite, "properties")
        for name, number in count_approved(checked).items():
            SubElement(properties, "property", name=name, value=str(number))
    for one in checked:
        _add(suite, one)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


def _add(suite: Element, one: Checked) -> None:
    kind = "commit" if one.verdict else "plan file"
    case = SubElement(suite, "testcase", classname=kind, name=one.title)
    for finding in one.findings:
        words = {"type": finding.rule, "message": finding.text}
        SubElement(case, _tag(finding.rule), words).text = finding.text
    if _is_skipped(one):
        SubElement(case, "skipped", message=one.said)
    said = " · ".join(filter(None, (one.said, one.approval)))
    if said:
        SubElement(case, "system-out").text = said


def _tag(rule: str) -> str:
    return "error" if rule == REFUSED else "failure"


def _is(one: Checked, tag: str) -> bool:
    return any(_tag(finding.rule) == tag for finding in one.findings)


def _is_skipped(one: Checked) -> bool:
    return one.verdict in {NO_PLAN, NOT_HERE} and not one.findings
