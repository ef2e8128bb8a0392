"""A whole run with all that may come between: a state machine of host, agents, person and user.

It goes by what is printed alone. tests/e2e/watched.py says what must hold around each command; at
its end each example goes on until the run has ended, by what blocks and refusals print.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.conftest import Repository
from tests.e2e.watched import Watched, entries_of
from tests.journey import FILES, Answer, all_pass, passing, words_of
from tests.ways_out import ENDED, Walk, is_refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.journey import Journey
    from tests.ways_out import Act

LONG_TEXT = "".join(f"line {number}\n" for number in range(40))
MORE: dict[str, str | bytes] = {
    **FILES, "src/b.py": "b = 1\n", "docs/a note.md": "é\r\nno end", "data.bin": bytes(range(256)),
    "src/old.txt": LONG_TEXT, "run.sh": "#!/bin/sh\n",
}  # fmt: skip
NEW = ("src/new.py", "docs/deep/new.md")
PATHS = (*MORE, *NEW)[1:]
KINDS = ("change", "binary", "delete", "rename", "chmod", "link")
POINTS = ("context", "code", "submitted", "approved", "applied", "committed")
LATEST_MOMENT = 150
WRONG = """\
auto off
config confirm 0123456789ab
context set --file answers/missing.json
decide CP-001 a
exec accept --file src/a.py --reason mine
exec deviate M-001 --file src/b.py --reason why
exec next
exec reconcile --file answers/missing.json
mode edit Once\\ more
mode rebase
mode reject --reason no
mode submit
pause
plan add decision --decision A --reasoning-chain a\\ ->\\ b
plan batch --file answers/missing.json
plan capture
plan check --phase plan-code
plan done --phase impl-code
plan done --phase plan-code
plan done --phase plan-design
plan done --phase plan-docs
plan freeze
plan remove M-001 --version 1
plan set M-001 --version 99 --name X
plan verify
qr accept qa-001 --phase plan-code --reason mine
qr gate --phase plan-code --verdict pass
qr gate --phase plan-design --verdict fail
qr list --phase plan-code
resume
retry M-001
step executor
step executor 9
step planner 11
tree mv src/a.py README.md
tree rm nowhere
""".splitlines()

paths = st.sampled_from(PATHS)
kinds = st.sampled_from(KINDS)


def alter(folder: Path, name: str, kind: str, mark: str) -> None:
    """Change a file in one of six ways, or make it where it is missing."""
    path = folder / name
    if not os.path.lexists(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {mark}\n")
    elif path.is_symlink() or kind == "change":
        text = b"" if path.is_symlink() else path.read_bytes()
        path.unlink()
        path.write_bytes(text + f"# {mark}\n".encode())
    elif kind == "binary":
        path.write_bytes(b"\0\xff" + mark.encode())
    elif kind == "delete":
        path.unlink()
    elif kind == "rename":
        path.rename(path.with_name(f"{path.name}.moved"))
    elif kind == "chmod":
        path.chmod(path.stat().st_mode ^ 0o111)
    else:
        path.unlink()
        path.symlink_to("nowhere")


class Run(Watched):
    """A watched run whose developer does the drawn work; `work` is what is left of it."""

    def __init__(self, repository: Repository, milestones: list[dict[str, str]]) -> None:
        super().__init__(repository)
        self.corrected: dict[int, str] = {}  # evidence that a refusal has named, by row
        self.work = [item for milestone in milestones for item in milestone.items()]
        self.planned = {*self.ends(self.work)}
        self.edited = 0
        self.fails = 0
        self.verdicts = self.verdict
        self.answers["design.json"] = self.design(milestones)

    @staticmethod
    def ends(work: Sequence[tuple[str, str]]) -> list[str]:
        """Return the paths that a piece of work touches."""
        moved = [f"{path}.moved" for path, kind in work if kind == "rename"]
        return [*(path for path, _ in work), *moved]

    def design(self, milestones: list[dict[str, str]]) -> list[dict[str, Any]]:
        """Return the edits of a plan with these milestones, each with an intent for its files."""
        overview = {"title": "Change it", "problem": "It is old.", "approach": "Make it new."}
        edits: list[dict[str, Any]] = [
            {"op": "set", "id": "overview", "version": 1, "fields": overview}
        ]
        for number, milestone in enumerate(milestones):
            files, name = self.ends([*milestone.items()]), f"$m{number}"
            fields = {
                "name": f"Part {number}", "files": files, "requirements": ["T-1"],
                "acceptance_criteria": ["it is changed"], "tests": {"skip_reason": "no program"},
            }  # fmt: skip
            edits += [
                {"op": "add", "kind": "milestone", "as": name, "fields": fields},
                *(self.intent(name, file) for file in files),
            ]
        return edits

    @staticmethod
    def intent(milestone: str, file: str) -> dict[str, Any]:
        fields = {"milestone": milestone, "file": file, "behavior": "is new"}
        return {"op": "add", "kind": "intent", "fields": fields}

    def edit_worktree(self, files: dict[str, str | bytes], worktree: str = "worktree") -> None:
        """Do what is left of the work, and settle what a merge has left."""
        del files
        folder = Path(self.state_dir, worktree)
        if not folder.is_dir():
            raise FileNotFoundError(folder)
        for path, kind in self.work:
            self.edited += 1
            alter(folder, path, kind, f"agent {self.edited}")
        self.work = []
        for path in {*self.planned} - {*self.worktree_changes()}:
            self.edited += 1
            alter(folder, path, "change", f"agent {self.edited}")  # each intent asks for a change
        for path in self.planned:
            file = folder / path
            if file.is_file() and not file.is_symlink() and b"<<<<<<<" in file.read_bytes():
                self.edited += 1
                file.write_text(f"# both {self.edited}\n")

    def be_agent(self, command: str) -> Answer:
        """Be an agent until it has nothing more to do; one that is refused corrects its answers."""
        before_the_host, self.corrected = self.last, {}
        block = self.follow(command)
        while block.block.tag == "step" and block.block.find("next") is not None:
            self.last = block
            self.do_the_work()
            answer = self.follow(block.next())
            if is_refusal(answer):
                found = re.findall(r'at="\[(\d+)\]\.evidence">.*touches: ([^;·–<]+)', answer.text)
                correct = {int(number): line.strip() for number, line in found}
                assert {*correct} - {*self.corrected}, answer.text
                self.corrected |= correct
            else:
                block = answer
        self.last = before_the_host
        return block

    def verdict(self, block: Answer) -> list[dict[str, Any]]:
        """Answer a reviewer's questions, and let the first fail where that is due."""
        rows = passing(block)
        for number, line in self.corrected.items():
            rows[number]["evidence"] = line
        if self.fails:
            self.fails -= 1
            failed = {"id": rows[0]["id"], "status": "FAIL", "finding": "It is wrong."}
            rows = [failed, *rows[1:-1], {"verdict": "fail"}]
        return rows


