"""Keep two instances of a client from executing one run at once; take over from a dead one (PC-10).

The holder is the first instance that executes: a client's session, or what PLANNER_INSTANCE names,
with the client's process. Any instance may still read, pause, decide, retry and cancel.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from shared.clients import known
from shared.execution.deeds import Execution
from shared.guard.ancestry import above, read
from shared.mode.sessions import agent_name
from state.clock import moment
from state.errors import Refused
from state.stages import CANCELLED, COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.run import State
    from state.rows import Holder

VARIABLE = "PLANNER_INSTANCE"
# A holder whose process cannot be seen from here counts as alive for so long after a command.
QUIET_S = 600


class Instance(NamedTuple):
    """The instance of a client that runs this command, and its process (0 if it is not known)."""

    name: str
    machine: str
    pid: int
    process_start: str


def this_instance(repository: str) -> Instance:
    """Return the instance that runs this command; without an id it is the repository's own."""
    name = os.environ.get(VARIABLE) or agent_name(None, repository)
    pid = next((_giver(v) for v in (VARIABLE, *known.SESSION_VARIABLES) if os.environ.get(v)), 0)
    return Instance(name, os.uname().nodename, pid, _started(pid))


def hold(state: State) -> None:
    """Record that this instance executes the run; Refused, naming the holder, if another one does.

    Repeated it only renews the time of the last command.
    """
    if state.run.status in (COMPLETED, CANCELLED):
        return
    own = this_instance(state.run.repository)
    with state.database as database:
        holder = database.holder(state.run)
        if holder is not None and holder.instance != own.name:
            raise _held(holder)
        database.set_holder(state.run, *own)


@contextlib.contextmanager
def holding(state: State) -> Iterator[None]:
    """Refuse where another instance executes the run; record this one once the block is done.

    What is refused in the block leaves the holder as it was.
    """
    holder = state.database.holder(state.run)
    ended = state.run.status in (COMPLETED, CANCELLED)
    if holder is not None and not ended and not is_mine(state, holder):
        raise _held(holder)
    yield
    hold(state)


def take_over(state: State) -> list[str]:
    """Make this instance the holder in place of one that is dead; return the milestones set back.

    What was in progress is pending again, since its agents died with their host. Refused while the
    holder lives. Use it in a transaction.
    """
    own, database = this_instance(state.run.repository), state.database
    holder = database.holder(state.run)
    if holder is None or holder.instance == own.name:
        return []
    if is_alive(holder):
        raise _held(holder)
    database.set_holder(state.run, *own)
    database.audit(state.run, "host", "take over", detail=f"from {described(holder)}")
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
    pair = os.fsencode(f"{variable}={os.environ[variable]}")
    for process in above(os.getpid()):
        if process.pid == 1 or not process.variables:
            return 0  # what it has cannot be seen
        if pair not in process.variables:
            return process.pid
    return 0


def _started(pid: int) -> str:
    """Return when a process was started, as the kernel counts; "" if it has ended."""
    found = read(pid) if pid else None
    return found.began if found else ""
