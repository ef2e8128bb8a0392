"""Writes verify commands and their network into a project's planner.toml, for later runs (VR-1)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from shared import bounded_toml
from shared.config import is_of_another_tool, own_config, parse_config
from shared.config_keys import KEYS
from shared.resources import OWN_CONFIG_FILE
from state.beneath import Beneath
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

_TABLE = re.compile(r"^\[verify\][ \t]*(#.*)?\n", re.MULTILINE)


def write_commands(root: str, commands: Sequence[str]) -> str:
    """Add `[verify] commands` to the planner.toml of the project at `root`; return its path.

    The rest of the file stays byte for byte. Refused where it names commands already.
    """
    rows = "".join(f"    {json.dumps(command, ensure_ascii=False)},\n" for command in commands)
    return _write(root, "commands", f"commands = [\n{rows}]\n", tuple(commands))


def write_network(root: str) -> str:
    """Add `[verify] network = true` likewise; return the path of planner.toml."""
    return _write(root, "network", "network = true\n", True)  # noqa: FBT003 – the key's value


def _write(root: str, key: str, lines: str, value: object) -> str:
    files = Beneath(root)
    path = os.path.join(root, own_config(root))
    before = (files.read(path) or b"").decode()
    tables = bounded_toml.parse(before.encode())
    if is_of_another_tool(tables):
        path, before, tables = os.path.join(root, OWN_CONFIG_FILE), "", {}
    table = tables.get("verify", {})
    if key in table:
        what = "verify commands" if key == "commands" else f"[verify] {key}"
        text = f"it names {what} already"
        raise Refused("conflict", path, text, f"change them there: {table[key]}")
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = _TABLE.sub(lambda found: found[0] + lines, before, count=1)
    if after == before:
        after = f"{before}{gap}[verify]\n{lines}"
    if not _reads_as(after, key, value):
        raise Refused("invalid", path, "its [verify] table is written in a way that is not known",
                      f"add to it by hand: {lines}")  # fmt: skip
    files.write(path, after.encode())
    return path


def _reads_as(text: str, key: str, value: object) -> bool:
    try:
        return bool(getattr(parse_config(text.encode()), KEYS["verify"][key].attribute) == value)
    except Refused:  # such as a second table, where the first is written inline
        return False
