"""The time as the database stores it: UTC in ISO 8601 with seconds, so that text sorts by time."""

from __future__ import annotations

import time


def moment(seconds: float) -> str:
    """Return seconds since the epoch as text."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def now() -> str:
    """Return the present moment as text."""
    return moment(time.time())
