"""The planner's own repository of a folder that is in no git repository (PL-35).

It keeps the folder's files as they were, so that changes are captured, compared by their hashes and
applied in the same way as elsewhere. It lies beside the runs; the folder does not become git's.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from shared.git.command import DURABLE, Git
from shared.git.copies import copied
from shared.git.files import refusing, remove_tree
from shared.git.kept import BRANCH, KEPT_FILES
from shared.git.readiness import check_path
from shared.git.repository import PLANNER, Repository, private_at
from shared.git.snapshot import IDENTITY
from shared.git.stage import scan, stage_names
from shared.paths import real_path
from state.errors import Problem, Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_FILES = 20_000
MOST_MB = 500
# What others have made and can make again; it is neither kept nor changed.
LEFT_OUT = ("node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache")
_SUBJECT = "The files of the folder"
_ODD = re.compile(r"([\\*?\[\]!# ])")


def is_in_no_repository(folder: str) -> bool:
    """Return whether no git repository lies around a folder; a damaged one is still one."""
    real = real_path(folder)
    above = real
    while not os.path.lexists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            bare = all(os.path.exists(os.path.join(real, name)) for name in ("HEAD", "objects"))
            return os.path.isdir(real) and not bare
        above = parent
    return False


def check_folder(root: str) -> list[Problem]:
    """Return a problem for each reason why the files of a folder cannot be kept beside its runs."""
    if root in (os.sep, real_path(os.path.expanduser("~"))):
        text = "is no folder of a project: all your files are in it"
        return [Problem("refused", root, text, "start in the folder of the code")]
    count = size = 0
    for path in _files(root):
        if os.path.basename(path) == ".git":
            text = "is a git repository inside a folder that is in none"
            allowed = "start inside that repository; or move it elsewhere"
            return [Problem("refused", os.path.dirname(path), text, allowed)]
        count, size = count + 1, size + os.lstat(path).st_size
        if count > MOST_FILES or size > MOST_MB * 1_000_000:
            text = f"holds more than {MOST_FILES:,} files or {MOST_MB} MB to keep a copy of"
            allowed = "start in a smaller folder, or make this one a git repository"
            return [Problem("refused", root, text, allowed)]
    return check_path(root)


def _files(root: str) -> Iterator[str]:
    """Yield the files of a folder, and `.git` of each repository in it."""
    for folder, folders, names in os.walk(root):
        if ".git" in (*folders, *names):
            yield os.path.join(folder, ".git")
        folders[:] = [name for name in folders if name not in (PLANNER, *LEFT_OUT)]
        yield from (os.path.join(folder, name) for name in names)


@refusing()
def record(root: str, secrets: Iterable[str]) -> Repository:
    """Keep the files of a folder as they are now, without secrets; return their repository.

    Repeated, also after a crash, it adds what has changed since, and nothing if nothing has.
    """
    repository = private_at(root) or _make(root)
    lines = [f"/{PLANNER}/", *(f"{name}/" for name in LEFT_OUT)]
    lines += ["/" + _ODD.sub(r"\\\1", path) for path in secrets if "\n" not in path]
    os.makedirs(os.path.join(repository.git_dir, "info"), exist_ok=True)
    write_atomic(os.path.join(repository.git_dir, "info", "exclude"), os.fsencode("\n".join(lines)))
    git = repository.git.having(*DURABLE, "i18n.commitEncoding=UTF-8", **IDENTITY)
    found = scan(git)
    plain = {name for name in found.untracked if not name.endswith(b"/")}
    present = (found.changed - found.gone) | plain
    with copied(git, present, repository.git_dir) as lent:
        stage_names(lent, found.gone, present)
    # Git has the times of the copies so far.
    git.attempt("update-index", "-q", "--refresh")
    tree = git.text("write-tree")
    old, held = (os.fsdecode(git.attempt("rev-parse", "-q", "--verify", name).stdout).strip()
                 for name in ("HEAD^{commit}", "HEAD^{tree}"))  # fmt: skip
    if held != tree:
        after = ["-p", old] if old else []
        new = git.text("commit-tree", tree, *after, "-m", _SUBJECT)
        git.run("update-ref", BRANCH, new, old or repository.zero)
    return repository


def _init(path: str) -> str:
    """Make a repository beside where it is to be, and return its path."""
    new = f"{path}-{os.getpid()}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    options = ("--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
    git = Git(new, None)
    git.run("init", *options, new)
    for key, value in (("core.autocrlf", "false"), ("core.logAllRefUpdates", "false")):
        git.run("config", key, value)
    return new


def renew(root: str, parts: Iterable[str]) -> None:
    """Write git's own files of a folder's kept files anew, once they were set aside.

    The branch is again on the newest commit of the folder's files, and the index holds that.
    """
    path = os.path.join(root, KEPT_FILES)
    new = _init(path)
    for part in ("HEAD", "config"):
        if part in parts:
            os.replace(os.path.join(new, part), os.path.join(path, part))
    remove_tree(new)
    git = Git(path, root)
    if BRANCH in parts:
        rows = git.text("cat-file", "--batch-all-objects", "--batch-check").splitlines()
        commits = [row.split()[0] for row in rows if row.split()[1] == "commit"]
        words = ("rev-list", "--topo-order", "--max-count=1", f"--grep=^{_SUBJECT}$", "--stdin")
        if newest := commits and git.text(*words, stdin="\n".join(commits).encode()):
            git.run("update-ref", BRANCH, str(newest))
    if "index" in parts:
        git.attempt("read-tree", BRANCH)
        git.attempt("update-index", "-q", "--refresh")


def _make(root: str) -> Repository:
    path = os.path.join(root, KEPT_FILES)
    new = _init(path)
    try:
        os.rename(new, path)
    except OSError:  # another start was quicker
        if private_at(root) is None:
            raise
    made = private_at(root)
    if made is None:
        text = "the planner's own repository cannot be made here"
        raise Refused("refused", path, text, "use a folder where git can make a repository")
    return made
