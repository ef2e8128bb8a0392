"""What watches while an attack runs: listeners, a pipe's reader, a victim process, a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import socket
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.shared.place.scene import Scene

VICTIM = Path(__file__).parent / "victim.py"
NOTICE = 0.05  # seconds that a listener gets to log what arrived
VSOCK_ANY = 0xFFFFFFFF


class Listeners:
    """Sockets that nobody should reach; who does is logged."""

    def __init__(self, scene: Scene) -> None:
        self.log: list[str] = []
        self.sockets: dict[socket.socket, str] = {}
        self.paths: list[Path] = []
        tcp = self._add(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0), "TCP")
        port = int(tcp.getsockname()[1])
        self._add(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port), "UDP")
        with contextlib.suppress(OSError):
            self._add(socket.AF_INET6, socket.SOCK_STREAM, ("::1", port), "TCP on ::1")
        with contextlib.suppress(OSError):
            self._add(socket.AF_VSOCK, socket.SOCK_STREAM, (VSOCK_ANY, port), "vsock")
        self._files(scene)
        self._add(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{scene.mark}", "the abstract socket")
        self._add(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{scene.mark}.log", "abstract datagrams")
        scene.more |= {"port": str(port), "unix": str(scene.outside / "agent.sock")}
        self.stopped, self.stop = os.pipe()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _files(self, scene: Scene) -> None:
        runtime = scene.base / "runtime"
        folders = (scene.outside, runtime, scene.home / ".gnupg", scene.home / ".ssh")
        names = ("agent.sock", "bus", "S.gpg-agent", "agent.sock")
        places = [folder / name for folder, name in zip(folders, names, strict=True)]
        places += [runtime / "ssh-agent", runtime / "docker.sock", runtime / "wayland-0"]
        places += [scene.repo / ".dev.sock", scene.home / ".cache" / "tool.sock"]
        shared = [Path("/tmp") / f"{scene.mark}.sock", Path("/run") / f"{scene.mark}.sock"]  # noqa: S108
        places += [path for path in shared if os.access(path.parent, os.W_OK)]
        for path in places:
            self._add(socket.AF_UNIX, socket.SOCK_STREAM, str(path), f"the socket {path}")
        self._add(socket.AF_UNIX, socket.SOCK_DGRAM, str(scene.outside / "log.sock"), "datagrams")
        self.paths = shared
        scene.more |= {"shared": str(shared[0]), "agent": str(runtime / "ssh-agent")}

    def _add(self, family: int, kind: int, address: object, name: str) -> socket.socket:
        one = socket.socket(family, kind)
        one.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            one.listen(64)
        self.sockets[one] = name
        return one

    def _serve(self) -> None:
        while True:
            watched: list[socket.socket | int] = [*self.sockets, self.stopped]
            ready = select.select(watched, [], [])[0]
            if self.stopped in ready:
                return
            for one in self.sockets.keys() & ready:
                self.log.append(f"something reached {self.sockets[one]}")
                with contextlib.suppress(OSError):
                    if one.type == socket.SOCK_DGRAM:
                        one.recv(4096)
                        continue
                    caller, _ = one.accept()
                    with caller:
                        caller.send(b"hello\n")

    def heard(self) -> list[str]:
        """Return what was logged since the last call."""
        told, self.log[:] = list(dict.fromkeys(self.log)), []
        return told

    def close(self) -> None:
        """Stop listening."""
        os.write(self.stop, b".")
        self.thread.join()
        for one in self.sockets:
            one.close()
        for path in self.paths:
            path.unlink(missing_ok=True)
        os.close(self.stop)
        os.close(self.stopped)


class Pipe:
    """A named pipe outside the repository with a reader that should get nothing."""

    def __init__(self, scene: Scene) -> None:
        path = scene.outside / "pipe"
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.keeper = os.open(path, os.O_WRONLY)
        scene.more["pipe"] = str(path)

    def heard(self) -> list[str]:
        """Return what came through since the last call."""
        with contextlib.suppress(BlockingIOError):
            got = os.read(self.reader, 4096)
            return [f"the named pipe's reader got {got[:80]!r}"]
        return []

    def close(self) -> None:
        """Close both ends."""
        os.close(self.reader)
        os.close(self.keeper)


class Open:
    """Descriptors that a careless client leaves open: a file, a folder, a secret."""

    def __init__(self, scene: Scene) -> None:
        names = {
            "fdfile": (scene.outside / "kept.txt", os.O_RDWR | os.O_APPEND),
            "fddir": (scene.outside, os.O_RDONLY | os.O_DIRECTORY),
            "fdsecret": (scene.home / ".netrc", os.O_RDONLY),
        }
        opened = []
        for slot, (path, flags) in names.items():
            low = os.open(path, flags)
            high = fcntl.fcntl(low, fcntl.F_DUPFD, 100)
            os.close(low)
            opened.append(high)
            scene.more[slot] = str(high)
        scene.open = self.opened = tuple(opened)

    def close(self) -> None:
        """Close them."""
        for one in self.opened:
            os.close(one)


class Victim:
    """A process of the same user outside the place that must stay alive and undisturbed."""

    def __init__(self, scene: Scene) -> None:
        word = scene.plant("the arguments of a process")
        token = scene.plant("the environment of a process")
        held = scene.base / "held"
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(VICTIM), str(held), word],
            cwd=scene.outside,
            env={"PATH": os.environ.get("PATH", ""), "VICTIM_TOKEN": token},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.fileno()
        assert os.read(self.said, 6) == b"ready\n"
        os.set_blocking(self.said, False)
        scene.more["pid"] = str(self.process.pid)
        self.calm = self._condition()

    def _condition(self) -> dict[str, str]:
        folder = Path("/proc") / str(self.process.pid)
        status = dict(
            line.partition(":")[::2] for line in (folder / "status").read_text().splitlines()
        )
        told = {name: status[name].strip() for name in ("TracerPid", "Cpus_allowed", "Threads")}
        told["stopped"] = str(status["State"].split()[0] in "Tt")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        told["priority"] = " ".join(fields[15:17] + fields[38:39])
        told |= {name: (folder / name).read_text() for name in ("oom_score_adj", "limits")}
        told["cgroup"] = (folder / "cgroup").read_text()
        return told

    def heard(self) -> list[str]:
        """Say how it was disturbed since the last call."""
        if self.process.poll() is not None:
            return [f"the victim ended with {self.process.returncode}"]
        told = []
        with contextlib.suppress(BlockingIOError):
            told.append(f"the victim said {os.read(self.said, 4096)!r}")
        now = self._condition()
        told += [f"the victim's {name} changed" for name in now if now[name] != self.calm[name]]
        return told

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Terminal:
    """The controlling terminal of the client, on which nothing may be shown or typed."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.settings = self._settings()

    def _settings(self) -> tuple[object, ...]:
        size = fcntl.ioctl(self.slave, termios.TIOCGWINSZ, b"\0" * 8)
        return (*termios.tcgetattr(self.slave)[:6], size)

    def take(self) -> None:
        """Make it the controlling terminal of a process that just started."""
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def heard(self) -> list[str]:
        """Return what was shown on it or typed into it."""
        told = []
        with contextlib.suppress(OSError):
            told.append(f"the terminal showed {os.read(self.master, 4096)!r}")
        (waiting,) = struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4))
        if waiting:
            told.append(f"{waiting} bytes were typed into the terminal")
        if self._settings() != self.settings:
            told.append("the terminal's settings changed")
        return told

    def close(self) -> None:
        """Close both ends."""
        os.close(self.master)
        os.close(self.slave)
