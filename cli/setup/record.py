"""What setup has put where, so that the next one changes or removes exactly that."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.setup.documents import Entry
from shared.resources import command, quote, setup_path
from state.errors import Refused
from state.files import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.setup.splices import Inserted

_VERSION = 1
# Between an assistant and the project that it is set up for, in names of the record.
BY_WHICH_PROJECT = " in "


class Edited(NamedTuple):
    """A settings file as setup left it: its SHA-256, and each entry with what was inserted."""

    sha256: str
    made: bool  # setup made the file
    entries: tuple[tuple[Entry, tuple[Inserted, ...]], ...]


class Placed(NamedTuple):
    """What setup put there for one assistant, by path."""

    links: dict[str, str]
    files: dict[str, str]  # the SHA-256 of each
    edited: dict[str, Edited]
    folders: tuple[str, ...]


NOTHING = Placed({}, {}, {}, ())


def load() -> dict[str, Placed]:
    """Return what setup has placed: by assistant, or by `ASSISTANT in PROJECT`."""
    path = setup_path("record.json")
    if not os.path.exists(path):
        return {}
    with readable(path, "the record of what setup has put where"):
        values = read_json(path)
        return {name: _placed(value) for name, value in values["placed"].items()}


@contextlib.contextmanager
def readable(path: str, what: str) -> Iterator[None]:
    """Refuse a file of setup that is damaged, and name the command that does without it."""
    try:
        yield
    except (Refused, LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, Refused) and error.problems[0].kind != "invalid":
            raise
        folder = setup_path().rstrip(os.sep)
        why = error.problems[0].problem if isinstance(error, Refused) else repr(error)
        text = f"{what} is damaged: {why}"
        allowed = (
            "put a copy of it back, or move the folder away and set up anew: what is in your "
            "settings already stays there, also with a later --remove"
        )
        retry = f"mv {quote(folder)} {quote(folder)}.damaged && {command('setup')}"
        raise Refused("invalid", path, text, allowed, retry) from None


def text(placed: dict[str, Placed]) -> bytes:
    """Return the record as the bytes of its file."""
    values = {name: _values(one) for name, one in placed.items() if one != NOTHING}
    return json.dumps({"version": _VERSION, "placed": values}, indent=1).encode() + b"\n"


def _values(one: Placed) -> dict[str, Any]:
    edited = {
        path: {
            "sha256": file.sha256,
            "made": file.made,
            "entries": [[*entry, pieces] for entry, pieces in file.entries],
        }
        for path, file in one.edited.items()
    }
    return {**one._asdict(), "edited": edited}


def _placed(values: dict[str, Any]) -> Placed:
    edited = {
        path: Edited(file["sha256"], file["made"], tuple(
            (
                Entry(tuple(keys), value, None if initial is None else tuple(initial)),
                tuple((at, piece) for at, piece in pieces),
            )
            for keys, value, initial, pieces in file["entries"]
        ))
        for path, file in values["edited"].items()
    }  # fmt: skip
    return Placed(values["links"], values["files"], edited, tuple(values["folders"]))
