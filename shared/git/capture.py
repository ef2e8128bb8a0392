"""Read the changes made in the scratch worktree as the plan's patches (PL-10, PL-32, PL-33)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import GITLINK, LINK, FileChange, read_changes
from shared.git.commit_steps import before_hooks
from shared.git.copies import lay, reset, restore
from shared.git.few_paths import rebuild
from shared.git.files import refusing
from shared.git.large import MEBIBYTE, MOST_MB
from shared.git.lent import give_back
from shared.git.nested import check_submodules
from shared.git.record import clear_stale_locks
from shared.git.repository import PLANNER, head, within
from shared.git.settle import (
    ROUNDS,
    Tool,
    Trial,
    refuse_failed,
    refuse_restless,
    refuse_undone,
    tail,
)
from shared.git.stage import covered, is_utf8, stage_all
from shared.git.stand_in import run_in_worktree, take_over
from shared.git.worktree import open_worktree
from state.errors import Problem, Refused
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.settle import Home, Ran, Runner
    from shared.git.stage import Scan
    from shared.git.vault import Vault
    from shared.git.worktree import Worktree

_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


@dataclass(frozen=True)
class Capture:
    """The differences between the scratch worktree's files and the base commit's files."""

    tree: str
    changes: list[FileChange]
    # Paths that git ignores, left out; a folder ends in `/`.
    ignored: list[str]
    # Files that a formatter or the hook changed and the plan does not name.
    put_back: list[str]
    rounds: int
    # The end of the last output of the hook.
    hook_output: str


@dataclass(frozen=True)
class _Work:
    """The scratch worktree whose changes are being captured, with its base tree and git."""

    repo: Repository
    tree: Worktree
    git: Git
    base: str
    left_out: tuple[bytes, ...]

    def stage(self) -> str:
        """Stage every change in the worktree and return the id of the resulting git tree."""
        index, zero = self.tree.index_file, self.repo.zero
        found, tree = stage_all(self.git, index, self.base, zero, self.left_out)
        _check_names(found)
        return tree

    def paths(self, old: str, new: str) -> dict[str, bool]:
        """Return the paths that differ between two git trees, and whether each exists in `new`."""
        rows = self.git.names("diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new)
        return {
            os.fsdecode(name): row != b"D" for row, name in zip(rows[::2], rows[1::2], strict=True)
        }


class _Tools(NamedTuple):
    """The formatters and the pre-commit hook that run, and may change files, before a capture."""

    formatters: Sequence[str]
    hook: bool
    owned: Callable[[str], bool] | None
    runner: Runner
    home: Home | None
    # The lines of the shell before the hook.
    before: str = ""

    def run(self, work: _Work, tree: str, tool: Tool) -> Trial:
        """Run one of them on the git tree `tree` that the worktree holds."""
        found = self.home(tree, tool) if self.home else None
        return found or run_in_worktree(work.repo, work.tree, tree, tool, self.runner)


class _Round(NamedTuple):
    """Result of running all formatters and the hook once."""

    tree: str
    # The first that failed.
    failed: tuple[str, Ran] | None
    strays: list[str]
    output: str


@refusing()
def capture(  # noqa: PLR0913 – options, each named where it is given
    repo: Repository,
    worktree: str,
    vault: Vault,
    base_tree: str,
    *,
    runner: Runner,
    home: Home | None = None,
    leave_out: Iterable[str] = (),
    formatters: Sequence[str] = (),
    hook: bool = True,
    owned: Callable[[str], bool] | None = None,
    limit: int = MOST_MB * MEBIBYTE,
) -> Capture:
    """Run formatters and hook until they change no file, then return the worktree's changes.

    Both run by `home`, or else in the worktree, started by `runner` and working on a copy of index
    and object store. `leave_out` are paths that are never captured, such as linked ones. A file
    that only a formatter or the unstaged work of the hook changed is put back unless `owned` is
    true for it; without `owned` all are kept. The changes are proved to rebuild the tree.
    Refused, with all problems at once, if something can't be captured.
    """
    work = _open(repo, worktree, base_tree, leave_out)
    check_submodules(repo, work.tree, work.base, work.left_out, runner)
    hook = hook and bool(Tool().words(work.git, repo.git))
    before = _before_hook(work) if hook else ""
    tools = _Tools(formatters, hook, owned, runner, home, before)
    tree, rounds, put_back, output = _settle(work, tools)
    # It walks the whole worktree, so it runs while the changes are read and rebuilt.
    with work.git.names_beside(*_IGNORED) as ignored:
        changes = read_changes(vault, base_tree, tree, limit=limit)
        problems = [problem for change in changes for problem in _check_change(work, change)]
        if problems:
            raise Refused.of(problems)
        if rebuild(vault, base_tree, changes) != tree:
            raise Refused(
                "internal",
                worktree,
                "the captured patches do not give the worktree's files: a fault of the planner",
                "report it; the worktree stays as it is",
            )
        left = _names_to_show(work, ignored())
    return Capture(tree, changes, left, put_back, rounds, output)


def _open(repo: Repository, worktree: str, base_tree: str, leave_out: Iterable[str]) -> _Work:
    tree = open_worktree(repo, worktree)
    clear_stale_locks(tree.admin)
    give_back(repo, worktree)
    git, commit = tree.git, tree.made_at
    if commit and tree.head != commit and git.text("rev-parse", f"{commit}^{{tree}}") == base_tree:
        # A commit or branch made in the worktree is undone; its content stays and is captured.
        git.run("update-ref", "--no-deref", "HEAD", commit)
    left_out = tuple(name.rstrip("/").encode("utf-8") for name in leave_out)
    return _Work(repo, tree, git, base_tree, left_out)


def _before_hook(work: _Work) -> str:
    """Return what puts the hook on the user's branch, which the place or the copy leads to."""
    branch, commit = head(work.repo).branch, work.tree.head
    if branch is None or commit is None:
        return ""
    return before_hooks(work.repo.git, f"refs/heads/{branch}", commit)


