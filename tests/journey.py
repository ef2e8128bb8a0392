"""Drives a real run as a host does: reads each block, writes the answers, runs what it prints.

Commands run in this process; `shell` runs one in a process of its own, as a host would.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self, cast

from cli.demo.driver import ANSWER, Answer
from cli.main import main
from developer.trials import make_trials
from orchestrator.plan.finish import finish_phase
from orchestrator.plan.gate import decide_gate, take_gate
from quality_reviewer.answers import store_answers
from quality_reviewer.tries import wanted_trials
from shared.named_files import read_answer
from shared.resources import ROOT, launcher
from shared.run import open_state
from state.store import load_plan
from tests.prepared import kept
from tests.printed_ways import faults_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from xml.etree import ElementTree as ET

    from state.phases import Phase
    from tests.conftest import Repository

LAUNCHER = f"{ROOT}/bin/planner"
SHOWN = launcher()  # the same as a command shows it: quoted where the path asks for it
REQUEST = "Make f add two"
FILES: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n",
    "README.md": "# Sample\n\n`f` adds one.\n",
    "src/a.py": "def f(x):\n    return x + 1\n",
    "tests/test_a.py": "from a import f\n\nassert f(1) == 2\n",
}
VERIFIED = '[verify]\ncommands = ["PYTHONPATH=src python3 tests/test_a.py"]\n'
# Green whatever the plan's files hold: what an editable install of another checkout does.
ELSEWHERE = "[verify]\ncommands = [\"python3 -c 'import json'\"]\n"

# The points of a run, by what its block says: workflow and number, or the question asked.
POINTS = {
    "context": "planner 2",
    "design": "planner 3",
    "code": "planner 6",
    "gate": "planner 8",
    "design review": "planner 4",
    "code review": "planner 7",
    "docs": "planner 9",
    "docs review": "planner 10",
    "freeze": "planner 11",
    "submitted": "executor 1",
    "approved": "executor 2",
    "writing": "executor 3",
    "written code review": "executor 4",
    "written code gate": "executor 5",
    "written docs": "executor 6",
    "written docs review": "executor 7",
    "applied": "executor 9",
    "committed": "result",
}
# Which commands may pass the last gate.
_LAST_GATES = (("plan", "done"), ("qr", "set"), ("qr", "gate"))
# Where an agent, or the host in its place, writes code or documentation.
_CODING = {POINTS["code"], POINTS["writing"], "plan-code 1", "exec-implement 1"}
_DOCUMENTING = {POINTS["docs"], POINTS["written docs"], "plan-docs 1", "exec-docs 1"}


def parsed(text: str) -> ET.Element:
    """Parse what was printed as XML; fails if it is not well-formed."""
    return Answer(0, text).block


@contextlib.contextmanager
def printed() -> Iterator[tuple[io.BytesIO, io.StringIO]]:
    """Collect what this process prints to standard output (bytes) and standard error."""
    out, err = io.BytesIO(), io.StringIO()
    stream = io.TextIOWrapper(out, "utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(err):
        yield out, err
    stream.detach()


def call(cwd: Path | str, *argv: str) -> Answer:
    """Run a planner command in this process, from the folder `cwd`.

    Whatever it refuses prints ways out that run (SD-7).
    """
    with contextlib.chdir(cwd), printed() as (out, err):
        code = main(argv)
    answer = Answer(code, out.getvalue().decode(), err.getvalue())
    if answer.text.startswith(("<error", '<result partial="true"')):
        faults = faults_of([text for _, text in answer.problems], argv)
        assert not faults, faults
    return answer


def way_out(text: str) -> str:
    """Return the command that a problem's text names, whoever may run it; "" if it names none."""
    found = re.search(r" · (?:retry|person|user): (.*)$", text, re.DOTALL)
    return found[1] if found else ""


def words_of(command: str) -> list[str]:
    """Return the words of a printed command after the launcher."""
    launcher, *words = shlex.split(command)
    assert launcher == LAUNCHER, command
    return words


