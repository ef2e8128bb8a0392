"""How long to wait after a rate limit: exponential backoff with full jitter (PC-13)."""

from __future__ import annotations

BASE_S, CAP_S, TRIES = 2, 60, 5


def delay_s(limits: int, share: float) -> float:
    """Return the seconds to wait after so many rate limits in a row.

    `share`, from 0 to 1, is drawn at random by the caller, so that agents which a limit ended
    together do not come back together.
    """
    return share * min(CAP_S, BASE_S << (limits - 1))
