"""Find the user's git repository and check whether its state allows planning and committing."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from shared.git.command import Git, discover
from shared.git.environments import is_environment
from shared.git.failure import error_text
from shared.git.files import refusing
from shared.git.kept import KEPT_FILES, damaged_parts, is_kept
from shared.git.known import Known, marks_of
from shared.git.not_found import not_found, refuse_hidden
from shared.git.programs import harmless
from shared.paths import real_path
from state.errors import Refused
from state.files import sweep_beside, write_atomic
from state.kept_files import damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.known import Mark

PLANNER = ".planner"

# With one of these settings, a linked worktree can have others than the user's working tree.
_OWN_SETTINGS = re.compile(r"^(includeif\.|extensions\.worktreeconfig$)", re.MULTILINE)

# In `git ls-tree -r -z`: the entry of a submodule.
_SUBMODULE = re.compile(rb"\x00160000 commit [0-9a-f]+\t([^\0]+)")

# Where `rev-parse` prints the git folder, as `find_repository` asks.
_GIT_DIR = 2


@dataclass(frozen=True)
class Repository:
    """A git repository with a working tree, or one of its linked worktrees, as absolute paths."""

    root: str
    git_dir: str
    common_dir: str
    objects: str
    object_format: str
    # What `Git.settings` has read, by git folder.
    known: dict[str, Known] = field(default_factory=dict, compare=False, repr=False)
    # What `git_in` has made, with the settings it was made by.
    made: dict[tuple[str, str], tuple[Git, Mapping[str, str]]] = field(
        default_factory=dict, compare=False, repr=False
    )
    # What `_marks` said when it was opened.
    marks: tuple[Mark, ...] = field(default=(), compare=False, repr=False)

    @property
    def git(self) -> Git:
        """Git commands in the user's working tree; they start nothing that the repository names."""
        return self.git_in(self.root)

    @property
    def git_in_place(self) -> Git:
        """Git commands for the place, which holds whatever filters they start."""
        return Git(self.git_dir, self.root, known=self.known.setdefault(self.git_dir, Known()))

    def git_in(self, root: str, git_dir: str = "") -> Git:
        """Return a Git on this repository with the folder `root` as its working tree.

        `git_dir` is the git folder of a linked worktree.
        """
        made, settings = self.made.get((root, git_dir), (None, None))
        if made and made.known.settings is settings and made.known.holds:
            return made
        git = self.git_in_place
        if git_dir not in ("", self.git_dir):
            own = _OWN_SETTINGS.search("\n".join(git.settings()))
            known = self.known.setdefault(git_dir, Known()) if own else git.known
            git = Git(git_dir, root, known=known)
        made = git.in_tree(root).having(*harmless(git, root, self.root))
        self.made[root, git_dir] = (made, made.known.settings)
        return made

    @property
    def is_private(self) -> bool:
        """Whether it is the planner's own, of a folder that is in no git repository (PL-35)."""
        return self.git_dir == os.path.join(self.root, KEPT_FILES)

    @property
    def zero(self) -> str:
        """The all-zero object id that git writes where there is no object."""
        return "0" * (64 if self.object_format == "sha256" else 40)


class Head(NamedTuple):
    """HEAD's commit, branch and tree."""

    commit: str
    # A short name, None if HEAD is detached.
    branch: str | None
    tree: str


def repository_at(root: str, opened: dict[str, Repository] | None = None) -> Repository:
    """Return the repository whose working tree's root is `root`, never an enclosing one.

    `opened` are those that a command has opened so far, by root: one of these is opened again only
    if something else has taken its place, or its settings were changed.
    """
    known = opened.get(root) if opened else None
    if known and known.marks == _marks(known):
        return known
    found = find_repository(root, os.path.dirname(real_path(root)))
    if real_path(found.root) != real_path(root):
        text = f"is no longer the root of a git repository; the next one is at {found.root}"
        raise Refused(
            "not_found", root, text, allowed="restore its `.git`, then run the same command again"
        )
    if opened is not None:
        opened[root] = found
    return found


def _marks(repo: Repository) -> tuple[Mark, ...]:
    """Return what tells a repository on disk from one that is put into its place."""
    config = os.path.join(repo.common_dir, "config")
    return marks_of(os.path.join(repo.root, ".git"), repo.git_dir, config)


def init_repository(root: str, env: Mapping[str, str], *options: str) -> Git:
    """Create a git repository at `root`; return a Git on it with the variables of `env`."""
    git = Git(os.path.join(root, ".git"), root, env=env)
    git.run("init", "--quiet", *options)
    return git


