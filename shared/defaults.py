"""Defaults of the [review] settings of planner.toml; no third-party package is imported."""

from __future__ import annotations

# A plan with more than these is reviewed in full.
DEFAULT_MILESTONES = 1
DEFAULT_LINES = 300  # changed lines
