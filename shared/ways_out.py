"""Make the way out of a refusal a command that runs as it is printed, named for its reader (SD-7).

Only a refusal loads it.
"""

from __future__ import annotations

import os
import shlex

from shared.commands import ANYONE, COMMANDS, OF_AGENT, OF_NO_RUN, is_for_person, name_of
from shared.resources import launcher, quote
from state.errors import AGAIN

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "planner"
_RUN, _ROLE, _FORMAT, _AGENT = "--state-dir", "--role", "--format", "--agent"
# What the same command needs again beside what it does, which the way out says itself.
_OF_SAME = ("--review", "--base", "--repo")
_FLAGS = ("--alone",)
_BLOCKS_ALONE = ("step", "ro")  # they take no --format
_SHOWS = frozenset(("--dry-run", "--help"))  # then a person's command changes nothing


def way_out(retry: str, call: Sequence[str] = ()) -> str:
    """Return the command that leads on as a part of a problem's text; "" if there is none.

    `retry:` is for the reader; `person:` is a command of ours that only a person may run; `user:`
    is another program's, such as git on the user's own repository. `call` are the words of the
    refused command after the launcher: the way out keeps of its options what it needs.
    """
    if not retry or (retry == AGAIN and not call):
        return ""
    program, *words = [PROGRAM, *call] if retry == AGAIN else shlex.split(retry)
    if program.rpartition("/")[2] != PROGRAM:
        return f" · user: {retry}"
    words = _absolute([*words, *_kept(words, call)])
    label = "retry"
    if is_for_person(name_of(words)) and not _SHOWS.intersection(words):
        label = "person"
    named = launcher() if program == PROGRAM else quote(program)
    return f" · {label}: {' '.join([named, *map(quote, words)])}"


def _kept(words: Sequence[str], call: Sequence[str]) -> list[str]:
    """Return the options of the refused command that its way out, `words`, needs and lacks."""
    name, named = name_of([*words]), {word.partition("=")[0] for word in words}
    if not name or _SHOWS.intersection(words):
        return []
    is_same = name == name_of(list(call))
    kept: list[str] = []
    for option, value in _options(call).items():
        if option not in named and _needs(name, option, value, is_same=is_same):
            kept += [option, value] if value else [option]
    # A run that has ended, or cannot go on, is not the place for a new one.
    return _without_run(kept) if [*words] == ["start"] else kept


def _needs(name: str, option: str, value: str, *, is_same: bool) -> bool:
    if option == _RUN:
        return name not in OF_NO_RUN
    if option == _AGENT:
        return name in OF_AGENT
    if option == _FORMAT:
        return name not in _BLOCKS_ALONE and not is_for_person(name)
    if option == _ROLE and not is_same:
        who = COMMANDS[name][0]
        return not who.startswith(ANYONE) and value in {
            one.split(" ")[0] for one in who.split(", ")
        }
    return is_same


def _options(call: Sequence[str]) -> dict[str, str]:
    """Return those of a command line's options that its way out may need, with their values."""
    found: dict[str, str] = {}
    # Elsewhere it is a flag.
    agent = (_AGENT,) if name_of([*call]) in OF_AGENT else ()
    known = (_RUN, _ROLE, _FORMAT, *_OF_SAME, *agent)
    for at, word in enumerate(call):
        name, equals, value = word.partition("=")
        if word == "--":
            break
        if word in _FLAGS:
            found[word] = ""
        elif name in known and (equals or call[at + 1 :]):
            found[name] = value if equals else call[at + 1]
    return found


def _without_run(options: Sequence[str]) -> list[str]:
    at = options.index(_RUN) if _RUN in options else len(options)
    return [*options[:at], *options[at + 2 :]]


def _absolute(words: Sequence[str]) -> list[str]:
    """Return the words with the state directory named so that any folder finds it."""
    found = [*words]
    for at, word in enumerate(words):
        if word == "--":
            break
        if word.startswith(f"{_RUN}="):
            found[at] = f"{_RUN}={os.path.abspath(word.partition('=')[2])}"
        elif word == _RUN and words[at + 1 :]:
            found[at + 1] = os.path.abspath(words[at + 1])
    return found
