"""The guard's no: why a command may not run now, and what serves in its place."""

from __future__ import annotations

ASK = "name the command and its purpose in the plan; it can run once the plan is approved"


class Denied(Exception):  # noqa: N818 – it is an answer, not a fault
    """A command is not known to change nothing; `instead` says what is."""

    def __init__(self, reason: str, instead: str = ASK) -> None:
        super().__init__(reason)
        self.reason = reason
        self.instead = instead
