"""Decides which git commands only read, and keeps a repository's settings from starting programs.

A repository's configuration names programs that git starts even when it only reads, so what passes
`check_git` must be run as `harden` returns it.
"""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.guard.match import match_options
from shared.guard.policy.git import GIT, READS_WORK_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shared.guard.kinds import Scene
    from shared.guard.lexer import Word

SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=false",
    "core.askPass=", "core.sshCommand=false", "core.gitProxy=false",
    "core.alternateRefsCommand=false",
    "core.untrackedCache=false", "credential.helper=", "diff.external=",
    "diff.autoRefreshIndex=false",
    "diff.ignoreSubmodules=dirty", "diff.submodule=short", "status.submoduleSummary=false",
    "submodule.recurse=false", "log.showSignature=false", "format.pretty=medium",
    "gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false",
    "gpg.ssh.program=false", "gc.auto=0", "maintenance.auto=false", "safe.bareRepository=explicit",
    # A repository may lack objects on purpose: reading them would ask a remote of its choice.
    "protocol.allow=never", "protocol.ext.allow=never", "protocol.file.allow=never",
    "protocol.git.allow=never", "protocol.ssh.allow=never", "protocol.http.allow=never",
    "protocol.https.allow=never",
)  # fmt: skip
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_ADDED = {
    **dict.fromkeys(("log", "show", "diff-tree", "stash show"), _NO_PROGRAMS),
    "diff": (*_NO_PROGRAMS, "--ignore-submodules=dirty"),
    "status": ("--ignore-submodules=dirty",),
    "blame": ("--no-textconv",),
    "annotate": ("--no-textconv",),
    "grep": ("--no-textconv",),
}
_GLOBAL = ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs")
_INSTEAD = "use git log, show, diff, status, blame, grep, ls-files, branch --list, rev-parse"


def check_git(words: list[Word], scene: Scene) -> None:
    """Deny a git command unless it only reads, and only the repository of the session's folder."""
    words, folder = _global_options(words, scene.folder)
    _check_same_repository(scene.start, folder)
    if [word.value for word in words] == ["--version"]:
        return
    name, words = _subcommand(words)
    here = scene.at(folder)
    match_options(f"git {name}", words, GIT[name], here)
    if name in READS_WORK_TREE and (path := _filtered(folder)):
        raise Denied(
            f"`git {name}` would start the program that git has as a filter for {path}",
            "use git log, git show HEAD:FILE or git show --stat",
        )


def harden(words: list[str]) -> list[str]:
    """Return a git command's words with options that keep git from starting configured programs."""
    at = 1
    while at < len(words) and words[at] in (*_GLOBAL, "-C"):
        at += 2 if words[at] == "-C" else 1
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    two = " ".join(words[at : at + 2])
    size = 2 if two in GIT else 1
    added = _ADDED.get(two if size > 1 else words[at], ()) if at < len(words) else ()
    head = ["git", "--no-pager", "--no-optional-locks", *settings, *words[1:at]]
    return [*head, *words[at : at + size], *added, *words[at + size :]]


def _global_options(words: list[Word], folder: str) -> tuple[list[Word], str]:
    while words and words[0].value in (*_GLOBAL, "-C"):
        if words[0].value == "-C":
            if len(words) < 2 or words[1].globs:  # noqa: PLR2004 – the option and its value
                raise Denied("`git -C` needs a folder", "write `git -C FOLDER log`")
            # As git does: it follows links before it applies `..`.
            folder = os.path.realpath(os.path.join(folder, words[1].value))
            words = words[1:]
        words = words[1:]
    return words, folder


def _subcommand(words: list[Word]) -> tuple[str, list[Word]]:
    plain = [word.value for word in words]
    for size in (2, 1):
        name = " ".join(plain[:size])
        if len(plain) >= size and name in GIT:
            return name, words[size:]
    shown = plain[0] if plain else "alone"
    raise Denied(
        f"`git {shown}` is not on the guard's list of git commands that only read", _INSTEAD
    )


def _check_same_repository(start: str, folder: str) -> None:
    """Deny git in `folder` if that is in another repository than `start`, or in a nested one."""
    here = os.path.realpath(folder)
    if here == os.path.realpath(start):
        return
    root = _repository(os.path.realpath(start)) if os.path.isdir(folder) else ""
    while root and here != root and here.startswith(f"{root}/"):
        if os.path.lexists(f"{here}/.git") or os.path.exists(f"{here}/HEAD"):
            break
        here = os.path.dirname(here)
    if not root or here != root:
        raise Denied(
            f"{folder} is in another repository, whose git settings can start programs",
            "run git in the session's folder, with paths after `--`",
        )


def _repository(folder: str) -> str:
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _filtered(folder: str) -> str:
    """Return a tracked file for which git would run a configured filter program; "" for none."""
    root = _repository(os.path.realpath(folder))
    if not root or not any(map(_may_configure_filters, _configurations(root))):
        return ""
    return _filtered_path(root)


def _configurations(root: str) -> list[str]:
    """Return the files that can configure git for the repository at `root`."""
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    folder = os.path.join(root, ".git")
    if os.path.isfile(folder):  # a linked worktree or a submodule: git resolves it
        return [folder]
    user = os.environ.get("GIT_CONFIG_GLOBAL")
    return [
        os.path.join(folder, "config"),
        os.path.join(folder, "config.worktree"),
        *([user] if user else [f"{home}/.gitconfig", f"{xdg}/git/config"]),
        os.environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"),
    ]


def _may_configure_filters(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            text = file.read().lower()
    except OSError:
        return False
    return b"filter" in text or b"include" in text or text.startswith(b"gitdir:")


def _filtered_path(root: str) -> str:
    """Return the first tracked file with a configured filter program, which is not run for this."""
    from shared.git.repository import repository_at

    git = repository_at(root).git
    pattern = r"^filter\..*\.(clean|smudge|process)$"
    listed = git.attempt("config", "-z", "--name-only", "--get-regexp", pattern).stdout
    names = {entry.split(b".", 1)[1].rpartition(b".")[0] for entry in listed.split(b"\0") if entry}
    if not names:
        return ""
    paths = git.run("ls-files", "-z")
    fields = git.attempt("check-attr", "-z", "--stdin", "filter", stdin=paths).stdout.split(b"\0")
    found = zip(fields[::3], fields[2::3], strict=False)
    return next((os.fsdecode(path) for path, name in found if name in names), "")
