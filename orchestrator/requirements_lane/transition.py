"""Carry out a transition of the lane as a list of file operations that survives a crash.

The list is on disk before the first of them. Each can be done any number of times, so that the
next command finishes what a crash interrupted (RL-11).
"""

from __future__ import annotations

import os
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from orchestrator.requirements import number_of
from shared import resources
from shared.mode import limits, transitions
from shared.mode.sessions import agent_name
from shared.requirements_record import (
    HISTORY,
    LANE,
    WORKFLOW,
    Lane,
    read_lane,
    read_transition,
    write_lane,
)
from state.beneath import Beneath
from state.errors import Refused
from state.files import sync_folder, write_json
from state.stages import ACTIVE, CANCELLED, COMPLETED, PAUSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State

Operation = list[Any]

# In this state the session is read-only, as while a plan is made: nothing is implemented yet.
# Before it the user has asked for nothing yet, so that leaving needs no command of a person.
READ_ONLY = ("refine",)


def make_folder(path: str) -> Operation:
    """Return the operation that makes a folder unless it is there."""
    return ["folder", path]


def create(path: str, text: str) -> Operation:
    """Return the operation that writes a file unless it is there."""
    return ["create", path, text]


def write(path: str, text: str) -> Operation:
    """Return the operation that writes a file of ours anew."""
    return ["write", path, text]


def prepend(path: str, text: str) -> Operation:
    """Return the operation that puts a text in front of a file that does not hold it yet."""
    return ["prepend", path, text]


def rename(old: str, new: str) -> Operation:
    """Return the operation that renames a file to a name that is free."""
    return ["rename", old, new]


def remove(facts: Lane, path: str) -> Operation:
    """Return the operation that removes a file with just its present content."""
    return ["remove", path, sha256(facts.files.read(path) or b"").hexdigest()]


def append(facts: Lane, text: str) -> Operation:
    """Return the operation that appends lines to the history once, whatever else it holds then."""
    times = facts.read(HISTORY).count(text.encode())
    return ["append", facts.path(HISTORY), text, times]


def swap(path: str, old: str, new: str) -> Operation:
    """Return the operation that puts lines in place of others, at the end if those are gone."""
    return ["swap", path, old, new]


def make_folders(path: str) -> Operation:
    """Return the operation that makes a folder, and those around it, unless they are there."""
    return ["folders", path]


def carry_out(state: State, facts: Lane, name: str, operations: list[Operation], to: str) -> None:
    """Do file operations, store the facts, go to the state `to`; use it under the run's lock."""
    recorded = {
        "id": secrets.token_hex(6), "name": name, "operations": operations,
        "facts": facts.to_json(), "to": to,
    }  # fmt: skip
    write_json(resources.transition_path(state.state_dir), recorded)
    finish(state, recorded)


def interrupted(state: State) -> dict[str, Any] | None:
    """Return the transition that a crash has interrupted, or None."""
    path = resources.transition_path(state.state_dir)
    return read_transition(path) if os.path.exists(path) else None


def finish(state: State, recorded: dict[str, Any]) -> None:
    """Do all that a recorded transition consists of, again where it was done already."""
    name = f"{recorded['name']} {recorded['id']}"
    if not any(row["detail"] == name for row in state.database.audit_rows(state.run)):
        for operation in recorded["operations"]:
            perform(Beneath(state.run.repository), operation)
        write_lane(state.state_dir, Lane.from_json(recorded["facts"]))
        with state.database as database:
            _change_mode(state, recorded["to"])
            number = number_of(recorded["to"])
            database.set_run(state.run.run_id, workflow=WORKFLOW, step=number, lane=LANE)
            database.audit(state.run, "host", WORKFLOW, after=recorded["to"], detail=name)
            state.reload()
    forget(state)


def forget(state: State) -> None:
    """Remove the record of a transition that is done or taken back."""
    os.unlink(resources.transition_path(state.state_dir))
    sync_folder(state.state_dir)


def sweep_folder(state: State) -> None:
    """Remove temporary files that killed commands have left in the planning folder."""
    recorded = interrupted(state) or {}
    known = os.path.exists(resources.requirements_record_path(state.state_dir))
    if "facts" in recorded:
        folder = Lane.from_json(recorded["facts"]).folder
    elif known:
        folder = read_lane(state.state_dir).folder
    else:
        return
    Beneath(state.run.repository).sweep(folder)


def _change_mode(state: State, to: str) -> None:
    """Make the session read-only where the state `to` wants it; use it in a transaction.

    Only a person ends that, by `cancel`, or a plan that the session goes over to.
    """
    state.reload()
    if state.run.status in (COMPLETED, CANCELLED):
        state.move("reopen", "host")
    if to not in READ_ONLY:
        return
    if state.run.status != ACTIVE:
        state.move("resume" if state.run.status == PAUSED else "enter", "host")
    agent = agent_name(None, state.run.repository)
    transitions.bind(state.database, state.run, agent, limits.columns(state.config["config"]))


def perform(files: Beneath, operation: Operation) -> None:
    """Do one operation on the files of the repository; Refused if the system does not let us."""
    kind, path, *rest = operation
    _DO[kind](files, path, *rest)


def _create(files: Beneath, path: str, text: str) -> None:
    if not files.exists(path):
        files.write(path, text.encode())


def _write(files: Beneath, path: str, text: str) -> None:
    files.write(path, text.encode())


def _prepend(files: Beneath, path: str, text: str) -> None:
    old = files.read(path) or b""
    if text.encode() not in old:
        files.write(path, text.encode() + old)


def _rename(files: Beneath, old: str, new: str) -> None:
    if not files.exists(old) and files.exists(new):
        return
    if files.exists(new):
        text = f"cannot be renamed to {os.path.basename(new)}, which is there already"
        allowed = "keep one of the two under another name, then run the same command again"
        raise Refused("conflict", old, text, allowed)
    files.rename(old, os.path.basename(new))


def _remove(files: Beneath, path: str, digest: str) -> None:
    data = files.read(path)
    if data is not None and sha256(data).hexdigest() == digest:
        files.remove(path)


def _append(files: Beneath, path: str, text: str, times: int) -> None:
    """Write the file anew with the lines at its end, so that a crash leaves no part of a line."""
    old = files.read(path) or b""
    if old.count(text.encode()) > times:
        return
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    files.write(path, old + gap + text.encode())


def _swap(files: Beneath, path: str, old: str, new: str) -> None:
    """Write the file anew with the last place of the old lines changed, once."""
    data = files.read(path) or b""
    taken, put = old.encode(), new.encode()
    if old and taken in data:
        at = data.rindex(taken)
        files.write(path, data[:at] + put + data[at + len(taken) :])
    else:
        _append(files, path, new, 0)


_DO: dict[str, Callable[..., None]] = {
    "folder": Beneath.make_folders, "create": _create, "write": _write, "prepend": _prepend,
    "rename": _rename, "remove": _remove, "append": _append,
    "swap": _swap, "folders": Beneath.make_folders,
}  # fmt: skip
