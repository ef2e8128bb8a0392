"""Read what a command prints as a host does: what to write, whom to start, what to run next.

Whatever plays a host reads by it: the demo, the tests, their bot in real clients, the benchmarks.
It lies with the demo, since that one is shipped.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from cli.demo.evidence import evidence_in
from shared import resources

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

ANSWER = re.compile(r"answers/([\w-]+\.\w+)")
_MILESTONE = re.compile(r"/(M-\d{3,})\b")


@dataclass(frozen=True)
class Answer:
    """What one command printed."""

    code: int
    text: str
    stderr: str = ""

    @cached_property
    def block(self) -> ET.Element:
        """The printed block; raises ParseError where that is not well-formed XML."""
        return ET.fromstring(self.text)  # noqa: S314 – our own output

    @property
    def name(self) -> str:
        """Name of the printed step, or the root tag of a block that is not a step."""
        return self.block.get("name", self.block.tag)

    @property
    def state_dir(self) -> str:
        """State directory of the run; empty in a block that names none."""
        return self.block.get("state_dir", "")

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Kind and text of each problem of an error block."""
        return [(p.get("kind", ""), p.text or "") for p in self.block.iter("problem")]

    def retry(self) -> str:
        """Return the command that the last problem names for the host; else an empty text."""
        _, named, command = "".join(text for _, text in self.problems).rpartition(" · retry: ")
        return command if named else ""

    def all(self, tag: str) -> list[str]:
        """Return the text of each element of this kind."""
        return [element.text or "" for element in self.block.iter(tag)]

    def data(self, name: str) -> str:
        """Return the text of a data element; empty where there is none."""
        return next((d.text or "" for d in self.block.iter("data") if d.get("name") == name), "")

    def next(self, on: str | None = None) -> str:
        """Return the command of the first `next`, or of the one for this outcome."""
        for following in self.block.iter("next"):
            if on in (None, following.get("on")):
                return following.text or ""
        raise LookupError(f"nothing is next on {on}:\n{self.text}")

    def reads(self, on: str = "done") -> str:
        """Return the name of the answer file that the command for an outcome reads."""
        return next(iter(ANSWER.findall(self.next(on))), "")

    def person(self) -> str:
        """Return the command that a person types; empty where there is none."""
        return self.block.findtext("person", "")

    def runs(self) -> list[str]:
        """Return the command of each agent that the block starts."""
        return self.all("run")

    def commands(self) -> list[str]:
        """Return every command: in next, run, person, and in backquotes in our own text."""
        found = [command for tag in ("next", "run", "person") for command in self.all(tag)]
        ours = re.compile(rf"`({re.escape(resources.launcher())}[^`]*)`")
        return found + ours.findall("\n".join([*self.all("task"), *self.all("rules")]))

    def asked(self) -> list[str]:
        """Return the ids of the questions to a reviewer, in order."""
        return [line.split()[0] for line in self.data("questions").splitlines()]

    def evidence(self) -> dict[str, str]:
        """Return what a reviewer may name to answer each question, by the question's line."""
        lines = self.data("questions").splitlines()
        return {line: evidence_in(self.block, line) for line in lines}

    def answer_paths(self) -> dict[str, str]:
        """Return where the answer files go that task and commands ask for, by their names."""
        homes: dict[str, str] = {}
        for command in self.all("next"):
            for option, home in pairwise(shlex.split(command)):
                if option == "--state-dir":
                    homes |= dict.fromkeys(ANSWER.findall(command), home)
        named = sorted(set(ANSWER.findall("\n".join([*self.all("task"), *self.all("next")]))))
        return {n: resources.answer_path(homes.get(n, self.state_dir), n) for n in named}

    def worktree(self) -> tuple[str, str] | None:
        """Return the worktree that the task names, and its milestone or ''; None without one."""
        task, whole = self.block.findtext("task", ""), resources.worktree_path(self.state_dir)
        if whole in task:
            return whole, ""
        found = _MILESTONE.search(task)
        if found is None or resources.milestones_path(self.state_dir) not in task:
            return None
        return resources.milestone_worktree_path(self.state_dir, found[1]), found[1]

    def way(self, written: Iterable[str], choices: Container[str]) -> str:
        """Return the command to run next, '' where nothing leads on.

        Each answer file that it reads is among the paths `written`; where the block asks, it is
        for one of `choices`, the texts of options. Who gets a result goes on only where it is
        theirs. Where no agent is started, what is blocked is tried again before anything else.
        """
        block, picked = self.block, self._picked(choices)
        names = {os.path.basename(path) for path in written}
        found = [n for n in block.findall("next") if block.tag == "step" or n.get("on") == "done"]
        if block.find("dispatch") is None:
            found.sort(key=lambda n: not n.get("on", "").startswith("retry "))
        for following in found:
            command, on = following.text or "", following.get("on")
            if names.issuperset(ANSWER.findall(command)) and (picked is None or on in picked):
                return command
        return ""

    def _picked(self, choices: Container[str]) -> set[str] | None:
        """Return how a block may name options: by value, or with the id; None without questions."""
        asks = self.block.findall("ask")
        values = [
            (ask.get("id"), option.get("value", ""))
            for ask in asks
            for option in ask.findall("option")
            if option.text and option.text in choices
        ]
        return {name for id_, v in values for name in (f"{id_} {v}", v)} if asks else None
