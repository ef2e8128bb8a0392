"""A whole run with all that may come between: a state machine of host, agents, person and user.

It goes by what is printed alone. tests/e2e/watched.py says what must hold around each command; at
its end each example goes on until the run has ended, by what blocks and refusals print.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests import journey
from tests.conftest import Repository
from tests.e2e.drawn import ACTS, KINDS, MORE, PATHS, Run, alter, intent
from tests.e2e.test_wrong_moments import COMMANDS, PLACED
from tests.e2e.watched import UNFINISHED
from tests.journey import FILES, Answer, words_of
from tests.ways_out import Walk, is_refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.e2e.drawn import Work

POINTS = ("context", "code", "submitted", "approved", "applied", "committed")
MOST_BLOCKS = 12
# An `exec run` has about 380 moments, and half of the others fewer than 40.
moments = st.integers(1, 40) | st.integers(1, 400)
DEEDS = ("exec run", "exec apply", "exec commit", "undo", "plan freeze", "plan revise")
KILLED = ("next", "next", "approve", *DEEDS, "cancel")
# What the user does with git, or to the run's worktree; what fails there has changed nothing.
GIT = {
    "begin a branch": ("switch", "--create", "side"),
    "go to the branch": ("switch", "side"),
    "go back to main": ("switch", "main"),
    "detach": ("switch", "--detach"),
    "tag": ("tag", "mine"),
    "stash": ("stash", "push", "--include-untracked"),
    "unstash": ("stash", "pop"),
    "commit all": ("commit", "--all", "--message", "Mine"),
    "amend": ("commit", "--amend", "--allow-empty", "--message", "Mine, amended"),
    "stage all": ("add", "--all"),
    "unstage all": ("reset",),
    "collect garbage": ("gc", "--prune=now"),
}
# Of the commands at wrong moments those of this run; one approves in advance, one begins another.
OTHERS = {*PLACED, "auto", "events", "review"}
WRONG = [line for line in COMMANDS.splitlines() if line.split()[0] not in OTHERS]
WRONG.remove("mode enter Another\\ plan")

paths = st.sampled_from(PATHS)
kinds = st.sampled_from(KINDS)
works = st.dictionaries(paths, kinds, min_size=1, max_size=3)
later_works = st.dictionaries(paths, kinds, max_size=1)
# What a run is drawn by.
STARTED: dict[str, st.SearchStrategy[Any]] = {
    "more": st.booleans(), "first": works, "second": later_works,
    "review": st.sampled_from(["none", "none", "none", "small", "full"]),
    "depth": st.sampled_from(["full", "full", "full", "intent"]),
    "mine": later_works, "base": st.sampled_from(["head", "snapshot"]),
    "to": st.sampled_from(POINTS),
}  # fmt: skip


class WholeRun(RuleBasedStateMachine):
    """A user's repository, and the run that plans, applies and commits in it, undisturbed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.repository = Repository(self.folder / "project")
        self.run: Run
        self.digests: list[str] = []
        self.marks = 0

    def teardown(self) -> None:
        """Bring the run to an end by what is printed, unless something failed before."""
        try:
            if hasattr(self, "run") and sys.exc_info()[0] is None:
                self.end()
        except BaseException:
            self.tell()
            raise
        else:
            if sys.exc_info()[0] is not None:
                self.tell()
        finally:
            shutil.rmtree(self.folder)

    def end(self) -> None:
        walk = self.walk()
        walk.go_on()
        walk.to_the_end()
        left = [*self.repository.path.rglob(f"{UNFINISHED}*")]
        assert not left, f"{left} are left"

    def tell(self) -> None:
        """Tell the commands of a sequence that failed."""
        if hasattr(self, "run"):
            note("\n".join(self.run.log).replace(str(self.folder), ""))

    # what the rules share

    def walk(self) -> Walk:
        return Walk(self.run, ACTS)

    def run_of(self, milestones: list[Work]) -> Run:
        """Return a run that has not begun, of these milestones."""
        return Run(self.repository, milestones)

    def begin(self, milestones: Sequence[dict[str, str]], *options: str) -> None:
        """Start a run; a file belongs to its first milestone only."""
        planned: list[dict[str, str]] = []
        for milestone in milestones:
            before = {path for earlier in planned for path in earlier}
            if left := {path: kind for path, kind in milestone.items() if path not in before}:
                planned.append(left)
        self.run = self.run_of(planned)
        answer = self.run.start(*options)
        if is_refusal(answer):
            self.git("switch", "main")
            answer = self.run.start(*options)
        assert not is_refusal(answer), answer.text
        self.run.write_answer("broken.json", "{nothing")
        self.run.write_answer("questions.json", self.run.answers["questions.json"])

    def go(self) -> None:
        """Do what the block asks, and lead out of a refusal."""
        if self.run.last.block.find("next") is None and not self.run.last.person():
            self.walk().go_on()  # the block was one to look at, or the run has ended
        if self.run.last.block.find("next") is not None or self.run.last.person():
            self.walk().one_block()

    def lead_out(self, words: Sequence[str], answer: Answer) -> None:
        walk = self.walk()
        if is_refusal(answer):
            walk.lead_out([*words], answer)
        walk.go_on()

    def do(self, *words: str) -> None:
        """Run a command of this run, whatever the block asks for; lead out of a refusal."""
        words = (*words, "--state-dir", self.run.state_dir)
        self.lead_out(words, self.run.run(*words))

    # host and agents

    @initialize(drawn=st.fixed_dictionaries(STARTED))
    def start(self, drawn: dict[str, Any]) -> None:
        self.repository.path.mkdir()
        self.repository.git("init", "--quiet")
        self.repository.commit(MORE if drawn["more"] else FILES, "Begin")
        for path, kind in drawn["mine"].items():
            alter(self.repository.path, path, kind, "mine at the start")
        options = [w for name in ("review", "depth", "base") for w in (f"--{name}", drawn[name])]
        self.begin([drawn["first"], drawn["second"]], *options)
        self.go_to(drawn["to"])

    @rule(times=st.integers(1, 3), fails=st.booleans())
    def go_on(self, *, times: int, fails: bool) -> None:
        self.run.fails = fails
        for _ in range(times):
            self.go()

    @rule(to=st.sampled_from(POINTS))
    def go_to(self, to: str) -> None:
        for _ in range(MOST_BLOCKS):
            if self.run.point in {journey.POINTS[to], "result"}:
                return
            self.go()

    @rule(edit=st.sampled_from(["decision", "intent", "name", "stale", "remove"]), path=paths)
    def plan_edits(self, *, edit: str, path: str) -> None:
        found: list[dict[str, Any]] = self.run.plan_json()["milestones"]
        version = found[0]["version"] if found and edit != "stale" else 99
        change = {"op": "set", "id": "M-001", "version": version, "fields": {"name": "A part"}}
        intents = found[0]["code_intents"] if found else []
        if edit == "decision":
            fields = {"decision": "So", "reasoning_chain": "one -> other"}
            change = {"op": "add", "kind": "decision", "fields": fields}
        elif edit == "intent":
            change = intent("M-001", path)
        elif edit == "remove" and intents:
            last = intents[-1]
            change = {"op": "remove", "id": last["id"], "version": last["version"]}
        self.run.write_answer("batch.json", [change])
        self.do("plan", "batch", "--file", "answers/batch.json")

    def git(self, *words: str) -> bool:
        command = ["git", *words]
        done = subprocess.run(command, cwd=self.repository.path, capture_output=True, check=False)
        return done.returncode == 0


