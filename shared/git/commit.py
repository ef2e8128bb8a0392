"""Make the plan's commit on a detached HEAD, prove it, and only then move the branch (PL-29)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import Ends, Entry, apply_patches, ends, index_lines, listed
from shared.git.command import durable, failed
from shared.git.files import refusing
from shared.git.hooks import find_hook, plain_hooks
from shared.git.lending import clean, forget, give_back, lend
from shared.git.limited import OUT_OF_TIME
from shared.git.proof import (
    Staged,
    check_commit,
    check_message,
    describe,
    extra_entries,
    find_committed,
)
from shared.git.repository import check_branch, check_underway, head
from shared.git.settle import tail
from shared.git.worktree import clear_stale_locks, open_worktree
from state.errors import Problem, Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change
    from shared.git.command import Git
    from shared.git.proof import Extra
    from shared.git.repository import Head, Repository
    from shared.git.vault import Vault

_AGAIN = "planner exec commit"
# The hooks of a commit that can change its files or its message, and how much of that is shown.
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
_MOST_OF_DIFF = 4_000
HOOK_LIMIT_S = 900.0  # as for the hooks of a capture


class Committed(NamedTuple):
    """The plan's commit, its parent, and the branch that now points to the commit."""

    commit: str
    parent: str
    branch: str


@refusing()
def commit(  # noqa: PLR0913 – options, each named where it is given
    repo: Repository,
    worktree: str,
    vault: Vault,
    changes: Sequence[Change],
    message: str,
    extra: Extra,
    *,
    leave: Collection[str] = (),
) -> Committed:
    """Commit the plan's changes on the user's branch, with the user's hooks and signing.

    `extra` are files to commit as well (None removes one), such as the archived plan or what the
    user has staged. What is staged of a path in `leave` stays staged. The commit is made on a
    detached HEAD in the worktree, whose content is replaced; run again after a crash, there is
    still one commit. Refused, with branch and index as they were, if the plan does not fit HEAD or
    the index, or if the commit is not the plan.
    """
    problems = [*check_branch(repo), *check_underway(repo)]
    if problems:
        raise Refused.of(problems)
    at, plan = head(repo), _whole(repo, changes, extra)
    done = None if _is_before(repo, changes) else find_committed(repo, changes, message, extra)
    if done is None:
        problems = [*_check_head(repo, plan, extra), *_check_index(repo, plan, leave)]
        problems += _check_extra(repo, extra)
        if problems:
            raise Refused.of(problems)
        lend(repo, worktree, vault, changes)
        try:
            done = _make(repo, worktree, vault, changes, message, extra)
            _move(repo, vault, at, done, message)
        except Refused:
            give_back(repo, worktree)
            raise
        forget(open_worktree(repo, worktree).admin)
    _refresh(repo, plan, extra)
    parent = repo.git.text("rev-parse", f"{done}^")
    return Committed(done, parent, at.branch or "")


