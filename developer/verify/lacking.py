"""Tells from a command's output that it failed for want of something that is not installed."""

from __future__ import annotations

import re

_MOST_CHARS = 120
# A plan is for other machines too.
_FOLDERS = re.compile(r"(?<![^\s'\"])/(?:[^\s'\"/]+/)+(?=\S)")
# Lines of shells, of Python's runners, of tox and pip, of node, of cargo, go and make.
_SIGNS = re.compile(
    r"""^.*(?:
    \bNo\ module\ named\b | \bImportError\b | \bcannot\ import\ name\b
    | \bfixture\ '\w+'\ not\ found | \bunrecognized\ arguments: | \bunknown\ hook\b
    | \bno\ tests\ ran\b | \bRan\ 0\ tests\b | \bcollected\ 0\ items\b
    | \bcommand\ not\ found\b | :\ not\ found$ | \bNo\ such\ file\ or\ directory\b
    | \bPermission\ denied$
    | \bNo\ matching\ distribution\ found\b | \bcould\ not\ find\ python\ interpreter\b
    | \bCannot\ find\ (?:module|package)\b | \bno\ matching\ package\ named\b
    | \bno\ required\ module\ provides\b | \bNo\ rule\ to\ make\ target\b
    ).*$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def lacking(output: str) -> str:
    """Return the last line of an output that says what was missing, or that no test ran; else ''.

    Of absolute paths only the last part stays. Such a line may also be part of what a test expects,
    so that it alone decides nothing.
    """
    lines = _SIGNS.findall(output)
    return " ".join(_FOLDERS.sub("", lines[-1]).split())[:_MOST_CHARS] if lines else ""
