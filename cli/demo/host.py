"""A script that plays the assistant in the demo: it follows printed blocks with recorded answers.

What a model would have to invent is recorded. All else is taken from the blocks, which makes the
demo a test of what they say.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import ParseError

from cli.demo.driver import Answer
from cli.demo.telling import listed, outcome, quoted, short_command
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from cli.demo.recorded import Recorded

MOST_CALLS, REFUSED = 40, 1  # of one player; the exit code that means: fix and try again
_REPORT = "run the demo again, or report it with what was printed"


@dataclass(frozen=True)
class Call(Answer):
    """One command of the demo, answered."""

    words: Sequence[str] = ()
    # Who ran it: the assistant, an agent, or you.
    by: str = ""
    seconds: float = 0.0


class Stage(NamedTuple):
    """What all players of the demo share: the folder, the recorded answers, the environment."""

    folder: str
    recorded: Recorded
    env: Mapping[str, str]


class Player:
    """The assistant or an agent in the demo."""

    def __init__(self, stage: Stage, say: Callable[[str], None], name: str = "host") -> None:
        self.stage = stage
        # Gets a line of text on each event.
        self.say = say
        self.name = name
        self.calls: list[Call] = []
        self.agents: list[str] = []
        self.worktree = ""
        self.editor = name

    def play(self, words: Sequence[str]) -> Call:
        """Run a command, then the commands that printed blocks ask for; return the last call."""
        for _ in range(MOST_CALLS):
            call = self.call(words, self.name)
            if call.block.tag != "error":
                words = self.follow(call)
            elif not self.edit():
                words = []
            if not words:
                return call
        raise Refused("refused", "demo", f"not ended after {MOST_CALLS} calls", _REPORT)

    def call(self, words: Sequence[str], by: str) -> Call:
        """Run a printed command unchanged; what it prints is a block."""
        started = time.monotonic()
        done = subprocess.run(
            list(words), cwd=self.stage.folder, env=dict(self.stage.env), check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )  # fmt: skip
        seconds = time.monotonic() - started
        call = Call(done.returncode, done.stdout.decode(errors="replace"), "", words, by, seconds)
        try:
            told = outcome(call)
        except ParseError as error:
            text = f"the command printed no block ({error}) and ended with {done.returncode}"
            raise Refused("internal", short_command(words), text, _REPORT) from None
        self.calls.append(call)
        self.say(f"{seconds:5.1f} s  {short_command(words)}\n         → {told}")
        return call

    def follow(self, answer: Answer) -> list[str]:
        """Do what a printed block asks for; return the next command as words, or an empty list."""
        written = self.write(answer)
        if place := answer.worktree():
            self.worktree, self.editor = place[0], place[1] or self.name
            self.edit()
        for command in answer.all("person"):
            words = shlex.split(command)
            self.say(f"         you would type: {short_command(words)}")
            self.call(words, "person")
        starts = answer.block.findall("dispatch")
        stuck = [dispatch for dispatch in starts if not self.send(dispatch)]
        return [] if stuck else shlex.split(answer.way(written, self.stage.recorded.choices))

    def write(self, answer: Answer) -> Iterable[str]:
        """Write the recorded answers that a printed block asks for; return the paths."""
        texts = self.stage.recorded.answers(answer)
        for path, text in texts.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.say(f"         {self.name} writes answers/{os.path.basename(path)}")
        return texts

    def edit(self) -> bool:
        """Make the next recorded edits in the scratch worktree; return whether any were made."""
        if not self.worktree or self.calls[-1].code not in (0, REFUSED):
            return False
        names = self.stage.recorded.edit(self.editor, self.worktree)
        if names:
            self.say(f"         {self.name} edits {listed(names)}")
        return bool(names)

    def send(self, dispatch: Element) -> bool:
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
        return all(call.block.tag != "error" for call in ended)
