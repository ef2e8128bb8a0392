"""A run's work as it is drawn: what files it changes and how, and who does it when it is asked.

The developer does it in the scratch worktree, the architect plans it, reviewers answer on it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.e2e.watched import Watched, entries_of
from tests.journey import FILES, Answer, passing
from tests.ways_out import Walk, is_refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conftest import Repository
    from tests.journey import Journey
    from tests.ways_out import Act

    Work = dict[str, str]  # how a file changes, by its path

MORE: dict[str, str | bytes] = {
    **FILES, "src/b.py": "b = 1\n", "docs/a note.md": "é\r\nno end", "data.bin": bytes(range(256)),
    "src/old.txt": "".join(f"line {number}\n" for number in range(40)), "run.sh": "#!/bin/sh\n",
}  # fmt: skip
NEW = ("src/new.py", "docs/deep/new.md")
PATHS = (*MORE, *NEW)[1:]
KINDS = ("change", "replace", "delete", "rename", "chmod", "link")


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
    elif kind == "replace":
        # A program must be one that can be read.
        path.write_bytes(b"" if name.endswith(".py") else b"\0\xff" + mark.encode())
    elif kind == "delete":
        path.unlink()
    elif kind == "rename":
        path.rename(path.with_name(f"{path.name}.moved"))
    elif kind == "chmod":
        path.chmod(path.stat().st_mode ^ 0o111)
    else:
        path.unlink()
        path.symlink_to("nowhere")


def ends(work: Iterable[tuple[str, str]]) -> list[str]:
    """Return the paths that a piece of work touches."""
    work = [*work]
    return [*(path for path, _ in work), *(f"{path}.moved" for path, k in work if k == "rename")]


def design_of(milestones: list[Work]) -> list[dict[str, Any]]:
    """Return the edits of a plan with these milestones, each with an intent for its files."""
    overview = {"title": "Change it", "problem": "It is old.", "approach": "Make it new."}
    edits: list[dict[str, Any]] = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview}
    ]
    for number, milestone in enumerate(milestones):
        files, name = ends(milestone.items()), f"$m{number}"
        fields = {
            "name": f"Part {number}", "files": files, "requirements": ["T-1"],
            "acceptance_criteria": ["it is changed"], "tests": {"skip_reason": "no program"},
        }  # fmt: skip
        edits += [
            {"op": "add", "kind": "milestone", "as": name, "fields": fields},
            *(intent(name, file) for file in files),
        ]
    return edits


def intent(milestone: str, file: str) -> dict[str, Any]:
    fields = {"milestone": milestone, "file": file, "behavior": "is new"}
    return {"op": "add", "kind": "intent", "fields": fields}


class Run(Watched):
    """A watched run; `work` is what its developer has still to do.

    `fails` says that the next review finds something wrong.
    """

    def __init__(self, repository: Repository, milestones: list[Work]) -> None:
        super().__init__(repository)
        known = entries_of(repository, "HEAD")
        planned = [
            {path: kind if path in known else "change" for path, kind in milestone.items()}
            for milestone in milestones
        ]
        self.work = [item for milestone in planned for item in milestone.items()]
        self.answers["design.json"] = design_of(planned)
        self.altered = 0
        self.fails = False
        self.verdicts = self.verdict
        self.settles = "declined"  # what becomes of statements that a refusal names
        self.corrected: dict[int, str] = {}  # evidence that a refusal has named, by row
        self.tried: set[tuple[int, str]] = set()  # all of it

    @property
    def tree(self) -> Path:
        return Path(self.state_dir, "worktree")

    # the developer

    def alter(self, path: str, kind: str, folder: Path | None = None) -> None:
        """Change a file of the worktree in one of the ways of `alter`."""
        self.altered += 1
        alter(folder or self.tree, path, kind, f"agent {self.altered}")

    def edit_worktree(self, files: dict[str, str | bytes], worktree: str = "worktree") -> None:
        """Do what is left of the work, change what each intent names, settle a merge's rest."""
        del files
        folder = Path(self.state_dir, worktree)
        if not folder.is_dir():
            raise FileNotFoundError(folder)
        own = self.planned(worktree.rpartition("milestones/")[2])
        left, self.work = self.work, []
        for path, kind in left:
            if own.isdisjoint(ends([(path, kind)])):
                self.work.append((path, kind))
            else:
                self.alter(path, kind, folder)
        for path in sorted(own - {*self.changed_in(folder)}):
            self.alter(path, "change", folder)
        for path in sorted(own):
            file = folder / path
            if file.is_file() and not file.is_symlink() and b"<<<<<<<" in file.read_bytes():
                file.write_text(f"# both {self.altered}\n")

    # the planner

    def write_answers(self) -> None:
        """Write the answers; the design has its milestones only once."""
        if self.plan_json()["milestones"]:
            self.answers["design.json"] = []
        super().write_answers()

    def planned(self, milestone: str = "worktree") -> set[str]:
        """Return the files that the plan as it is now asks to change, or a milestone of it."""
        every = self.plan_json()["milestones"]
        milestones = [m for m in every if milestone in {"worktree", m["id"]}]
        intents = {i["file"] for m in milestones for i in m["code_intents"]}
        return intents.union(*(m["files"] for m in milestones))

    def plan_json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(Path(self.state_dir, "plan.json").read_bytes())
        return found

    # the reviewers

    def be_agent(self, command: str) -> Answer:
        """Be an agent until it has nothing more to do; it corrects answers that are refused.

        The host leads out of any other refusal, and the agent has ended.
        """
        before_the_host, self.corrected, self.tried = self.last, {}, set()
        block = self.follow(command)
        while block.block.tag == "step" and block.block.find("next") is not None:
            self.last = block
            with contextlib.suppress(FileNotFoundError):  # its worktree is gone: it is told so next
                self.do_the_work()
            answer = self.follow(block.next())
            if not is_refusal(answer):
                block = answer
            elif not self.correct(answer):
                Walk(self, ACTS).lead_out([*self.calls[-1]], answer)
                break
        self.last = before_the_host
        return block

    def correct(self, refused: Answer) -> bool:
        """Take the evidence that a refusal names for its rows; False if it names none anew."""
        found = re.findall(r'at="\[(\d+)\]\.evidence">.*touches: ([^;·–<]+)', refused.text)
        named = {int(number): line.strip() for number, line in found}
        new = bool({*named.items()} - self.tried)
        self.tried |= {*named.items()}
        self.corrected |= named
        return new

    def verdict(self, block: Answer) -> list[dict[str, Any]]:
        """Answer a reviewer's questions, and let the first fail where that is due."""
        rows = passing(block)
        for number, line in self.corrected.items():
            rows[number]["evidence"] = line
        if self.fails:
            self.fails = False
            failed = {"id": rows[0]["id"], "status": "FAIL", "finding": "It is wrong."}
            return [failed, *rows[1:-1], {"verdict": "fail"}]
        return rows


