"""Settings that hold unless planner.toml says otherwise; read without any third-party package."""

from __future__ import annotations

DEFAULT_MILESTONES = 1


DEFAULT_LINES = 300
