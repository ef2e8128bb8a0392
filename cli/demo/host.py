"""A host that is a script: it follows printed blocks with recorded answers and knows no workflow.

What it would think up is recorded: an answer by the name of its file, edits as attempts in order.
All else it takes from the blocks, which makes the demo a test of what they say.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_CALLS = 40
REFUSED = 1  # the exit code that means: mend and ask again
LONGEST_WORD = 40  # a digest or commit has 40 or more


class Call(NamedTuple):
    """One command that was run; `by` is who would have: host or person."""

    words: Sequence[str]
    by: str
    code: int
    block: ET.Element
    printed: bytes
    seconds: float


class Host:
    """Works in `folder` with what lies in `recorded`; tells `say` what happens, a line each."""

    def __init__(
        self, folder: str, recorded: str, say: Callable[[str], None], env: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.recorded = recorded
        self.say = say
        self.env = env
        self.calls: list[Call] = []
        self.worktree = ""
        self.attempts = 0

    def play(self, words: Sequence[str]) -> ET.Element:
        """Run a command, then what each block asks for; return the block that leads no further."""
        block = self.call(words, "host")
        while len(self.calls) < MOST_CALLS:
            if block.tag == "error":
                if not self.mend():
                    return block
            else:
                self.answer(block)
                following = block.find("next")
                if following is None:
                    return block
                words = shlex.split(following.text or "")
            block = self.call(words, "host")
        raise Refused("refused", "demo", f"there is no end after {MOST_CALLS} calls")

    def call(self, words: Sequence[str], by: str) -> ET.Element:
        """Run a printed command as it stands and return the block that it prints."""
        began = time.monotonic()
        done = subprocess.run(
            list(words), cwd=self.folder, env=dict(self.env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        try:
            block = ET.fromstring(done.stdout)  # noqa: S314 – our own output
        except ET.ParseError as error:
            text = f"it printed no block ({error}) and ended with {done.returncode}"
            raise Refused("internal", shown(words), text) from None
        call = Call(words, by, done.returncode, block, done.stdout, time.monotonic() - began)
        self.calls.append(call)
        self.say(f"{call.seconds:5.1f} s  {shown(words)}\n         → {outcome(block)}")
        return block

    def answer(self, block: ET.Element) -> None:
        """Do what the task names, as far as it is recorded, and be the person where one is due."""
        task, run = block.findtext("task", ""), block.get("state_dir", "")
        for name in sorted(os.listdir(os.path.join(self.recorded, "answers"))):
            path = os.path.join(run, "answers", name)
            if run and path in task:
                shutil.copyfile(os.path.join(self.recorded, "answers", name), path)
                self.say(f"         the host writes answers/{name}")
        worktree = os.path.join(run, "worktree")
        if run and worktree in task:
            self.worktree = worktree
            self.edit()
        for command in block.findall("person"):
            words = shlex.split(command.text or "")
            self.say(f"         you would type: {shown(words)}")
            self.call(words, "person")

    def mend(self) -> bool:
        """Edit what the last command refused; False where nothing more is recorded for it."""
        return bool(self.worktree) and self.calls[-1].code == REFUSED and self.edit()

    def edit(self) -> bool:
        """Copy the next recorded attempt into the worktree; False when there is none."""
        attempt = os.path.join(self.recorded, "edits", str(self.attempts + 1))
        if not os.path.isdir(attempt):
            return False
        self.attempts += 1
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(attempt, self.worktree, dirs_exist_ok=True, ignore=unwanted)
        names = ", ".join(sorted(n for n in os.listdir(attempt) if n != "__pycache__"))
        self.say(f"         the host edits {names} in the worktree (attempt {self.attempts})")
        return True


def shown(words: Sequence[str]) -> str:
    """Return a command as a person would like to read it: no folders, long words cut."""
    kept = [os.path.basename(words[0]), *words[1:]]
    if "--state-dir" in kept:
        at = kept.index("--state-dir")
        del kept[at : at + 2]
    cut = (_cut(w) for w in kept)
    return " ".join(f'"{w}"' if " " in w else w for w in cut)


def _cut(word: str) -> str:
    if os.path.isabs(word):
        return f"…/{os.path.basename(word)}"
    return word if len(word) < LONGEST_WORD or " " in word else f"{word[:12]}…"


def outcome(block: ET.Element) -> str:
    """Return what a block is, in a line."""
    if block.tag == "error":
        return "; ".join(f"{p.get('kind')}: {first_words(p)}" for p in block.iter("problem"))
    if block.tag == "result":
        names = [d.get("name", "") for d in block.findall("data")]
        return ", ".join(names or (f"{value} {name}" for name, value in block.items())) or "done"
    return f"{block.get('workflow')} {block.get('number')}/{block.get('of')} {block.get('name')}"


def first_words(problem: ET.Element) -> str:
    """Return the first statement of a problem."""
    return (problem.text or "").partition(";")[0].partition(" · ")[0].partition("\n")[0]
