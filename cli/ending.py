"""Ends a command of the place by its number, for `planner ro --end`."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from shared.guard.runner import check_needed
from shared.mode import sessions
from shared.mode.sessions import agent_name
from shared.place.turns import running
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

_PATIENCE_S = 2.0
_PAUSE_S = 0.01


def end_near(folder: str, number: int) -> str:
    """End the command of a number that the session here runs; return what it was.

    A person is in no session, and means the commands of those that plan in the repository.
    """
    session = sessions.find(agent_name(None, ""), folder)
    check_needed(session)
    root = sessions.repository_root(folder)
    near = [session] if session else [s for s in sessions.all_sessions() if s.repository == root]
    return end({one.home for one in near}, number)


def end(state_dirs: Iterable[str], number: int) -> str:
    """End the command of a number with all that it has started; return what it was.

    Raises Refused where none, or one of several state directories each, has the number.
    """
    homes = [*state_dirs]
    found = [(home, one) for home in homes for one in running(home) if one.number == number]
    if len(found) != 1:
        text = f"{len(found) or 'no'} commands with this number are running"
        others = [f"{one.number}: {one.text}" for home in homes for one in running(home)]
        allowed = "; ".join(others) or "none is running whose writes last"
        raise Refused("not_found" if not found else "conflict", str(number), text, allowed)
    home, command = found[0]
    try:
        process = os.pidfd_open(command.pid)
    except ProcessLookupError:
        return command.text
    # It holds the number still, so the process is this one and not a later one with its id.
    for kind in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _PATIENCE_S
        while _goes_on(home, command.number, command.pid) or command.is_ending:
            if time.monotonic() >= deadline:
                break
            _send(process, kind)
            time.sleep(_PAUSE_S)
        else:
            break
    os.close(process)
    return command.text


def _goes_on(home: str, number: int, pid: int) -> bool:
    return any(one.number == number and one.pid == pid for one in running(home))


def _send(process: int, kind: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, kind)
