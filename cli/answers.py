"""Write a command's answer in the form that its reader wants: a block, text for people, or JSON.

Assistants and pipes get blocks, a person on a terminal gets text, and `--format` chooses for both.
Only the standard library at import: what is wrong before the packages are there is said here too.
"""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING

from shared import output
from shared.resources import LAUNCHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.mode.lookup import Mode
    from shared.run import State

TEXT, XML, JSON = FORMS = ("text", "xml", "json")
_OPTION = "--format"
_BLOCKS = ("<step", "<result", "<error")
_form = ContextVar("form", default=XML)
_asked = ContextVar("asked", default="")


def choose(argv: Sequence[str]) -> None:
    """Choose the form in which the command in `argv` answers.

    Read before the command is parsed, since what cannot be parsed has an answer as well.
    """
    _asked.set(_form_asked(argv))
    _form.set(_asked.get() or (TEXT if _is_for_person(argv) else XML))


def form() -> str:
    """Return the form of this command's answer."""
    return _form.get()


def asked() -> str:
    """Return the form that `--format` names, "" without it."""
    return _asked.get()


def write(text: str) -> None:
    """Write a block in the chosen form; what is no block is written as it is."""
    output.write(in_form(text))


def in_form(text: str) -> str:
    """Return a block in the chosen form, and what is no block as it is."""
    if form() != XML and text.startswith(_BLOCKS):
        return _as_text(text) if form() == TEXT else _as_json(text)
    return text


def _as_text(block: str) -> str:
    from cli import handover, text  # only where it is needed: most readers are assistants

    shown = text.text_of(handover.for_person(block), width(), colour=in_colour())
    return handover.in_short(shown)


def _as_json(block: str) -> str:
    from cli import text

    return text.json_of(block)


def write_standing(state: State, block: str, said: str = "") -> None:
    """Write where a run stands if a person reads; else the block that tells an assistant.

    `said` comes first for the person: what the command has done.
    """
    if form() == TEXT:
        from orchestrator.run.status import render_status

        block = render_status(state, said)
    write(block)


def write_end(found: Mode) -> None:
    """Write that planning has ended, of a run or without one."""
    if found.state is None:
        from orchestrator.mode.render import render_mode

        write(render_mode(found))
    else:
        from orchestrator.run.end import render_end

        write_standing(found.state, render_end(found.note))


def write_patch(patch: bytes) -> None:
    """Write a patch byte for byte; on a terminal in colour, with what nobody would see escaped."""
    if not sys.stdout.isatty():
        output.write_bytes(patch)
        return
    from cli import text as forms

    output.write(forms.patch_of(patch.decode("utf-8", "replace"), colour=in_colour()))


def width() -> int:
    """Return the width of the terminal, 0 where there is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0


def in_colour() -> bool:
    """Return whether the reader's terminal shows colours and nobody has asked it not to."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _form_asked(argv: Sequence[str]) -> str:
    for at, word in enumerate(argv):
        if word == "--":
            break
        if word == _OPTION:
            return next((w for w in argv[at + 1 : at + 2] if w in FORMS), "")
        if word.startswith(f"{_OPTION}="):
            value = word.partition("=")[2]
            return value if value in FORMS else ""
    return ""


def _is_for_person(argv: Sequence[str]) -> bool:
    """Return whether a person on a terminal reads the answer, not an assistant that has one.

    Assistants start the launcher of setup, or set a variable. Commands that only a person may run
    are typed, also with the launcher's path.
    """
    if not sys.stdout.isatty():
        return False
    from shared.commands import is_for_person, name_of
    from shared.mode.guarded import assistant_variable

    if assistant_variable():
        return False
    return not os.environ.get(LAUNCHED) or is_for_person(name_of(list(argv)))
