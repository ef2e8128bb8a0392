"""The file in which a person writes remarks between the lines of a plan, in an editor (LP-4).

Each line of the plan begins with `>`, as in a reply by mail; every other line is theirs, about the
line above it. The file is made from a revision alone, so that what comes back is compared with it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.page.facts import edited_files
from orchestrator.submit.page.file_diffs import beginning
from orchestrator.submit.remarks import WHOLE, heading
from shared.builders import counted, visible, visible_line
from state.errors import Refused
from state.milestones import title_of
from state.statements import place_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.submit.page.facts import Edited
    from shared.patch import Line
    from state.models import Plan

MARK = ">"
END = "the end of the change: what is above was saved whole if this line is here"
_HOW = (
    "Write below the line that you mean, on lines of your own: lines of the plan begin with >,",
    "and stay as they are. Up here it is about the whole plan, or about a place that comes first,",
    "as in `src/a.py:20: words`. Save and close to send; without a word nothing is sent.",
)
# A name that is read back as it stands.
_PLAIN = re.compile(r"(?![A-Z]+-\d+$)[\w./]+([ +@=,-]*[\w./]+)*")


class Row(NamedTuple):
    """A line of the plan in the file."""

    text: str
    # What a remark below it is about, as `read_remarks` reads it; '' for the whole plan.
    place: str = ""

    @property
    def line(self) -> str:
        """Return the line as it stands in the file."""
        return f"{MARK} {visible_line(self.text)}".rstrip()


def rows_of(plan: Plan) -> list[Row]:
    """Return the lines of a revision: what it says in short, then its diffs."""
    return [
        Row(heading(plan).removeprefix("# ")),
        *map(Row, _HOW),
        Row(""),
        *_entities(plan),
        *(row for file in edited_files(plan) for row in _file(file)),
        Row(""),
        Row(END),
    ]


def text_of(rows: Sequence[Row]) -> str:
    """Return the file's text without a remark."""
    return "".join(f"{row.line}\n" for row in rows)


def _entities(plan: Plan) -> Iterator[Row]:
    yield Row(plan.overview.title)
    for task in plan.task_spec:
        yield Row(f"{task.id} {task.text}", task.id)
    for entities in (plan.planning_context.decision_log, plan.checkpoints, plan.milestones):
        yield from (Row(f"{one.id} {title_of(one)}", one.id) for one in entities)


def _file(file: Edited) -> Iterator[Row]:
    change = file.change
    new = _name(change.file)
    old = _name(change.old_file or change.file)
    about = ", ".join(filter(None, [file.what, *file.notes, file.figures]))
    yield Row("")
    yield Row(f"{change.file} ({about})", new)
    lines = beginning(file.lines)
    for line in lines:
        yield _line(line, old, new)
    if left := len(file.lines) - len(lines):
        more = f"{counted(left, 'more line')} not shown here: planner plan diff {change.file}"
        yield Row(more, new)


def _line(line: Line, old: str, new: str) -> Row:
    numbers = f"{line.old or '':>6} {line.new or '':>6}"
    if line.kind == "@":
        return Row(f"from line {line.new or line.old} {line.text}".rstrip(), new)
    if line.kind == "!":
        return Row(line.text, new)
    side, number = ("old", line.old) if line.new is None else ("new", line.new)
    place = place_in(old if side == "old" else new, side, number or 0, number or 0)
    return Row(f"{numbers} {line.kind} {line.text}", place)


def _name(file: str) -> str:
    """Return a file's name as a remark is read with it: as in JSON if it holds odd characters."""
    return file if _PLAIN.fullmatch(file) else json.dumps(file, ensure_ascii=False)


def read_back(rows: Sequence[Row], text: str) -> str:
    """Return the remarks in a file that came back, each after its place; '' if there is none.

    Raises Refused where a line of the plan was changed or is gone.
    """
    remarks: list[tuple[str, list[str]]] = [("", [])]
    left = iter(rows)
    wanted = next(left, None)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.startswith(MARK):
            remarks[-1][1].append(line.rstrip("\r"))
            continue
        if wanted is None or line.rstrip() != wanted.line:
            raise _changed(number, wanted)
        remarks.append((wanted.place, []))
        wanted = next(left, None)
    if wanted is not None:
        raise _changed(0, wanted)
    said = [(place, "\n".join(lines).strip()) for place, lines in remarks]
    return "\n".join(f"{place}: {words}" if place else f"{WHOLE}\n{words}" for place, words in said
                     if words)  # fmt: skip


def has_remarks(text: str) -> bool:
    """Return whether anybody has written into a file."""
    return any(line.strip() and not line.startswith(MARK) for line in text.split("\n"))


def _changed(number: int, wanted: Row | None) -> Refused:
    """Return how a file differs from the plan that it shows, at the first line that does."""
    at = f"line {number}" if number else "the end"
    if not number:
        text = "the file ends before the plan does: was it saved whole?"
    elif wanted is None:
        text = "this line is not the plan's, and begins with `>` as the plan's lines do"
    else:
        text = "the plan's line here was changed or taken out, or yours begins with `>`"
    shown = f"`{visible(wanted.line)[:200]}`" if wanted else "nothing more of the plan"
    ways = f"the plan has here {shown}; write on lines of your own, without `>`"
    return Refused("invalid", at, text, ways)
