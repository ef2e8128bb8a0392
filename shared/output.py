"""Write a command's answer to standard output: text, a refusal or a fault, with its exit code."""

from __future__ import annotations

import errno
import os
import sys

from shared.builders import error_block
from state.errors import Refused

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The disk, its rights and the limits of a process: no fault of the planner.
_OF_THE_SYSTEM = frozenset((
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE,
    errno.ENFILE, errno.ENOMEM,
))  # fmt: skip


def write(text: str) -> None:
    """Write `text` to standard output in UTF-8, whatever the locale is."""
    write_bytes(text.encode("utf-8"))


def write_bytes(data: bytes) -> None:
    """Write `data` to standard output as it is.

    If it takes nothing (a full disk, a closed pipe) the process ends with code 1: the work is
    done, only the answer is lost, and repeating a command is safe.
    """
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        sys.stderr.write(f"planner: the answer could not be written: {error.strerror}\n")
        # What is left in the buffer would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


def exit_code(refusal: Refused) -> int:
    """Return the exit code for a refused command: 2 for wrong usage, else 1."""
    return 2 if any(p.kind == "usage" for p in refusal.problems) else 1


def write_answer(action: Callable[[], str], call: Sequence[str]) -> int:
    """Write the text that `action` returns, or the Refused that it raises; return the exit code.

    `call` are the words of the command after the launcher.
    """
    try:
        write(action())
    except Refused as refusal:
        write(error_block(refusal.problems, refusal.kept, call))
        return exit_code(refusal)
    except Exception as error:  # noqa: BLE001 – the one handler of step scripts
        return write_fault(error)
    return 0


def write_fault(error: Exception, show: Callable[[str], None] = write) -> int:
    """Show an unexpected exception in a short block, and the traceback on stderr; return 3.

    What the system refused (a full disk, no permission) is no fault: it is shown as a refusal.
    """
    import traceback

    from shared.git.files import refused
    from state.errors import Problem

    if isinstance(error, OSError) and error.errno in _OF_THE_SYSTEM:
        show(error_block(refused(error).problems))
        return 1

    text = f"a fault of the planner: {type(error).__name__}: {error}; see standard error"
    show(error_block([Problem("internal", "planner", text)]))
    traceback.print_exception(error)
    return 3
