"""Reads small JSON files of ours without the module `json`, whose import costs what little does.

`json` imports regular expressions, which takes longer than all else that a command in the place
imports. What it reads with is a function of C, which is called here without it where it is there.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any


class _Settings:
    """What `json.loads` gives to the function of C."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_int = int
    parse_float = parse_constant = float


def read_json(path: str) -> Any:  # noqa: ANN401 – whatever the file holds
    """Return what a JSON file holds; raises OSError, and ValueError for what is not JSON."""
    with open(path, encoding="utf-8") as file:
        text = file.read().strip(" \t\n\r")
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