def shell(command: str, cwd: Path | str) -> Answer:
    """Run a printed command unchanged in a shell, as a host does."""
    done = subprocess.run(
        ["sh", "-c", command], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def all_pass(block: Answer) -> list[dict[str, Any]]:
    """Answer every question of a reviewer's block with PASS and evidence, without a verdict."""
    return [
        {"id": line.split()[0], "status": "PASS", "evidence": evidence}
        for line, evidence in block.evidence().items()
    ]


def passing(block: Answer) -> list[dict[str, Any]]:
    """Answer every question of a reviewer's block with PASS, and end with that verdict."""
    return [*all_pass(block), {"verdict": "pass"}]


def default_answers() -> dict[str, Any]:
    """Return what the host writes down for FILES and REQUEST."""
    milestone = {
        "name": "Add two",
        "files": ["src/a.py", "tests/test_a.py"],
        "requirements": ["T-1"],
        "acceptance_criteria": ["f(1) is 3"],
        "tests": {
            "files": ["tests/test_a.py"],
            "type": "unit",
            "scenarios": {"normal": ["f(1)"], "edge": [], "error": []},
        },
    }
    overview = {"title": "Add two", "problem": "f adds one", "approach": "Change the constant."}
    design: list[dict[str, Any]] = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview},
        {"op": "add", "kind": "decision", "as": "$d", "fields": {
            "decision": "Change the constant", "reasoning_chain": "one caller -> no flag needed"}},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": milestone},
        {"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": "src/a.py", "behavior": "adds two",
            "decision_refs": ["$d"]}},
    ]  # fmt: skip
    return {
        "context.json": {"task_spec": ["f adds two", "out of scope: g"]},
        "design.json": design,
        "docs.json": [],
        "reason.md": "The finding is about the test environment.",
        "remarks.md": "Say why in a comment.",
        "notes-architect.md": "f has one caller.",
        "questions.json": [{"question": "Keep the old name?", "options": [
            {"key": "a", "label": "Keep it"}, {"key": "b", "label": "Drop it"}]}],
        "CP-001.md": "Keep it until the next release.",
    }  # fmt: skip


class Driven:
    """A run in a repository; `last` is the block that the host has before it."""

    repository: Repository
    state_dir = ""
    last = Answer(0, "<result></result>")

    def call(self, *words: str) -> Answer:
        """Run a command in the repository."""
        return call(self.repository.path, *words)

    def planner(self, *words: str) -> Answer:
        """Run a command for the run, uncounted; the block before the host stays."""
        return self.call(*words, "--state-dir", self.state_dir)

    def write_answer(self, name: str, value: object) -> None:
        """Write an answer file: a text as it is, all else as JSON."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        # Half a character is no UTF-8: JSON has it by its number.
        data = text.encode("utf-8", "backslashreplace")
        with open(f"{self.state_dir}/answers/{name}", "wb") as file:
            file.write(data)


def at_home(text: str, run: Driven) -> str:
    """Return a text with paths as long as a user's: what it costs does not depend on the tests."""
    for found, name in (
        (str(run.repository.path), "/home/user/src/shop"),
        (os.path.basename(run.state_dir), "20260102-abcdef"),
        (SHOWN, "/home/user/.claude/skills/planner/bin/planner"),
    ):
        text = text.replace(found, name)
    return text


