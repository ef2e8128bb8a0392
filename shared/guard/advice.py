"""Denies shell texts that name a change of the user's files, with advice (PP-4).

Where the place holds, it drops every change; this saves the assistant a change that would be lost.
So it denies only what it has clearly recognised, and a temporary folder may be written.
"""

from __future__ import annotations

import os
import re

from shared.guard import writing
from shared.guard.denial import Denied
from shared.guard.own import PLANNER
from shared.guard.permissions import WHO
from shared.guard.scan import MOST_CHARS, UNKNOWN, commands_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.guard.scan import Found
    from shared.guard.settings import Settings

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 – the place has folders of its own there
_PLAN = "put the change into the plan; the planner applies it after approval"
_ALONE = "send the planner command on its own"
_PACKAGES = (
    "read the manifest and lock files; name in the plan what to install. What the worktree needs"
    " is the setting [worktree] setup"
)
_MADE = re.compile(r"mktemp|\bTE?MP(?:DIR)?\b", re.IGNORECASE)
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_ASSIGNMENT = re.compile(r"\w+=")
_WRAPPERS = frozenset({
    "sudo", "doas", "env", "nice", "ionice", "nohup", "command", "builtin", "exec", "timeout",
    "stdbuf", "setsid", "xargs",
})  # fmt: skip
_SHELLS = frozenset(("bash", "sh", "dash", "zsh", "ksh"))
_LAUNCHER = os.path.join("bin", "planner")
_OURS = {name.partition(" ")[0] for name in WHO}
_HELP = ("--help", "--version")


class View:
    """Where a shell text would run: `repository` is the user's, `ours` are folders that it keeps.

    `settings` hold the commands that the user denies.
    """

    __slots__ = ("folder", "ours", "repository", "settings", "temporary")

    def __init__(
        self, cwd: str, repository: str, ours: tuple[str, ...], settings: Settings
    ) -> None:
        self.folder: str | None = os.path.realpath(cwd)
        self.repository = os.path.realpath(repository)
        self.ours = tuple(map(os.path.realpath, ours))
        self.temporary = (*TEMPORARY, *filter(os.path.isabs, [os.environ.get("TMPDIR", "")]))
        self.settings = settings

    def lasts(self, path: str) -> bool:
        """Return whether a change of this path is meant to last; False if that is not known."""
        if path.startswith(UNKNOWN) or (self.folder is None and not os.path.isabs(path)):
            return False
        known = path.partition(UNKNOWN)[0]
        home = os.environ.get("HOME", "")
        expanded = home + known[1:] if known == "~" or known.startswith("~/") else known
        # Not realpath, which would ask the file system about each of very many words.
        full = os.path.normpath(os.path.join(self.folder or "/", expanded))
        if any(_inside(full, folder) for folder in self.ours):
            return False
        if _inside(full, self.repository):
            return True
        return not full.startswith(("/dev/", "/proc/self/fd/")) and not any(
            _inside(full, folder) for folder in self.temporary
        )

    def enter(self, words: list[str]) -> None:
        """Follow a `cd`; where it leads may be unknown."""
        target = words[1] if len(words) == 2 else UNKNOWN  # noqa: PLR2004 – cd and a folder
        if UNKNOWN in target or target.startswith("-") or self.folder is None:
            self.folder = target if os.path.isabs(target) and UNKNOWN not in target else None
        else:
            self.folder = os.path.normpath(os.path.join(self.folder, os.path.expanduser(target)))


def check_text(text: str, view: View) -> None:
    """Raise Denied if a shell text clearly means to change files of the user, or runs our program.

    Changes in temporary folders, in the run's worktree and among its answers are left alone.
    """
    if PLANNER in text[MOST_CHARS:]:
        raise Denied("a planner command comes after very much else", _ALONE)
    variables = {"HOME": os.environ.get("HOME", UNKNOWN), "PWD": view.folder or UNKNOWN}
    temporary = _MADE.search(text[:MOST_CHARS]) is not None
    commands = [*commands_in(text, variables)]
    for found, following in zip(commands, [*commands[1:], None], strict=False):
        for target in found.targets:
            if view.lasts(target):
                reason = f"`> {_shown(target)}` writes a file of the user"
                raise Denied(reason, f"leave the redirection out and read the output, or {_PLAN}")
        if _makes_for(following, found):
            view.settings.check(found.words)
        elif found.words:
            _check(found, view, temporary=temporary)


def _makes_for(following: Found | None, found: Found) -> bool:
    """Return whether a command makes the folder that the next one enters, as builds do."""
    if following is None or found.words[:1] != ["mkdir"] or following.words[:1] != ["cd"]:
        return False
    return [word for word in found.words[1:] if not word.startswith("-")] == following.words[1:]


def _check(found: Found, view: View, *, temporary: bool) -> None:
    view.settings.check(found.words)
    _check_ours(found.words)
    words, fed = _unwrapped(found.words)
    if not words:
        return
    name, *rest = words
    base = os.path.basename(name)
    if base == "cd":
        view.enter(words)
    elif base in _SHELLS and "-c" in rest[:-1]:
        check_text(rest[rest.index("-c") + 1], view)
    elif not (rest and rest[-1] in _HELP):
        _check_files(base, rest, view, fed=fed, temporary=temporary)
        _check_programs(base, rest)
        if base == "git":
            _check_git(rest, view)


