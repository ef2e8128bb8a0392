"""The recorded answers, edits and choices of the demo's assistant, agents and user."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class Recorded:
    """The demo's recorded answers, edits and choices, each returned in the order of use.

    `answers/N/NAME` is for the Nth block that names the file, `edits/WHO/N` are somebody's Nth
    edits, `choices.json` lists what the user picks.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.times: Counter[str] = Counter()
        self.choices: list[str] = json.loads(_read(os.path.join(folder, "choices.json")) or "[]")

    def answer(self, name: str, questions: str) -> str:
        """Return the next recorded text for the demo answer called `name`, empty if there is none.

        Of the answers to `questions`, lines that start with an id, only the findings are recorded.
        """
        self.times[name] += 1
        text = _read(os.path.join(self.folder, "answers", str(self.times[name]), name))
        if not questions:
            return text
        findings = json.loads(text or "[]")
        return json.dumps([_verdict(line, findings) for line in questions.splitlines()], indent=1)

    def edit(self, who: str, worktree: str) -> list[str]:
        """Copy a demo player's next recorded edits into a worktree; return the file names."""
        number = self.times[who] + 1
        folder = os.path.join(self.folder, "edits", who, str(number))
        if not os.path.isdir(folder):
            return []
        self.times[who] = number
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, worktree, dirs_exist_ok=True, ignore=unwanted)
        return sorted(name for name in os.listdir(folder) if name != "__pycache__")

    def chosen(self, ask: Element) -> str:
        """Return id and value of the option that the demo's user picks, "" if none is recorded."""
        options = (o for o in ask.findall("option") if o.text in self.choices)
        return next((f"{ask.get('id')} {o.get('value')}" for o in options), "")


def _verdict(line: str, findings: list[dict[str, str]]) -> dict[str, str]:
    item = line.partition(" ")[0]
    for found in findings:
        if found["question"] in line:
            return {"id": item, "status": "FAIL", "finding": found["finding"]}
    return {"id": item, "status": "PASS"}


def _read(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()
