"""Format times as the database stores them: ISO 8601 text in UTC, which sorts by time."""

from __future__ import annotations

import time


def moment(seconds: float) -> str:
    """Return a time, given in seconds since 1970, as ISO 8601 text in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def now() -> str:
    """Return the present time as ISO 8601 text in UTC."""
    return moment(time.time())
