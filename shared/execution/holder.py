"""Keep two instances of a client from executing one run at once; take over from a dead one (PC-10).

The holder is the first instance that executes: a client's session, or what PLANNER_INSTANCE names,
with the client's process. Any instance may still read, pause, decide, retry and cancel.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from shared.execution.deeds import Execution
from shared.mode.sessions import SESSION_VARIABLES, agent_name
from state.clock import moment
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State
    from state.rows import Holder

VARIABLE = "PLANNER_INSTANCE"
# A holder whose process cannot be seen from here counts as alive for so long after a command.
QUIET_S = 600
_START_FIELD = 19  # of /proc/PID/stat, counted after the name of the program


class Instance(NamedTuple):
    """The instance of a client that runs this command, and its process (0 if it is not known)."""

    name: str
    machine: str
    pid: int
    process_start: str


def this_instance(repository: str) -> Instance:
    """Return the instance that runs this command; without an id it is the repository's own."""
    name = os.environ.get(VARIABLE) or agent_name(None, repository)
    pid = next((_giver(v) for v in (VARIABLE, *SESSION_VARIABLES) if os.environ.get(v)), 0)
    return Instance(name, os.uname().nodename, pid, _started(pid))


def hold(state: State) -> None:
    """Record that this instance executes the run; Refused, naming the holder, if another one does.

    Repeated it only renews the time of the last command.
    """
    if state.run.status in ("COMPLETED", "CANCELLED"):
        return
    own = this_instance(state.run.repository)
    with state.database as database:
        holder = database.holder(state.run)
        if holder is not None and holder.instance != own.name:
            raise _held(holder)
        database.set_holder(state.run, *own)


def take_over(state: State) -> list[str]:
    """Make this instance the holder in place of one that is dead; return the milestones set back.

    What was in progress is pending again, since its agents died with their host. Refused while the
    holder lives.
    """
    own = this_instance(state.run.repository)
    with state.database as database:
        holder = database.holder(state.run)
        if holder is None or holder.instance == own.name:
            return []
        if is_alive(holder):
            raise _held(holder)
        database.set_holder(state.run, *own)
        detail = f"from {described(holder)}"
        database.audit(state.run, "host", "take over", detail=detail)
        return Execution(state).recover()


def is_mine(state: State, holder: Holder) -> bool:
    """Return whether this instance is the holder of a run."""
    return holder.instance == this_instance(state.run.repository).name


def is_alive(holder: Holder) -> bool:
    """Return whether the holder's process lives; if that cannot be seen, whether it was active."""
    seen = holder.machine == os.uname().nodename and holder.pid
    if seen:
        return _started(holder.pid) == holder.process_start
    return holder.at > moment(time.time() - QUIET_S)


def described(holder: Holder) -> str:
    """Return in words who holds a run."""
    where = f"process {holder.pid} on {holder.machine}" if holder.pid else holder.machine
    return f"{holder.instance} ({where}, last command at {holder.at})"


def _held(holder: Holder) -> Refused:
    text = f"another instance executes this run: {described(holder)}"
    if is_alive(holder):
        ways = "go on there, or end that instance first; `planner status` shows how far it is"
        return Refused("locked", "the run", text, ways, "planner status")
    text += "; it has ended" if holder.pid else "; it has been quiet since"
    return Refused("locked", "the run", text, "take over", "planner resume --take-over")


def _giver(variable: str) -> int:
    """Return the process that gave this one a variable: the first above us that has not got it."""
    value, pid = os.environ[variable], os.getppid()
    while pid > 1:
        found = _environment(pid)
        if found is None or found.get(variable) != value:
            return pid if found is not None else 0
        pid = _parent(pid)
    return 0


def _environment(pid: int) -> dict[str, str] | None:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = [os.fsdecode(pair).partition("=") for pair in file.read().split(b"\0")]
    except OSError:
        return None
    return {name: value for name, _, value in pairs}


def _status(pid: int) -> list[bytes]:
    """Return the fields of a process's /proc/PID/stat after its name; [] if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _parent(pid: int) -> int:
    fields = _status(pid)
    return int(fields[1]) if fields else 0


def _started(pid: int) -> str:
    """Return when a process was started, as the kernel counts; "" if it is gone or a zombie."""
    fields = _status(pid) if pid else []
    return fields[_START_FIELD].decode() if fields and fields[0] != b"Z" else ""
