"""Tells a program that it runs in the place, by a file that nothing in the place can remove.

`bin/planner` looks for it before anything else, so it names the path once more.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Sequence

MARKER = "/run/planner-place"


def refuse(argv: Sequence[str]) -> int:
    """Print that our program does nothing in the place, and how to run it; return 1."""
    from shared.builders import error_block
    from shared.resources import command
    from state.errors import Problem

    text = "started by another command, so all that it writes would be lost"
    alone = "send it as a command of its own, without others around it"
    sys.stdout.write(error_block([Problem("refused", "planner", text, alone, command(*argv))]))
    return 1
