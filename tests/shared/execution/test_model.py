"""Execution against a reference model: any order of events, pauses, time limits and crashes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.forms import LONG
from tests.shared.execution.scene import OPTIONS, Scene, checkpoint, milestone

pytestmark = [pytest.mark.requirement(name) for name in ("PC-2", "PC-4", "PC-8", "PC-9")]


class Model:
    """What the specification says; knows milestones as id → (dependencies, files, questions)."""

    def __init__(self, plan: dict[str, tuple[set[str], set[str], set[str]]], most: int) -> None:
        self.plan, self.most, self.paused = plan, most, False
        self.limits = dict[str, int]()
        self.open = {name: set(questions) for name, (_, _, questions) in plan.items()}
        self.status = {n: "NEEDS_DECISION" if q else "PENDING" for n, q in self.open.items()}

    def named(self, *statuses: str) -> list[str]:
        return [name for name, status in self.status.items() if status in statuses]

    def runnable(self) -> list[str]:
        busy, found = self.named("IN_PROGRESS"), list[str]()
        for name, (before, files, _) in self.plan.items():
            taken = {file for other in busy + found for file in self.plan[other][1]}
            ready = before <= set(self.named("COMPLETED")) and not files & taken
            room = len(busy + found) < self.most and not self.paused
            if self.status[name] == "PENDING" and ready and room:
                found.append(name)
        return found

    def ask(self, name: str, question: str) -> None:
        self.open[name].add(question)
        self.status[name] = "NEEDS_DECISION"

    def answer(self, question: str) -> None:
        for name in [n for n, questions in self.open.items() if question in questions]:
            self.open[name].discard(question)
            self.status[name] = "NEEDS_DECISION" if self.open[name] else "PENDING"

    def time_out(self) -> None:
        for name in [] if self.paused else self.named("NEEDS_DECISION"):
            self.status[name] = "BLOCKED"

    def retry(self, name: str) -> None:
        self.limits.pop(name, None)
        self.status[name] = "NEEDS_DECISION" if self.open[name] else "PENDING"

    def crash(self) -> None:
        self.status |= dict.fromkeys(self.named("IN_PROGRESS"), "PENDING")

    def limit(self, name: str) -> None:
        self.limits[name] = self.limits.get(name, 0) + 1
        self.status[name] = "PENDING" if self.limits[name] < 5 else "BLOCKED"


names = st.sampled_from
FILES = "abcde"


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return milestones that depend on earlier ones, share files and wait for questions."""
    found = []
    for number in range(1, draw(st.integers(2, 7)) + 1):
        earlier = [str(n) for n in range(1, number)]
        after = draw(st.lists(names(earlier), unique=True, max_size=2)) if earlier else []
        files = draw(st.lists(names(FILES), unique=True, min_size=1, max_size=2))
        waits = draw(st.lists(names(["CP-001", "CP-002"]), unique=True, max_size=1))
        found.append(milestone(number, " ".join(files), " ".join(after), waits_for=waits))
    return found