class Journey(Driven):
    """One run in one repository; `last` is the block that the host has before it.

    Agents that a block starts are played in this process, by `be_agent`. `review` goes to start
    where it is not `auto`; `verdicts` returns what a reviewer answers to its block.
    """

    def __init__(
        self,
        repository: Repository,
        request: str = REQUEST,
        answers: dict[str, Any] | None = None,
        *,
        shell_from: Path | None = None,
    ) -> None:
        """`shell_from` is the folder from which a shell runs what is printed; else in-process."""
        self.repository = repository
        self.shell_from = shell_from
        self.request = request
        self.answers = default_answers() if answers is None else answers
        self.edits: dict[str, str | bytes] = {
            "src/a.py": "def f(x):\n    return x + 2\n",
            "tests/test_a.py": "from a import f\n\nassert f(1) == 3\n",
        }
        self.documents: dict[str, str | bytes] = {"README.md": "# Sample\n\n`f` adds two.\n"}
        self.results: dict[str, Any] = {}  # of agents that write milestones, where not a success
        self.promises_document = False
        self.confirms = True
        self.holds_freeze = False
        self.review = "none"
        self.verdicts: Callable[[Answer], list[dict[str, Any]]] = all_pass
        self.agents: list[str] = []
        self.calls: list[tuple[str, ...]] = []
        self.read: list[str] = []

    # single calls

    def run(self, *argv: str) -> Answer:
        """Run a command from the repository and count it; `last` stays."""
        self.calls.append(argv)
        answer = self.call(*argv)
        self.read.append(answer.text)
        return answer

    def follow(self, command: str) -> Answer:
        """Run a printed command; what it prints is the block before the host now.

        What an approval prints is for the person who types it: the host goes on with the step.
        """
        if self.holds_freeze and tuple(words_of(command)[:2]) in _LAST_GATES:
            self.last = self.before_freeze(words_of(command))
            self.read.append(self.last.text)
            return self.last
        if words_of(command)[0] == "approve":
            self.last = self.run(*words_of(command))
            self.read.pop()
            is_of_run = os.path.exists(f"{self.state_dir}/plan.json")
            if self.last.code == 0 and is_of_run and not self.last.data("proof"):
                self.last = self.planner("step", "executor")
            self.read.append(self.last.text)
            return self.last
        if self.shell_from is None:
            self.last = self.run(*words_of(command))
            return self.last
        self.calls.append(tuple(words_of(command)))
        self.last = shell(command, self.shell_from)
        self.read.append(self.last.text)
        return self.last

    def before_freeze(self, words: list[str]) -> Answer:
        """Do what a command does before it freezes the plan, as if it were killed then."""
        self.calls.append(tuple(words))
        given = dict(itertools.pairwise(words))
        state, phase = open_state(self.state_dir, "/"), cast("Phase", given["--phase"])
        role, file = given.get("--role"), given.get("--file", "")
        if words[1] == "done":
            finish_phase(state, phase, given.get("--batch"), role)
        elif words[1] == "gate":
            decide_gate(state, phase, given["--verdict"], "")
        else:
            rows = read_answer(self.state_dir, file).json()
            make_trials(state, load_plan(state.plan_path), wanted_trials(state, phase, rows))
            store_answers(state, phase, rows, group=given.get("--group"), who=role or "host")
            take_gate(state, phase, role or "host")
        answer = self.planner("step", open_state(self.state_dir, "/").run.workflow)
        return Driven.last if role and self.review == "full" else answer

    @kept
    def start(self, *options: str) -> Answer:
        """Start the run, with as much review as `review` says."""
        if "--review" not in options and self.review != "auto":
            options = (*options, "--review", self.review)
        if "--depth" not in options:
            options = (*options, "--depth", "full")
        self.last = self.run("start", self.request, *options)
        if self.last.data("planned"):  # the test has another run in this session
            self.last = self.run(*words_of(self.last.next("beside")))
        self.state_dir = self.last.state_dir
        return self.last

    # the way

    @property
    def point(self) -> str:
        """Where the run is: `planner 2`, or the root tag of a block that is not a step."""
        block = self.last.block
        return (
            f"{block.get('workflow')} {block.get('number')}" if block.tag == "step" else block.tag
        )

    @kept
    def to(self, point: str) -> Self:
        """Go on without failures until the run is at a point of POINTS.

        The command that passes the last gate freezes the plan; on the way to `freeze` it does not.
        """
        self.holds_freeze = point == "freeze"
        if not self.state_dir:
            self.start()
        for _ in range(30):
            if self.point == POINTS[point]:
                return self
            if point == "design" and self.point == POINTS["context"]:
                self.store_context()
            elif point == "applied" and self.point == POINTS["approved"]:
                # The printed command commits as well; this part of it is one of its own.
                self.follow(self.last.next().replace("exec run", "exec apply"))
            else:
                self.advance()
            assert self.last.code == 0, self.last.text
        raise AssertionError(f"the run never came to {point}; it is at {self.point}")

    def store_context(self) -> Answer:
        """Store the context alone, which a small plan's host hands in with its design."""
        self.confirm()
        self.write_answer("context.json", self.answers["context.json"])
        words = ("context", "set", "--file", "answers/context.json", "--state-dir", self.state_dir)
        self.last = self.run(*words)
        return self.last

    def confirm(self) -> None:
        """Confirm the commands that the block shows, as a person does."""
        person = self.last.person()
        if person and self.confirms:
            assert self.run(*words_of(person)).code == 0
            self.read.pop()  # what a person's command prints is for the person

    def advance(self) -> Answer:
        """Do what the block asks and run what it names next."""
        person = self.last.person()
        if person and "approve" in words_of(person):
            return self.follow(person)
        self.confirm()
        for command in self.last.runs():
            self.be_agent(command)
        self.do_the_work()
        return self.follow(self.last.next())

    def be_agent(self, command: str) -> Answer:
        """Be the agent that is started with a command, until it has nothing more to do."""
        before_the_host = self.last
        self.agents.append(command)
        self.follow(command)
        while self.last.block.find("next") is not None and self.last.block.tag == "step":
            self.do_the_work()
            self.follow(self.last.next())
        said, self.last = self.last, before_the_host
        assert said.code == 0, said.text
        return said

    def do_the_work(self) -> None:
        """Write what the block asks for, files of the worktree included."""
        self.write_answers()
        if self.last.runs():
            return  # agents have done it
        place = self.last.worktree() if self.point in _CODING else None
        if place and place[1]:
            self.write_milestone(place[1])
        elif place:
            self.edit_worktree(self.edits)
            if self.promises_document:
                self.promise_document()
        elif self.point in _DOCUMENTING and self.promises_document:
            self.edit_worktree(self.documents)
        elif self.last.block.tag == "step" and self.last.asked():
            self.write_answer(self.last.reads(), self.verdicts(self.last))

    def write_milestone(self, name: str) -> None:
        """Write the files of a milestone in its own worktree, and how it went."""
        plan = json.loads(self.planner("plan", "show", "--json").text)
        own = next(m for m in plan["milestones"] if m["id"] == name)
        planned = {*own["files"], *own["tests"]["files"]}
        edits = {file: text for file, text in self.edits.items() if file in planned}
        self.edit_worktree(edits, f"milestones/{name}")
        done = self.results.get(name, {"status": "success", "output": "done"})
        self.write_answer(self.last.reads(), done)

    def promise_document(self) -> None:
        """Have the plan promise a text in README.md that the code step does not write."""
        words = ("--milestone", "M-001", "--kind", "docstring", "--file", "README.md")
        listed = self.planner("plan", "list", "docs")
        if "DOC-001" not in listed.text:
            answer = self.planner("plan", "add", "doc", *words, "--text", "f adds two")
            assert answer.code == 0, answer.text

    def write_answers(self) -> None:
        """Write every answer file that the block's task or commands name."""
        named = set(ANSWER.findall(self.last.text))
        for name, value in {**self.answers, **self.later_edits(named)}.items():
            if name in named:
                whole = name == "design.json" and self.point == POINTS["context"]
                before = [{"op": "context", **self.answers["context.json"]}] if whole else []
                self.write_answer(name, [*before, *value] if whole else value)

    def later_edits(self, named: set[str]) -> dict[str, Any]:
        """Return the edits for files that a later round has for them: design and docs as before."""
        known = {"design": self.answers.get("design.json"), "docs": self.answers.get("docs.json")}
        stems = {name: name.partition("-")[0] for name in named if "-" in name}
        edits: dict[str, Any] = {
            name: [] if stem == "code" else known.get(stem) for name, stem in stems.items()
        }
        return {name: value for name, value in edits.items() if value is not None}

    def edit_worktree(self, files: dict[str, str | bytes], worktree: str = "worktree") -> None:
        """Write files into the scratch worktree, or into another one of the run."""
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            with open(f"{self.state_dir}/{worktree}/{name}", "wb") as file:
                file.write(data)


__all__ = ["Answer"]

if __name__ == "__main__":
    sys.exit("a module for tests")
