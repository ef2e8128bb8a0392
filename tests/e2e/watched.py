"""A journey whose every command is watched: what of the user's it may change, and nothing else.

Files, index, refs and settings of the user are compared around each command. Their change is right
only where an approved digest is written, committed or undone, and then for exactly its files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from state.frozen_bytes import digest_of
from tests.journey import Answer, Journey, parsed
from tests.kills import killed_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conftest import Repository

Entry = tuple[str, str]  # mode and blob id, as git has them
Entries = dict[str, Entry]
Changes = dict[str, tuple[Entry | None, Entry | None]]

OURS = ".planner"
OUR_REFS = "refs/planner"
UNFINISHED = ".planner-"  # begins the name of a file that is being written
WRITING = {("exec", "run"), ("exec", "apply")}
COMMITTING = {("exec", "run"), ("exec", "commit")}
# These may carry the agent's work to another base, or end it.
CARRYING = {"start", "cancel", "undo", "exec", "mode", "plan"}


class Seen(NamedTuple):
    """What is the user's, at one moment."""

    tree: Entries
    staged: Entries
    refs: dict[str, str]
    rest: dict[str, bytes]  # HEAD, settings, and the list of stashes


class Frozen(NamedTuple):
    """The plan of a run as it is frozen; without a digest it is open."""

    digest: str
    changes: Changes


