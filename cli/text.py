"""Turn a printed block into text for a person, or into JSON, whatever command has printed it.

Text has headings, lists and tables. A command stands on a line of its own, to be copied.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from cli.handover import is_handover, is_waiting, next_lines, person_lines, status_in_place_of
from cli.pen import Pen
from shared.builders import json_text, visible
from shared.resources import PROGRAM, launcher, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    _Lines = Callable[[ET.Element, Pen], Iterator[str]]

_KINDS = {
    "not_found": "Not found", "conflict": "Not possible now", "frozen": "Frozen",
    "invalid": "Not valid", "refused": "Refused", "locked": "Locked", "usage": "Wrong usage",
    "internal": "A fault of the planner",
}  # fmt: skip
# A problem's parts, as `error_block` joins them.
_PROBLEM = re.compile(
    r"(?P<what>.*?)(?: · allowed: (?P<allowed>.*?))?(?: · (?:retry|person|user): (?P<way>.*))?",
    re.DOTALL,
)
_FOLDER = "folder of the run"


def text_of(block: str, width: int = 0, *, colour: bool = False) -> str:
    """Return a block as text for a person."""
    pen = Pen(width, colour)
    root = ET.fromstring(block)  # noqa: S314 – a block that this process has made
    waits = is_waiting(root)
    shown = [one for one in root if not (waits and is_handover(one))]
    opened = root.find("task") is not None and root.find("data[@name='page']") is not None
    lines: dict[str, _Lines] = {**_PARTS, "person": partial(person_lines, opened=opened)}
    parts = [_head(root, pen), *("\n".join(lines[e.tag](e, pen)) for e in shown)]
    return typed("\n\n".join(filter(None, parts)) or "Done.") + "\n"


def typed(text: str) -> str:
    """Return text with the commands in it as a person types them.

    What setup allows to assistants answers with blocks; a person copies what answers with text.
    """
    # In quotes or brackets it is no command but what a settings file holds.
    command = rf"(?<![(\"'\[]){re.escape(launcher())}"
    return re.sub(command, lambda _: quote(PROGRAM), text)


def json_of(block: str) -> str:
    """Return a block as JSON: attributes by name, the text of an element, its children by tag."""
    root = ET.fromstring(block)  # noqa: S314 – the same
    return json_text({root.tag: _object(root)}) + "\n"


def patch_of(patch: str, *, colour: bool) -> str:
    """Return a patch for a terminal: in colour, and with what nobody would see as escapes."""
    pen = Pen(0, colour)
    return "\n".join(pen.patch(visible(line)) for line in patch.split("\n"))


def _object(element: ET.Element) -> dict[str, Any]:
    found: dict[str, Any] = dict(element.attrib)
    if (element.text or "").strip():
        found["text"] = element.text
    for child in element:
        found.setdefault(child.tag, []).append(_object(child))
    return found


def _head(root: ET.Element, pen: Pen) -> str:
    """Return what the block is about: the step that it prints, and what else it says of itself."""
    told = dict(root.attrib)
    words = [told.pop("workflow", ""), told.pop("name", "")]
    number, last = told.pop("number", ""), told.pop("of", "")
    if number:
        words.append("step " + told.pop("path", f"{number} of {last}"))
    title = pen.heading(" · ".join(filter(None, words)))
    rows = [f"{_as_label(name)}: {visible(value)}" for name, value in told.items()]
    return "\n".join(filter(None, [title, *rows]))


def _prose(element: ET.Element, pen: Pen) -> Iterator[str]:
    yield pen.prose(_content(element))


def _rules(element: ET.Element, pen: Pen) -> Iterator[str]:
    yield pen.heading("Rules")
    yield from _prose(element, pen)


def _data(element: ET.Element, pen: Pen) -> Iterator[str]:
    """Yield a name and what it holds: on the same line, or below it as a list, table or patch."""
    told = dict(element.attrib)
    name, text = _as_label(told.pop("name", "")), _content(element).rstrip("\n")
    name += "".join(f", {_as_label(k).lower()} {visible(v)}" for k, v in told.items())
    lines = text.split("\n")
    if len(lines) == 1 and "\t" not in text:
        yield f"{pen.heading(f'{name}:')} {text}"
        return
    yield pen.heading(f"{name}:")
    is_patch = "\n@@ " in text
    for line in lines if is_patch else _aligned(lines):
        yield f"  {pen.patch(line) if is_patch else line}".rstrip()


def _aligned(lines: Sequence[str]) -> list[str]:
    """Return rows whose fields are separated by tabs as a table; other lines as they are."""
    rows = [line.split("\t") for line in lines]
    if len({*map(len, rows)}) > 1 or len(rows[0]) == 1:
        return [*lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f.ljust(w) for f, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _dispatch(element: ET.Element, pen: Pen) -> Iterator[str]:
    at_once = ", all at once" if element.get("parallel") else ""
    model = f" with {visible(element.get('model', ''))}" if element.get("model") else ""
    yield pen.heading(f"Agents to start ({visible(element.get('agent', ''))}{model}{at_once}):")
    yield from (pen.command(run.text or "") for run in element)


def _ask(element: ET.Element, pen: Pen) -> Iterator[str]:
    question = next(_content(child) for child in element if child.tag == "question")
    many = " (one or more)" if element.get("multi") == "true" else ""
    yield pen.heading(f"Question {visible(element.get('id', ''))}:") + f" {question}{many}"
    for option in element.iter("option"):
        yield f"  {visible(option.get('value', ''))}: {_content(option)}"


def _problem(element: ET.Element, pen: Pen) -> Iterator[str]:
    """Yield a problem: what is wrong, where, what is allowed now, and the command to go on with."""
    found = _PROBLEM.fullmatch(_content(element))
    told = {name: value for name, value in (found.groupdict() if found else {}).items() if value}
    kind = _KINDS.get(element.get("kind", ""), "Wrong")
    yield pen.prose(f"{pen.bad(f'{kind}:')} {told['what']}")
    for name in ("file", "at"):
        if where := element.get(name):
            yield f"  {'File' if name == 'file' else 'Where'}: {visible(where)}"
    if allowed := told.get("allowed"):
        yield pen.prose(f"  Allowed: {allowed}")
    if way := told.get("way"):
        yield from ("  Run:", pen.command(status_in_place_of(way)))


def _content(element: ET.Element) -> str:
    return visible(element.text or "")


def _as_label(name: str) -> str:
    """Return a name of ours as words, such as `Folder of the run`."""
    words = _FOLDER if name == "state_dir" else visible(name).replace("_", " ")
    return words[:1].upper() + words[1:]


_PARTS: dict[str, _Lines] = {
    "task": _prose, "rules": _rules, "data": _data, "dispatch": _dispatch, "ask": _ask,
    "next": next_lines, "problem": _problem,
}  # fmt: skip
