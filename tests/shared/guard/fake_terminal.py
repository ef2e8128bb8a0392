"""Runs a shell line on a terminal of its own, prints what that shows, ends with its exit code.

Started by an interpreter that is called `xterm` it is what a person's terminal is.
"""

from __future__ import annotations

import os
import pty
import sys


def main(line: str) -> int:
    """Run the line in a shell on a new terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-c", f"{line}; exit $?"])  # noqa: S606 – the line is ours
    while True:
        try:
            shown = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