class Watched(Journey):
    """A journey that checks around each command what the user has, and the answer's form."""

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository)
        self.approved: set[str] = set()
        self.index_bytes, self.index = b"", dict[str, Entry]()
        # The worktree as it was last there: what is submitted has none.
        self.written: Entries = {}
        # A command that was killed once it had moved the branch: repeated, it ends in the index.
        self.cut_short: tuple[str, ...] = ()
        self.log: list[str] = []  # each command and what came of it, for who reads a failure

    # commands

    def run(self, *argv: str) -> Answer:
        before, plan = self.look(), self.frozen()
        answer = super().run(*argv)
        self.check(argv, answer, before, plan)
        return answer

    def planner(self, *argv: str) -> Answer:
        before, plan = self.look(), self.frozen()
        answer = super().planner(*argv)
        self.check(argv, answer, before, plan)
        return answer

    def run_killed(self, moment: int, *argv: str) -> bool:
        """Run a command that is killed at a moment; return False if it had ended before."""
        before, plan = self.look(), self.frozen()
        if "approve" in argv[:2]:
            self.approved.add(plan.digest)
        killed = killed_at(moment, self.repository.path, *argv, codes=(0, 1))
        self.check_changes(argv, before, plan, killed=True)
        self.cut_short = argv if killed and self.look().refs != before.refs else ()
        return killed

    # what must hold

    def check(self, argv: tuple[str, ...], answer: Answer, before: Seen, plan: Frozen) -> None:
        """Check an answer's form, and what the command has done to what is the user's."""
        shown = answer.text if answer.code else answer.text.partition("\n")[0]
        self.log.append(f"{shlex.join(argv)}: {answer.code} {shown}")
        said = f"{argv}\n{answer.text}{answer.stderr}"
        assert answer.code in {0, 1, 2} or argv[:2] == ("tree", "run"), said
        assert "Traceback" not in answer.stderr, said
        refused = False
        if answer.text.startswith("<"):  # not JSON or a help text
            block = parsed(answer.text)
            refused = block.tag == "error" or block.get("partial") == "true"
            # `tree run` ends as the command of the project did.
            ends = {1, 2} if refused else {int(block.get("code", 0))}
            assert answer.code in ends, said
        if "approve" in argv[:2] and answer.code == 0:
            assert plan.digest.startswith(argv[argv.index("approve") + 1]), said
            self.approved.add(plan.digest)
        self.check_changes(argv, before, plan, refused=refused)

    def check_changes(
        self,
        argv: tuple[str, ...],
        before: Seen,
        plan: Frozen,
        *,
        killed: bool = False,
        refused: bool = False,
    ) -> None:
        """Check what a command has changed against the approved plan."""
        after, now = self.look(), self.frozen()
        assert after.rest == before.rest, argv
        changes = plan.changes if plan.digest in self.approved else {}
        self._check_tree(argv, before, after, changes, whole=not killed)
        moved = self._check_refs(argv, before, after, changes)
        settles = moved or argv == self.cut_short
        for path in differing(before.staged, after.staged):
            assert settles, f"{argv}: the index of {path}"
            assert after.staged.get(path) in changes[path], f"{argv}: the index of {path}"
        if settles and not killed and not refused:
            self._check_index(argv, before, after, changes)
        if refused:
            assert not moved, argv
            assert argv[:2] == ("exec", "run") or after.tree == before.tree, argv
        # What agents have written meets, is submitted and put away by one command.
        at_once = argv[:2] == ("exec", "done") and not Path(self.state_dir, "worktree").is_dir()
        if now.digest and now.digest != plan.digest and now.changes and not at_once:
            assert now.changes == self.worktree_changes(), f"{argv}: frozen is other work"

    def _check_tree(
        self,
        argv: tuple[str, ...],
        before: Seen,
        after: Seen,
        changes: Changes,
        *,
        whole: bool,
    ) -> None:
        changed = {
            p: (before.tree.get(p), after.tree.get(p)) for p in differing(before[0], after[0])
        }
        if not changed:
            return
        done = changes if argv[:2] in WRITING else reversed_changes(changes)
        assert argv[:2] in WRITING or argv[0] == "undo", f"{argv} has changed {[*changed]}"
        for path, change in changed.items():
            assert change == done.get(path), f"{argv} has changed {path}: {change}"
        for path, (_, new) in done.items():
            assert not whole or after.tree.get(path) == new, f"{argv} has left out {path}"

    @staticmethod
    def _check_index(argv: tuple[str, ...], before: Seen, after: Seen, changes: Changes) -> None:
        """Check that a commit's files are in the index; what was staged of them stays staged."""
        for path, change in changes.items():
            wanted = change[argv[0] != "undo"]
            if before.staged.get(path) in change:
                assert after.staged.get(path) == wanted, f"{argv}: the index of {path} is left"

    def _check_refs(
        self, argv: tuple[str, ...], before: Seen, after: Seen, changes: Changes
    ) -> bool:
        moved = [*differing(before.refs, after.refs)]
        if not moved:
            return False
        branch = before.rest["HEAD"].decode().strip().removeprefix("ref: ")
        assert moved == [branch], f"{argv} has moved {moved}"
        assert argv[:2] in COMMITTING or argv[0] == "undo", f"{argv} has moved {moved}"
        old, new = before.refs[branch], after.refs[branch]
        git = self.repository.git
        assert git("rev-list", "--parents", f"{old}..{new}") == f"{new} {old}", argv
        done = changes if argv[0] != "undo" else reversed_changes(changes)
        parent, commit = entries_of(self.repository, old), entries_of(self.repository, new)
        for path in differing(parent, commit):
            change = parent.get(path), commit.get(path)
            assert change == done.get(path), f"{argv} has committed {path}: {change}"
        for path, (_, entry) in done.items():
            assert commit.get(path) == entry, f"{argv} has not committed {path}"
        return True

    # what is there

    def look(self) -> Seen:
        """Return what is the user's now; keep what the worktree holds."""
        if self.state_dir and Path(self.state_dir, "worktree").is_dir():
            self.written = files_in(Path(self.state_dir, "worktree"))
        git = self.repository.path / ".git"
        data = (git / "index").read_bytes() if (git / "index").exists() else b""
        if data != self.index_bytes:
            self.index_bytes, self.index = data, index_of(self.repository)
        rest = {name: (git / name).read_bytes() for name in ("HEAD", "config")}
        stashes = git / "logs" / "refs" / "stash"
        rest["stashes"] = stashes.read_bytes() if stashes.exists() else b""
        return Seen(files_in(self.repository.path), self.index, refs_of(git), rest)

    def frozen(self) -> Frozen:
        """Return the plan as it is frozen, its digest computed again; of an open plan no digest."""
        path = Path(self.state_dir, "plan.json")
        if not self.state_dir or not path.exists():
            return Frozen("", {})
        data = path.read_bytes()
        stored, computed = digest_of(data)
        assert stored == computed, f"the digest of {path} is not its own"
        return Frozen(stored or "", changes_of(json.loads(data)))

    def worktree_changes(self) -> Changes:
        """Return what the scratch worktree changes of the plan's base, or last did."""
        return self.changes_to(self.written)

    def changed_in(self, folder: Path) -> Changes:
        """Return what a checkout of the plan's base changes of it."""
        return self.changes_to(files_in(folder))

    def changes_to(self, after: Entries) -> Changes:
        before = self.base_entries()
        return {p: (before.get(p), after.get(p)) for p in differing(before, after)}

    def base_entries(self) -> Entries:
        """Return the files of the plan's base."""
        base = json.loads(Path(self.state_dir, "plan.json").read_bytes())["base"]
        return entries_of(self.repository, base.get("snapshot") or base["commit"])