def check_head(repo: Repository, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each planned file that in HEAD is not as it was before the plan."""
    return _check_head(repo, ends(changes), {})


def _whole(repo: Repository, changes: Sequence[Change], extra: Extra) -> dict[str, Ends]:
    """Return each path to commit, extra files included, with its file before and after."""
    now = tree_of_head(repo)
    return ends(changes) | {
        path: Ends(now.get(path), entry) for path, entry in extra_entries(repo, extra).items()
    }


def tree_of_head(repo: Repository) -> dict[str, Entry]:
    """Return mode and blob of each path in HEAD; bytes that are not UTF-8 become surrogates."""
    found: dict[str, Entry] = {}
    for row in repo.git.names("ls-tree", "-r", "-z", "--full-tree", "HEAD"):
        meta, name = row.split(b"\t", 1)
        mode, _kind, blob = meta.decode().split(" ")
        found[name.decode("utf-8", "surrogateescape")] = Entry(mode, blob)
    return found


def _is_before(repo: Repository, changes: Sequence[Change]) -> bool:
    now = tree_of_head(repo)
    return bool(changes) and all(now.get(p) == end.before for p, end in ends(changes).items())


def _check_head(repo: Repository, plan: Mapping[str, Ends], extra: Extra) -> list[Problem]:
    now = tree_of_head(repo)
    problems: list[Problem] = []
    for path, end in plan.items():
        found = now.get(path)
        if path in extra or found == end.before:
            continue
        if found == end.after:
            text = "is committed already as planned, but not every file of the plan is"
            way = "commit the other planned files yourself too, then run the same command again"
            problems.append(Problem("refused", path, text, way, _AGAIN))
        else:
            text = f"is {describe(found)} in HEAD; the plan was made for {describe(end.before)}"
            way = "undo the apply and revise the plan; or a person keeps what is, and cancels"
            problems.append(Problem("refused", path, text, way, "planner undo"))
    return problems + check_clashes(plan, now, "HEAD")


def _check_index(
    repo: Repository, plan: Mapping[str, Ends], leave: Collection[str]
) -> list[Problem]:
    lock = os.path.join(repo.git_dir, "index.lock")
    if os.path.exists(lock):
        text = "another git command is working on your index (the staged files)"
        return [Problem("locked", lock, text, "wait until the other git command ends", _AGAIN)]
    now = listed(repo.git)
    problems = [
        Problem(
            "refused",
            path,
            f"is staged as {describe(now.get(path))}, which is neither its state before the plan "
            f"({describe(end.before)}) nor after it ({describe(end.after)})",
            "commit or unstage what you have staged of this file first",
            _AGAIN,
        )
        for path, end in plan.items()
        if path not in leave and now.get(path) not in (end.before, end.after)
    ]
    return problems + check_clashes(plan, now, "your index")


def check_clashes(plan: Mapping[str, Ends], now: Mapping[str, Entry], where: str) -> list[Problem]:
    """Return a problem for each unplanned file in the way of a planned file or its folder."""
    unplanned = [path for path in now if path not in plan]
    added = {path for path, end in plan.items() if end.after}
    folders = {path[:at] for path in added for at, char in enumerate(path) if char == "/"}
    return [
        Problem("refused", path, f"in {where}, this path is where the plan needs a file or folder")
        for path in unplanned
        if path in folders or any(path[:at] in added for at, c in enumerate(path) if c == "/")
    ]


def _check_extra(repo: Repository, extra: Extra) -> list[Problem]:
    problems: list[Problem] = []
    for path in extra:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = os.path.join(repo.root, *parts[:depth])
            if os.path.lexists(parent) and (os.path.islink(parent) or not os.path.isdir(parent)):
                problems.append(Problem("refused", path, f"{parent} is not a folder"))
    return problems


def _make(
    repo: Repository,
    worktree: str,
    vault: Vault,
    changes: Sequence[Change],
    message: str,
    extra: Extra,
) -> str:
    """Commit the plan on the worktree's detached HEAD, prove the commit, and return its id."""
    at = head(repo)
    tree = _plan_tree(repo, vault, at, changes, extra)
    if tree == at.tree:
        raise Refused(
            "refused", "HEAD", "HEAD already holds all changes of the plan, so nothing is committed"
        )
    there = open_worktree(repo, worktree)
    clear_stale_locks(there.admin)
    git = there.git
    git.run("update-ref", "--no-deref", "HEAD", at.commit)
    git.run("read-tree", "--reset", "-u", tree)
    clean(worktree, git)
    _commit_there(git, vault, message)
    made = git.text("rev-parse", "HEAD")
    problems = check_commit(repo, made, changes, extra) + check_message(repo, made, message)
    if git.text("rev-parse", f"{made}^@") != at.commit:
        problems.append(
            Problem("refused", made, "a git hook made further commits before the plan's commit")
        )
    if problems:
        raise Refused.of([_changed_by_hook(git, tree, made), *problems])
    return made


def _changed_by_hook(git: Git, tree: str, made: str) -> Problem:
    """Return the problem of a commit that a hook changed: which hooks ran, what they changed."""
    hooks = ", ".join(name for name in _HOOKS if find_hook(git, name)) or "of git's settings"
    text = f"a hook ({hooks}) changed the commit, so it is not what was approved; the branch was "
    text += "not moved"
    way = "have the hook leave these files alone and commit again, or take over what it makes:"
    words = ("diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", tree, made)
    diff = git.run(*words).decode("utf-8", "replace")[:_MOST_OF_DIFF]
    return Problem("refused", "commit", text, way, "planner plan revise", diff)


def _plan_tree(
    repo: Repository,
    vault: Vault,
    at: Head,
    changes: Sequence[Change],
    extra: Extra,
) -> str:
    """Return the git tree of HEAD plus the plan's changes, stored in the user's repository."""
    with vault.fresh_index(GIT_OBJECT_DIRECTORY=repo.objects) as git:
        git.run("read-tree", at.tree)
        apply_patches(git, changes)
        for data in extra.values():
            if isinstance(data, bytes):
                git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
        lines = index_lines(extra_entries(repo, extra), repo.zero)
        git.run("update-index", "--add", "-z", "--index-info", stdin=lines)
        return git.text("write-tree")


def _commit_there(git: Git, vault: Vault, message: str) -> None:
    settings = [part for setting in durable() for part in ("-c", setting)]
    with vault.scratch() as folder:
        hooks = plain_hooks(git, folder)
        done = git.as_set_up().attempt(
            *settings, *hooks, "-c", "i18n.commitEncoding=UTF-8", "commit", "--quiet",
            "--cleanup=whitespace", "--file=-", stdin=message.encode("utf-8"),
            limit_s=HOOK_LIMIT_S,
        )  # fmt: skip
    if done.returncode:
        said = tail((done.stdout + done.stderr).decode("utf-8", "replace"))
        text = "git commit failed (a hook, signing or the identity)"
        allowed = "fix what git's output names, then run the command again"
        if done.returncode == OUT_OF_TIME:
            text = f"git commit had not ended after {HOOK_LIMIT_S:.0f} s: a hook hangs, or signing"
            allowed = "end what it waits for, or mend the hook, then run the command again"
        raise failed("git commit", text, allowed, _AGAIN, said)


def _move(repo: Repository, vault: Vault, at: Head, made: str, message: str) -> None:
    reason = f"commit: {message.split(chr(10), 1)[0]}"
    ref = f"refs/heads/{at.branch}"
    words = ("update-ref", "-m", reason, ref, made, at.commit)
    with vault.scratch() as folder:
        hooks = plain_hooks(repo.git, folder)
        done = repo.git.as_set_up().attempt(*hooks, *words, limit_s=HOOK_LIMIT_S)
    if done.returncode == OUT_OF_TIME:
        text = f"the hook reference-transaction had not ended after {HOOK_LIMIT_S:.0f} s"
        raise Refused("refused", ref, text, "mend the hook, then run the command again", _AGAIN)
    if done.returncode:
        text = f"the branch was not moved: {tail(done.stderr.decode('utf-8', 'replace'))}"
        raise failed(ref, text, "the plan's commit is made again", _AGAIN)


def _refresh(repo: Repository, plan: Mapping[str, Ends], extra: Extra) -> None:
    """Update the planned paths of the user's index to the new commit; other paths stay staged."""
    now = listed(repo.git)
    entries = {
        path: end.after
        for path, end in plan.items()
        if now.get(path) != end.after and (path in extra or now.get(path) == end.before)
    }
    if entries:
        lines = index_lines(entries, repo.zero)
        repo.git.run("update-index", "-z", "--index-info", stdin=lines)
        repo.git.ok("update-index", "-q", "--refresh")
    for path, data in extra.items():
        if not isinstance(data, Staged):
            _write_extra(os.path.join(repo.root, path), data)


def _write_extra(path: str, data: bytes | None) -> None:
    if data is None:
        if os.path.lexists(path):
            os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomic(path, data, 0o644)