def _settle(work: _Work, tools: _Tools) -> tuple[str, int, list[str], str]:
    """Run formatters and hook until no file changes; return tree, rounds, undone paths, output."""
    tree = work.stage()
    strays: set[str] = set()
    if tree == work.base or not (tools.formatters or tools.hook):
        return tree, 0, [], ""
    for number in range(1, ROUNDS + 1):
        done = _round(work, tree, tools)
        strays.update(done.strays)
        if done.tree == work.base:
            reset(work.git, tree)
            restore(work.git)
            raise refuse_undone(done.output)
        if done.tree == tree:
            if done.failed:
                raise refuse_failed(*done.failed, head(work.repo).branch or "")
            return tree, number, sorted(strays), done.output
        last, tree = tree, done.tree
    raise refuse_restless(list(work.paths(last, tree)))


def _round(work: _Work, tree: str, tools: _Tools) -> _Round:
    """Run every formatter and then the pre-commit hook, once each, on the changed files."""
    known = work.paths(work.base, tree)
    files = [path for path, there in known.items() if there]
    failed: tuple[str, Ran] | None = None
    strays: list[str] = []
    for command in tools.formatters:
        tool = Tool(command, files)
        ran = tools.run(work, tree, tool).ran
        if ran.code and not failed:
            failed = (tool.name, ran)
        tree = work.stage()
    if tools.formatters:
        tree, strays = _tidy(work, known, tools.owned)
    if not tools.hook:
        return _Round(tree, failed, strays, "")
    ran, rows = tools.run(work, tree, Tool(before=tools.before))
    if ran.code and not failed:
        failed = (Tool().name, ran)
    # What the hook staged itself would be in the commit, so it is always captured.
    tree, more = _tidy(work, {*known, *take_over(work.git, rows)}, tools.owned)
    return _Round(tree, failed, [*strays, *more], tail(ran.output))


def _tidy(
    work: _Work, known: Collection[str], owned: Callable[[str], bool] | None
) -> tuple[str, list[str]]:
    """Undo changes to files outside the plan, stage all others; return git tree, undone paths."""
    tree = work.stage()
    changed = work.paths(work.base, tree) if owned else {}
    strays = [path for path in changed if path not in known and owned and not owned(path)]
    if strays:
        _put_back(work, strays)
        tree = work.stage()
    return tree, strays


def _put_back(work: _Work, paths: Sequence[str]) -> None:
    work.git.run("read-tree", "--reset", work.base)
    rows = work.git.names("ls-tree", "-r", "-z", "--name-only", work.base)
    at_base = set(rows)
    files = WorkingFiles(work.tree.path)
    for path in paths:
        if os.fsencode(path) not in at_base:
            files.unlink(path)
            files.remove_empty(os.path.dirname(path))
    lay(work.git, [path for path in paths if os.fsencode(path) in at_base])


def _check_names(found: Scan) -> None:
    """Raise Refused for file names that are not UTF-8 and git repositories in the worktree."""
    problems: list[Problem] = []
    for name in sorted(found.changed | found.untracked):
        shown = name.decode("utf-8", "backslashreplace")
        if name.endswith(b"/"):
            text = "is a separate git repository; its files can't be captured"
            problems.append(Problem("refused", shown, text, "change files of this repository only"))
        elif not is_utf8(name):
            text = "the name is not UTF-8 (shown escaped), and a plan can't hold it"
            problems.append(Problem("refused", shown, text, "use a file name in UTF-8"))
    if problems:
        raise Refused.of(problems)


def _check_change(work: _Work, change: FileChange) -> list[Problem]:
    at, text = change.file, "is a path of the planner's own files, which a plan must not change"
    paths = {change.file, change.old_file or change.file}
    problems = [Problem("refused", path, text) for path in paths if within(path, PLANNER)]
    if GITLINK in {change.mode, change.old_mode}:
        problems.append(
            Problem("refused", at, "is a separate git repository", "move it out of the worktree")
        )
    if change.mode == LINK and change.after and _leaves(work, at, change.after):
        text = "is a symbolic link that leads out of the repository"
        problems.append(
            Problem("refused", at, text, "point the link to a relative path inside the repository")
        )
    return problems


def _leaves(work: _Work, path: str, blob: str) -> bool:
    """Return whether a link, whose target is the blob's content, leads out of the repository."""
    target = os.fsdecode(work.git.lasting("cat-file", "blob", blob, of=[blob]))
    if os.path.isabs(target):
        return True
    depth = path.count("/")
    for part in target.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            return True
    return False


def _names_to_show(work: _Work, rows: Iterable[bytes]) -> list[str]:
    names = (row for row in rows if not covered(row, (*work.left_out, PLANNER.encode())))
    return sorted(name.decode("utf-8", "backslashreplace") for name in names)
