"""Tells which programs started a process, and whether a person's terminal is the first (PP-7).

Read from /proc, so on Linux alone. What runs as the user can give itself any name: an answer here
says how a command was started as far as the system shows it, and proves nothing.
"""

from __future__ import annotations

import os

from shared.clients import known
from shared.guard.programs import (
    CLIENT_PATHS,
    CLIENTS,
    EDITORS,
    INTERPRETERS,
    LOGINS,
    MULTIPLEXERS,
    PASSING,
    SYSTEM,
    TERMINALS,
)
from shared.mode.lineage import MOST, PROC, identity_of, stat_of

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_MARKS = tuple(os.fsencode(name) + b"=" for name in known.MARKS)
_INIT = 1


class Process:
    """One process as /proc shows it; `names` are those by which its program may be known."""

    path = ""  # of its program, then of the file that an interpreter runs
    owner = 0
    began = ""
    variables: frozenset[bytes] = frozenset()  # NAME=value; empty if the system does not show them

    def __init__(self, pid: int, parent: int, names: Collection[str]) -> None:
        self.pid = pid
        self.parent = parent
        self.names = frozenset(names)

    @property
    def is_marked(self) -> bool:
        """Return whether it has a variable that clients set for their commands."""
        return any(pair.startswith(_MARKS) for pair in self.variables)

    @property
    def is_client(self) -> bool:
        """Return whether the program is a coding assistant's client."""
        return bool(self.names & CLIENTS) or any(part in self.path for part in CLIENT_PATHS)

    @property
    def identity(self) -> str:
        """Return a text that no other process has while the machine runs."""
        return identity_of(self.pid, self.began)

    @property
    def name(self) -> str:
        """Return one name of the program, to be shown."""
        return min(self.names, default="a program")


def read(pid: int) -> Process | None:
    """Return a process by its id, None if there is none or the system does not show it."""
    folder, stat = f"{PROC}/{pid}", stat_of(pid)
    try:
        owner = os.stat(folder).st_uid
    except OSError:
        return None
    if stat is None:
        return None
    name, parent, began = stat
    path = _link(f"{folder}/exe")
    words = [os.fsdecode(word) for word in _try(f"{folder}/cmdline").split(b"\0")[:8]]
    script = _script(path or words[0], words)
    found = Process(pid, parent, {name, *(_base(p) for p in (path, script) if p)})
    found.path, found.owner, found.began = f"{path}\0{script}", owner, began
    found.variables = frozenset(filter(None, _try(f"{folder}/environ").split(b"\0")))
    return found


def above(pid: int) -> list[Process]:
    """Return the processes above a process, its parent first; those not shown end the list."""
    found: list[Process] = []
    process = read(pid)
    while process is not None and process.parent > 0 and len(found) < MOST:
        process = read(process.parent)
        if process is not None:
            found.append(process)
    return found


def client_above(pid: int) -> Process | None:
    """Return the client of an assistant above a process, None if there is none.

    Of several that started one another, such as a launcher and its program, the outermost.
    """
    found: Process | None = None
    for process in above(pid):
        if process.is_client:
            found = process
        elif found is not None:
            break
    return found


def everyone() -> Iterator[Process]:
    """Yield each process of this user that the system shows."""
    try:
        pids = [int(name) for name in os.listdir(PROC) if name.isdecimal()]
    except OSError:
        return
    for process in map(read, pids):
        if process is not None and process.owner == os.getuid():
            yield process


def assistant_in(chain: Iterable[Process]) -> Process | None:
    """Return the first process of a chain that is an assistant's client, or that one started."""
    return next((p for p in chain if p.is_client or p.is_marked), None)


def stands_between(chain: Iterable[Process]) -> str:
    """Return what stands between a process and a person's terminal, "" if nothing does."""
    for process in chain:
        found = _judge(process)
        if found is not None:
            return found
    return "processes that the system does not show"


def _judge(process: Process) -> str | None:
    """Return "" for a person's terminal, None for what passes its input on, else what it is."""
    if process.is_client or process.is_marked:
        return f"an assistant ({process.name})"
    if process.names & MULTIPLEXERS:
        return f"a program that others can type into ({process.name})"
    if process.names & EDITORS:
        return f"an editor ({process.name})"
    login = process.names & LOGINS
    # The user's own part of a login stands below the one that root has started.
    if (login and process.owner == 0) or _is_terminal(process):
        return ""
    if process.pid == _INIT:
        return "nothing that still runs: what started it has ended"
    passes = login or process.names & PASSING
    return None if passes else f"a program that is not a terminal ({process.name})"


def _is_terminal(process: Process) -> bool:
    return bool(process.names & TERMINALS) and process.path.startswith(SYSTEM)


def assistants_outside(held: Collection[str]) -> list[Process]:
    """Return the clients of assistants that run for this user and that `held` does not name.

    `held` are identities. What a client has left behind counts too, once no client is above it.
    """
    found = []
    for process in everyone():
        if process.is_client:
            ours = process.identity in held or any(p.identity in held for p in above(process.pid))
            if not ours:
                found.append(process)
        elif process.is_marked and not any(p.is_client for p in above(process.pid)):
            found.append(process)
    return found


def _script(program: str, words: list[str]) -> str:
    """Return the file that an interpreter runs, "" for any other program."""
    if not _base(program).startswith(INTERPRETERS):
        return ""
    return next((word for word in words[1:] if word and not word.startswith("-")), "")


def _base(path: str) -> str:
    name = os.path.basename(path.removesuffix(" (deleted)"))
    return name.removesuffix(".exe").removesuffix(".js")


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _try(path: str) -> bytes:
    try:
        return _bytes(path)
    except OSError:
        return b""


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
