"""Say to a person at a terminal where a run stands and who goes on, in place of a prompt.

A step's block is for the assistant that works on it; its person sees the status of the run instead,
with what the step asks or shows of them. The block of `planner step` is the same for everybody.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from shared.builders import Block, visible
from shared.resources import PROGRAM, command, launcher, quote
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.pen import Pen

# The answers to what a step asks its person, and what stands above a command for them to type.
_ANSWERS = ("decide", "start", "requirements", "strategy verdict")
_LABELS = {
    "undo": "To take it back:",
    "start": "To begin it again:",
    "config confirm": "To let these commands run:",
    "cancel": "To end the run:",
}
_TO_READ = "To read the plan with all its changes:"
_DUE, _RUN = "step", "exec run"
_KNOWN = {*_ANSWERS, *_LABELS, _RUN}
_OF_RUN = re.compile(r""" --state-dir (?:'[^']*'|"[^"]*"|[^\s'"])+""")


def for_person(block: str) -> str:
    """Return the block that a person is shown in place of the one that an assistant gets."""
    root = ET.fromstring(block)  # noqa: S314 – a block that this process has made
    if root.tag != "step" or root.get("number") is None:
        return block
    if (state_dir := root.get("state_dir")) is None:
        return _without_run(root)
    from orchestrator.run.status import render_status
    from shared.run import open_state

    found = ET.fromstring(render_status(open_state(state_dir, os.getcwd())))  # noqa: S314 – the same
    return _with_questions(found, root)


def _without_run(root: ET.Element) -> str:
    """Return what is asked before there is a run."""
    shown = Block("result")
    for asked in root.iter("ask"):
        if len(asked) > 1:
            break
        shown.task(asked.findtext("question") or "")
        return shown.next("done", command("start", "WHAT TO CHANGE")).render()
    kept = [one for one in root if one.tag in ("data", "ask", "next", "person")]
    root[:] = kept
    return ET.tostring(root, encoding="unicode")


def _with_questions(status: ET.Element, step: ET.Element) -> str:
    """Return a status with what a step asks or shows its person, before what follows."""
    known = {(one.tag, one.text) for one in status}
    ways = {one.get("on", "") for one in status if one.tag == "next"}
    ways |= {one.get("id", "") for one in status.iter("ask")}
    asked = [one for one in step.iter("ask") if not _is_in(one.get("id", ""), ways)]
    shows = step.find("ask") is not None or step.find("person") is not None
    found = [*asked]
    for one in step:
        is_shown = one.tag == "data" and shows and one.get("name") != "request"
        is_answer = one.tag == "next" and asked and command_name(one.text or "") in _ANSWERS
        if (one.tag, one.text) not in known and (is_shown or is_answer or one.tag == "person"):
            found.append(one)
    last = [one for one in status if one.tag == "person" or one.get("on") == "done"]
    status[:] = [*(one for one in status if one not in last), *found, *last]
    return ET.tostring(status, encoding="unicode")


def _is_in(question: str, ways: set[str]) -> bool:
    return any(way == question or way.startswith(f"{question} ") for way in ways)


def command_name(line: str) -> str:
    """Return which of our commands a line is, such as `exec run`; "" for another program's."""
    ours, _, rest = line.partition(f"{launcher()} ")
    words = rest.split()
    if ours or not words:
        return ""
    return next((w for w in (" ".join(words[:2]), words[0]) if w in _KNOWN), words[0])


def is_waiting(root: ET.Element) -> bool:
    """Return whether a block waits for its person: then the assistant does not go on yet."""
    theirs = [command_name(one.text or "") for one in root if one.tag in ("next", "person")]
    return root.find("ask") is not None or "approve" in theirs or "decide" in theirs


def is_handover(element: ET.Element) -> bool:
    """Return whether an element says that the assistant goes on, or the program for it."""
    is_due = element.tag == "next" and command_name(element.text or "") in (_DUE, _RUN)
    return is_due and element.get("on") in ("done", "approved", "host")


def status_in_place_of(line: str) -> str:
    """Return the command that a person may go on with: their own, or the status of the run."""
    return f"{launcher()} status{_of_run(line)}" if command_name(line) == _DUE else line


def next_lines(element: ET.Element, pen: Pen) -> Iterator[str]:
    """Yield what follows: a command, or who goes on where a step of the assistant is due."""
    line, on = element.text or "", element.get("on", "")
    if not is_handover(element):
        how = "To answer" if command_name(line) in _ANSWERS else "Next,"
        label = f"{how} {visible(on)}:"
        yield pen.heading("Next:" if on == "done" else label)
        yield pen.command(line)
        return
    run = _of_run(line)
    yield pen.heading("Next, your assistant goes on.") + " In its chat, in this repository, say:"
    yield pen.command(f"Use the planner skill and run: planner resume{run}")
    yield "In Claude Code it is enough to type:"
    yield pen.command("/planner:plan resume" + run)
    yield (
        "Or carry it out yourself:" if command_name(line) == _RUN
        else "Without an assistant, this prints what is to be done:"
    )  # fmt: skip
    yield pen.command(line)
    yield "To end the run:"
    yield pen.command(f"{launcher()} cancel{run}")


def person_lines(element: ET.Element, pen: Pen, *, opened: bool = False) -> Iterator[str]:
    """Yield a command for the person to type; before an approval, what else they may answer.

    `opened` if the command has just opened the page to read.
    """
    line = element.text or ""
    if command_name(line) != "approve":
        yield pen.heading(_LABELS.get(command_name(line), "For you to type:"))
        yield pen.command(line)
        return
    run = _of_run(line)
    answers = {
        _TO_READ: "review --open",
        "To approve exactly this plan:": "",
        "To have it changed:": 'mode edit "WHAT TO CHANGE"',
        "To reject it:": "mode reject",
    }
    if opened:
        del answers[_TO_READ]
    for label, words in answers.items():
        yield pen.heading(label)
        yield pen.command(f"{launcher()} {words}{run}" if words else line)


def in_short(text: str) -> str:
    """Return a text whose commands leave out the run where they find the same one without it.

    Not those of `start`, which would begin another.
    """
    if " --state-dir " not in text or not (here := _run_here()):
        return text
    told, start = f" --state-dir {quote(here)}", f"{quote(PROGRAM)} start "
    lines = text.split("\n")
    return "\n".join(one if start in one else one.replace(told, "") for one in lines)


def _run_here() -> str:
    """Return the state directory of the run that commands typed here are about, "" if unclear."""
    from shared.run import open_state

    try:
        state = open_state(None, os.getcwd())
    except Refused:
        return ""
    lone = [row for row in state.database.planning_live() if row.run_id is None]
    return "" if lone else state.state_dir


def _of_run(line: str) -> str:
    found = _OF_RUN.search(line)
    return found[0] if found else ""
