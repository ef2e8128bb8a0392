"""The guard's own corpus: commands that must be denied and commands that must pass, by class.

`deny/CLASS.txt` and `allow/CLASS.txt` hold one command a line. Blank lines and lines that begin
with `# ` are for the reader. `⟨HEX⟩` stands for the character with that code point, so
that newlines, control characters and what looks like a space can be seen; `⟨23⟩` begins a command
with `#`. A line that begins with `⊘ ` is never run, not even in a throwaway place: it reaches for
the machine's processes, devices or mounts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
_CODE_POINT = re.compile(r"⟨([0-9A-F]{1,6})⟩")
_NEVER_RUN = "⊘ "


class Command(NamedTuple):
    """One line of the corpus; `may_run` is false for what no test ever starts."""

    text: str
    kind: str
    may_run: bool


def must_be_denied() -> list[Command]:
    """Return the commands that no read-only guard may let through."""
    return _load("deny")


def must_pass() -> list[Command]:
    """Return the commands with which assistants really explore a repository."""
    return _load("allow")


def _load(verdict: str) -> list[Command]:
    return [
        Command(_decode(line.removeprefix(_NEVER_RUN)), path.stem, not line.startswith(_NEVER_RUN))
        for path in sorted((_FOLDER / verdict).glob("*.txt"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if line and not line.startswith("# ")
    ]


def _decode(line: str) -> str:
    return _CODE_POINT.sub(lambda match: chr(int(match[1], 16)), line)
