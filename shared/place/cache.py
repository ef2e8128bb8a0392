"""Remembers what is slow to find out about a repository, in small files of the user's."""

from __future__ import annotations

import binascii
import os

from shared.resources import sessions_path
from state.quick_json import read_json

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any


def recall(kind: str, key: str) -> dict[str, Any]:
    """Return what was remembered of this kind for `key`; nothing if it can't be read."""
    try:
        values = read_json(_path(kind, key))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) and values.get("key") == key else {}


def remember(kind: str, key: str, values: dict[str, Any]) -> None:
    """Remember `values` for `key`; where that can't be written, nothing is remembered."""
    import json  # not at the top: most commands only read

    path = _path(kind, key)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"key": key, **values}, file)
        os.replace(temporary, path)
    except OSError:
        return


def folder() -> str:
    """Return the path of the folder that holds all that is remembered, and nothing else."""
    return os.path.join(os.path.dirname(sessions_path()), "place")


def _path(kind: str, key: str) -> str:
    return os.path.join(folder(), f"{kind}-{binascii.crc32(os.fsencode(key)):08x}")
