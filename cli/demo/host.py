"""A script that plays the assistant in the demo: it follows printed blocks with recorded answers.

What a model would have to invent is recorded. All else is taken from the blocks, which makes the
demo a test of what they say.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from cli.demo.reading import asked_in, evidence_in, ways_on, worktree_in
from cli.demo.recorded import ANSWER, state_dirs
from cli.demo.telling import listed, outcome, quoted, shown
from shared import resources
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cli.demo.recorded import Recorded

MOST_CALLS, REFUSED = 40, 1  # of one player; the exit code that means: fix and try again
_REPORT = "run the demo again, or report it with what was printed"


class Call(NamedTuple):
    """One command that the demo ran; `by` is who would run it: the assistant, an agent or you."""

    words: Sequence[str]
    by: str
    code: int
    block: ET.Element
    printed: bytes
    seconds: float


class Stage(NamedTuple):
    """What all players of the demo share: the folder, the recorded answers, the environment."""

    folder: str
    recorded: Recorded
    env: Mapping[str, str]


class Player:
    """The assistant or an agent in the demo; passes a line of text on each event to `say`."""

    def __init__(self, stage: Stage, say: Callable[[str], None], name: str = "host") -> None:
        self.stage = stage
        self.say = say
        self.name = name
        self.calls: list[Call] = []
        self.agents: list[str] = []
        self.worktree = ""
        self.editor = name

    def play(self, words: Sequence[str]) -> ET.Element:
        """Run a command, then the commands that printed blocks ask for; return the last block."""
        for _ in range(MOST_CALLS):
            block = self.call(words, self.name)
            if block.tag != "error":
                words = self.follow(block)
            elif not self.edit():
                words = []
            if not words:
                return block
        raise Refused("refused", "demo", f"not ended after {MOST_CALLS} calls", _REPORT)

    def call(self, words: Sequence[str], by: str) -> ET.Element:
        """Run a printed command unchanged and return the block that it prints."""
        started = time.monotonic()
        done = subprocess.run(
            list(words), cwd=self.stage.folder, env=dict(self.stage.env), check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            block = ET.fromstring(done.stdout)  # noqa: S314 – our own output
        except ET.ParseError as error:
            text = f"the command printed no block ({error}) and ended with {done.returncode}"
            raise Refused("internal", shown(words), text, _REPORT) from None
        call = Call(words, by, done.returncode, block, done.stdout, time.monotonic() - started)
        self.calls.append(call)
        self.say(f"{call.seconds:5.1f} s  {shown(words)}\n         → {outcome(block)}")
        return block

    def follow(self, block: ET.Element) -> list[str]:
        """Do what a printed block asks for; return the next command as words, or an empty list."""
        written = self.write(block)
        if place := worktree_in(block):
            self.worktree, self.editor = place[0], place[1] or self.name
            self.edit()
        for command in block.findall("person"):
            words = shlex.split(command.text or "")
            self.say(f"         you would type: {shown(words)}")
            self.call(words, "person")
        stuck = [dispatch for dispatch in block.findall("dispatch") if not self.send(dispatch)]
        if stuck:
            return []
        picked = self.stage.recorded.chosen(block.findall("ask"))
        for following in ways_on(block):
            named = ANSWER.findall(following.text or "")
            if written.issuperset(named) and (not picked or following.get("on") in picked):
                return shlex.split(following.text or "")
        return []

    def write(self, block: ET.Element) -> set[str]:
        """Write the recorded answers that a printed block asks for; return their file names."""
        text = "\n".join(part.text or "" for part in block if part.tag in ("task", "next"))
        homes = state_dirs(block.findall("next"))
        questions = {line: evidence_in(block, line) for line in asked_in(block)}
        written = set()
        for name in sorted(set(ANSWER.findall(text))):
            if answer := self.stage.recorded.answer(name, questions):
                path = resources.answer_path(homes.get(name, block.get("state_dir", "")), name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(answer)
                self.say(f"         {self.name} writes answers/{name}")
                written.add(name)
        return written

    def edit(self) -> bool:
        """Make the next recorded edits in the scratch worktree; return whether any were made."""
        if not self.worktree or self.calls[-1].code not in (0, REFUSED):
            return False
        names = self.stage.recorded.edit(self.editor, self.worktree)
        if names:
            self.say(f"         {self.name} edits {listed(names)}")
        return bool(names)

    def send(self, dispatch: ET.Element) -> bool:
        """Start all agents that a printed block asks for, at once; return whether all finished."""
        runs = [shlex.split(run.text or "") for run in dispatch.findall("run")]
        role, alone = dispatch.get("agent", ""), len(runs) == 1
        names = [role] if alone else [f"{role} {n}" for n, _ in enumerate(runs, 1)]
        told: list[list[str]] = [[] if alone else [f"{name}:"] for name in names]
        says = [lambda line: self.say(quoted(line))] if alone else [x.append for x in told]
        agents = [Player(self.stage, *of) for of in zip(says, names, strict=True)]
        self.say(f"         {self.name} starts {', '.join(names)}{'' if alone else ' at once'}")
        with ThreadPoolExecutor() as pool:
            ended = list(pool.map(Player.play, agents, runs))
        for lines in filter(None, told):
            self.say(quoted("\n".join(lines)))
        self.calls += [call for agent in agents for call in agent.calls]
        self.agents += names
        return all(block.tag != "error" for block in ended)
