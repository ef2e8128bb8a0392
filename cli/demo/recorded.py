"""The recorded answers, edits and choices of the demo's assistant, agents and user."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.demo.driver import Answer

RECORDED = os.path.dirname(os.path.abspath(__file__))


class Recorded:
    """The demo's recorded answers, edits and choices, each returned in the order of use.

    `answers/N/NAME` is for the Nth block that names the file, `edits/WHO/N` are somebody's Nth
    edits, `choices.json` lists what the user picks.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.times: Counter[str] = Counter()
        self.choices: list[str] = json.loads(_read(os.path.join(folder, "choices.json")) or "[]")

    def answer(self, name: str, questions: Mapping[str, str]) -> str:
        """Return the next recorded text for the demo answer called `name`, empty if there is none.

        Of the answers to `questions`, which map to their evidence, only the findings are recorded.
        """
        self.times[name] += 1
        text = _read(os.path.join(self.folder, "answers", str(self.times[name]), name))
        if not questions:
            return text
        findings = json.loads(text or "[]")
        rows = [_verdict(line, findings, shows) for line, shows in questions.items()]
        failed = any(row["status"] == "FAIL" for row in rows)
        return json.dumps([*rows, {"verdict": "fail" if failed else "pass"}], indent=1)

    def answers(self, asked: Answer) -> dict[str, str]:
        """Return the next recorded answers to what a block asks for, by the path of each file."""
        evidence = asked.evidence()
        texts = {p: self.answer(name, evidence) for name, p in asked.answer_paths().items()}
        return {path: text for path, text in texts.items() if text}

    def edit(self, who: str, worktree: str) -> list[str]:
        """Copy a demo player's next recorded edits into a worktree; return the file names."""
        folder = self.next_edit(who)
        if not folder:
            return []
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, worktree, dirs_exist_ok=True, ignore=unwanted)
        return sorted(name for name in os.listdir(folder) if name != "__pycache__")

    def next_edit(self, who: str) -> str:
        """Return the folder of a demo player's next recorded edits, "" if there are no more."""
        number = self.times[who] + 1
        folder = os.path.join(self.folder, "edits", who, str(number))
        if not os.path.isdir(folder):
            return ""
        self.times[who] = number
        return folder


def _verdict(line: str, findings: list[dict[str, str]], evidence: str) -> dict[str, str]:
    item = line.partition(" ")[0]
    for found in findings:
        if found["question"] in line:
            return {"id": item, "status": "FAIL", "finding": found["finding"]}
    return {"id": item, "status": "PASS", "evidence": evidence}


def _read(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()
