"""What a plan's commit is to be: its parent, its tree and its message, and what is in its way.

The rehearsal before the freeze and the commit after the approval both start from here, so that the
one tries what the other does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import Ends, Entry, apply_patches, ends
from shared.git.few_paths import (
    fill_index,
    folders_of,
    index_at,
    replace_at,
    tree_and_rules,
    tree_at,
)
from shared.git.proof import check_trailers, describe, extra_entries
from shared.git.readiness import check_branch, check_underway
from state.errors import AGAIN, Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change
    from shared.git.proof import Extra
    from shared.git.repository import Head, Repository
    from shared.git.vault import Vault


# What was committed, as `Made.read` takes it.
SHOW = ("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--format=%T%n%P%n%B")
# What hooks have changed, between two trees, and how much of that is shown.
DIFF = ("diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv")
MOST_OF_DIFF = 4_000
# The way out where the plan's commit cannot be made as it was approved.
UNDO = "planner undo"


class Intended(NamedTuple):
    """The commit that a plan is to become: on which HEAD, with which tree and which message."""

    at: Head
    tree: str
    message: str

    @property
    def branch(self) -> str:
        """The ref that is moved to the commit."""
        return f"refs/heads/{self.at.branch}"

    def move(self, commit: str) -> tuple[str, ...]:
        """Return the words of git that move the branch to `commit`, from where it is now only."""
        reason = f"commit: {self.message.split(chr(10), 1)[0]}"
        return ("update-ref", "-m", reason, self.branch, commit, self.at.commit)

    def check(self, made: Made) -> list[Problem]:
        """Return a problem for each way in which hooks made another commit than this one."""
        problems = check_trailers(made.message, self.message)
        if made.parents != self.at.commit:
            text = "a git hook made further commits before the plan's commit"
            problems.append(Problem("refused", "commit", text))
        return problems


class Made(NamedTuple):
    """A commit as git has made it: its tree, its parents, separated by blanks, and its message."""

    tree: str
    parents: str
    message: str

    @classmethod
    def read(cls, text: str) -> Made:
        """Return the commit that git has printed with the words `SHOW`."""
        tree, parents, message = text.split("\n", 2)
        return cls(tree, parents, message)


def intend(
    repo: Repository,
    vault: Vault,
    at: Head,
    changes: Sequence[Change],
    message: str,
    extra: Extra,
) -> Intended:
    """Return the commit that the changes and the `extra` files are to become on this HEAD.

    Its tree is stored in the user's repository. Refused if HEAD has all of it already.
    """
    tree = _plan_tree(repo, vault, at, changes, extra)
    if tree == at.tree:
        text = "HEAD already holds all changes of the plan, so nothing is committed"
        raise Refused("refused", "HEAD", text, "see what HEAD holds: git show HEAD")
    return Intended(at, tree, message)


def tree_to_come(
    repo: Repository, vault: Vault, tree: str, changes: Sequence[Change], extra: Extra
) -> str:
    """Return the id that a git tree will have with the changes and the `extra` files.

    The files themselves need not be in the repository yet.
    """
    planned = {path: end.after for path, end in ends(changes).items()}
    return replace_at(vault.git, tree, planned | extra_entries(repo, extra))


def check_state(repo: Repository, at: Head) -> list[Problem]:
    """Return a problem if HEAD is on no branch or a git operation such as a merge is under way."""
    return [*check_branch(at), *check_underway(repo)]


def check_intended(
    repo: Repository,
    tree: str,
    changes: Sequence[Change],
    extra: Extra,
    leave: Collection[str] = (),
) -> list[Problem]:
    """Return a problem for all that in HEAD, index and folders is in the way of the commit.

    `tree` is HEAD's. What is staged of a path in `leave` is not judged.
    """
    plan = whole(repo, changes, extra)
    problems = [*_check_head(repo, tree, plan, extra), *check_index(repo, plan, leave)]
    return problems + check_extra(repo, extra)


def check_head(repo: Repository, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each planned file that in HEAD is not as it was before the plan."""
    return _check_head(repo, "HEAD", ends(changes), {})


