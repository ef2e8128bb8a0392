"""Runs a command in the place: nothing of it lasts or goes on, and it reaches nothing of others.

    report = run(planning_place(folder, repository, state_dir), ["bash", "-c", text])
    report.code, report.notes("edit in the worktree")

`planning_place` is in shared/place/planning.py; shared/place/level.py says, cheaply, whether a
place can be entered. `CannotEnter` means that nothing ran: never run the command otherwise then.

Three processes stand around the command. The first, ours, passes its output on. The second makes
the namespaces. The third is the first process in them: it builds the file tree, counts what runs,
and when it ends the kernel ends all the others. Each ends when the one before it ends.
"""

from __future__ import annotations

import marshal
import os
import sys

from shared.place.relay import Relay
from shared.place.report import Report
from shared.place.values import Place

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

__all__ = ["CannotEnter", "Place", "run"]

_KILL = 9
# What programs say that have looked for something in vain.
_MISSED = (b"o such file", b"ot found", b"annot find")
# Processes of ours in which nothing runs any more: the kernel takes their namespaces down.
_ENDING: list[int] = []


class CannotEnter(OSError):  # noqa: N818 – nothing went wrong: there is no place here
    """Raised if the place could not be entered, with the reason; the command did not run."""


def run(
    place: Place,
    argv: Sequence[str],
    *,
    output: int | None = None,
    heartbeat: Callable[[], object] | None = None,
    waiting: int | None = None,
) -> Report:
    """Run `argv` in the place and return how it ended, after all that it started has ended.

    Its output goes to ours, or both kinds to the file descriptor `output`; if it fails, a line
    after that names what it may have looked for in vain. `heartbeat` is called several times a
    second; what it raises ends the command. So does the end of the process whose descriptor is
    `waiting`. Raises CannotEnter.
    """
    targets = (1, 2) if output is None else (output, output)
    _ENDING[:] = [process for process in _ENDING if not _has_ended(process)]
    relay = Relay(targets, place.limits.output)
    sys.stdout.flush()
    ready, mapped, ended, alive = (os.pipe() for _ in range(4))
    first = os.fork()
    if not first:
        from shared.place.inside import separate

        for descriptor in (ready[0], mapped[1], ended[0], alive[1]):
            os.close(descriptor)
        separate(place, argv, relay.writers, (ready[1], mapped[0], ended[1], alive[0]))
    for descriptor in (ready[1], mapped[0], ended[1], alive[0], *set(relay.writers)):
        os.close(descriptor)
    told = os.fdopen(mapped[1], "wb")
    try:
        # Meanwhile the namespaces are made.
        seen = marshal.dumps(place.look_around())
        if os.read(ready[0], 1):
            _name_users(first)
            _tell(told, seen)
        report = _read(relay.pass_on(ended[0], alive[1], heartbeat, waiting))
    except BaseException:
        os.kill(first, _KILL)
        os.waitpid(first, 0)
        raise
    finally:
        told.close()
        for descriptor in (ready[0], ended[0], alive[1]):
            os.close(descriptor)
        relay.close()
    _ENDING.append(first)
    if report.code or any(sign in relay.tail for sign in _MISSED):
        _add_unseen(report, place, [*argv, os.fsdecode(relay.tail)], output)
    return report


def _add_unseen(report: Report, place: Place, texts: Sequence[str], output: int | None) -> None:
    """Say in the report, and after the output, what a command may have looked for in vain."""
    from shared.place.unseen import note  # not at the top: most commands do not fail

    report.unseen = note(place, texts)
    if report.unseen and report.code and output is not None:
        os.write(output, os.fsencode(f"\n[{report.unseen}]\n"))


def _tell(file: BinaryIO, text: bytes) -> None:
    """Write a text and close the file; a reader that has ended says elsewhere why."""
    try:
        file.write(text)
        file.close()
    except BrokenPipeError:
        return


def _read(said: bytes) -> Report:
    report = Report.read(said)
    if report is None or report.failure:
        raise CannotEnter(report.failure if report else "it ended without a word")
    return report


def _has_ended(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG) != (0, 0)
    except ChildProcessError:  # somebody else has waited for it
        return True


def _name_users(process: int) -> None:
    """Map the user ids of the process's new namespace; raise CannotEnter where that fails."""
    try:
        _map_users(process)
    except OSError as error:
        # As root in another sandbox, such as a client's own.
        raise CannotEnter(f"user ids cannot be mapped: {error.strerror}") from None


def _map_users(process: int) -> None:
    """Map the user and group ids of the process's new namespace: all if we may, else our own."""
    try:
        for kind in ("uid", "gid"):
            _write(process, f"{kind}_map", _all_ids(kind))
    except PermissionError:
        _write(process, "uid_map", f"{os.geteuid()} {os.geteuid()} 1")
        _write(process, "setgroups", "deny")
        _write(process, "gid_map", f"{os.getegid()} {os.getegid()} 1")


def _all_ids(kind: str) -> str:
    with open(f"/proc/self/{kind}_map", encoding="ascii") as file:
        rows = [line.split() for line in file]
    return "".join(f"{first} {first} {count}\n" for first, _, count in rows)


def _write(process: int, name: str, text: str) -> None:
    with open(f"/proc/{process}/{name}", "w", encoding="ascii") as file:
        file.write(text)
