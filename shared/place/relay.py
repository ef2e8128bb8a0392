"""Passes a command's output on to ours, so that it never holds our files, and counts it."""

from __future__ import annotations

import os
import select

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PIECE = 1 << 16
_STOP = b"output\n"
_HEARTBEAT_MS = 200
_TAIL = 1 << 12


class Relay:
    """One pipe for each of `targets`, or one for both where both are the same file."""

    def __init__(self, targets: Sequence[int], most: int) -> None:
        first = os.pipe()
        second = first if _are_one(*targets) else os.pipe()
        self.writers = (first[1], second[1])
        self._targets = {first[0]: targets[0]} | {second[0]: targets[-1]}
        if second == first:
            self._targets = {first[0]: targets[0]}
        self._readers = {*self._targets.values()}
        self._left = most
        self.broken = False
        # The end of what was passed on.
        self.tail = b""

    def pass_on(
        self,
        ended: int,
        stop: int,
        heartbeat: Callable[[], object] | None = None,
        waiting: int | None = None,
    ) -> bytes:
        """Pass output on until all pipes are closed; return what came through the pipe `ended`.

        A word is written to `stop` when there is too much output, or nobody waits for it any more:
        nobody reads it, or the process of the descriptor `waiting` has ended. `heartbeat` is called
        between.
        """
        poll, said = select.poll(), b""
        for descriptor in (ended, *self._targets):
            poll.register(descriptor, select.POLLIN)
        for descriptor in self._readers:
            poll.register(descriptor, 0)  # that nobody reads is always told
        if waiting is not None:
            poll.register(waiting, select.POLLIN)
        still_open = 1 + len(self._targets)
        while still_open:
            if heartbeat:
                heartbeat()
            for descriptor, event in poll.poll(_HEARTBEAT_MS if heartbeat else None):
                if descriptor == waiting or descriptor in self._readers:
                    poll.unregister(descriptor)
                    self._lose(descriptor, event, stop)
                    continue
                piece = os.read(descriptor, _PIECE)
                if not piece:
                    poll.unregister(descriptor)
                    still_open -= 1
                elif descriptor == ended:
                    said += piece
                else:
                    self._write(self._targets[descriptor], piece, stop)
        return said

    def _lose(self, descriptor: int, event: int, stop: int) -> None:
        """Have the command ended where nobody is left who waits for it or reads its output."""
        read = descriptor in self._readers
        self._readers.discard(descriptor)
        # What was never open has no reader that could go.
        if not read or (not self._readers and event & ~select.POLLNVAL):
            self.broken = True
            self._end(stop)

    def close(self) -> None:
        """Close what is left open of the pipes."""
        for descriptor in self._targets:
            os.close(descriptor)

    def _write(self, target: int, piece: bytes, stop: int) -> None:
        self.tail = (self.tail + piece)[-_TAIL:]
        kept, was = piece[: max(0, self._left)], self._left
        self._left -= len(piece)
        try:
            while kept and not self.broken:
                kept = kept[os.write(target, kept) :]
        except BrokenPipeError:
            self.broken = True
        if was >= 0 and (self._left < 0 or self.broken):
            self._left = was
            self._end(stop)

    def _end(self, stop: int) -> None:
        """Have the command ended, once; it may have ended by itself."""
        if self._left >= 0:
            self._left = -1
            try:
                os.write(stop, _STOP)
            except BrokenPipeError:
                return


def _are_one(first: int, second: int) -> bool:
    try:
        one, other = os.fstat(first), os.fstat(second)
    except OSError:
        return False
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