def settle_stray(journey: Journey, found: re.Match[str]) -> None:
    """Plan a changed file that the plan does not name, or restore it, as the refusal says."""
    file, run = found[1], cast("Run", journey)
    if file in run.planned() or len(run.calls) % 2:
        words = ("--milestone", "M-001", "--file", file, "--behavior", "is new")
        run.run("plan", "add", "intent", *words, "--state-dir", run.state_dir)
        return
    if os.path.lexists(run.tree / file):
        (run.tree / file).unlink()
    if file in run.base_entries():
        subprocess.run(["git", "checkout", "--quiet", "HEAD", "--", file], cwd=run.tree, check=True)


def finish_work(journey: Journey, _: re.Match[str]) -> None:
    """Do in the run's worktree what is missing there, as the refusal says."""
    with contextlib.suppress(FileNotFoundError):  # its worktree is gone: the next command says so
        journey.edit_worktree({})


def plan_files(journey: Journey, _: re.Match[str]) -> None:
    """Add an intent for each file of the plan that has none, as the refusal says."""
    run = cast("Run", journey)
    for milestone in run.plan_json()["milestones"]:
        known = {i["file"] for i in milestone["code_intents"]}
        for file in milestone["files"]:
            if file not in known:
                words = ("--milestone", milestone["id"], "--file", file, "--behavior", "is new")
                run.run("plan", "add", "intent", *words, "--state-dir", run.state_dir)


def settle(journey: Journey, found: re.Match[str]) -> None:
    """Change the plan for each statement, or say why not or where it holds, as a refusal says."""
    run = cast("Run", journey)
    for name in dict.fromkeys(found.re.findall(found.string)):
        plan = run.plan_json()
        cite = run.settles == "cited" and bool(plan["milestones"])
        for one in plan["milestones"]:
            cited = [other for other in one["requirements"] if other != name]
            if cite and one is plan["milestones"][0]:
                cited.append(name)
            if cited != one["requirements"]:
                values = [word for other in cited for word in ("--requirement", other)]
                run.planner("plan", "set", one["id"], "--version", str(one["version"]), *values)
        if cite:
            reason = ("--decision", f"As {name} says", "--reasoning-chain", "said -> done")
            run.planner("plan", "add", "decision", *reason)
            continue
        every = (*plan["user_remarks"], *plan["checkpoints"])
        version = next(str(one["version"]) for one in every if one["id"] == name)
        outcome = "declined: it is public" if run.settles == "declined" else ".gitignore:1"
        run.planner("plan", "set", name, "--version", version, "--outcome", outcome)


# What the host does whom a refusal asks, by its words.
ACTS: tuple[Act, ...] = (
    (r'at="([^"]+)">[^<]* was changed, and no intent', settle_stray),
    (r"(?s)design-milestones-complete M-.*", plan_files),
    (r'at="((?:CP|RM)-\d+)">[\w-]+ is due again because', settle),
    (r"((?:CP|RM)-\d+) is cited by no milestone", settle),
    (r"(?s)capture again.*", finish_work),
)
