"""Turn a printed block into text for a person, or into JSON, whatever command has printed it.

Text has headings, lists and tables. A command stands on a line of its own, to be copied.
"""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from shared.builders import visible
from shared.resources import PROGRAM, launcher, quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS = {
    "not_found": "Not found", "conflict": "Not possible now", "frozen": "Frozen",
    "invalid": "Not valid", "refused": "Refused", "locked": "Locked", "usage": "Wrong usage",
    "internal": "A fault of the planner",
}  # fmt: skip
# A problem's parts, as `error_block` joins them.
_PROBLEM = re.compile(
    r"(?P<what>.*?)(?: · allowed: (?P<allowed>.*?))?(?: · retry: (?P<retry>.*))?", re.DOTALL
)
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
_FENCE = "```"


class Pen(NamedTuple):
    """How text is set: wrapped at a width, 0 for not at all, and with or without colours."""

    width: int
    colour: bool

    def heading(self, text: str) -> str:
        """Return text as a heading."""
        return self._painted("1", text)

    def command(self, text: str) -> str:
        """Return a command as it is copied: one line, never wrapped."""
        return "    " + self._painted("36", text)

    def bad(self, text: str) -> str:
        """Return the word that says what is wrong."""
        return self._painted("1;31", text)

    def patch(self, line: str) -> str:
        """Return a line of a patch: what is added green, what is removed red."""
        marks = {"+": "32", "-": "31", "@": "36"}
        return self._painted(marks[line[0]], line) if line[:1] in marks else line

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def prose(self, text: str) -> str:
        """Return Markdown with its long lines wrapped, but not in code and never a command."""
        lines, is_code = [], False
        for line in text.split("\n"):
            is_code ^= line.lstrip().startswith(_FENCE)
            whole = is_code or not self.width or len(line) <= self.width or launcher() in line
            lines += [line] if whole else self._wrapped(line)
        return "\n".join(lines)

    def _wrapped(self, line: str) -> list[str]:
        found = _ITEM.match(line)
        indent = " " * (len(found[0]) if found else len(line) - len(line.lstrip()))
        return textwrap.wrap(
            line, self.width, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip


def text_of(block: str, width: int = 0, *, colour: bool = False) -> str:
    """Return a block as text for a person."""
    pen = Pen(width, colour)
    root = ET.fromstring(block)  # noqa: S314 – a block that this process has made
    parts = [_head(root, pen), *("\n".join(_PARTS[e.tag](e, pen)) for e in root)]
    text = "\n\n".join(filter(None, parts)) or "Done."
    # What setup allows to assistants answers with blocks; a person copies what answers with text.
    # In quotes or brackets it is no command but what a settings file holds.
    command = rf"(?<![(\"'\[]){re.escape(launcher())}"
    return re.sub(command, lambda _: quote(PROGRAM), text) + "\n"


def json_of(block: str) -> str:
    """Return a block as JSON: attributes by name, the text of an element, its children by tag."""
    root = ET.fromstring(block)  # noqa: S314 – the same
    return json.dumps({root.tag: _object(root)}, indent=2, ensure_ascii=False) + "\n"


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
    rows = [f"{_named(name)}: {visible(value)}" for name, value in told.items()]
    return "\n".join(filter(None, [title, *rows]))


def _prose(element: ET.Element, pen: Pen) -> Iterator[str]:
    yield pen.prose(_content(element))


def _rules(element: ET.Element, pen: Pen) -> Iterator[str]:
    yield pen.heading("Rules")
    yield from _prose(element, pen)


def _data(element: ET.Element, pen: Pen) -> Iterator[str]:
    """Yield a name and what it holds: on the same line, or below it as a list, table or patch."""
    told = dict(element.attrib)
    name, text = _named(told.pop("name", "")), _content(element).rstrip("\n")
    name += "".join(f", {_named(k).lower()} {visible(v)}" for k, v in told.items())
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


def _next(element: ET.Element, pen: Pen) -> Iterator[str]:
    on = visible(element.get("on", ""))
    yield pen.heading("Next:" if on == "done" else f"Next, {on}:")
    yield pen.command(element.text or "")


def _person(element: ET.Element, pen: Pen) -> Iterator[str]:
    yield pen.heading("For you to type:")
    yield pen.command(element.text or "")


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
    if retry := told.get("retry"):
        yield from ("  Run:", pen.command(retry))


def _content(element: ET.Element) -> str:
    return visible(element.text or "")


def _named(name: str) -> str:
    """Return a name of ours as words, such as `State dir`."""
    words = visible(name).replace("_", " ")
    return words[:1].upper() + words[1:]


_PARTS = {
    "task": _prose, "rules": _rules, "data": _data, "dispatch": _dispatch, "ask": _ask,
    "next": _next, "person": _person, "problem": _problem,
}  # fmt: skip
