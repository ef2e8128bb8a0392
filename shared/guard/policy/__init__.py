"""The table of shell commands allowed while planning: their options, why they change nothing."""

from __future__ import annotations

from shared.guard.policy.printing import PRINTING
from shared.guard.policy.searching import SEARCHING
from shared.guard.policy.system import SYSTEM

COMMANDS = {**PRINTING, **SEARCHING, **SYSTEM}
