"""The table of commands that may run while planning: their options, and why nothing changes."""

from __future__ import annotations

from shared.guard.policy.printing import PRINTING
from shared.guard.policy.searching import SEARCHING
from shared.guard.policy.system import SYSTEM

COMMANDS = {**PRINTING, **SEARCHING, **SYSTEM}
