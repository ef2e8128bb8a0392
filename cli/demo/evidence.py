"""Find in a reviewer's block what answers a question: where the change shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_SCOPE = re.compile(r" (M-\d{3,}):")
_ABOUT = re.compile(r" (CI-\d{3,}):")
_SAID = re.compile(r" ((?:T|RM)-\d+):")
_OWN = re.compile(r"^  (CI-\d+) ", re.MULTILINE)
_CRITERION = "  accepted when: "
_INTENT = re.compile(r"^  CI-\d+ (\S+):", re.MULTILINE)
_FILES = re.compile(r"^  files: (.*)$", re.MULTILINE)
_TESTS = re.compile(r"^  tests(?:, \w+)?: (\S+)", re.MULTILINE)
_NEXT = re.compile(r"\nM-\d{3,} ")
_CHANGED = re.compile(r"^\+\+\+ (.*)$", re.MULTILINE)
_SIGN = re.compile(r'\\(["\\])')
_TRY = "Try to break"
_DEFINED = re.compile(r"^[ +](?:async )?def (\w+)", re.MULTILINE)
_HUNK = re.compile(r"@@ -\S+ \+(\d+)")


def evidence_in(block: Element, question: str) -> str:
    """Return what a reviewer may name to answer a question: an entry of the task, or a line.

    That is an intent of the milestone in question while nothing is written, else the first line
    that the change adds to a file of the intent or milestone. For acceptance criteria it is one of
    its test if that has changed, named once for each; of a try also what fails without the line.
    """
    if block.get("workflow") == "plan-design-qr" or block.get("name") == "plan-design-qr":
        part = _part_of(block.findtext("data[@name='plan']", ""), question)
        said = _SAID.search(question) or _OWN.search(part)
        return said[1] if said else "T-1"
    change = block.findtext("data[@name='change']", "")
    parts = _CHANGED.split(change)
    headers = (_name_in(header) for header in parts[1::2])
    patches = dict(zip(headers, parts[2::2], strict=True))
    plan = block.findtext("data[@name='plan']", "")
    rows = block.findtext("data[@name='questions']", "").splitlines()
    asked = {row.split()[0]: row for row in rows}
    if _TRY in asked.get(question.rpartition(": as ")[2], question):
        ran = "\n".join(data.text or "" for data in block.iter("data"))
        verified = "\n".join(row for row in ran.splitlines() if row.startswith("verify "))
        if "without: TEST" not in block.findtext("task", ""):
            return "verify 1: all of it passes"  # nothing else can run
        return _tried(patches, plan, question, verified)
    is_of_criteria = "criterion" in asked.get(question.rpartition(": as ")[2], question)
    tests = [t for t in _TESTS.findall(_part_of(plan, question)) if is_of_criteria]
    own = [*tests, *_files_of(plan, question)] or [*patches] or _INTENT.findall(plan)
    file = next((name for name in own if name in patches), [*own, ""][0])
    patch = patches.get(file, "").partition("\ndiff --git")[0]
    line = f"{file}:{_first_added(patch)}"
    if f"\n--- a/{file}\n+++ /dev/null" in change:
        line = f"{file}:1"
    same = (f"\nrename to {file}\n", f"diff --git a/{file} b/{file}\nold mode ")
    if any(head in change for head in same) and file not in patches:
        line = file  # moved, or another mode: no line of it is touched
    criteria = _part_of(plan, question).count(_CRITERION) if is_of_criteria else 1
    return "; ".join([line] * criteria)


def _tried(patches: dict[str, str], plan: str, question: str, verified: str) -> str:
    """Return a changed line with what fails without it: a test that has verified, else a call.

    The line is of a milestone that is for the statement which the question names.
    """
    said = _SAID.search(question)
    parts = [part for part in re.split(r"^(?=M-\d{3,} )", plan, flags=re.MULTILINE)
             if said and re.search(rf"\b{said[1]}\b", part.partition("\n")[0])]  # fmt: skip
    own = [name for part in parts for name in _INTENT.findall(part)]
    listed = [name for name in _TESTS.findall(plan) if name in verified]
    code = [name for name in patches if name.endswith(".py") and name in (own or patches)]
    for file in code:
        patch = patches[file].partition("\ndiff --git")[0]
        number, before = _last_added(patch)
        if not number:
            continue
        folder, _, name = file.rpartition("/")
        defined = _DEFINED.findall(before)
        called = f"; assert m.{defined[-1]}(0) is not None" if defined else ""
        module = f"import {name.removesuffix('.py')} as m"
        call = f'PYTHONPATH={folder or "."} python3 -c "{module}{called}"'
        return f"{file}:{number} without: {listed[0] if listed else call}"
    return "none: no code is changed"


def _last_added(patch: str) -> tuple[int, str]:
    """Return the number of the last line that a patch adds to a function, and the patch up to it.

    0 where it adds none: the last one is what a function returns.
    """
    number, found, lines = 0, (0, ""), patch.splitlines()
    for at, line in enumerate(lines):
        if hunk := _HUNK.match(line):
            number = int(hunk[1]) - 1
        elif line[:1] in (" ", "+"):
            number += 1
        if line.startswith("+") and line[1:].strip().startswith("return"):
            found = (number, "\n".join(lines[:at]))
    return found


def _name_in(header: str) -> str:
    """Return the file's name in a patch's header: with a tab after it, or quoted as in C."""
    name = header.rstrip("\t")
    if name.startswith('"'):
        name = _SIGN.sub(r"\1", name.strip('"'))
    return name.removeprefix("b/")


def _files_of(plan: str, question: str) -> list[str]:
    """Return the files of the intent or milestone that a question names; none without one."""
    if about := _ABOUT.search(question):
        return re.findall(rf"^  {about[1]} (\S+):", plan, re.MULTILINE)
    part = _part_of(plan, question)
    listed = [name for row in _FILES.findall(part) for name in row.split(", ")]
    return _INTENT.findall(part) or listed


def _part_of(plan: str, question: str) -> str:
    """Return the lines of the milestone that a question names; none without one."""
    scope = _SCOPE.search(question)
    part = f"\n{plan}".partition(f"\n{scope[1]} ")[2] if scope else ""
    return _NEXT.split(part)[0]


def _first_added(patch: str) -> int:
    """Return the number of the first line with text that a patch adds; 2 if there is none."""
    number = 0
    for line in patch.splitlines():
        if hunk := _HUNK.match(line):
            number = int(hunk[1]) - 1
        elif line[:1] in (" ", "+"):
            number += 1
        if line.startswith("+") and line[1:].strip():
            return number
    return 2
