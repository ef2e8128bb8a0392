"""Keeps the shell texts that run in the place, each named by its SHA-256.

A text is never pasted into a shell line: the hook keeps it here and answers `planner ro NAME`. The
folder is in the user's state folder, which neither the place nor an assistant's file tools write.
"""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.mode import sessions
from shared.resources import sessions_path
from state.errors import Refused

# What a system passes on as one argument is 128 KiB; some of that is left for the shell's quotes.
MOST_BYTES = 100_000
KEPT_S = 86_400
_NAME_LENGTH = 64
_DIGITS = frozenset("0123456789abcdef")
_MOST_REMOVED = 50  # at a time, so that no command waits for it


def folder() -> str:
    """Return the path of the folder that holds the texts."""
    return os.path.join(os.path.dirname(sessions_path()), "texts")


def keep(text: str) -> str:
    """Store a shell text and return its name; Denied for one that no shell could be given."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = b"\0"
    if b"\0" in data or len(data) > MOST_BYTES:
        reason = f"the command has more than {MOST_BYTES} bytes or characters that no shell takes"
        raise Denied(reason, "write what is long into a file under answers/, and name that")
    name = sessions.sha256(data)
    path = os.path.join(folder(), name)
    temporary = f"{path}.{os.getpid()}"
    os.makedirs(folder(), mode=0o700, exist_ok=True)
    # Written again though it may be there: whether it is whole and new is not worth asking.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
    os.replace(temporary, path)
    return name


def is_name(word: str) -> bool:
    """Return whether a word can be the name of a text."""
    return len(word) == _NAME_LENGTH and _DIGITS.issuperset(word)


def load(name: str) -> str:
    """Return the text of this name; Refused if it is not kept (any more) or was changed."""
    try:
        with open(os.path.join(folder(), name), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        data = b""
    if sessions.sha256(data) != name:
        text = "no command is kept by this name; each is kept for a day, and while somebody plans"
        raise Refused("not_found", name, text, "send the command itself again")
    return data.decode()


def tidy(now: float, kept_s: float = KEPT_S) -> None:
    """Remove some of the texts kept longer than `kept_s`; `now` is in seconds since 1970."""
    removed = 0
    try:
        with os.scandir(folder()) as entries:
            for entry in entries:
                if now - entry.stat().st_mtime > kept_s and removed < _MOST_REMOVED:
                    os.unlink(entry.path)
                    removed += 1
    except OSError:
        return
