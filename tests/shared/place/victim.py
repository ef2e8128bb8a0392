"""A process outside the place: it says each signal it gets, and holds secrets to be looked for.

Started by tests/shared/place/watch.py as `victim.py PATH WORD`: PATH is a file that it opens and
deletes, WORD a secret in its arguments; another one is in its environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
KERNEL_ONLY = (signal.SIGKILL, signal.SIGSTOP)


def note(number: int, _frame: object) -> None:
    """Say which signal came."""
    os.write(1, f"signal {number}\n".encode())


def main() -> None:
    """Hold the secrets and wait for signals until the arena ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    held = os.open(sys.argv[1], os.O_RDWR)
    os.unlink(sys.argv[1])
    for number in range(1, signal.NSIG):
        if number not in KERNEL_ONLY:
            with contextlib.suppress(OSError):
                signal.signal(number, note)
    os.write(1, b"ready\n")
    while held:
        signal.pause()


if __name__ == "__main__":
    main()
