"""Writes chosen verify commands into a project's planner.toml, for all later runs (VR-1)."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from shared import bounded_toml
from shared.config import parse_config
from shared.resources import CONFIG_FILE
from state.beneath import Beneath
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

_TABLE = re.compile(r"^\[verify\][ \t]*(#.*)?\n", re.MULTILINE)


def write_commands(root: str, commands: Sequence[str]) -> str:
    """Add `[verify] commands` to the planner.toml of the project at `root`; return its path.

    The rest of the file stays byte for byte. Refused where it names commands already.
    """
    path = os.path.join(root, CONFIG_FILE)
    files = Beneath(root)
    before = (files.read(path) or b"").decode()
    table = bounded_toml.parse(before.encode()).get("verify", {})
    if "commands" in table:
        text = "it names verify commands already"
        raise Refused("conflict", path, text, f"change them there: {table['commands']}")
    rows = "".join(f"    {json.dumps(command, ensure_ascii=False)},\n" for command in commands)
    lines = f"commands = [\n{rows}]\n"
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = _TABLE.sub(lambda found: found[0] + lines, before, count=1)
    if after == before:
        after = f"{before}{gap}[verify]\n{lines}"
    if not _reads_as(after, commands):
        raise Refused("invalid", path, "its [verify] table is written in a way that is not known",
                      f"add to it by hand: {lines}")  # fmt: skip
    files.write(path, after.encode())
    return path


def _reads_as(text: str, commands: Sequence[str]) -> bool:
    try:
        return parse_config(text.encode()).verify == tuple(commands)
    except Refused:  # such as a second table, where the first is written inline
        return False
