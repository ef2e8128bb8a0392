"""The history of a planning folder: one line per event, appended, merged by git (RL-10)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

from shared.requirements_record import HISTORY
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.requirements_record import Lane

INDENT = " " * 22
STARTED, COMPLETED, REFINING = "START IMPLEMENTING", "COMPLETED REQUIREMENTS", "REFINING"
HEAD = "GIT HEAD"
RECOVERING, SKIPPED = "ATTEMPTING RECOVERY", "USER SKIPPED RECOVERY"
MOST_LINES, LONGEST_LINE = 5, 120
# Both sides of a merge are kept: each appends to the end, and readers sort by time.
ATTRIBUTES = "planner_history.txt merge=union\n"

_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:- |  )(.*)")
_CONFLICT = re.compile(r"<{7}( .*)?|={7}|\|{7}( .*)?|>{7}( .*)?")


class Entry(NamedTuple):
    """One event of the history: local time, its text, and its summary if it has one."""

    time: str
    text: str
    summary: tuple[str, ...] = ()


def stamped(text: str) -> str:
    """Return the history line of an event that happens now."""
    return f"{_now()} - {text}\n"


def remark(text: str) -> str:
    """Return the history line of a remark on the event before it, such as a recovery."""
    return f"{_now()}   {text}\n"


def refining() -> str:
    """Return the history line of a review of new requirements."""
    return stamped(f"{REFINING} REQUIREMENTS (new_requirements.md)")


def started(summary: Sequence[str]) -> str:
    """Return the history lines that begin an implementation, with a summary of what is asked."""
    inside = ("<<", *summary, ">>")
    return stamped(f"{STARTED} (current_requirements.md)") + "".join(
        f"{INDENT}{line}\n" for line in inside
    )


def at_head(commit: str) -> str:
    """Return the history line that names the commit on which the code is written."""
    return stamped(f"{HEAD} ({commit})")


def last_head(text: str) -> str:
    """Return the commit that a history's last such line names; empty if there is none."""
    found = [e.text for e in parse(text) if e.text.startswith(f"{HEAD} (")]
    return found[-1].partition("(")[2].rstrip(")") if found else ""


def without_commit(lines: str) -> str:
    """Return a round's last lines up to the one that says COMPLETED."""
    rows = lines.splitlines(keepends=True)
    end = next((n for n, row in enumerate(rows, 1) if COMPLETED in row), 0)
    return "".join(rows[:end])


def completed(names: Sequence[str]) -> str:
    """Return the history line of requirements that are complete, with their files' new names."""
    return stamped(f"{COMPLETED} ({',  '.join(names)})")


def file_stamp(seconds: float) -> str:
    """Return a time as it stands in the names of completed files."""
    return time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(seconds))


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime())


def read_history(facts: Lane) -> list[Entry]:
    """Return the events of a lane's history, oldest first; Refused while it has conflict marks."""
    return sorted(parse(read_text(facts)), key=lambda entry: entry.time)


def read_text(facts: Lane) -> str:
    """Return a history's text, empty without a file; Refused while it has conflict markers."""
    text = facts.read(HISTORY).decode("utf-8", "surrogateescape")
    marks = [n for n, line in enumerate(text.split("\n"), 1) if _CONFLICT.fullmatch(line)]
    if marks:
        shown = ", ".join(map(str, marks))
        allowed = "keep the lines of both sides and remove only the markers; the order is free"
        said = f"has conflict markers in line {shown}"
        raise Refused("conflict", facts.path(HISTORY), said, allowed)
    return text


def parse(text: str) -> list[Entry]:
    """Return the events of a history's text in their order there.

    A merge may have taken away the end mark of a summary: the next event ends it as well.
    """
    entries: list[Entry] = []
    for line in text.split("\n"):
        begins = _TIME.fullmatch(line)
        if begins:
            entries.append(Entry(begins[1], begins[2]))
        elif entries and line.strip() not in ("", "<<", ">>"):
            last = entries[-1]
            entries[-1] = last._replace(summary=(*last.summary, line.strip()))
    return entries


def is_started(text: str) -> bool:
    """Return whether the present round has its START IMPLEMENTING entry already."""
    for entry in reversed(parse(text)):
        if entry.text.startswith(STARTED):
            return True
        if entry.text.startswith((COMPLETED, REFINING)):
            return False
    return False


def check_summary(text: str, at: str) -> list[str]:
    """Return the lines of a summary for the history; Refused with everything to be shortened."""
    lines = [line.strip() for line in text.strip().split("\n")]
    problems = []
    if not lines[0]:
        problems.append(Problem("invalid", at, "the summary is empty", "1 to 5 lines of text"))
    if len(lines) > MOST_LINES:
        said = f"the summary has {len(lines)} lines"
        problems.append(Problem("invalid", at, said, f"at most {MOST_LINES}; leave details out"))
    for number, line in enumerate(lines, 1):
        where = f"{at}:{number}"
        if len(line) > LONGEST_LINE:
            said = f"the line has {len(line)} characters"
            allowed = f"at most {LONGEST_LINE}; shorten or break it"
            problems.append(Problem("invalid", where, said, allowed))
        if line in ("<<", ">>") or not line.isprintable():
            said = "the line has a mark or an invisible character that the history cannot hold"
            problems.append(Problem("invalid", where, said, "plain text"))
    if problems:
        raise Refused.of(problems)
    return lines
