"""A run that remembers what a person says of it, and checks what becomes of that (SD-1 to SD-3).

It goes by the commands and their answers, and looks at the plan that is frozen in the end.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shared.run import open_state
from shared.steps.entry_points import find_workflow, workflow_of
from tests.e2e.drawn import Run
from tests.strategies import plan as strategic_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from state.phases import Phase
    from tests.conftest import Repository
    from tests.e2e.drawn import Work
    from tests.e2e.watched import Frozen
    from tests.journey import Answer

PHASES = ("plan-design", "plan-code", "plan-docs", "impl-code", "impl-docs")
WORK = ("overview", "planning_context", "milestones", "invisible_knowledge", "diagrams")
HOST_STEPS = {"planner", "executor"}
REQUEST = ("f adds two", "h is kept")
QUESTION, ANSWER = "Which f is meant?", "The one of src/a.py."
GOALS, CRITERION = ("f is right", "its caller is right"), "f(1) is 3"
BY_PROGRAM = re.compile(r"CP-\d+ is answered otherwise now: ")


@dataclass
class Question:
    """A question to the user; `phase` is due when it is asked."""

    phase: str
    text: str
    labels: dict[str, str]
    holds: bool = True  # the whole run, not only the milestone whose agent has asked it
    answers: list[str] = field(default_factory=list)  # in words, as they must be read later
    at: int = 0  # when it was answered last


@dataclass
class Late:
    """What was said after the work that it is about: that work has to end again after it."""

    phase: str
    at: int
    work: str  # as it was then; '' where what was said came in time


class StatedRun(Run):
    """A watched run that knows what was said of it; `through` a strategy it begins with one."""

    def __init__(self, repository: Repository, milestones: list[Work]) -> None:
        super().__init__(repository, milestones)
        self.through = False
        self.task = [*REQUEST]
        self.answers["context.json"] = {"task_spec": [REQUEST[0], f"out of scope: {REQUEST[1]}"]}
        self.answers["code.json"] = []  # a refusal says then what has no outcome
        self.questions: dict[str, Question] = {}
        self.remarks: dict[str, int] = {}  # how often each was said
        self.late: dict[str, Late] = {}
        self.ended: dict[str, int] = {}  # when the work step of each phase has ended last
        self.clock = 0
        self.where = ("planner", 1)  # workflow and step that were due before a command
        self.phase = "plan-design"  # of that step
        self.kept: list[bytes] = [b"", b""]  # plan.json before a command and after it
        self.checked = ""  # the digest that was checked last
        self.asks = 0  # how many of the next agents ask instead of working

    # the run

    def start(self, *options: str) -> Answer:
        """Start it, where it goes through a strategy with a question of it to the user."""
        if not self.through:
            return super().start(*options)
        given = dict(zip(options[::2], options[1::2], strict=True))
        # With options that say how to plan it would not begin with a strategy.
        self.last = self.run("start", self.request)
        if self.last.data("planned"):
            self.last = self.run(*self.last.next("beside").split()[1:])
        if self.last.code:
            return self.last
        self.state_dir = self.last.state_dir
        asked = strategic_plan("clarify", clarification_question=QUESTION) | {"goals": []}
        self.write_answer("route.json", asked)
        self.follow(self.last.next("done"))
        self.write_answer("clarified.md", ANSWER)
        self.follow(self.last.next("done"))
        goals = [{"id": f"GOAL_{n}", "description": text} for n, text in enumerate(GOALS, 1)]
        depth = given.get("--depth", "full")
        more: dict[str, Any] = {"depth": depth, "success_criteria": CRITERION}
        self.write_answer("route.json", strategic_plan("executor", *goals, **more))
        self.task += [*GOALS, CRITERION]
        self.questions["CP-001"] = Question("plan-design", QUESTION, {}, answers=[ANSWER])
        for edit in self.answers["design.json"]:
            if edit.get("kind") == "milestone":
                edit["fields"]["requirements"] = ["T-1", "T-2", "T-3", "T-4"]
        self.follow(self.last.next("done"))
        if given["--base"] in _ways(self.last):  # there is work of the user
            self.follow(self.last.next(given["--base"]))
        return self.last

    def be_agent(self, command: str) -> Answer:
        """Be an agent, which may ask the user and end."""
        if not self.asks:
            return super().be_agent(command)
        self.asks -= 1
        before_the_host = self.last
        block = self.follow(command)
        while block.block.tag == "step" and "question" not in _ways(block) and _ways(block):
            block = self.follow(block.next())  # it reads its task in several steps
        if "question" in _ways(block):
            self.write_answer(block.reads("question"), [self.new_question()])
            block = self.follow(block.next("question"))
        self.last = before_the_host
        return block

    def new_question(self) -> dict[str, Any]:
        """Return a question that was not asked before."""
        number = len(self.questions) + 1
        options = [{"key": k, "label": f"Way {k} of {number}."} for k in "ab"]
        return {"question": f"Which way, {number}?", "options": options}

    # what was said

    def frozen(self) -> Frozen:
        path = Path(self.state_dir, "plan.json")
        data = path.read_bytes() if self.state_dir and path.exists() else b""
        self.kept = [self.kept[1], data]
        return super().frozen()

    def check(self, argv: tuple[str, ...], answer: Answer, before: Any, plan: Frozen) -> None:  # noqa: ANN401
        """Check an answer as ever, and what has become of all that was said."""
        waiting = self.open_questions()
        super().check(argv, answer, before, plan)
        self.clock += 1
        said = f"{shlex.join(argv)}\n{answer.text}"
        if answer.text.startswith("<error"):
            assert self.kept[0] == self.kept[1], f"an error has changed the plan: {said}"
        elif answer.code == 0 and 'partial="true"' not in answer.text.partition("\n")[0]:
            self.note(argv, answer, plan)
        still = [name for name in waiting if name in self.open_questions()]
        if still:
            self.check_held(argv, answer, still, said)
        if self.state_dir and self.kept[1]:
            stored = json.loads(self.kept[1])
            is_new = (stored.get("digest") or "") not in {"", self.checked}
            self.note_step(frozen=is_new)
            if is_new:
                self.checked = stored["digest"]
                self.check_frozen(stored, said)

    def note_step(self, *, frozen: bool) -> None:
        """Remember which step is due, and which work has ended since the command before."""
        run = open_state(self.state_dir, "/").run
        if run.workflow not in HOST_STEPS:
            return
        workflow, begun = self.where
        for number, step in find_workflow(workflow).steps.items():
            passed = frozen or (workflow == run.workflow and number < run.step)
            if passed and begun <= number and step.name.endswith("-execute") and step.phase:
                self.ended[step.phase] = self.clock
        self.where = (run.workflow, run.step)
        due = find_workflow(run.workflow).steps[run.step].phase
        self.phase = due or ("plan-design" if run.step < 3 else self.phase)

    def open_questions(self) -> list[str]:
        """Return the questions of which each holds the whole run."""
        return [name for name, one in self.questions.items() if one.holds and not one.answers]

    def note(self, argv: tuple[str, ...], answer: Answer, plan: Frozen) -> None:
        """Remember what an accepted command has said, or that it has ended a phase's work."""
        verb = argv[:2]
        if verb == ("plan", "done") and "partial" not in answer.text:
            phase = argv[argv.index("--phase") + 1]
            if not self.open_questions():
                self.ended[phase] = self.clock
        elif verb in {("context", "ask"), ("exec", "ask")}:
            self.note_questions(argv, answer)
        elif argv[0] == "decide":
            self.note_answer(argv, answer, plan)
        elif verb == ("plan", "revise") and "--file" in argv and "--cause" not in argv:
            self.note_remark(self.answer_text(argv), answer)
        elif verb == ("mode", "edit"):
            self.note_remark(next(w for w in argv[2:] if w != "--"), answer)

    def note_questions(self, argv: tuple[str, ...], answer: Answer) -> None:
        asked = json.loads(self.answer_text(argv))
        ids = re.findall(r"CP-\d+", answer.text)
        for name, one in zip(ids, asked, strict=False):
            labels = {o["key"]: o["label"] for o in one["options"]}
            new = Question(self.phase, one["question"], labels, holds=argv[0] == "context")
            known = self.questions.setdefault(name, new)
            assert known.text == new.text, f"{name} has two questions"

    def note_answer(self, argv: tuple[str, ...], answer: Answer, plan: Frozen) -> None:
        asked = self.questions[argv[1]]
        if "--file" in argv:
            words = self.answer_text(argv)
        else:
            words = ", ".join(asked.labels[key.strip()] for key in argv[2].split(","))
        words = asked.labels.get(words, words)
        if asked.answers[-1:] == [words]:
            return
        # Work that has ended since the answer before was made by that one.
        again = bool(asked.answers) and self.ended.get(asked.phase, 0) > asked.at
        asked.answers, asked.at = [*asked.answers, words], self.clock
        phase = "plan-design" if plan.digest else asked.phase
        late = again or self.is_after(phase)
        self.note_late(argv[1], phase, in_time=not late)
        self.check_cause(words, answer, late=late)

    def note_remark(self, text: str, answer: Answer) -> None:
        if not text.strip():
            return
        self.remarks[text.strip()] = self.remarks.get(text.strip(), 0) + 1
        late = self.is_after("plan-design")
        self.note_late(text.strip(), "plan-design", in_time=not late)
        self.check_cause(text.strip(), answer, late=late)

    def note_late(self, name: str, phase: str, *, in_time: bool) -> None:
        work = "" if in_time else work_of(json.loads(self.kept[0]))
        self.late[name] = Late(phase, self.clock, work)

    def is_after(self, phase: str) -> bool:
        """Return whether the work step of a phase has ended, and no later one is due for it."""
        return self.ended.get(phase, 0) > 0 and not self.is_work_step(phase)

    def is_work_step(self, phase: str) -> bool:
        workflow = workflow_of(cast("Phase", phase))
        return self.where == (workflow.name, workflow.number(phase, "execute"))

    def answer_text(self, argv: tuple[str, ...]) -> str:
        """Return what stands in the file that a command names, without blanks around it."""
        path = argv[argv.index("--file") + 1]
        return Path(self.state_dir, "answers", Path(path).name).read_text().strip()

    # what must hold

    def check_held(
        self, argv: tuple[str, ...], answer: Answer, waiting: list[str], said: str
    ) -> None:
        """Check that nothing goes on while questions wait, and that the step asks them (SD-2)."""
        if argv[:2] in {("plan", "done"), ("qr", "gate"), ("plan", "freeze")}:
            assert answer.text.startswith("<error"), f"{waiting} wait: {said}"
        assert not json.loads(self.kept[1]).get("digest"), f"frozen while {waiting} wait: {said}"
        block = answer.block if answer.text.startswith("<step") else None
        if block is not None and block.get("workflow") in HOST_STEPS:
            asked = [one.get("id") for one in block.iter("ask")]
            assert {*waiting} <= {*asked}, f"{waiting} wait, and {asked} are asked: {said}"

    def check_cause(self, text: str, answer: Answer, *, late: bool) -> None:
        """Check that the step that is due for what came late names it (SD-3).

        Unless it asks the user first, or starts an agent, which reads the cause.
        """
        if late and answer.text.startswith("<step") and not answer.runs():
            asks = answer.block.find("ask") is not None
            assert asks or text in answer.text, f"{text!r} is late: {answer.text}"

    def check_frozen(self, plan: dict[str, Any], said: str) -> None:
        """Check that a frozen plan holds all that was said, once and with an outcome (SD-1)."""
        cited = {name for one in plan["milestones"] for name in one["requirements"]}
        every = [*self._wrong_in_task(plan, cited), *self._wrong_in_questions(plan)]
        wrong = [*every, *self._wrong_in_remarks(plan, cited), *self._wrong_in_time(plan, cited)]
        rows = json.loads(self.planner_text("plan", "show", "said"))
        listed = {one["id"] for one in rows if "unproven" not in one}
        ids = [one["id"] for k in ("task_spec", "checkpoints", "user_remarks") for one in plan[k]]
        wrong += [f"plan show said lists {listed} of {ids}"] if listed != {*ids} else []
        readable = Path(self.state_dir, "plan.md").read_text() + self.page()
        wrong += [f"{name} is not read by who approves" for name in ids if name not in readable]
        assert not wrong, f"{wrong}\n{said}"

    def planner_text(self, *words: str) -> str:
        return self.call(*words, "--json", "--state-dir", self.state_dir).text

    def page(self) -> str:
        return Path(self.state_dir, "review.html").read_text()

    def _wrong_in_task(self, plan: dict[str, Any], cited: set[str]) -> Iterator[str]:
        for text in self.task:
            found = [one for one in plan["task_spec"] if text in one["text"]]
            if len(found) != 1:
                yield f"{text!r} stands {len(found)} times in the task"
            elif not found[0]["out_of_scope"] and found[0]["id"] not in cited:
                yield f"{found[0]['id']} has no outcome"

    def _wrong_in_questions(self, plan: dict[str, Any]) -> Iterator[str]:
        for name, asked in self.questions.items():
            found = [one for one in plan["checkpoints"] if one["question"] == asked.text]
            if [one["id"] for one in found] != [name]:
                yield f"{name} {asked.text!r} stands {len(found)} times"
                continue
            text = found[0]["answer"] or ""
            places = [text.find(words) for words in asked.answers]
            if not asked.answers or -1 in places or places[-1] != min(places):
                yield f"{name} is answered {asked.answers}, and frozen is {text!r}"

    def _wrong_in_remarks(self, plan: dict[str, Any], cited: set[str]) -> Iterator[str]:
        texts = [one["text"] for one in plan["user_remarks"]]
        for text, times in self.remarks.items():
            if not 1 <= texts.count(text) <= times:
                yield f"the remark {text!r}, said {times} times, stands {texts.count(text)} times"
        for one in plan["user_remarks"]:
            if one["text"] not in self.remarks and not BY_PROGRAM.match(one["text"]):
                yield f"nobody has said {one}"
            if not one["outcome"] and one["id"] not in cited:
                yield f"{one['id']} has no outcome"

    def _wrong_in_time(self, plan: dict[str, Any], cited: set[str]) -> Iterator[str]:
        """Yield each statement that is younger than the work which it should have changed."""
        stated = {one["id"]: one["outcome"] for one in plan["checkpoints"]}
        for one in plan["user_remarks"]:
            stated[one["text"]] = one["outcome"]
            # Another answer to what is submitted is a remark, and has its outcome.
            about = one["text"].partition(" is answered otherwise now")[0]
            stated[about] = stated.get(about) or one["outcome"]
        for name, late in self.late.items():
            before = PHASES[: PHASES.index(late.phase) + 1]
            if all(self.ended.get(phase, 0) <= late.at for phase in before):
                yield f"{name!r} is younger than {late.phase}"
            elif late.work == work_of(plan) and not (
                stated.get(name) or self._is_cited(plan, name)
            ):
                yield f"{name!r} came late and has changed nothing; cited are {cited}"

    @staticmethod
    def _is_cited(plan: dict[str, Any], text: str) -> bool:
        """Return whether the only milestone cites a remark: the program has it do so."""
        ids = [one["id"] for one in plan["user_remarks"] if one["text"] == text]
        milestones = plan["milestones"]
        return len(milestones) == 1 and not {*ids}.isdisjoint(milestones[0]["requirements"])


def work_of(plan: dict[str, Any]) -> str:
    """Return what a plan plans, as text, without the versions of its entities."""
    text = json.dumps([plan[name] for name in WORK], sort_keys=True)
    return re.sub(r'"version": \d+', "", text)


def _ways(block: Answer) -> list[str | None]:
    return [following.get("on") for following in block.block.iter("next")]
