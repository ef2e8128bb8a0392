"""Add options to an allowed command so that it starts no programs and leaves secrets out."""

from __future__ import annotations

import os

from shared.guard.scene import Scene
from shared.guard.secrets import excluded, expand, holds_password
from shared.guard.words import literal
from shared.secret_walk import scan, secret_files

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shared.guard.words import Command, Word

_GREP = ("grep", "egrep", "fgrep")
_MAX_FOLDERS = 2_000
# With one of these first, where it is no other option's value, only names are printed.
_READ_NONE = ("--files", "--type-list", "--version", "-V", "--help")
# Without these options Java writes a file with figures about itself.
_ADDED = {"java": "-XX:-UsePerfData", "javac": "-J-XX:-UsePerfData"}


def harden(words: list[str], folder: str, environment: Mapping[str, str]) -> list[str]:
    """Return an allowed command's words with options against starting programs, reading secrets."""
    return [word.value for word in _harden(literal(*words), folder, environment)]


def harden_text(commands: list[Command], folder: str, environment: Mapping[str, str]) -> str:
    """Return an allowed command line as shell text, safe options added to each command in it."""
    texts = []
    for one, where in _each(commands, folder):
        words = _harden(one.words, where, environment)
        targets = [r.form + (r.target.raw if r.target else "") for r in one.redirects]
        same = words == one.words
        # What was written stands as it was written, since a quote decides what a word means.
        text = one.text if same else " ".join([*(word.raw for word in words), *targets])
        texts.append(f"{one.joiner} {text}".strip())
    return " ".join(texts)


def why_not_as_given(commands: list[Command], folder: str) -> str:
    """Return why allowed commands may not run without what `harden` adds, "" if they may."""
    for one, where in _each(commands, folder):
        name = one.words[0].value
        if name == "git":
            return "git would start programs that the repository's configuration names"
        first = next((word.value for word in one.words[1:]), "")
        if _searched(one, where) and first not in _READ_NONE:
            return f"`{name}` would read all files of a folder, those with secrets too"
    return ""


def left_out(commands: list[Command], folder: str, environment: Mapping[str, str]) -> list[str]:
    """Return files that the safer form of these commands leaves out, as their names are secret."""
    found = list[str]()
    for one, where in _each(commands, folder):
        if one.words[0].value == "git":
            from shared.guard.git import tracked_secrets

            found += tracked_secrets(one.words, where, environment)
        for below in _searched(one, where):
            walked = scan(os.path.join(where, below), most=_MAX_FOLDERS)
            found += [os.path.normpath(os.path.join(below, f)) for f in secret_files(walked)]
    return list(dict.fromkeys(found))


def _each(commands: list[Command], folder: str) -> Iterator[tuple[Command, str]]:
    """Yield each command with the folder in which it runs."""
    for one in commands:
        yield one, folder
        if one.words[0].raw == "cd":
            folder = os.path.normpath(os.path.join(folder, one.words[1].value))


def _harden(words: list[Word], folder: str, environment: Mapping[str, str]) -> list[Word]:
    name = words[0].value
    if name == "git":
        # Not at the top: only git needs its tables.
        from shared.guard.git import harden_git

        return harden_git(words, folder, environment)
    if name in _ADDED:
        return [words[0], *literal(_ADDED[name]), *words[1:]]
    end = next((at for at, word in enumerate(words) if word.value == "--"), len(words))
    # Of several patterns the last one decides, so ours come last.
    return [*words[:end], *literal(*_leaving_out(words, folder)), *words[end:]]


def _leaving_out(words: list[Word], folder: str) -> list[str]:
    """Return the options with which a command that reads whole folders skips files with secrets."""
    name = words[0].value
    if name == "rg":
        patterns = [f"--iglob=!{pattern}" for pattern in (*excluded(), "**/.git/config")]
        return ["--no-config", *patterns]
    if name not in (*_GREP, "diff"):
        return []
    found = [f"--exclude={pattern}" for pattern in excluded()]
    folders = (".", *_existing_operands(words, folder, os.path.isdir))
    if any(holds_password(os.path.join(folder, f, ".git", "config")) for f in folders):
        found.append("--exclude=.git" if name == "diff" else "--exclude-dir=.git")
    return [*(["--no-dereference"] if name == "diff" else []), *found]


def _searched(command: Command, folder: str) -> list[str]:
    """Return the folders of which a command reads all files."""
    name, words = command.words[0].value, command.words
    if name in _GREP and not any(map(_is_recursive, words)):
        return []
    if name not in (*_GREP, "rg", "diff"):
        return []
    named = _existing_operands(words, folder, os.path.isdir)
    here = command.joiner != "|" and not _existing_operands(words, folder, os.path.isfile)
    return named or ["."] * here


def _is_recursive(word: Word) -> bool:
    option = word.value
    short = option.startswith("-") and not option.startswith("--") and "r" in option
    return short or option == "--recursive"


def _existing_operands(words: list[Word], folder: str, test: Callable[[str], bool]) -> list[str]:
    """Return what a command's words name in a folder that passes a test, patterns expanded."""
    scene = Scene(folder)
    named = (path for word in words[1:] for path in expand(word, scene))
    return [path for path in named if test(os.path.join(folder, path))]
