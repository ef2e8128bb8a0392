"""Why the guard denies a planner command to an assistant, by the table of commands.

What a person alone may run is denied to every assistant while a session of the user plans. What
writes outside the run is denied to a session that plans (PP-5).
"""

from __future__ import annotations

import os

from shared.commands import ANYONE, COMMANDS, LATER, is_for_person, name_of
from shared.paths import readings
from shared.requirements_record import lane_of

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

_HELP = ("--help", "-h")
# Not a command to type, so it has no row: what it is told counts as told by the client.
HOOK = "hook"


def refusal_for_assistant(words: list[str]) -> str | None:
    """Return why no assistant may run the command `planner WORDS`, or None if one may.

    A command is known by its first words: an option before them can only ask for help.
    """
    if _asks_for_help(words):
        return None
    if words[0] == HOOK:
        return "only a client may run `planner hook`, which tells what its user did"
    name = name_of(words)
    if not name:
        return f"the planner has no command `{' '.join(words[:2])}`"
    return f"only a person may run `planner {name}`" if is_for_person(name) else None


def refusal_while_planning(words: list[str], cwd: str, home: str, folder: str) -> str | None:
    """Return why an assistant that plans may not run `planner WORDS` in `cwd`, or None if it may.

    `home` is the state directory in which it plans, `folder` where new runs of its repository go.
    """
    refusal = refusal_for_assistant(words)
    if refusal is not None or _asks_for_help(words):
        return refusal
    name = name_of(words)
    if name == "demo" and any(_values(words, "--keep")):
        return "`planner demo --keep` writes a folder outside of your run"
    who = COMMANDS[name][0]
    if who.endswith(LATER):
        return f"`planner {name}` writes the user's files, which may not change while you plan"
    if who == ANYONE and name != "start":
        return None
    for given in _values(words, "--state-dir"):
        for real in readings(given, cwd):
            new = name == "start" and real.startswith(folder + os.sep)
            if real not in (home, lane_of(home).get("lifecycle")) and not new:
                return f"`planner {name}` would write in {given}, outside of your run"
    return None


def _asks_for_help(words: list[str]) -> bool:
    return not words or words[0] in _HELP or (len(words) > 1 and words[1] in _HELP)


def _values(words: list[str], option: str) -> Iterator[str]:
    """Yield each value that an option is given in a command's words."""
    for at, word in enumerate(words):
        if word == option:
            yield words[at + 1] if at + 1 < len(words) else ""
        elif word.startswith(f"{option}="):
            yield word.partition("=")[2]
