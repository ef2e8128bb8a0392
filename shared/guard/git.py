"""Decides which git commands only read, and keeps a repository's settings from starting programs.

A repository's configuration names programs that git starts even when it only reads, so what passes
`check_git` must be run as `harden_git` returns it.
"""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.guard.match import match_options
from shared.guard.policy.git import GIT, SHOWS_FILES, SHOWS_FILES_WITH
from shared.guard.secrets import excluded
from shared.guard.words import Word, literal
from shared.known_secrets import without_userinfo

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.guard.scene import Scene

SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=false",
    "core.askPass=", "core.sshCommand=false", "core.gitProxy=false",
    "core.alternateRefsCommand=false",
    "core.untrackedCache=false", "credential.helper=", "diff.external=",
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
    **dict.fromkeys(("log", "show", "diff-tree", "diff --no-index"), _NO_PROGRAMS),
    "diff": (*_NO_PROGRAMS, "--ignore-submodules=dirty"),
    "status": ("--ignore-submodules=dirty",),
    "blame": ("--no-textconv",),
    "annotate": ("--no-textconv",),
    "grep": ("--no-textconv",),
}
_ALL_COMMITS = ("--full-history", "--sparse")
_GLOBAL = ("--no-pager", "-P", "--no-optional-locks")
_INSTEAD = "use git log, show, diff, status, blame, grep, ls-files, branch --list, rev-parse"


def check_git(words: list[Word], scene: Scene) -> None:
    """Deny a git command unless it only reads, and only the repository of the session's folder."""
    words, folder = _global_options(words, scene.folder)
    _check_same_repository(scene.start, folder)
    if [word.value for word in words] == ["--version"]:
        return
    name, rest = _subcommand(words)
    if not name:
        raise Denied(_why(words), _INSTEAD)
    match_options(f"git {name}", rest, GIT[name], scene.at(folder, fed=scene.fed))


def _why(words: list[Word]) -> str:
    """Return why a git command is denied that the table does not have."""
    # Not at the top: what passes needs no list of what writes.
    from shared.guard.changed_files import git_writes

    verb, *rest = [word.value for word in words] or ["alone"]
    if git_writes(verb, rest):
        return f"`git {verb}` writes into the repository"
    return f"`git {verb}` is not on the guard's list of git commands that only read"


def harden_git(words: list[Word], folder: str, environment: Mapping[str, str]) -> list[Word]:
    """Return an allowed git command with what keeps git from programs, and from files with secrets.

    Denied if the command would print a password that the repository's configuration holds.
    """
    asked, rest, entered = _split(words, folder)
    name, rest = _subcommand(rest)
    # As git itself reads its configuration, wherever that lies.
    entries = _ask(asked, ["config", "-z", "--list"], folder, environment)
    settings = [(key, value) for key, _, value in (one.partition("\n") for one in entries)]
    _check_credentials(name, rest, settings)
    kept = (*SETTINGS, _refreshing(), *_without_filters(settings))
    given = [word for one in kept for word in ("-c", one)]
    if name == "stash show":  # git takes no paths for it, so no secrets could be left out
        name, rest = "diff", _stash(rest)
    added = literal(*name.split(), *_ADDED.get(name, ()))
    return [*asked, *literal(*given), *added, *_leaving_out(name, rest, entered)]


def _refreshing() -> str:
    """Return the setting whether `git diff` passes over files that differ in their times alone.

    It then tries to write the index, which only a kernel that forbids it keeps from lasting.
    """
    from shared.sandbox import is_available  # not at the top: what only checks a command needs none

    return f"diff.autoRefreshIndex={str(is_available()).lower()}"


def tracked_secrets(words: list[Word], folder: str, environment: Mapping[str, str]) -> list[str]:
    """Return the tracked files that a git command leaves out, since their names are of secrets."""
    asked, rest, entered = _split(words, folder)
    name, rest = _subcommand(rest)
    if _leaving_out(name, rest, entered) == rest:
        return []
    patterns = (f":(top,icase,glob)**/{pattern}" for pattern in excluded())
    return _ask(asked, ["ls-files", "-z", "--full-name", "--", *patterns], folder, environment)


