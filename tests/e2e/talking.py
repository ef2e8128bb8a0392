"""The state machine of a run in which people are asked, answer, and want something otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from tests import journey
from tests.e2e.machine import STARTED, RunMachine, WholeRun, moments
from tests.e2e.statements import StatedRun

if TYPE_CHECKING:
    from tests.e2e.drawn import Run, Work

ROLES = ("", "architect", "developer", "technical-writer")
ANSWERS = ("a", "b", "b", "words", "words", "you decide", "withdraw", "no option")
settled = st.sampled_from(["declined", "holds", "cited"])
blocks = st.integers(0, 3)
killed = st.none() | st.none() | moments

# How a run is drawn in which people talk.
TALKED: dict[str, st.SearchStrategy[Any]] = {
    "review": st.sampled_from(["none", "small", "full", "full"]),
    "depth": st.sampled_from(["full", "intent"]),
    "to": st.sampled_from(["context", "code", "submitted", "approved"]),
    "through": st.sampled_from([False, False, True]),
}


class TalkingMachine(WholeRun):
    """A whole run, with questions, answers and remarks between its steps."""

    run: StatedRun
    through = False
    said = 0

    def run_of(self, milestones: list[Work]) -> Run:
        run = StatedRun(self.repository, milestones)
        run.through = self.through
        return run

    @initialize(drawn=st.fixed_dictionaries(STARTED | TALKED))
    def start(self, drawn: dict[str, Any]) -> None:
        self.through = drawn["through"]
        super().start(drawn)

    @rule(to=st.sampled_from(["code", "submitted"]))
    def go_to(self, to: str) -> None:
        super().go_to(to)

    def begin_to_say(self, settles: str, after: int) -> None:
        """Say how statements are settled from now on; go on by some blocks, up to an approval."""
        self.run.settles = settles
        for _ in range(after):
            if self.run.point != journey.POINTS["submitted"]:
                self.go()

    @rule(role=st.sampled_from(ROLES), known=st.integers(0, 3), settles=settled, after=blocks)
    def ask(self, *, role: str, known: int, settles: str, after: int) -> None:
        """Ask the user as host or as an agent; also what was asked before."""
        self.begin_to_say(settles, after)
        asked = self.run.new_question()
        if not known and self.run.questions:
            first = next(iter(self.run.questions.values()))
            options = [{"key": key, "label": label} for key, label in first.labels.items()]
            asked = {"question": first.text, "options": options or asked["options"]}
        self.run.write_answer("asked.json", [asked])
        self.do("context", "ask", "--file", "answers/asked.json", *(["--role", role] * bool(role)))

    @rule(times=st.integers(1, 2))
    def agents_ask(self, *, times: int) -> None:
        """Let agents that the present block starts ask before they work."""
        self.run.asks = times
        self.go()
        self.run.asks = 0

    @rule(
        which=st.integers(0, 3), how=st.sampled_from(ANSWERS), moment=killed, settles=settled,
        after=blocks,
    )  # fmt: skip
    def answer(self, *, which: int, how: str, moment: int | None, settles: str, after: int) -> None:
        """Answer a question, of those that wait first, or answer one otherwise."""
        self.begin_to_say(settles, after)
        names = [*self.run.open_questions(), *self.run.questions, "CP-009"]
        name = names[min(which, len(names) - 1)]
        self.said += 1
        self.run.write_answer(f"{name}.md", f"As I say, {self.said}.\n")
        file = ("--file", f"answers/{name}.md")
        words = {
            "words": file, "withdraw": (*file, "--withdraw"), "you decide": ("b", "--you-decide"),
            "no option": ("z",),
        }.get(how, (how,))  # fmt: skip
        self.say(moment, "decide", name, *words)

    @rule(
        contrary=st.booleans(), by=st.sampled_from(["host", "person"]),
        moment=killed, settles=settled, after=blocks,
    )  # fmt: skip
    def remark(
        self, *, contrary: bool, by: str, moment: int | None, settles: str, after: int
    ) -> None:
        """Remark something, and perhaps the contrary at once."""
        self.begin_to_say(settles, after)
        self.said += 1
        for text in (f"Keep the name {self.said}.", f"Drop the name {self.said}.")[: 1 + contrary]:
            self.run.write_answer("remarks.md", text)
            words = ("plan", "revise", "--file", "answers/remarks.md")
            self.say(moment, *(("mode", "edit", text) if by == "person" else words))

    def say(self, moment: int | None, *words: str) -> None:
        """Run a command, which may be killed first; the same one then leads on."""
        if moment is not None:
            self.run.run_killed(moment, *words, "--state-dir", self.run.state_dir)
        self.do(*words)


class EveryMachine(TalkingMachine, RunMachine):
    """A whole run with all that may come between and all that may be said."""