def changes_of(plan: Mapping[str, Any]) -> Changes:
    """Return what a plan makes of each path; a rename is a removal and an addition."""
    found: Changes = {}
    for milestone in plan["milestones"]:
        for change in (*milestone["code_changes"], *milestone["documentation"]["changes"]):
            old = (change["old_mode"], change["before"]) if change["before"] else None
            new = (change["mode"], change["after"]) if change["after"] else None
            if change["old_file"]:
                found[change["old_file"]] = (old, None)
                old = None
            found[change["file"]] = (old, new)
    return found


def reversed_changes(changes: Changes) -> Changes:
    return {path: (new, old) for path, (old, new) in changes.items()}


def differing(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[str]:
    """Yield the names under which two mappings have different values."""
    return (n for n in sorted({*before, *after}) if before.get(n) != after.get(n))


def files_in(folder: Path) -> Entries:
    """Return mode and blob id of each file below a folder, without git's and ours."""
    found: Entries = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in {".git", OURS}]
        for name in files:
            path = Path(place, name)
            if path == folder / ".git" or name.startswith(UNFINISHED):
                continue
            relative = str(path.relative_to(folder))
            if path.is_symlink():
                found[relative] = ("120000", blob_id(os.readlink(path).encode()))
            else:
                mode = "100755" if path.stat().st_mode & 0o100 else "100644"
                found[relative] = (mode, blob_id(path.read_bytes()))
    return found


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data)).hexdigest()  # noqa: S324 – git's own


def index_of(repository: Repository) -> Entries:
    """Return what the index holds; of an unmerged path the last stage, its number with the mode."""
    rows = [row.split("\t") for row in repository.git("ls-files", "-sz").split("\0") if row]
    found = {name: tuple(head.split()) for head, name in rows}
    return {n: (mode + number.strip("0"), blob) for n, (mode, blob, number) in found.items()}


def entries_of(repository: Repository, commit: str) -> Entries:
    """Return mode and blob id of each file of a commit."""
    rows = [r.split("\t") for r in repository.git("ls-tree", "-rz", commit).split("\0") if r]
    return {name: (head.split()[0], head.split()[2]) for head, name in rows}


def refs_of(git: Path) -> dict[str, str]:
    """Return the user's refs, read from their files; HEAD itself where it is detached."""
    found: dict[str, str] = {}
    if (git / "packed-refs").exists():
        lines = (git / "packed-refs").read_text().splitlines()
        rows = [line.split() for line in lines if line[0] not in "#^"]
        found = {name: commit for commit, name in rows}
    for path in (git / "refs").rglob("*"):
        if path.is_file():
            found[str(path.relative_to(git))] = path.read_text().strip()
    return {name: commit for name, commit in found.items() if not name.startswith(OUR_REFS)}
