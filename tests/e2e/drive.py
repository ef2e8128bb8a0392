"""Plays host, agents and person by following printed commands; names no step by number.

Commands run in this process unless a Host asks for processes: starting Python for each of them
takes longer than all the work of most tests.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests.journey import Answer, call, passing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PLANNER = str(Path(__file__).resolve().parents[2] / "bin" / "planner")
MOST_STEPS = 40


class Block:
    """What one command printed, and its exit code."""

    def __init__(self, code: int, text: str, stderr: str) -> None:
        assert "Traceback" not in stderr, stderr
        self.code, self.text = code, text
        self.root = ET.fromstring(text)  # noqa: S314 – our own output
        self.name = self.root.get("name", self.root.tag)

    def all(self, tag: str) -> list[str]:
        return [element.text or "" for element in self.root.iter(tag)]

    def next(self, on: str) -> str:
        return next(e.text or "" for e in self.root.iter("next") if e.get("on") == on)

    def retry(self) -> str:
        return "".join(self.all("problem")).rpartition("retry: ")[2]

    def data(self, name: str) -> str:
        return "\n".join(e.text or "" for e in self.root.iter("data") if e.get("name") == name)


class Host:
    """Drives one run in the repository around `cwd`; `edit` is what the developer does.

    `files` are planned with an intent each, those of `tests` as tests. With `processes`, or an
    environment of its own, each command is started as a client does.
    """

    def __init__(
        self,
        cwd: Path,
        edit: Callable[[Path], object] = lambda _: None,
        files: Sequence[str] = (),
        tests: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        *,
        processes: bool = False,
    ) -> None:
        self.processes = processes or env is not None
        self.cwd, self.edit, self.env = cwd, edit, dict(env or {})
        self.state_dir = Path()
        self.answers = {
            "context.json": json.dumps({"task_spec": ["change what was asked"]}),
            "design.json": json.dumps(design(files, tests)),
            "docs.json": "[]",
            "reason.md": "The user has read it and wants it so.",
            "remarks.md": "Once more, please.",
        }

    def planner(self, *words: str, cwd: Path | None = None) -> Block:
        """Run a planner command, by default for the run."""
        if self.state_dir.is_absolute() and "--state-dir" not in words and words[0] != "validate":
            words = (*words, "--state-dir", str(self.state_dir))
        return self._run([PLANNER, *words], cwd or self.cwd)

    def follow(self, command: str) -> Block:
        """Run a printed command from a folder that has nothing to do with the repository.

        A person's short one is typed in the repository; after an approval the host goes on.
        """
        words = shlex.split(command)
        block = self._run(words, Path("/") if "--state-dir" in words else self.cwd)
        if words[1] != "approve" or block.code:
            return block
        return self.planner("step", "executor")

    def _run(self, command: Sequence[str], cwd: Path) -> Block:
        if not self.processes:
            assert command[0] == PLANNER, command
            return Block(*call(cwd, *command[1:]))
        env = {**os.environ, "PLANNER_PYTHON": sys.executable, **self.env}
        done = subprocess.run(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        return Block(done.returncode, done.stdout, done.stderr)

    def start(self, *options: str, request: str = "Change it") -> Block:
        """Start the run."""
        if "--depth" not in options:
            options = (*options, "--depth", "full")
        block = self.planner("start", request, *options)
        self.state_dir = Path(block.root.get("state_dir", ""))
        return block

    def to(self, name: str, block: Block | None = None) -> Block:
        """Do what each block asks until the one called `name`, or an end, is printed."""
        block = block or self.start()
        for _ in range(MOST_STEPS):
            if block.name in {name, "result", "error"}:
                return block
            for command in block.all("person"):
                said = self.follow(command)
                assert said.code == 0, said.text
            for command in block.all("run"):
                self.agent(command)
            command = block.all("next")[0]
            if name == "reconcile":
                # The printed command commits as well; this part of it is one of its own.
                command = command.replace("exec run", "exec apply")
            self._answer(block, shlex.split(command))
            block = self.follow(command)
        raise AssertionError(block.text)

    def agent(self, command: str) -> Block:
        """Be the agent that is started with a command, until its work is handed in."""
        block = self.follow(command)
        for _ in range(MOST_STEPS):
            assert block.code == 0, block.text
            if block.root.tag == "result":
                return block
            command = block.next("done")
            self._answer(block, shlex.split(command))
            block = self.follow(command)
        raise AssertionError(block.text)

    def verdicts(self, block: Block) -> str:
        """Answer every question of a reviewer with PASS, and decide so."""
        return json.dumps(passing(Answer(block.code, block.text)))

    def _answer(self, block: Block, words: Sequence[str]) -> None:
        for word in words:
            if word.startswith("answers/verdicts-"):
                (self.state_dir / word).write_text(self.verdicts(block))
            elif word.startswith("answers/"):
                stem = Path(word).stem.partition("-")[0]  # a later round has files of its own
                later = {"design": "design.json", "code": "design.json", "docs": "docs.json"}
                name = later.get(stem, Path(word).name)
                text = self.answers[name]
                if block.name == "context-verify" and "plan" in words:
                    context = {"op": "context", **json.loads(self.answers["context.json"])}
                    text = json.dumps([context, *json.loads(text)])
                (self.state_dir / word).write_text(text)
        named = str(self.state_dir / "worktree") in "".join(block.all("task"))
        if named and not block.data("questions"):  # a reviewer reads there
            self.edit(self.state_dir / "worktree")


def design(files: Sequence[str], tests: Sequence[str]) -> list[dict[str, object]]:
    """Return the edits of a plan with one milestone."""
    planned = {"files": list(tests), "type": "unit", "scenarios": {"normal": ["it works"]}}
    milestone = {
        "name": "Change", "files": [*files, *tests], "requirements": ["T-1"],
        "acceptance_criteria": ["it is changed"],
        "tests": planned if tests else {"skip_reason": "nothing to run"},
    }  # fmt: skip
    overview = {"title": "Change it", "problem": "It is old.", "approach": "Make it new."}
    intents: list[dict[str, object]] = [
        {
            "op": "add",
            "kind": "intent",
            "fields": {"milestone": "$m", "file": file, "behavior": "is new"},
        }
        for file in files
    ]
    return [
        {"op": "set", "id": "overview", "version": 1, "fields": overview},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": milestone},
        *intents,
    ]
