"""Default values of planner.toml's [review] settings; imports no third-party package."""

from __future__ import annotations

# A plan with more than these is reviewed in full.
DEFAULT_MILESTONES = 1
DEFAULT_LINES = 300  # changed lines