def find_repository(path: str, ceiling: str = "", *, is_read: bool = False) -> Repository:
    """Return the git repository that the folder `path` is in; Refused if there is none.

    Where only its objects and refs are to be read, it may be bare, with its own folder as the root.
    Only this function lets git search for a repository, no higher than `ceiling`. If `path` is
    known to be the root, call `repository_at`.
    """
    facts = ("--is-inside-work-tree", "--show-object-format", "--absolute-git-dir")
    paths = ("--git-common-dir", "--git-path", "objects", "--show-toplevel")
    done = discover(path, ceiling, *facts, *paths)
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    is_bare = lines[0] == "false"
    if is_bare and not is_read and len(lines) > _GIT_DIR:
        is_set = discover(path, ceiling, "--is-bare-repository").stdout == b"true\n"
        refuse_hidden(path, lines[_GIT_DIR], bare=is_set)
    if is_bare and not is_read:
        raise Refused(
            "refused",
            path,
            "this is a bare repository or a `.git` folder, so it has no files to plan for",
            "use a folder inside a git working tree",
        )
    if is_bare:
        lines.append(lines[2])
    elif done.returncode:
        if private := private_around(path, ceiling):
            return private
        raise not_found(path, error_text(done.stderr, done.returncode))
    try:
        _inside, object_format, git_dir, common, objects, root = lines
    except ValueError as error:
        text = "the repository's path contains a line break"
        raise Refused("refused", path, text, "rename the folder") from error
    common, objects = (os.path.abspath(os.path.join(path, name)) for name in (common, objects))
    found = Repository(root, git_dir, common, objects, object_format)
    return replace(found, marks=_marks(found))


def private_at(root: str) -> Repository | None:
    """Return the planner's own repository of a folder that is in no other; None if it has none.

    Refused, with the repair as the way out, where it is damaged.
    """
    if not is_kept(root):
        return None
    path = os.path.join(root, KEPT_FILES)
    if parts := damaged_parts(root):
        raise damaged(os.path.join(path, parts[0]))
    found = Repository(root, path, path, os.path.join(path, "objects"), "sha1")
    return replace(found, marks=_marks(found))


def private_around(path: str, ceiling: str = "") -> Repository | None:
    """Return the planner's own repository of the innermost folder around `path`, or None.

    It is searched no higher than git would search, that is, below `ceiling`.
    """
    folder, top = real_path(path), real_path(ceiling) if ceiling else ""
    while folder != top:
        if found := private_at(folder):
            return found
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return None


def head(repo: Repository) -> Head:
    """Return the commit, branch and tree of the repository's HEAD."""
    found = repo.git.run(
        "rev-parse", "HEAD^{commit}", "HEAD^{tree}", "--symbolic-full-name", "HEAD"
    )
    commit, tree, *ref = found.decode("utf-8", "replace").removesuffix("\n").split("\n")
    if not ref:  # another ref has this name
        asked = repo.git.attempt("symbolic-ref", "-q", "HEAD").stdout
        ref = [asked.decode("utf-8", "replace").strip() or "HEAD"]
    return Head(commit, None if ref[0] == "HEAD" else ref[0].removeprefix("refs/heads/"), tree)


def uncommitted(repo: Repository) -> list[str]:
    """Return the paths that differ from HEAD, untracked ones included (a folder ends in `/`).

    Submodules, `.planner` and virtual environments are left out. Bytes that are not UTF-8 are
    shown escaped.
    """
    rows = repo.git.names(
        "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal",
        "--ignore-submodules=all",
    )  # fmt: skip
    work = [row[3:] for row in rows if not _is_environment(repo, row[3:])]
    names = {name.decode("utf-8", "backslashreplace") for name in work}
    return sorted(name for name in names if not within(name, PLANNER))


def _is_environment(repo: Repository, name: bytes) -> bool:
    return name.endswith(b"/") and is_environment(os.path.join(repo.root, os.fsdecode(name)))


def submodules(repo: Repository, tree: str) -> list[str]:
    """Return the paths of the submodules in the git tree `tree`, in its order."""
    # With `-d` git leaves out the files, of which there may be very many.
    words = ("ls-tree", "-r", "-d", "-z", "--full-tree", tree)
    rows = b"\0" + repo.git.lasting(*words, of=[tree])
    return [os.fsdecode(name) for name in _SUBMODULE.findall(rows)]


@refusing()
def exclude_planner(repo: Repository) -> None:
    """Add `/.planner/` to git's `info/exclude` if missing, so that git ignores the folder."""
    path = os.path.join(repo.common_dir, "info", "exclude")
    line = f"/{PLANNER}/".encode()
    try:
        sweep_beside(path)
        with open(path, "rb") as file:
            old = file.read()
    except FileNotFoundError:
        old = b""
        os.makedirs(os.path.dirname(path), exist_ok=True)
    if line in (row.strip() for row in old.split(b"\n")):
        return
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    write_atomic(path, old + gap + line + b"\n", None if old else 0o644)


def within(path: str, folder: str) -> bool:
    """Return whether `path` is `folder` or lies inside it; both use `/` as separator."""
    return path.rstrip("/") == folder or path.startswith(folder + "/")
