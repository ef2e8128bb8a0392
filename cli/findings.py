"""Write what `planner doctor` has found as text for a person."""

from __future__ import annotations

from cli.answers import in_colour, width
from cli.pen import Pen
from cli.text import typed
from orchestrator.upkeep.doctor import NOTE, PROBLEM, Finding
from shared.builders import visible


def text_of(found: list[Finding]) -> str:
    """Return the findings for a person: each with its mark, and what to do on a line below."""
    pen = Pen(width(), in_colour())
    lines = []
    for one in found:
        mark = f"{one.mark:{len(PROBLEM)}}  "
        line = pen.wrapped(visible(f"{mark}{one.what}: {one.state}"), " " * len(mark))
        lines.append(line.replace(PROBLEM, pen.bad(PROBLEM), 1) if one.mark == PROBLEM else line)
        if way := one.way_out or one.hint:
            lines.append(f"{' ' * len(mark)}→ {visible(typed(way))}")
    marks = [one.mark for one in found]
    if number := marks.count(PROBLEM):
        said = f"{number} problem{'s' * (number > 1)}. What to do stands after →."
    else:
        said = "Nothing is wrong."
        said += " The notes say what could be better." * (NOTE in marks)
    return "\n".join([*lines, "", said]) + "\n"