def settle_stray(journey: Journey, found: re.Match[str]) -> None:
    """Do what a host does with a changed file that the plan does not name: plan it, or restore it."""
    file, run = found[1], cast("Run", journey)
    if len(run.calls) % 2:
        words = ("--milestone", "M-001", "--file", file, "--behavior", "is new")
        run.run("plan", "add", "intent", *words, "--state-dir", run.state_dir)
        run.planned.add(file)
        return
    before, folder = run.base_entries(), Path(run.state_dir, "worktree")
    if os.path.lexists(folder / file):
        (folder / file).unlink()
    if file in before:
        subprocess.run(["git", "checkout", "--quiet", "HEAD", "--", file], cwd=folder, check=True)


STRAY = r'at="([^"]+)">[^<]* was changed, and no intent'
ACTS: tuple[Act, ...] = ((STRAY, settle_stray),)


class RunMachine(RuleBasedStateMachine):
    """A user's repository, and the run that plans, applies and commits in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine-"))
        self.repository = Repository(self.folder / "project")
        self.run: Run
        self.digests: list[str] = []
        self.number = 0

    def teardown(self) -> None:
        """Bring the run to an end by what is printed, unless something failed before."""
        try:
            if sys.exc_info()[0] is None and hasattr(self, "run"):
                walk = Walk(self.run, ACTS)
                walk.go_on()
                walk.to_the_end()
        finally:
            shutil.rmtree(self.folder)

    # the run

    @initialize(
        more=st.booleans(),
        first=st.dictionaries(paths, kinds, min_size=1, max_size=3),
        second=st.dictionaries(paths, kinds, max_size=1),
        review=st.sampled_from(["none", "none", "small", "full"]),
        to=st.sampled_from(POINTS),
    )
    def start(
        self, *, more: bool, first: dict[str, str], second: dict[str, str], review: str, to: str
    ) -> None:
        self.repository.path.mkdir()
        self.repository.git("init", "--quiet")
        self.repository.commit(MORE if more else FILES, "Begin")
        self.begin(first, second, review)
        for _ in range(POINTS.index(to) + 2 * POINTS.index("submitted") * (review != "none")):
            if self.run.point in {"result", "error"} or self.at(to):
                break
            self.go()

    def at(self, to: str) -> bool:
        from tests.journey import POINTS as known

        return self.run.point == known[to]

    def begin(self, first: dict[str, str], second: dict[str, str], review: str) -> None:
        known = entries_of(self.repository, "HEAD")
        second = {path: kind for path, kind in second.items() if path not in first}
        milestones = [
            {path: kind if path in known else "change" for path, kind in milestone.items()}
            for milestone in (first, second)
            if milestone
        ]
        self.run = Run(self.repository, milestones)
        self.run.review = review
        self.run.start("--base", "head")

    @rule(times=st.integers(1, 3))
    def go_on(self, times: int) -> None:
        for _ in range(times):
            self.go()

    def go(self) -> None:
        """Do what the block asks; lead out of a refusal."""
        if self.run.point == "result" and self.run.last.block.find("next") is None:
            Walk(self.run, ACTS).go_on()
            if self.run.point == "result":
                return
        Walk(self.run, ACTS).one_block()

    def lead_out(self, words: Sequence[str], answer: Answer) -> None:
        walk = Walk(self.run, ACTS)
        if is_refusal(answer):
            walk.lead_out([*words], answer)
        walk.go_on()

    def do(self, *words: str) -> None:
        """Run a command of this run, whatever the block asks for; lead out of a refusal."""
        words = (*words, "--state-dir", self.run.state_dir)
        self.lead_out(words, self.run.run(*words))

    @rule(path=paths, kind=kinds)
    def agent_edits(self, path: str, kind: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.run.work.append((path, kind))
            self.run.edit_worktree({})

    @rule()
    def approve(self) -> None:
        digest = self.run.frozen().digest
        if digest:
            self.digests.append(digest)
            self.do_as_person("approve", digest[:12])

    def do_as_person(self, *words: str) -> None:
        self.lead_out(words, self.run.run(*words))

    @rule()
    def apply(self) -> None:
        self.do("exec", "apply")

    @rule()
    def commit(self) -> None:
        self.do("exec", "commit")

    @rule()
    def undo(self) -> None:
        self.do("undo")
