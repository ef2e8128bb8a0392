"""Default values of settings of planner.toml; imports no third-party package."""

from __future__ import annotations

# A plan with more than these is reviewed in full.
DEFAULT_MILESTONES = 1
DEFAULT_LINES = 300  # changed lines

# Agents that write at once; see decision 0033.
PARALLEL_STEPS = 4
