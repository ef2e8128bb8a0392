"""The exception with which the guard denies a command: why, and what to do instead."""

from __future__ import annotations

ASK = "name the command and its purpose in the plan; it can run once the plan is approved"
INSTALL = "name in the plan what to install"
PLAN = "put the change into the plan; the planner applies it after approval"


class Denied(Exception):  # noqa: N818 – it is an answer, not a fault
    """Raised when the guard denies a command or tool; `instead` says what to do in its place."""

    def __init__(self, reason: str, instead: str = ASK) -> None:
        super().__init__(reason)
        self.reason = reason
        self.instead = instead