def _check_ours(words: list[str]) -> None:
    """Deny a command that is or starts our own program: whoever runs it is not the host then."""
    for at, word in enumerate(words):
        if _LAUNCHER not in word:
            continue
        named = words[at + 1 : at + 2]
        if (at == 0 or _OURS & {*named}) and os.path.realpath(word) == PLANNER:
            raise Denied(
                "a planner command must be sent alone, without other commands around it",
                _ALONE,
            )
        if " " in word:
            for found in commands_in(word, {}):
                _check_ours(found.words)


def _unwrapped(words: list[str]) -> tuple[list[str], bool]:
    """Return a command without others before it, such as `timeout 5`, and whether it is fed."""
    fed = False
    while words and words[0] in _WRAPPERS and not {"-v", "-V"} & {*words[1:2]}:
        fed = fed or words[0] == "xargs"
        at = 1
        while at < len(words) and _belongs_to_wrapper(words[at]):
            at += 1
        words = words[at:]
    return words, fed


def _belongs_to_wrapper(word: str) -> bool:
    return word.startswith(("-", "{")) or bool(_DURATION.fullmatch(word) or _ASSIGNMENT.match(word))


def _check_files(name: str, rest: list[str], view: View, *, fed: bool, temporary: bool) -> None:
    """Deny a command that changes the files that are its operands, if these are the user's."""
    which = writing.OPERANDS.get(name)
    if which is None:
        if name == "sed" and (files := _edited_in_place(rest)) and any(map(view.lasts, files)):
            raise Denied("`sed -i` changes files", _PLAN)
        return
    operands = list(_operands(name, rest))
    if name == "mktemp" and {"-t", "--tmpdir"} & {*rest}:
        return
    changed = {writing.ALL: operands, writing.REST: operands[1:], writing.LAST: operands[-1:]}
    unknown = any(word.startswith(UNKNOWN) for word in changed[which])
    if fed or any(map(view.lasts, changed[which])) or (unknown and not temporary):
        raise Denied(f"`{name}` changes files", _PLAN)


def _operands(name: str, rest: list[str]) -> Iterator[str]:
    skipped = plain = False
    for word in rest:
        if plain or skipped or not word.startswith("-") or word == "-":
            if not skipped:
                yield word
            skipped = False
        else:
            plain = word == "--"
            skipped = word in writing.VALUED.get(name, ())


def _edited_in_place(rest: list[str]) -> list[str]:
    """Return the files that sed changes; none if it only prints."""
    if not any(re.match(r"-[nErsuz]*i|--in-place", word) for word in rest):
        return []
    scripted = any(re.match(r"-[nErsuzi]*[ef]|--expression|--file", word) for word in rest)
    operands = [word for word in rest if not word.startswith("-")]
    return operands if scripted else operands[1:]


def _check_programs(name: str, rest: list[str]) -> None:
    """Deny editors, and package managers where they install, add, remove or publish."""
    if name in writing.EDITORS:
        raise Denied(f"`{name}` is an editor", _PLAN)
    if re.fullmatch(r"python[\d.]*", name) and rest[:2] in (["-m", "pip"], ["-m", "pipx"]):
        name, rest = rest[1], rest[2:]
    elif re.fullmatch(r"pip[\d.]+", name):
        name = "pip"
    if (name, rest[:1]) == ("uv", ["pip"]):
        name, rest = "pip", rest[1:]
    first = next((word for word in rest if not word.startswith("-")), "")
    if first in writing.PACKAGES.get(name, ()) or {*rest} & writing.PACKAGE_FILES.get(name, {*()}):
        raise Denied(f"`{name} {first}`".replace(" `", "`") + " changes packages", _PACKAGES)
    if name == "yarn" and not rest:
        raise Denied("`yarn` installs packages", _PACKAGES)


def _check_git(rest: list[str], view: View) -> None:
    """Deny git where it writes into the user's repository."""
    folder, at = view.folder, 0
    while at < len(rest) and rest[at].startswith("-"):
        if rest[at] == "-C" and at + 1 < len(rest):
            known = folder is not None and UNKNOWN not in rest[at + 1]
            folder = os.path.normpath(os.path.join(folder or "", rest[at + 1])) if known else None
        at += 2 if rest[at] in ("-C", "-c") else 1
    verb, *words = rest[at:] or [""]
    if folder is None or not _inside(folder, view.repository) or not _writes(verb, words):
        return
    if verb == "init" and words and not view.lasts(words[-1]):
        return
    raise Denied(f"`git {verb}` writes into the repository", f"{_PLAN}. To look: git log, git diff")


def _writes(verb: str, words: list[str]) -> bool:
    if verb in writing.GIT_WRITES:
        return not {"-n", "--dry-run"} & {*words} or verb == "commit"
    if verb in writing.GIT_WRITES_BUT:
        return not writing.GIT_WRITES_BUT[verb] & {*words}
    if writing.GIT_WRITES_WITH.get(verb, frozenset()) & {*words}:
        return True
    if verb in writing.GIT_MAKES:
        return bool(words) and not any(word.startswith("-") for word in words)
    return verb == "config" and _sets(words)


def _sets(words: list[str]) -> bool:
    """Return whether `git config WORDS` is `git config KEY VALUE`."""
    reads = any(word.startswith(("--get", "-l", "--list", "-f", "--file")) for word in words)
    operands = [word for word in words if not word.startswith("-")]
    return not reads and len(operands) > 1 and operands[0] not in ("get", "list")


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _shown(text: str) -> str:
    return text.replace(UNKNOWN, "…")[:80]
