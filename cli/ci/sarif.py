"""Write what was checked as SARIF 2.1.0, the form of code scanning."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cli.ci.checked import REFUSED, RULES, count_approved
from shared.builders import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.ci.checked import Checked, Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"


def render_sarif(checked: Sequence[Checked]) -> str:
    """Return a SARIF log with a result for each finding, and every verdict among its properties.

    Results are findings alone, each with a place: code scanning on GitHub makes an alert of every
    result, also of those that say `pass`, and takes none without a place (decisions/0099).
    """
    found = [(one, finding) for one in checked for finding in one.findings]
    run = {
        "tool": {"driver": {"name": "planner", "rules": [_rule(rule) for rule in RULES]}},
        "invocations": [_invocation(found)],
        "results": [_result(one, f) for one, f in found if f.rule != REFUSED],
        "columnKind": "unicodeCodePoints",
        "properties": {
            **count_approved(checked),
            "checked": [_checked(one) for one in checked],
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2) + "\n"


def _id(rule: str) -> str:
    return rule.replace(",", "").replace(" ", "-")


def _rule(rule: str) -> dict[str, Any]:
    return {"id": _id(rule), "shortDescription": {"text": RULES[rule]}}


def _invocation(found: Sequence[tuple[Checked, Finding]]) -> dict[str, Any]:
    """Return whether anything could be compared, and why not."""
    refused = [f"{one.title}: {finding.text}" for one, finding in found if finding.rule == REFUSED]
    notes = [{"level": "error", "message": {"text": text}} for text in refused]
    return {"executionSuccessful": not refused, "toolExecutionNotifications": notes}


def _result(one: Checked, finding: Finding) -> dict[str, Any]:
    about = f"{one.title}: {finding.text}" if one.verdict else finding.text
    return {
        "ruleId": _id(finding.rule),
        "ruleIndex": [*RULES].index(finding.rule),
        "level": "error",
        "message": {"text": about},
        "locations": [_location(file) for file in one.files or (".",)],
    }


def _location(file: str) -> dict[str, Any]:
    """Return a place; in a URI the bytes of a path that are no UTF-8 stay what they are."""
    uri = quote(os.fsencode(file))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}


def _checked(one: Checked) -> dict[str, Any]:
    return {
        "name": one.title,
        "verdict": one.verdict,
        "said": one.said,
        "plans": list(one.plans),
        "approval": one.approval,
        "beside": [visible_line(path) for path in one.beside],
        "findings": len(one.findings),
    }