def whole(repo: Repository, changes: Sequence[Change], extra: Extra) -> dict[str, Ends]:
    """Return each path to commit, extra files included, with its file before and after."""
    now = tree_at(repo.git, "HEAD", extra)
    return ends(changes) | {
        path: Ends(now.get(path), entry) for path, entry in extra_entries(repo, extra).items()
    }


def is_before(repo: Repository, tree: str, changes: Sequence[Change]) -> bool:
    """Return whether HEAD's tree still has every planned file as it was before the plan."""
    planned = ends(changes)
    now = tree_at(repo.git, tree, planned)
    return bool(changes) and all(now.get(p) == end.before for p, end in planned.items())


def _check_head(
    repo: Repository, tree: str, plan: Mapping[str, Ends], extra: Extra
) -> list[Problem]:
    now = tree_at(repo.git, tree, plan)
    problems: list[Problem] = []
    for path, end in plan.items():
        found = now.get(path)
        if path in extra or found == end.before:
            continue
        text = f"is {describe(found)} in HEAD; the plan was made for {describe(end.before)}"
        if found == end.after:
            text = "is committed already as planned, but other files of the plan with other content"
        way = "undo the apply and revise the plan; or a person keeps what is, and cancels"
        problems.append(Problem("refused", path, text, way, UNDO))
    return problems + check_clashes(plan, now, "HEAD")


def check_index(
    repo: Repository, plan: Mapping[str, Ends], leave: Collection[str] = ()
) -> list[Problem]:
    """Return a problem for each path that is staged as neither before nor after the plan."""
    lock = os.path.join(repo.git_dir, "index.lock")
    if os.path.exists(lock):
        text = "another git command is working on your index (the staged files)"
        return [Problem("locked", lock, text, "wait until the other git command ends", AGAIN)]
    now = index_at(repo.git, plan)
    problems = [
        Problem(
            "refused",
            path,
            f"is staged as {describe(now.get(path))}, which is neither its state before the plan "
            f"({describe(end.before)}) nor after it ({describe(end.after)})",
            "commit or unstage what you have staged of this file first",
            AGAIN,
        )
        for path, end in plan.items()
        if path not in leave and now.get(path) not in (end.before, end.after)
    ]
    return problems + check_clashes(plan, now, "your index")


def check_clashes(plan: Mapping[str, Ends], now: Mapping[str, Entry], where: str) -> list[Problem]:
    """Return a problem for each unplanned file in the way of a planned file or its folder."""
    unplanned = [path for path in now if path not in plan]
    added = {path for path, end in plan.items() if end.after}
    folders = folders_of(added)
    return [
        Problem("refused", path, f"in {where}, this path is where the plan needs a file or folder")
        for path in unplanned
        if path in folders or any(path[:at] in added for at, c in enumerate(path) if c == "/")
    ]


def check_extra(repo: Repository, extra: Extra) -> list[Problem]:
    """Return a problem for each extra file that is a link, or whose folder is a link or a file."""
    links = [path for path in extra if os.path.islink(os.path.join(repo.root, path))]
    way = "put a file of its own in place of the link, or remove it"
    problems = [Problem("refused", path, "this is a symbolic link", way) for path in links]
    for path in extra:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = os.path.join(repo.root, *parts[:depth])
            if os.path.lexists(parent) and (os.path.islink(parent) or not os.path.isdir(parent)):
                problems.append(Problem("refused", path, f"{parent} is not a folder"))
    return problems


def _plan_tree(
    repo: Repository,
    vault: Vault,
    at: Head,
    changes: Sequence[Change],
    extra: Extra,
) -> str:
    """Return the git tree of HEAD plus the plan's changes, stored in the user's repository."""
    with vault.fresh_index(GIT_OBJECT_DIRECTORY=repo.objects) as git:
        planned = {path: end.after for path, end in ends(changes).items()}
        fill_index(git, tree_and_rules(git, at.tree, planned), {}, "")
        apply_patches(git, changes)
        for data in extra.values():
            if isinstance(data, bytes):
                git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
        return replace_at(git, at.tree, planned | extra_entries(repo, extra))
