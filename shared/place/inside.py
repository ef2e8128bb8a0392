"""What the processes inside the place do: make the namespaces, start the command, end everything.

They are copies of our process. Nothing of the project runs in them, and the command can neither
read their memory nor signal them.
"""

from __future__ import annotations

import marshal
import os
import sys

from shared import sandbox
from shared.place import filter as system_calls
from shared.place import kernel
from shared.place.owners import mounts_of_our_own
from shared.place.report import Report, tell_begun
from shared.place.root import View
from shared.place.supervise import Supervisor
from shared.place.system import PRIVATE

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shared.place.values import Place

_KILL, _INTERRUPT = 9, 2
_PIECE = 1 << 16
_IGNORED_BY_PYTHON = (13, 25)
_NOT_FOUND, _NOT_RUN = 127, 126
# Of one process: servers and builds of JavaScript need thousands.
_OPEN_FILES = 8192
# Of root's: reading and writing whatever the rights of files say, and signals to other users;
# changing owners and becoming another user.
_OVER_FILES, _OVER_OWNERS = (1, 2, 3, 5), (0, 4, 6, 7)


def separate(
    place: Place, argv: Sequence[str], output: tuple[int, int], pipes: tuple[int, int, int, int]
) -> None:
    """Make the namespaces, then start the first process in them and wait for it; never returns."""
    ready, mapped, ended, alive = pipes
    try:
        _close_others({0, 1, 2, *output, *pipes})
        mounts = mounts_of_our_own(place.kept)
        kernel.unshare(kernel.SPACES & ~(kernel.NETWORK * place.network))
        # Not before: new rights clear it.
        kernel.end_with_parent(_KILL)
        os.write(ready, b"\n")
        seen = b"".join(iter(lambda: os.read(mapped, _PIECE), b""))
        if seen:
            place.take(marshal.loads(seen))  # noqa: S302 – our process's
            first = os.fork()
            if not first:
                _lead(place, argv, output, (ended, alive), mounts)
            place.begin(first)
            os.close(ended)
            for descriptor in set(output):
                os.close(descriptor)
            os.waitpid(first, 0)
    except BaseException as error:  # noqa: BLE001 – whatever it is, our process must hear of it
        Report(failure=_reason(error)).write(ended)
    finally:
        os._exit(0)


def _lead(
    place: Place,
    argv: Sequence[str],
    output: tuple[int, int],
    pipes: tuple[int, int],
    mounts: Mapping[str, int],
) -> None:
    """Be the first process of the place; never returns."""
    ended, alive = pipes
    try:
        kernel.end_with_parent(_KILL)
        # The command may send us those signals only that we have a handler for.
        kernel.default_signals((_INTERRUPT,))
        view = View(place, mounts)
        view.build()
        if place.loopback and not place.network:
            kernel.start_loopback()
        kernel.hide_memory()
        started, failed = os.pipe()
        command = os.fork()
        if not command:
            kept = _capabilities(owners=bool(mounts) or not place.kept)
            _become(place, argv, output, (failed, ended), kept, view)
        os.close(failed)
        for descriptor in set(output):
            os.close(descriptor)
        reason = os.read(started, 1 << 12)
        if reason:
            report = Report(failure=os.fsdecode(reason))
        else:
            report = Supervisor(place, view.written, command, alive).watch()
        report.write(ended)
    except BaseException as error:  # noqa: BLE001 – whatever it is, our process must hear of it
        Report(failure=_reason(error)).write(ended)
    finally:
        os._exit(0)


def _become(
    place: Place,
    argv: Sequence[str],
    output: tuple[int, int],
    pipes: tuple[int, int],
    capabilities: tuple[int, ...],
    view: View,
) -> None:
    """Give up all rights that the command does not need and become it; never returns."""
    failed, ended = pipes
    try:
        os.setsid()
        source = 0 if place.input else os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((source, *output)):
            os.dup2(descriptor, number)
        # The pipes close by themselves when the command is there.
        _close_others({0, 1, 2, *pipes})
        os.chdir(place.folder)
        _limit(place)
        if sandbox.is_available():
            # A pipe or socket that lasts would be met by programs outside. What may be made in a
            # folder may be made below it, so there are none in /tmp if the repository lies there.
            above = {path for path in PRIVATE for one in place.kept if one.startswith(f"{path}/")}
            plain = (place.home, *place.emptied, place.repository, *place.kept, *above)
            plain += view.git_folders
            free = (*(path for path in PRIVATE if path not in above), "/dev")
            sandbox.restrict(free, plain=plain, scoped=True)
        kernel.keep_capabilities(capabilities)
        system_calls.forbid(local_sockets=view.sealed, lasting=bool(place.kept))
        kernel.default_signals(_IGNORED_BY_PYTHON)
        tell_begun(ended)
    except BaseException as error:  # noqa: BLE001 – the command must not run
        os.write(failed, os.fsencode(_reason(error)))
        os._exit(_NOT_RUN)
    try:
        os.execvpe(argv[0], list(argv), dict(place.environment))  # noqa: S606 – its purpose
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
    finally:
        os._exit(_NOT_FOUND)


def _capabilities(*, owners: bool) -> tuple[int, ...]:
    """Return what root keeps; without `owners`, nothing that makes files of other owners."""
    if os.geteuid():
        return ()
    return (*_OVER_FILES, *_OVER_OWNERS) if owners else _OVER_FILES


def _limit(place: Place) -> None:
    limits = place.limits
    kernel.limit(kernel.CORE_SIZE, 0)
    kernel.limit(kernel.FILE_SIZE, limits.written)
    kernel.limit(kernel.OPEN_FILES, _OPEN_FILES)
    if os.geteuid():
        # Root is not bound by it. Threads count too; it holds between two counts.
        kernel.limit(kernel.PROCESSES, 2 * limits.threads)


def _close_others(kept: set[int]) -> None:
    before = -1
    for descriptor in sorted(kept):
        if before + 1 < descriptor:  # an empty range would be taken for one without end
            os.closerange(before + 1, descriptor)
        before = descriptor
    kernel.close_from(before + 1)


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error) or type(error).__name__
