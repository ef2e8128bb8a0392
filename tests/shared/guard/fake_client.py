"""A program that is called `claude`, and does with its hooks and commands what the client does.

`fake_client.py NAME`, with JSON on its input: `hooks`, each a shell line and what it is sent on one
end of a pair of sockets, as the client does; then `shell`, a line run as a tool runs one.
"""

from __future__ import annotations

import ctypes
import json
import socket
import subprocess
import sys
from typing import Any

_SET_NAME = 15


def main(given: dict[str, Any]) -> int:
    """Run the hooks, then the command, and return its exit code."""
    for line, sent in given.get("hooks", ()):
        ours, theirs = socket.socketpair()
        with subprocess.Popen(["/bin/sh", "-c", line], stdin=theirs.fileno()) as hook:
            theirs.close()
            ours.sendall(sent.encode())
            ours.close()
            hook.wait()
    words = ["bash", "-c", given.get("shell", "exit 0")]
    return subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(_SET_NAME, sys.argv[1].encode(), 0, 0, 0)
    sys.exit(main(json.loads(sys.stdin.read())))