class Executions(RuleBasedStateMachine):
    """Every rule does the same to the real run, opened anew each time, and to the model."""

    @initialize(plan=plans(), most=st.integers(1, 4))
    def begin(self, plan: list[dict[str, Any]], most: int) -> None:
        self.folder = tempfile.mkdtemp(prefix="execution-")
        self.scene = Scene(
            Path(self.folder), plan, [checkpoint(1), checkpoint(2)],
            max_parallel_steps=most, decision_timeout_seconds=60,
        )  # fmt: skip
        self.scene.do("begin")
        self.model = Model(
            {m["id"]: (set(m["depends_on"]), set(m["files"]), set(m["waits_for"])) for m in plan},
            most,
        )

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.finish()
            shutil.rmtree(self.folder)

    def one(self, data: st.DataObject, *statuses: str) -> str:
        return data.draw(names(self.model.named(*statuses)))

    def has(self, *statuses: str) -> bool:
        return bool(self.model.named(*statuses))

    @precondition(lambda self: self.model.runnable())
    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        name = data.draw(names(self.model.runnable()))
        self.scene.do("start", name, "an agent")
        self.model.status[name] = "IN_PROGRESS"

    @precondition(lambda self: self.has("IN_PROGRESS"))
    @rule(data=st.data())
    def succeed(self, data: st.DataObject) -> None:
        name = self.one(data, "IN_PROGRESS")
        self.scene.do("succeed", name)
        self.model.status[name] = "COMPLETED"

    @precondition(lambda self: self.has("IN_PROGRESS"))
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        name = self.one(data, "IN_PROGRESS")
        self.scene.do("block", name, "it failed")
        self.model.status[name] = "BLOCKED"

    @precondition(lambda self: self.has("IN_PROGRESS"))
    @rule(data=st.data())
    def limited(self, data: st.DataObject) -> None:
        name = self.one(data, "IN_PROGRESS")
        self.scene.do("hold_off", name, 1)
        self.model.limit(name)
        assert self.model.status[name] == "BLOCKED" or name not in self.scene.view().runnable()
        self.scene.limits_pass()

    @precondition(lambda self: self.has("IN_PROGRESS"))
    @rule(data=st.data(), number=st.integers(1, 3))
    def ask(self, data: st.DataObject, number: int) -> None:
        name = self.one(data, "IN_PROGRESS")
        question = {"question": f"{name} asks {number}", "options": OPTIONS}
        asked = self.scene.do("ask", name, [question])[0]
        if asked not in self.scene.view().answers:
            self.model.ask(name, asked)

    @precondition(lambda self: any(self.model.open.values()))
    @rule(data=st.data())
    def decide(self, data: st.DataObject) -> None:
        asked = {question for questions in self.model.open.values() for question in questions}
        question = data.draw(names(sorted(asked)))
        self.scene.do("decide", question, [data.draw(names(["jwt", "session"]))])
        self.model.answer(question)

    @precondition(lambda self: self.has("BLOCKED", "PENDING"))
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        name = self.one(data, "BLOCKED", "PENDING")
        self.scene.do("retry", name)
        self.model.retry(name)

    @rule()
    def time_passes(self) -> None:
        self.scene.time_passes()
        self.model.time_out()
        self.scene.settle()
        # What is asked again is asked now, as after a pause.
        self.scene.all_asked("2999-01-01T00:00:00Z")

    @rule()
    def pause_or_resume(self) -> None:
        self.scene.move("resume" if self.model.paused else "pause")
        self.model.paused = not self.model.paused

    @rule()
    def crash(self) -> None:
        self.scene.do("recover")
        self.model.crash()

    @invariant()
    def the_run_is_as_the_model_says(self) -> None:
        if not hasattr(self, "scene"):
            return
        view = self.scene.view()
        assert self.scene.statuses() == self.model.status
        assert view.runnable() == self.model.runnable()
        busy = self.model.named("IN_PROGRESS")
        files = [file for name in busy for file in self.model.plan[name][1]]
        assert len(files) == len(set(files)), "two in progress share a file"
        assert all(self.model.status[d] == "COMPLETED" for n in busy for d in self.model.plan[n][0])
        said = {*view.reasons(), *view.runnable(), *busy, *self.model.named("COMPLETED")}
        assert said == set(self.model.plan) or self.model.paused, "one waits without a reason"

    def finish(self) -> None:
        """Whatever happened, answers and retries lead to the end, with the summary of the model."""
        if self.model.paused:
            self.pause_or_resume()
        for question in sorted({q for questions in self.model.open.values() for q in questions}):
            self.scene.do("decide", question, ["jwt"])
            self.model.answer(question)
        for name in self.model.named("BLOCKED"):
            self.scene.do("retry", name)
            self.model.retry(name)
        while (ready := self.model.runnable()) or self.has("IN_PROGRESS"):
            for name in ready:
                self.scene.do("start", name)
                self.model.status[name] = "IN_PROGRESS"
            self.the_run_is_as_the_model_says()
            for name in self.model.named("IN_PROGRESS"):
                self.scene.do("succeed", name)
                self.model.status[name] = "COMPLETED"
        summary = self.scene.view().summary()
        assert (summary.done, summary.total, summary.blocked) == (
            len(self.model.named("COMPLETED")), len(self.model.plan), {}
        )  # fmt: skip
        assert summary.done == summary.total


TestExecutions = Executions.TestCase
TestExecutions.settings = settings(
    max_examples=100 if LONG else 8, stateful_step_count=20,
    # Each example is a database on disk; making a failing one smaller would take minutes.
    phases=(Phase.reuse, Phase.generate),
)  # fmt: skip
