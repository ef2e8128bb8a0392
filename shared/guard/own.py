"""Reads a shell command line, and recognises the planner's own commands in it (PP-5).

Ours are known only as one simple command whose words are written out.
"""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.guard.lexer import read
from shared.guard.words import LEADING, Command, pipelines
from shared.paths import readings
from shared.resources import PROGRAM, installed_path

# Words that begin a compound command in some shell. What follows them is not a simple command.
_KEYWORDS = LEADING | {
    "for", "foreach", "repeat", "case", "select", "function", "end", "always", "nocorrect",
    "noglob", "-", "[[", "]]",
}  # fmt: skip


def understand(command: str, cwd: str) -> list[Command]:
    """Parse a shell command line into simple commands and their words; Denied if it can't be."""
    home = os.environ.get("HOME", "")
    return read(command, {"HOME": home, "PWD": cwd, "USER": os.environ.get("USER", "")})


def own_words(commands: list[Command], cwd: str) -> list[str] | None:
    """Return the words after our launcher if a command line is a planner command, else None.

    Denied if it is one together with anything else, but for a `cd` to the folder `cwd` where it is.
    """
    ours = next((one for one in commands if is_launcher(one.words[0].value)), None)
    if ours is None:
        return None
    if commands[0] is not ours and _stays(commands, cwd):
        commands = [ours]
    words = ours.words
    if len(commands) > 1 or any(word.globs for word in words):
        raise Denied(
            "a planner command must be sent alone, without other commands and patterns such as `*`",
            f"it works from any folder: {ours.text}",
        )
    if any(w.raw.startswith("~") or w.raw.count("$") > w.value.count("$") for w in words):
        text = "the words of a planner command must stand as they are, without `~` and `$`"
        raise Denied(text, "write the path itself")
    if any(redirect.form == "<" for redirect in ours.redirects):
        raise Denied(
            "a planner command does not read input from `< FILE`", "use the command's option --file"
        )
    return [word.value for word in words[1:]]


def _stays(commands: list[Command], cwd: str) -> bool:
    """Return whether a line is `cd FOLDER && COMMAND` with the folder in which it runs anyway."""
    first, joiners = commands[0], [one.joiner for one in commands[1:]]
    if first.words[0].raw != "cd" or joiners != ["&&"] or first.redirects:
        return False
    words = [word.value for word in first.words[1:] if not word.globs]
    plain = len(words) == len(first.words) - 1 == 1 and words[0].startswith("/")
    return plain and readings(words[0], cwd) == [os.path.realpath(cwd)]


def is_launcher(name: str) -> bool:
    """Return whether the first word of a command is our launcher, by an absolute path."""
    return name.startswith("/") and is_ours(name)


def is_ours(path: str) -> bool:
    """Return whether a path leads to our program, or to the launcher that `planner setup` wrote."""
    real = os.path.realpath(path)
    return real == PROGRAM or real == os.path.realpath(installed_path("bin", "planner"))


def witness(command: str, cwd: str) -> str | None:
    """Return a text that shows a client the original commands and never runs them, or None.

    A client compares its user's rules with the changed text only, so rules for `git log` or for
    reading a file would no longer match. What follows `false &&` does not run, but rules match it.
    None if the text is more than simple commands, but for comments before them.
    """
    lines = command.split("\n")
    while len(lines) > 1 and not lines[0].partition("#")[0].strip(" \t"):
        del lines[0]
    try:
        commands = understand("\n".join(lines), cwd)
    except Denied:
        return None
    if any(one.words[0].raw in _KEYWORDS for one in commands):
        return None
    return f"false && {' && '.join(pipelines(commands))}"
