"""Plays rounds of the requirements lane by following its printed blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shared.requirements_record import CURRENT, ORIGINAL, read_lane
from tests.journey import FILES, Answer, Driven, Journey, words_of
from tests.prepared import kept

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository

WANTED = "- f adds two\n\n## Out of scope\n\n- g\n"
SUMMARY = "f adds two instead of one.\n"
MESSAGE = "Add two in f\n\nThe constant is two; the name stays.\n"
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


class Rounds(Driven):
    """One requirements lane in one repository."""

    def __init__(self, repository: Repository, *options: str, codepath: Path | None = None) -> None:
        self.repository = repository
        self.codepath = codepath or repository.path
        self.options = options
        self.read: list[str] = []
        self.plan: Journey | None = None
        self.edits: dict[str, str | bytes] = {
            "src/a.py": "def f(x):\n    return x + 2\n",
            "tests/test_a.py": "from a import f\n\nassert f(1) == 3\n",
        }
        self.design: list[dict[str, Any]] | None = None

    # single calls

    @kept
    def start(self) -> Answer:
        """Begin the requirements lane, as a user does who names the lane and the folder."""
        words = ("start", "--planning", "--codepath", str(self.codepath), *self.options)
        self.last = self.call(*words)
        if self.last.code == 0:
            self.state_dir = self.last.state_dir
            self.read.append(self.last.text)
        return self.last

    def run(self, *words: str) -> Answer:
        """Run a command of the lane; what it prints is the block before the host now."""
        self.last = self.planner("requirements", *words)
        return self.last

    def follow(self, on: str | None = None) -> Answer:
        """Run the command that the block names for an outcome."""
        self.last = self.call(*words_of(self.last.next(on)))
        self.read.append(self.last.text)
        return self.last

    # files

    def path(self, name: str) -> Path:
        return self.codepath / "planning" / name

    def write(self, name: str, text: str) -> None:
        self.path(name).write_text(text, encoding="utf-8")

    def text(self, name: str) -> str:
        return self.path(name).read_text(encoding="utf-8")

    def names(self) -> list[str]:
        """Return the files of the planning folder, times in their names replaced."""
        found = (p.name for p in self.path("").iterdir())
        return sorted(re.sub(r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}", "TIME", name) for name in found)

    def history(self) -> str:
        """Return the history with times and commits replaced."""
        text = re.sub(TIME, "TIME", self.text("planner_history.txt"))
        text = re.sub(r"\b[0-9a-f]{40}\b", "COMMIT", text)
        return re.sub(r"\d{4}(-\d\d){2}_\d\d(-\d\d){2}", "TIME", text)

    @property
    def state(self) -> str:
        """Return the name of the state that the requirements lane is in."""
        return self.planner("step", "requirements").name

    @property
    def facts(self) -> Any:  # noqa: ANN401 – its fields are what tests look at
        return read_lane(self.state_dir)

    # the way

    @kept
    def to_prompt(self) -> Answer:
        """Go on to the state in which the user writes their requirements."""
        if not self.state_dir:
            self.start()
        return self.follow("yes") if self.last.name == "startup" else self.last

    @kept
    def to_review(self, wanted: str = WANTED) -> Answer:
        """Write requirements and begin their review."""
        self.to_prompt()
        self.write("new_requirements.md", wanted)
        return self.follow("another" if self.last.block.find("ask") is not None else "done")

    def review(self, refined: str = WANTED) -> None:
        """Do what the reviewing agent does: its edits in front, in place of earlier ones."""
        answer = self.call(*words_of(self.last.runs()[0]))
        assert answer.code == 0, answer.text
        self.read.append(answer.text)
        name = "new_requirements.md"
        _, mark, original = self.text(name).partition(ORIGINAL)
        kept = mark + original if mark else self.text(name)
        self.write(name, f"{CURRENT}\n\n{refined}\n{kept}")

    @kept
    def to_accepted(self, wanted: str = WANTED) -> Answer:
        """Have the requirements reviewed, so that the user is asked about them."""
        self.to_review(wanted)
        self.review(wanted)
        return self.follow("done")

    @kept
    def to_plan(self, wanted: str = WANTED) -> Journey:
        """Accept the requirements, so that the plan that implements them begins."""
        self.to_accepted(wanted)
        self.write_answer("summary.md", SUMMARY)
        return self.begin_plan(self.follow("yes"))

    def begin_plan(self, block: Answer) -> Journey:
        """Return the plan's run at the block that started it, to be driven on its own."""
        assert block.code == 0, block.text
        plan = Journey(self.repository)
        plan.answers["context.json"] = {}
        if self.design is not None:
            plan.answers["design.json"] = self.design
        plan.edits = self.edits
        plan.last, plan.state_dir = block, block.state_dir
        assert plan.planner("start", "--review", "none").code == 0
        self.plan = plan
        return plan

    @kept
    def to_applied(self, wanted: str = WANTED) -> Answer:
        """Have the plan made, approved and applied."""
        self.last = self.to_plan(wanted).to("applied").last
        self.read.append(self.last.text)
        return self.last

    @kept
    def to_ready(self, wanted: str = WANTED) -> Answer:
        """Complete the requirements, so that the user is shown the commit."""
        self.to_applied(wanted)
        return self.follow("done")

    @kept
    def to_committed(self, wanted: str = WANTED) -> Answer:
        """Make the commit, with which a new round begins."""
        self.to_ready(wanted)
        return self.follow("continue")


__all__ = ["FILES", "MESSAGE", "SUMMARY", "WANTED", "Rounds"]
