"""Give formatters and hooks a private copy of the scratch worktree's git folder to write to.

A hook that stages what it reformatted writes the index and objects. Into the copy it may: no
command of the project needs to write into the user's git folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.git.git_file import repair_git_file
from shared.git.scratch import scratch, sweep
from shared.git.settle import Ran, Trial
from shared.git.vault import alternates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.git.settle import Runner, Tool
    from shared.git.worktree import Worktree

# Git reads `extensions.*` from a repository's own config file only, never from one that this
# includes. These two describe how a git folder is laid out, and the copy has the plain layout.
_LAYOUT = frozenset({"extensions.worktreeconfig", "extensions.refstorage"})


class StandIn(NamedTuple):
    """The private folder that formatters and hooks may write to, and the git index in it."""

    private: str
    index_file: str


@contextlib.contextmanager
def stand_in(repo: Repository, tree: Worktree) -> Iterator[StandIn]:
    """Make git in the worktree use a private copy of its git folder; remove the copy afterwards.

    If we are killed, `open_worktree` repairs the worktree's `.git`.
    """
    beside = os.path.dirname(tree.path)
    sweep(beside)
    with scratch(beside) as private:
        copy = os.path.join(private, "git")
        _copy_git_folder(repo, tree.admin, copy)
        try:
            _lead_to(copy, tree)
            yield StandIn(private, os.path.join(copy, "index"))
        finally:
            _lead_back(tree, private)


def run_in_worktree(
    repo: Repository, tree: Worktree, content: str, tool: Tool, runner: Runner
) -> Trial:
    """Run a formatter or hook in the worktree, which holds the git tree `content`."""
    with stand_in(repo, tree) as lent:
        words = tool.words(tree.git)
        if not words:
            return Trial(Ran(0, ""))
        env = tool.environment(tree.path, lent.index_file)
        ran = runner(words, tree.path, env, lent.private)
        return Trial(ran, staged(repo, lent.index_file, content))


def staged(repo: Repository, index: str, tree: str) -> list[bytes]:
    """Return rows of `git diff-index --raw` between `tree` and an index, each before its path.

    A hook may have removed or damaged the index; nothing is staged then.
    """
    try:
        is_file = stat.S_ISREG(os.lstat(index).st_mode)
    except FileNotFoundError:
        return []
    if not is_file:
        return []
    words = ("diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", tree)
    # Not the worktree's git: the hook may have changed its settings.
    done = repo.git.having(GIT_INDEX_FILE=index).attempt(*words)
    return done.stdout.split(b"\0")[:-1] if done.returncode == 0 else []


def take_over(git: Git, rows: Sequence[bytes]) -> list[str]:
    """Copy what a hook staged (`rows`) into git's index, and return the paths.

    The blobs stay behind: a capture reads content from the worktree, and only names and x bits
    from the index.
    """
    lines = []
    for meta, name in zip(rows[0::2], rows[1::2], strict=True):
        mode, blob = meta.split(b" ")[1:4:2]
        lines.append((b"0" if mode == b"000000" else mode) + b" " + blob + b"\t" + name + b"\0")
    if lines:
        git.attempt("update-index", "--replace", "-z", "--index-info", stdin=b"".join(lines))
    return [os.fsdecode(name) for name in rows[1::2]]


def _lead_to(copy: str, tree: Worktree) -> None:
    """Replace the worktree's `.git` by a link to the private copy of its git folder.

    A link, because git would name the folder in GIT_DIR to each program if a file led to it.
    """
    # Made outside the worktree: if we are killed, the next capture must not find it there.
    new = f"{copy}-link"
    os.symlink(copy, new)
    os.replace(new, os.path.join(tree.path, ".git"))


def _lead_back(tree: Worktree, private: str) -> None:
    """Make the worktree's `.git` name its own git folder again, whatever a hook put there."""
    path = os.path.join(tree.path, ".git")
    if os.path.isdir(path) and not os.path.islink(path):
        os.rename(path, os.path.join(private, "git-of-the-hook"))
    repair_git_file(tree.path, tree.admin)


def _copy_git_folder(repo: Repository, admin: str, copy: str) -> None:
    """Create a git folder with the worktree's index and HEAD and the user's refs and settings.

    Objects, hooks and submodules are not copied but borrowed: the sandbox keeps them from changing.
    """
    for folder in ("objects/info", "refs", "info"):
        os.makedirs(os.path.join(copy, folder))
    for name in ("info/exclude", "info/attributes", "shallow"):
        _copy_file(os.path.join(repo.common_dir, name), os.path.join(copy, name))
    for name in os.listdir(admin):
        if name in {"HEAD", "index"} or name.startswith("sharedindex."):
            _copy_file(os.path.join(admin, name), os.path.join(copy, name))
    os.symlink(os.path.join(repo.common_dir, "hooks"), os.path.join(copy, "hooks"))
    os.symlink(os.path.join(admin, "modules"), os.path.join(copy, "modules"))
    texts = {
        "packed-refs": repo.git.run("for-each-ref", "--format=%(objectname) %(refname)"),
        "objects/info/alternates": alternates(repo.objects),
        "config": _settings(repo, admin),
    }
    for name, text in texts.items():
        with open(os.path.join(copy, name), "xb") as file:
            file.write(text)


def _copy_file(source: str, target: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(source, target)


def _settings(repo: Repository, admin: str) -> bytes:
    """Return a git config that includes the user's and repeats settings git ignores in includes."""
    shared = os.path.join(repo.common_dir, "config")
    wanted = r"^(extensions\..*|core\.repositoryformatversion)$"
    found = repo.git.attempt("config", "--file", shared, "-z", "--get-regexp", wanted)
    lines = []
    for row in found.stdout.split(b"\0")[:-1]:
        key, _, value = row.partition(b"\n")
        if key.decode() not in _LAYOUT:
            section, _, name = key.partition(b".")
            lines.append(b"[%s]\n%s = %s\n" % (section, name, _quoted(value)))
    included = (shared, os.path.join(admin, "config.worktree"))
    lines += [b"[include]\npath = %s\n" % _quoted(os.fsencode(path)) for path in included]
    # Last, so that it counts: a split index would leave a part of itself in another file.
    lines.append(b"[core]\nbare = false\nsplitIndex = false\n")
    return b"".join(lines)


def _quoted(value: bytes) -> bytes:
    value = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + value + b'"'