class RunMachine(WholeRun):
    """A whole run, and all that may come between its steps."""

    @rule(path=paths, kind=kinds)
    def agent_edits(self, *, path: str, kind: str) -> None:
        if self.run.tree.is_dir():
            self.run.alter(path, kind)

    @rule(deed=st.sampled_from(DEEDS))
    def run_out_of_turn(self, deed: str) -> None:
        self.do(*deed.split())

    @rule(command=st.sampled_from(WRONG))
    def run_at_a_wrong_moment(self, command: str) -> None:
        self.do(*shlex.split(command))

    @rule(command=st.sampled_from(KILLED), moment=moments)
    def kill(self, *, command: str, moment: int) -> None:
        """Kill a command at some moment; the same command then leads on."""
        words = [*command.split(), "--state-dir", self.run.state_dir]
        if command == "approve":
            words = ["approve", self.run.frozen().digest[:12] or "0" * 12]
        elif command == "next":
            if self.run.last.block.find("next") is None:
                return
            with contextlib.suppress(FileNotFoundError):
                self.run.do_the_work()
            words = words_of(self.run.last.next())
        self.run.run_killed(moment, *words)
        self.lead_out(words, self.run.run(*words))

    @rule(first=works, second=later_works)
    def cancel_and_start_again(self, *, first: dict[str, str], second: dict[str, str]) -> None:
        self.do("cancel")
        self.begin([first, second], "--review", "none", "--base", "head")

    # the person

    @rule(which=st.sampled_from(["right", "right", "wrong", "old", "short"]))
    def approve(self, which: str) -> None:
        digest = self.run.frozen().digest or "0" * 64
        if which == "old":
            digest = self.digests[0] if self.digests else "1" * 64
        self.digests.append(digest)
        given = {"wrong": "2" * 12, "short": digest[:2]}.get(which, digest[:12])
        self.lead_out(["approve", given], self.run.run("approve", given))

    # the user

    @rule(path=paths, kind=kinds, then=st.sampled_from(["", "", "stage", "commit"]))
    def user_edits(self, *, path: str, kind: str, then: str) -> None:
        self.marks += 1
        alter(self.repository.path, path, kind, f"mine {self.marks}")
        if then:
            self.git("add", "--all", "--", path)
        if then == "commit":
            self.git("commit", "--message", "Mine", "--", path)

    @rule(deed=st.sampled_from([*GIT]))
    def user_runs_git(self, deed: str) -> None:
        if not self.git(*GIT[deed]) and deed == "unstash":
            self.git("reset", "--merge")  # the stash is still there

    @rule()
    def user_deletes_the_worktree(self) -> None:
        shutil.rmtree(self.run.tree, ignore_errors=True)
