"""Read the JSON that an assistant writes for a strategy; it is short."""

from __future__ import annotations

from typing import Any

from shared import named_files
from state.errors import Refused

MOST_BYTES = 256 << 10


def read_answer(state_dir: str, path: str) -> Any:  # noqa: ANN401 – any JSON value
    """Return the JSON value of a file among the answers; Refused if it is too large or not JSON."""
    found = named_files.read_answer(state_dir, path)
    if len(found.data) > MOST_BYTES:
        text = f"the file has {len(found.data)} bytes; at most {MOST_BYTES} are read"
        raise Refused("invalid", path, text, "write a shorter one")
    return found.json()
