"""Write what was checked as Markdown, for a comment on a pull request or the summary of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.ci.checked import count_approved
from shared.builders import visible_line
from shared.digests import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cli.ci.checked import Checked

MOST_CHARS = 60_000  # a comment on GitHub holds 65,536
_MOST_NAME, _MOST_WORDS = 160, 1_000


def render_markdown(checked: Sequence[Checked]) -> str:
    """Return a sentence with the result, a table of what was approved, and the findings.

    What does not fit into a comment is counted; findings come first.
    """
    commits = [one for one in checked if one.verdict]
    approved, claimed = count_approved(commits).values()
    sound = sum(not one.findings for one in checked)
    count = sum(len(one.findings) for one in checked)
    if commits:
        head = f"{approved} of {len(commits)} commits are what was approved by a signature. "
        if claimed:
            head += f"{claimed} say that they were approved. "
        head += f"Findings: {count}."
    else:
        head = f"{sound} of {len(checked)} plan files are sound. Findings: {count}."
    lines = _fitting([*_findings(checked), *_beside(checked), *_table(commits)])
    return "\n".join([f"**Planner: {head}**", "", *lines]) + "\n"


def _fitting(lines: Sequence[str]) -> list[str]:
    """Return the lines that fit into a comment, with the number of the others."""
    shown, room = [], MOST_CHARS
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    left = len(lines) - len(shown)
    return [*shown, *(["", f"{left} more lines do not fit."] if left else [])]


def _findings(checked: Sequence[Checked]) -> Iterator[str]:
    rows = [(one, finding) for one in checked for finding in one.findings]
    for one, finding in rows:
        yield f"- {_code(one.title)}: {_code(finding.text, _MOST_WORDS)}"
    if rows:
        yield ""


def _beside(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield what the commits of plan files have beside them; verdicts have it in their row."""
    for one in checked:
        if one.beside and not one.verdict:
            files = _code(", ".join(one.beside), _MOST_WORDS)
            yield f"- {_code(one.title)} beside the plan: {files}"


def _table(commits: Sequence[Checked]) -> Iterator[str]:
    if not commits:
        return
    yield "| commit | plan | verdict | approval | files that no plan holds |"
    yield "|---|---|---|---|---|"
    for one in commits:
        titles = one.titles or ("",) * len(one.plans)
        named = zip(one.plans, titles, strict=True)
        plans = "<br>".join(f"{_code(title)} {_code(digest[:SHORTEST])}" for digest, title in named)
        words, files = _code(one.approval, _MOST_WORDS), _code(one.unheld, _MOST_WORDS)
        yield f"| {_code(one.title)} | {plans.strip()} | {one.verdict} | {words} | {files} |"


def _code(text: str, most: int = _MOST_NAME) -> str:
    """Return text of others as code, in which it is no link, no mention and no HTML."""
    kept = visible_line(text).replace("`", "'").replace("|", "¦").strip()
    return f"`{kept[:most]}{'…' if len(kept) > most else ''}`" if kept else ""
