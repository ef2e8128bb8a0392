"""Keep text of the judged from being a command of the CI system whose log it stands in (CM-3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from state.errors import Refused

# `##[…]` of GitHub and Azure, `##vso[…]` of Azure, `##teamcity[…]`: anywhere in a line.
_MARK = re.compile(r"#(?=#[\w.-]*\[)")
# `::error::` of GitHub: at the beginning of a line.
_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
# How a format writes that character so that its reader still has it.
_WRITTEN = {"json": r"\u0023", "sarif": r"\u0023", "junit": "&#35;"}


def inert(text: str, form: str = "") -> str:
    """Return what is printed in a format, with nothing in it that a CI system carries out.

    In `github` the commands at the beginning of a line are ours.
    """
    written = _WRITTEN.get(form, "# ")
    kept = _MARK.sub(lambda _: written, text)
    return kept if form == "github" else _COMMAND.sub(r"\1: ", kept)


def as_inert(refusal: Refused) -> Refused:
    """Return a refusal with nothing in its words that a CI system carries out."""
    for one in refusal.problems:
        one.at, one.problem, one.allowed = inert(one.at), inert(one.problem), inert(one.allowed)
        one.output = inert(one.output)
    return refusal