def _split(words: list[Word], folder: str) -> tuple[list[Word], list[Word], str]:
    """Return git with its options that come first, the other words, and the folder it runs in."""
    rest, entered = _global_options(words[1:], folder)
    options = words[1 : len(words) - len(rest)]
    return [*literal("git", "--no-pager", "--no-optional-locks"), *options], rest, entered


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
    """Split a git command's words into the name that the table has for it, or "", and the rest."""
    plain = [word.value for word in words]
    if plain[:1] == ["diff"] and "--no-index" in plain:
        at = plain.index("--no-index")
        words = [words[0], words[at], *words[1:at], *words[at + 1 :]]
        plain = [word.value for word in words]
    for size in (2, 1):
        name = " ".join(plain[:size])
        if len(plain) >= size and name in GIT:
            return name, words[size:]
    return "", words


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


def _ask(
    git: list[Word], words: list[str], folder: str, environment: Mapping[str, str]
) -> list[str]:
    """Return the entries that a git command prints, each ended by NUL; none if it fails."""
    import subprocess

    try:
        done = subprocess.run(
            [*(word.value for word in git), *words], cwd=folder, env=dict(environment),
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
    except OSError:  # there is no git, which the command itself will say
        return []
    return [os.fsdecode(entry) for entry in done.stdout.split(b"\0")[:-1]]


def _without_filters(settings: list[tuple[str, str]]) -> list[str]:
    """Return settings by which no configured filter starts a program when git reads files."""
    names = [name[7:].rpartition(".")[0] for name, _ in settings if name.startswith("filter.")]
    if any("=" in name for name in names):
        raise Denied("a filter of the repository has `=` in its name", "rename it in .git/config")
    values = ("clean=", "smudge=", "process=", "required=false")
    return [f"filter.{name}.{value}" for name in dict.fromkeys(names) for value in values]


def _check_credentials(name: str, words: list[Word], settings: list[tuple[str, str]]) -> None:
    """Deny printing settings of which one holds a password, such as a remote's URL."""
    asked = {word.value.lower() for word in words}
    if name == "config":
        shown = [value for key, value in settings if key.lower() in asked]
    elif name == "remote get-url" or (name == "remote" and asked):
        shown = [value for key, value in settings if key.startswith(("remote.", "url."))]
        shown += [key for key, _ in settings if key.startswith("url.")]
    else:
        return
    if any(without_userinfo(text) != text for text in shown):
        raise Denied("this prints a password or a token that a URL holds", "use `git remote`")


def _stash(words: list[Word]) -> list[Word]:
    """Return the words of the `git diff` that shows a stash."""
    options = [word for word in words if word.value.startswith("-") and word.value != "--"]
    named = [word.value for word in words if word not in options and word.value != "--"]
    stash = named[0] if named else "stash@{0}"
    stash = f"stash@{{{stash}}}" if stash.isdecimal() else stash
    return [*(options or literal("--stat")), *literal(f"{stash}^1", stash)]


def _leaving_out(name: str, words: list[Word], folder: str) -> list[Word]:
    """Return a git command's words with pathspecs that leave out files with secrets."""
    values = [word.value for word in words]
    shows = name in SHOWS_FILES or (
        name == "log" and any(value.startswith(SHOWS_FILES_WITH) for value in values)
    )
    # These print a single file, which has been checked, and git then takes no further paths.
    if not shows or "--follow" in values or any(value.startswith("-L") for value in values):
        return words
    paths = values[values.index("--") + 1 :] if "--" in values else values
    there = "--" in values or any(os.path.lexists(os.path.join(folder, path)) for path in paths)
    # Given paths, git omits the commits that change none of them, unless it is told not to.
    whole = name in ("log", "show") and not (paths and there)
    patterns = (f":(exclude,top,icase,glob)**/{pattern}" for pattern in excluded())
    return [*literal(*(_ALL_COMMITS if whole else ())), *words, *literal(*patterns)]
