"""Denies shell texts that name a change of the user's files, with advice (PP-4).

Where the place holds, it drops every change; this saves the assistant a change that would be lost.
So it denies only what it has clearly recognised, and a temporary folder may be written.
"""

from __future__ import annotations

import os
import re

from shared.commands import COMMANDS
from shared.guard import writing
from shared.guard.changed_files import (
    changed_files,
    git_verb,
    git_writes,
    taken_back,
    unwrapped,
)
from shared.guard.denial import INSTALL, PLAN, Denied
from shared.guard.lexer import MAX_CHARS, read_roughly
from shared.guard.own import is_ours
from shared.guard.targets import inside
from shared.guard.words import UNKNOWN
from shared.resources import quote

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.guard.targets import View
    from shared.guard.words import Command

_ELSE = f"write below /tmp, or {PLAN}"
_LOOK = "To look: git log, git diff"
_GIT_FILES = ("mv", "rm")
_TAKEN = "the files of this worktree are taken as they are, so nothing is to be added or committed"
_TO_PLAN = ("rm", "rmdir", "mv", "chmod", "chown")
_ALONE = "send the planner command on its own"
_PACKAGES = (
    f"read the manifest and lock files; {INSTALL}. What the worktree needs"
    " is the setting [worktree] setup"
)
_MADE = re.compile(r"mktemp|\bTE?MP(?:DIR)?\b", re.IGNORECASE)
_SHELLS = frozenset(("bash", "sh", "dash", "zsh", "ksh"))
_LAUNCHER = os.path.join("bin", "planner")
_OURS = {name.partition(" ")[0] for name in COMMANDS}
_HELP = ("--help", "--version")


def check_text(text: str, view: View) -> None:
    """Raise Denied if a shell text clearly means to change files of the user, or runs our program.

    Changes in temporary folders, in the run's worktree and among its answers are left alone, and
    so are those that the text itself takes back.
    """
    try:
        _check_text(text, view)
    except Denied as denied:
        raise Denied(denied.reason, view.advised(denied.instead)) from None


def _check_text(text: str, view: View) -> None:
    if _LAUNCHER in text[MAX_CHARS:]:
        raise Denied("a planner command comes after very much else", _ALONE)
    variables = {"HOME": os.environ.get("HOME", UNKNOWN), "PWD": view.folder or UNKNOWN}
    temporary = _MADE.search(text[:MAX_CHARS]) is not None
    commands = read_roughly(text, variables)
    tries = taken_back(commands, view)
    for at, found in enumerate(commands):
        if at in tries:
            view.settings.check(found.called)
            _check_ours(found.called)
            continue
        for target in found.written:
            if view.lasts(target):
                reason = f"`> {_shortened(target)}` writes a file of the user"
                raise Denied(reason, f"leave the redirection out and read the output, {_ELSE}")
        if _makes_for(commands[at + 1] if at + 1 < len(commands) else None, found):
            view.settings.check(found.called)
        elif found.called:
            _check(found, view, temporary=temporary)


def _makes_for(following: Command | None, found: Command) -> bool:
    """Return whether a command makes the folder that the next one enters, as builds do."""
    if following is None or found.called[:1] != ["mkdir"] or following.called[:1] != ["cd"]:
        return False
    return [word for word in found.called[1:] if not word.startswith("-")] == following.called[1:]


def _check(found: Command, view: View, *, temporary: bool) -> None:
    view.settings.check(found.called)
    _check_ours(found.called)
    words, fed = unwrapped(found.called)
    if not words:
        return
    name, *rest = words
    base = os.path.basename(name)
    if base == "cd":
        view.enter(words)
    elif base in _SHELLS and "-c" in rest[:-1]:
        _check_text(rest[rest.index("-c") + 1], view)
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
        if (at == 0 or _OURS & {*named}) and is_ours(word):
            raise Denied(
                "a planner command must be sent alone, without other commands around it",
                f"it works from any folder: {' '.join(map(quote, words[at:]))}",
            )
        if " " in word:
            for found in read_roughly(word, {}):
                _check_ours(found.called)


def _check_files(name: str, rest: list[str], view: View, *, fed: bool, temporary: bool) -> None:
    """Deny a command that changes the files that are its operands, if these are the user's."""
    changed = changed_files(name, rest)
    if changed is None:
        return
    if name == "sed":
        if any(map(view.lasts, changed)):
            how = "To try it: end the same command with `git checkout -- FILE`"
            raise Denied("`sed -i` changes files", f"{PLAN}. {how}")
        return
    unknown = any(word.startswith(UNKNOWN) for word in changed)
    if fed or any(map(view.lasts, changed)) or (unknown and not temporary):
        raise Denied(f"`{name}` changes files", PLAN if name in _TO_PLAN else _ELSE)


def _check_programs(name: str, rest: list[str]) -> None:
    """Deny editors, and package managers where they install, add, remove or publish."""
    if name in writing.EDITORS:
        raise Denied(f"`{name}` is an editor", PLAN)
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
    verb, words, folders = git_verb(rest)
    folder = view.folder
    for named in folders:
        known = folder is not None and UNKNOWN not in named
        folder = os.path.normpath(os.path.join(folder or "", named)) if known else None
    if folder is None or not inside(folder, view.repository) or not git_writes(verb, words):
        return
    if verb == "init" and words and not view.lasts(words[-1]):
        return
    ours = view.in_worktree(folder)
    if ours and verb in _GIT_FILES:
        return  # the files stay changed; that git's index does not is nothing to anybody
    how, back = f"{_TAKEN if ours else PLAN}. {_LOOK}", writing.GIT_TAKES_BACK.get(verb)
    if back:
        how = f"end the same command with `git {verb} {back}`" + ("" if ours else f", or {PLAN}")
    raise Denied(f"`git {verb}` writes into the repository", how)


def _shortened(text: str) -> str:
    return text.replace(UNKNOWN, "…")[:80]
