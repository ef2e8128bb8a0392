"""Runs one client against a scripted model, both where no network is but the loopback interface.

A program of its own: a request as JSON on stdin, what came of it as JSON on stdout.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.clients.bot import Bot
from tests.clients.scripted_model import Script, serve

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
QUIET_S = 2
LATEST_S = 20
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP


def leave_network() -> None:
    """Enter a network of our own that holds a loopback interface alone, where that is allowed."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK) != 0:
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(handle, GET_FLAGS, request)[:18])[1]
        fcntl.ioctl(handle, SET_FLAGS, struct.pack("16sh", b"lo", flags | UP))


def run_plain(spec: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    """Run the client without a terminal."""
    try:
        done = subprocess.run(
            spec["command"],
            cwd=spec["cwd"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=spec["timeout_s"],
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return {"code": -1, "stdout": str(late.stdout), "stderr": str(late.stderr)}
    return {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def run_typed(spec: dict[str, Any], environment: dict[str, str], script: Script) -> dict[str, Any]:
    """Run the client on a terminal as somebody who waits: type each text when all is quiet.

    It is ended when the model has heard `until` and it has been quiet for `quiet_s` after the last.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(spec["cwd"])
        os.execve(spec["command"][0], spec["command"], environment)  # noqa: S606 – no shell is meant
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    typed, shown = list(spec["typed"]), b""
    began = heard = pressed = time.monotonic()
    while time.monotonic() - began < spec["timeout_s"]:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
            heard = time.monotonic()
        quiet = time.monotonic() - heard > (QUIET_S if typed else spec["quiet_s"])
        # A dialogue may blink for ever.
        late = typed and time.monotonic() - pressed > LATEST_S
        if shown and (quiet or late):
            if not typed:
                if any(spec["until"] in text for text in tuple(script.heard)):
                    break
                continue
            os.write(terminal, typed.pop(0).encode())
            heard = pressed = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return {"code": 0, "stdout": shown.decode("utf-8", "replace"), "stderr": ""}


def main() -> None:
    """Play the request on stdin."""
    spec = json.load(sys.stdin)
    leave_network()
    turns = [t if isinstance(t, str) else (t[0], t[1]) for t in spec["turns"]]
    sub = [t if isinstance(t, str) else (t[0], t[1]) for t in spec["sub"]]
    script = Bot(*spec["bot"]) if spec["bot"] else Script(turns, sub)
    server = serve(script)
    port = str(server.server_address[1])
    environment = {k: v.replace("{port}", port) for k, v in spec["environment"].items()}
    for path, text in spec["files"]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("{port}", port))
    done = run_typed(spec, environment, script) if spec["typed"] else run_plain(spec, environment)
    server.shutdown()
    found = {"results": [r._asdict() for r in script.results.values()], "heard": script.heard}
    json.dump({**done, **found}, sys.stdout)


if __name__ == "__main__":
    main()
