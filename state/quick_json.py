"""Reads small JSON files of ours without the module `json`, whose import costs what little does.

`json` imports regular expressions, which takes longer than all else that a command in the place
imports. What it reads with is a function of C, which is called here without it where it is there.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any


MOST_BYTES = 1 << 20
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _Settings:
    """What `json.loads` gives to the function of C."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_int = int
    parse_float = parse_constant = float


def read_json(path: str) -> Any:  # noqa: ANN401 – whatever the file holds
    """Return what a JSON file holds; raises OSError, and ValueError for what is not JSON.

    A link, what is no regular file, and a file of more than a megabyte are not read: that may never
    end.
    """
    text = _bytes(path).decode().strip(" \t\n\r")
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    try:
        value, end = make_scanner(_Settings)(text, 0)  # type: ignore[arg-type]
    except StopIteration:
        end = -1
    if end != len(text):
        raise ValueError(f"{path} is not JSON")
    return value


def _bytes(path: str) -> bytes:
    with open(path, "rb", buffering=0, opener=lambda name, _: os.open(name, _FILE)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is not a regular file")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path} is longer than any file of ours")
    return data
